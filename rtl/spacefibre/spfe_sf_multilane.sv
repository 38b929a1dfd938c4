// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Multi-lane layer: joins the data link layer to several lanes (ECSS-E-ST-50-11C, 5.6).
///
/// rx_go_i and tx_go_i are 1 in a port: a cycle is a word period. What the lanes hand up becomes a
/// row three cycles later, and may change what is sent two cycles later; a row is on the lanes one
/// cycle later.
module spfe_sf_multilane
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4,
  /// Words from SKIP to SKIP; 0: none. The lanes send none.
  parameter int unsigned SkipInterval = 5000,
  /// Word periods with IDLE only after a lane has become active.
  parameter int unsigned ActiveIdleWords = 0,
  /// Word periods in 4 us.
  parameter int unsigned EarlyWords = 625,
  /// 1: the CRC-16 covers the words as they are on the line; 0: before scrambling.
  parameter bit CrcCoversScrambled = 1'b1,
  /// The number in an ALIGN counts 0: transmitting lanes, 1: active lanes.
  parameter bit AlignCountsActive = 1'b0,
  /// A row with an RXERR starts the alignment again.
  parameter bit RxErrRowMisaligns = 1'b0,
  /// In Near-End Ready, while the far end sends ACTIVE, put an ACTIVE before each ALIGN.
  parameter bit RepeatsActive = 1'b1,
  /// A lane that said "in reserve" and delivers a word of the data link layer starts the alignment
  /// again.
  parameter bit ChecksReserve = 1'b1,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// A word period ends: the lanes' outputs are those of its end.
  input logic rx_go_i,
  /// A word period begins: words are sent.
  input logic tx_go_i,
  /// Link reset; the lanes are reset apart from it.
  input logic clear_i,
  /// Parameters of management.
  input multilane_param_t param_i,
  /// Status for management.
  output multilane_status_t status_o,

  /// Parameters of each lane.
  input lane_param_t [Lanes-1:0] lane_param_i,
  /// Status of each lane.
  input lane_status_t [Lanes-1:0] lane_status_i,
  /// The capability field that each lane sent last says that data frames are scrambled.
  input logic [Lanes-1:0] scrambled_i,
  /// RxOnly of each lane.
  output logic [Lanes-1:0] rx_only_o,
  /// FarEndActive of each lane.
  output logic [Lanes-1:0] far_end_active_o,
  /// LaneReset of each lane.
  output logic [Lanes-1:0] lane_reset_o,
  /// Word for each lane.
  output word_t [Lanes-1:0] lane_o,
  output logic [Lanes-1:0] lane_valid_o,
  /// Word of each lane.
  input word_t [Lanes-1:0] lane_i,
  input logic [Lanes-1:0] lane_valid_i,

  /// Row of the data link layer.
  input row_kind_e row_i,
  /// Its words; a control word is in word 0.
  input word_t [Lanes-1:0] words_i,
  /// Number of data words, at most width_o.
  input logic [CountWidth-1:0] count_i,
  /// A row is taken.
  output logic ready_o,
  /// Number of data words in a row; 0 while the lanes are not aligned.
  output logic [CountWidth-1:0] width_o,
  /// Row for the data link layer.
  output row_kind_e row_o,
  /// Its words; a control word is in word 0.
  output word_t [Lanes-1:0] words_o,
  /// Number of data words.
  output logic [CountWidth-1:0] count_o,
  /// For an EDF: the CRC-16 of all lanes is right.
  output logic crc16_good_o
);
  if (Lanes < 2 || Lanes > 16) begin : gen_bad_lanes
    $error("spfe_sf_multilane: Lanes is %0d; 2 to 16", Lanes);
  end

  logic [Lanes-1:0] tx_en, rx_en, far_valid, far_scrambled;
  lane_state_e [Lanes-1:0] state;
  logic [Lanes-1:0][7:0] far;
  logic [Lanes-1:0] receiving_next, fresh_next;
  logic [Lanes-1:0] active, fresh, down, receiving, transmitting, sending;
  logic [CountWidth-1:0] sending_count;
  logic changed, bypass, go_q, restart, asked;
  logic [15:0] far_end_active;
  logic [Lanes-1:0] data_receiving;
  alignment_e alignment;
  word_t [Lanes-1:0] word_q;
  arrival_t [Lanes-1:0] arrival, arrival_q;
  row_kind_e row;
  word_t [Lanes-1:0] words;
  logic [Lanes-1:0] row_lanes, row_data;
  logic [1:0] misaligned;
  misaligned_e cause;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      tx_en[l] = lane_param_i[l].tx_en;
      rx_en[l] = lane_param_i[l].rx_en;
      state[l] = lane_status_i[l].state;
      far_valid[l] = lane_status_i[l].ev_capability;
      far[l] = lane_status_i[l].far_end_capability;
    end
  end

  spfe_sf_lane_sets #(
    .Lanes(Lanes)
  ) i_sets (
    .clk_i,
    .rst_i,
    .go_i(rx_go_i),
    .clear_i,
    .param_i,
    .tx_en_i(tx_en),
    .rx_en_i(rx_en),
    .state_i(state),
    .far_valid_i(far_valid),
    .far_i(far),
    .far_end_active_i(far_end_active[Lanes-1:0]),
    .receiving_next_o(receiving_next),
    .fresh_next_o(fresh_next),
    .active_o(active),
    .changed_o(changed),
    .fresh_o(fresh),
    .down_o(down),
    .receiving_o(receiving),
    .transmitting_o(transmitting),
    .sending_o(sending),
    .width_o(sending_count),
    .bypass_o(bypass),
    .far_scrambled_o(far_scrambled),
    .rx_only_o,
    .far_end_active_o,
    .reset_o(lane_reset_o)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    spfe_sf_arrival #(
      .Lane(l)
    ) i_arrival (
      .clk_i,
      .rst_i,
      .go_i(rx_go_i),
      .fresh_i(fresh_next[l]),
      .receiving_i(receiving_next[l]),
      .word_i(lane_i[l]),
      .valid_i(lane_valid_i[l]),
      .arrival_o(arrival[l])
    );
  end

  always_ff @(posedge clk_i) begin
    go_q <= rx_go_i;
    if (rx_go_i) begin
      word_q <= lane_i;
      arrival_q <= arrival;
    end
    if (rst_i) go_q <= 1'b0;
  end

  spfe_sf_align #(
    .Lanes(Lanes),
    .EarlyWords(EarlyWords),
    .RxErrRowMisaligns(RxErrRowMisaligns),
    .ChecksReserve(ChecksReserve)
  ) i_align (
    .clk_i,
    .rst_i,
    .go_i(go_q),
    .clear_i,
    .active_i(active),
    .changed_i(changed),
    .fresh_i(fresh),
    .down_i(down),
    .receiving_i(receiving),
    .bypass_i(bypass),
    .word_i(word_q),
    .arrival_i(arrival_q),
    .alignment_o(alignment),
    .restart_o(restart),
    .asked_o(asked),
    .far_end_active_o(far_end_active),
    .data_receiving_o(data_receiving),
    .misaligned_o(misaligned),
    .cause_o(cause),
    .row_o(row),
    .words_o(words),
    .lanes_o(row_lanes),
    .data_o(row_data)
  );

  spfe_sf_row_rx #(
    .Lanes(Lanes),
    .CrcCoversScrambled(CrcCoversScrambled)
  ) i_rx (
    .clk_i,
    .rst_i,
    .clear_i,
    .scrambled_i(far_scrambled),
    .row_i(row),
    .words_i(words),
    .lanes_i(row_lanes),
    .data_i(row_data),
    .row_o,
    .words_o,
    .count_o,
    .crc16_good_o
  );

  spfe_sf_row_tx #(
    .Lanes(Lanes),
    .SkipInterval(SkipInterval),
    .ActiveIdleWords(ActiveIdleWords),
    .CrcCoversScrambled(CrcCoversScrambled),
    .AlignCountsActive(AlignCountsActive),
    .RepeatsActive(RepeatsActive)
  ) i_tx (
    .clk_i,
    .rst_i,
    .go_i(tx_go_i),
    .clear_i,
    .active_i(active),
    .transmitting_i(transmitting),
    .sending_i(sending),
    .sending_count_i(sending_count),
    .bypass_i(bypass),
    .fresh_i(go_q && fresh != '0),
    .loops_back_i(lane_param_i[0].far_end_loopback),
    .alignment_i(alignment),
    .restart_i(restart),
    .asked_i(asked),
    .scrambled_i,
    .row_i,
    .words_i,
    .count_i,
    .ready_o,
    .width_o,
    .lane_o,
    .lane_valid_o
  );

  assign status_o = '{
      active: 16'(active),
      data_sending: 16'(sending),
      hot_redundant: 16'(transmitting) & ~16'(sending),
      data_receiving: 16'(data_receiving),
      far_end_active: far_end_active,
      alignment: alignment,
      misaligned: misaligned,
      cause: cause,
      bypass: bypass
    };

  logic unused_lanes;
  assign unused_lanes = ^{lane_param_i, lane_status_i};
endmodule
