// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A multi-lane layer as a program sees it: its inputs and outputs are one struct each. The program
/// has the lanes.
module spfe_sim_multilane
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes.
  parameter int unsigned Lanes = 4,
  /// Words from SKIP to SKIP.
  parameter int unsigned SkipInterval = 70,
  /// Word periods with IDLE only after a lane has become active.
  parameter int unsigned ActiveIdleWords = 0,
  /// Word periods in 4 us.
  parameter int unsigned EarlyWords = 40,
  /// A row with an RXERR starts the alignment again.
  parameter int unsigned RxErrRowMisaligns = 0,
  /// An ALIGN counts active lanes.
  parameter int unsigned AlignCountsActive = 0,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    logic rx_go;
    logic tx_go;
    logic clear;
    multilane_param_t param;
    lane_param_t [Lanes-1:0] lane_param;
    lane_status_t [Lanes-1:0] lane_status;
    logic [Lanes-1:0] scrambled;
    word_t [Lanes-1:0] up;
    logic [Lanes-1:0] up_valid;
    row_kind_e row;
    word_t [Lanes-1:0] words;
    logic [CountWidth-1:0] count;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    multilane_status_t status;
    logic [Lanes-1:0] rx_only;
    logic [Lanes-1:0] far_end_active;
    logic [Lanes-1:0] lane_reset;
    word_t [Lanes-1:0] down;
    logic [Lanes-1:0] down_valid;
    logic ready;
    logic [CountWidth-1:0] width;
    row_kind_e row;
    word_t [Lanes-1:0] words;
    logic [CountWidth-1:0] count;
    logic crc16_good;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  spfe_sf_multilane #(
    .Lanes(Lanes),
    .SkipInterval(SkipInterval),
    .ActiveIdleWords(ActiveIdleWords),
    .EarlyWords(EarlyWords),
    .RxErrRowMisaligns(RxErrRowMisaligns != 0),
    .AlignCountsActive(AlignCountsActive != 0)
  ) i_multilane (
    .clk_i,
    .rst_i(in_i.rst),
    .rx_go_i(in_i.rx_go),
    .tx_go_i(in_i.tx_go),
    .clear_i(in_i.clear),
    .param_i(in_i.param),
    .status_o(out_o.status),
    .lane_param_i(in_i.lane_param),
    .lane_status_i(in_i.lane_status),
    .scrambled_i(in_i.scrambled),
    .rx_only_o(out_o.rx_only),
    .far_end_active_o(out_o.far_end_active),
    .lane_reset_o(out_o.lane_reset),
    .lane_o(out_o.down),
    .lane_valid_o(out_o.down_valid),
    .lane_i(in_i.up),
    .lane_valid_i(in_i.up_valid),
    .row_i(in_i.row),
    .words_i(in_i.words),
    .count_i(in_i.count),
    .ready_o(out_o.ready),
    .width_o(out_o.width),
    .row_o(out_o.row),
    .words_o(out_o.words),
    .count_o(out_o.count),
    .crc16_good_o(out_o.crc16_good)
  );
endmodule
