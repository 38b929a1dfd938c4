// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceFibre port: data link layer, multi-lane layer and lanes (ECSS-E-ST-50-11C, 5.5 to 5.7). A
/// cycle of clk_i is a word period. With one lane there is no multi-lane layer.
module spfe_sf_port
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 1 to 16.
  parameter int unsigned Lanes = 1,
  /// Virtual channels, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Maximum number of data-sending lanes P, the same at both ends; a frame has up to 64 words for
  /// each. The parameter max_data_sending must have this value.
  parameter int unsigned SegmentMultiplier = Lanes,
  /// Words in the output buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Unacknowledged data frames; see spfe_sf_data_link.
  parameter int unsigned Frames = 32,
  /// Word periods in 2 us; see spfe_sf_lane.
  parameter int unsigned ClearLineWords = 313,
  /// Pseudo-random words after each INIT1 and INIT2, 0 to 64.
  parameter int unsigned FillerWords = 64,
  /// Pseudo-random words after each INIT3, 0 to 255.
  parameter int unsigned Init3FillerWords = 0,
  /// Words from SKIP to SKIP.
  parameter int unsigned SkipInterval = 5000,
  /// Word periods with IDLE only after one of several lanes has become active.
  parameter int unsigned ActiveIdleWords = 0,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameters of the data link layer.
  input link_param_t param_i,
  /// Parameters of each virtual channel.
  input vc_param_t [Vcs-1:0] vc_param_i,
  /// Parameters of the multi-lane layer; without effect with one lane.
  input multilane_param_t multilane_param_i,
  /// Parameters of each lane.
  input lane_param_t [Lanes-1:0] lane_param_i,
  /// Status of the data link layer.
  output link_status_t status_o,
  /// Status of the multi-lane layer; with one lane only bypass and the active lane.
  output multilane_status_t multilane_status_o,
  /// Status of each lane.
  output lane_status_t [Lanes-1:0] lane_status_o,
  /// Status of each virtual channel.
  output vc_status_t [Vcs-1:0] vc_status_o,

  /// Words of the user for each channel, the first in word 0.
  input word_t [Vcs-1:0][Lanes-1:0] tx_i,
  /// Number of words; 0: none. With one lane this is a valid bit.
  input logic [Vcs-1:0][CountWidth-1:0] tx_valid_i,
  output logic [Vcs-1:0] tx_ready_o,
  /// Words to the user.
  output word_t [Vcs-1:0][Lanes-1:0] rx_o,
  /// Number of words; 0: none. With one lane this is a valid bit.
  output logic [Vcs-1:0][CountWidth-1:0] rx_valid_o,
  input logic [Vcs-1:0] rx_ready_i,
  /// Broadcast message of the user; its field late is ignored.
  input broadcast_t broadcast_i,
  input logic broadcast_valid_i,
  output logic broadcast_ready_o,
  /// Broadcast message received.
  output broadcast_t broadcast_o,
  output logic broadcast_valid_o,
  input logic broadcast_ready_i,

  /// Word to each line; see spfe_sf_lane.
  output word_t [Lanes-1:0] line_o,
  /// The line driver is on.
  output logic [Lanes-1:0] line_on_o,
  /// Word from each line.
  input word_t [Lanes-1:0] line_i,
  /// There is a signal.
  input logic [Lanes-1:0] line_on_i,
  /// The word boundary moved.
  input logic [Lanes-1:0] realigned_i,
  /// The receiver and its clock recovery are on.
  output logic [Lanes-1:0] receive_o,
  /// The received bits are to be inverted.
  output logic [Lanes-1:0] invert_o
);
  row_kind_e tx_row, rx_row;
  word_t [Lanes-1:0] tx_words, rx_words;
  logic [CountWidth-1:0] tx_count, rx_count, width;
  logic tx_ready, crc16_good;
  logic lane_reset, link_reset;
  logic [7:0] capability, own_capability;
  logic any_active, any_active_q;

  lane_status_t [Lanes-1:0] lane;
  logic [Lanes-1:0] active, far_valid, scrambled_q;
  logic [Lanes-1:0][7:0] far;
  word_t [Lanes-1:0] down, up;
  logic [Lanes-1:0] down_valid, down_ready, up_valid;
  logic [Lanes-1:0] rx_only, far_end_active, resets;

  logic [Vcs-1:0] tx_valid, rx_valid;
  logic [Vcs-1:0][CountWidth-1:0] user_count;

  assign lane_status_o = lane;
  assign any_active = active != '0;
  always_ff @(posedge clk_i) any_active_q <= any_active && !rst_i;

  always_comb begin
    for (int unsigned v = 0; v < Vcs; v++) begin
      tx_valid[v] = tx_valid_i[v] != '0;
      rx_valid_o[v] = rx_valid[v] ? user_count[v] : '0;
    end
    for (int unsigned l = 0; l < Lanes; l++) begin
      far_valid[l] = lane[l].ev_capability;
      far[l] = lane[l].far_end_capability;
    end
    own_capability = capability;
    own_capability[CapMultiLane] = Lanes > 1 && !multilane_param_i.bypass;
  end

  spfe_sf_data_link #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .SegmentMultiplier(SegmentMultiplier),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .Frames(Frames),
    .Protect(Protect)
  ) i_link (
    .clk_i,
    .rst_i,
    .param_i,
    .vc_param_i,
    .status_o,
    .vc_status_o,
    .tx_i,
    .tx_count_i(tx_valid_i),
    .tx_valid_i(tx_valid),
    .tx_ready_o,
    .rx_o,
    .rx_count_o(user_count),
    .rx_valid_o(rx_valid),
    .rx_ready_i,
    .broadcast_i,
    .broadcast_valid_i,
    .broadcast_ready_o,
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .row_o(tx_row),
    .row_words_o(tx_words),
    .row_count_o(tx_count),
    .row_ready_i(tx_ready),
    .width_i(width),
    .row_i(rx_row),
    .row_words_i(rx_words),
    .row_count_i(rx_count),
    .crc16_good_i(crc16_good),
    .lane_reset_o(lane_reset),
    .link_reset_o(link_reset),
    .capability_o(capability),
    .far_valid_i(far_valid),
    .far_i(far),
    .any_active_i(any_active_q)
  );

  if (Lanes == 1) begin : gen_single
    assign width = active;
    assign rx_count = 1'b1;
    assign {rx_only, far_end_active, resets} = '0;
    always_comb begin
      multilane_status_o = '0;
      multilane_status_o.bypass = 1'b1;
      multilane_status_o.active = 16'(active);
    end

    spfe_sf_single i_single (
      .clk_i,
      .rst_i,
      .clear_i(link_reset),
      .scrambled_i(scrambled_q[0]),
      .far_scrambled_i(lane[0].far_end_capability[CapDataScrambled]),
      .row_i(tx_row),
      .word_i(tx_words[0]),
      .ready_o(tx_ready),
      .active_i(active[0]),
      .lane_o(down[0]),
      .lane_valid_o(down_valid[0]),
      .lane_ready_i(down_ready[0]),
      .lane_i(up[0]),
      .lane_valid_i(up_valid[0]),
      .row_o(rx_row),
      .word_o(rx_words[0]),
      .crc16_good_o(crc16_good)
    );
    logic unused_single;
    assign unused_single = ^{tx_count, multilane_param_i};
  end else begin : gen_multilane
    spfe_sf_multilane #(
      .Lanes(Lanes),
      .SkipInterval(SkipInterval),
      .ActiveIdleWords(ActiveIdleWords),
      .EarlyWords(2 * ClearLineWords)
    ) i_multilane (
      .clk_i,
      .rst_i,
      .rx_go_i(1'b1),
      .tx_go_i(1'b1),
      .clear_i(lane_reset || link_reset),
      .param_i(multilane_param_i),
      .status_o(multilane_status_o),
      .lane_param_i,
      .lane_status_i(lane),
      .scrambled_i(scrambled_q),
      .rx_only_o(rx_only),
      .far_end_active_o(far_end_active),
      .lane_reset_o(resets),
      .lane_o(down),
      .lane_valid_o(down_valid),
      .lane_i(up),
      .lane_valid_i(up_valid),
      .row_i(tx_row),
      .words_i(tx_words),
      .count_i(tx_count),
      .ready_o(tx_ready),
      .width_o(width),
      .row_o(rx_row),
      .words_o(rx_words),
      .count_o(rx_count),
      .crc16_good_o(crc16_good)
    );
    // A lane that takes no word has no use for it later.
    logic unused_ready;
    assign unused_ready = ^down_ready;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    spfe_sf_lane #(
      .ClearLineWords(ClearLineWords),
      .FillerWords(FillerWords),
      .Init3FillerWords(Init3FillerWords),
      .SkipInterval(Lanes == 1 ? SkipInterval : 0)
    ) i_lane (
      .clk_i,
      .rst_i,
      .param_i(lane_param_i[l]),
      .status_o(lane[l]),
      .reset_i(lane_reset || resets[l]),
      .capability_i(own_capability),
      .far_end_active_i(far_end_active[l]),
      .rx_only_i(rx_only[l]),
      .tx_i(down[l]),
      .tx_valid_i(down_valid[l]),
      .tx_ready_o(down_ready[l]),
      .rx_o(up[l]),
      .rx_valid_o(up_valid[l]),
      .line_o(line_o[l]),
      .line_on_o(line_on_o[l]),
      .line_i(line_i[l]),
      .line_on_i(line_on_i[l]),
      .realigned_i(realigned_i[l]),
      .active_o(active[l]),
      .receive_o(receive_o[l]),
      .invert_o(invert_o[l])
    );
    // All INIT3 of an initialisation carry the value of its first.
    always_ff @(posedge clk_i) begin
      if (lane[l].state != StConnected && !active[l]) begin
        scrambled_q[l] <= capability[CapDataScrambled];
      end
    end
  end
endmodule
