// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceFibre port of one lane: data link layer and lane (ECSS-E-ST-50-11C, 5.5 to 5.7). A cycle
/// of clk_i is a word period.
module spfe_sf_port
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Virtual channels, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Words in the output buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned OutputWords = 256,
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256,
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
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameters of the data link layer.
  input link_param_t param_i,
  /// Parameters of each virtual channel.
  input vc_param_t [Vcs-1:0] vc_param_i,
  /// Parameters of the lane.
  input lane_param_t lane_param_i,
  /// Status of the data link layer.
  output link_status_t status_o,
  /// Status of the lane.
  output lane_status_t lane_status_o,
  /// Status of each virtual channel.
  output vc_status_t [Vcs-1:0] vc_status_o,

  /// Word of the user for each channel.
  input word_t [Vcs-1:0] tx_i,
  input logic [Vcs-1:0] tx_valid_i,
  output logic [Vcs-1:0] tx_ready_o,
  /// Word to the user.
  output word_t [Vcs-1:0] rx_o,
  output logic [Vcs-1:0] rx_valid_o,
  input logic [Vcs-1:0] rx_ready_i,
  /// Broadcast message of the user; its field late is ignored.
  input broadcast_t broadcast_i,
  input logic broadcast_valid_i,
  output logic broadcast_ready_o,
  /// Broadcast message received.
  output broadcast_t broadcast_o,
  output logic broadcast_valid_o,
  input logic broadcast_ready_i,

  /// Word to the line; see spfe_sf_lane.
  output word_t line_o,
  /// The line driver is on.
  output logic line_on_o,
  /// Word from the line.
  input word_t line_i,
  /// There is a signal.
  input logic line_on_i,
  /// The word boundary moved.
  input logic realigned_i,
  /// The receiver and its clock recovery are on.
  output logic receive_o,
  /// The received bits are to be inverted.
  output logic invert_o
);
  row_kind_e tx_row, rx_row;
  word_t tx_word, rx_word, down, up;
  logic tx_ready, down_valid, down_ready, up_valid, crc16_good;
  logic lane_reset, link_reset;
  logic [7:0] capability, sent_capability_q;
  logic active, active_q;
  lane_status_t lane;
  logic [Vcs-1:0] unused_rx_count;
  logic unused_tx_count;

  assign lane_status_o = lane;
  assign active = lane.state == StActive;
  always_ff @(posedge clk_i) active_q <= active && !rst_i;

  spfe_sf_data_link #(
    .Lanes(1),
    .Vcs(Vcs),
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
    .tx_count_i({Vcs{1'b1}}),
    .tx_valid_i,
    .tx_ready_o,
    .rx_o,
    .rx_count_o(unused_rx_count),
    .rx_valid_o,
    .rx_ready_i,
    .broadcast_i,
    .broadcast_valid_i,
    .broadcast_ready_o,
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .row_o(tx_row),
    .row_words_o(tx_word),
    .row_count_o(unused_tx_count),
    .row_ready_i(tx_ready),
    .width_i(active),
    .row_i(rx_row),
    .row_words_i(rx_word),
    .row_count_i(1'b1),
    .crc16_good_i(crc16_good),
    .lane_reset_o(lane_reset),
    .link_reset_o(link_reset),
    .capability_o(capability),
    .far_valid_i(lane.ev_capability),
    .far_i(lane.far_end_capability),
    .any_active_i(active_q)
  );

  spfe_sf_single i_single (
    .clk_i,
    .rst_i,
    .clear_i(link_reset),
    .scrambled_i(sent_capability_q[CapDataScrambled]),
    .far_scrambled_i(lane.far_end_capability[CapDataScrambled]),
    .row_i(tx_row),
    .word_i(tx_word),
    .ready_o(tx_ready),
    .lane_o(down),
    .lane_valid_o(down_valid),
    .lane_ready_i(down_ready),
    .lane_i(up),
    .lane_valid_i(up_valid),
    .row_o(rx_row),
    .word_o(rx_word),
    .crc16_good_o(crc16_good)
  );

  spfe_sf_lane #(
    .ClearLineWords(ClearLineWords),
    .FillerWords(FillerWords),
    .Init3FillerWords(Init3FillerWords),
    .SkipInterval(SkipInterval)
  ) i_lane (
    .clk_i,
    .rst_i,
    .param_i(lane_param_i),
    .status_o(lane),
    .reset_i(lane_reset),
    .capability_i(capability),
    .far_end_active_i(1'b0),
    .rx_only_i(1'b0),
    .tx_i(down),
    .tx_valid_i(down_valid),
    .tx_ready_o(down_ready),
    .rx_o(up),
    .rx_valid_o(up_valid),
    .line_o,
    .line_on_o,
    .line_i,
    .line_on_i,
    .realigned_i,
    .receive_o,
    .invert_o
  );
  // All INIT3 of an initialisation carry the value of its first.
  always_ff @(posedge clk_i) begin
    if (lane.state != StConnected && !active) sent_capability_q <= capability;
  end
endmodule
