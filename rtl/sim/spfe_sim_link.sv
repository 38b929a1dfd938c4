// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A data link layer as a program sees it: its inputs and outputs are one struct each.
module spfe_sim_link
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Words in the output buffer of each channel.
  parameter int unsigned OutputWords = 2048,
  /// Words in the input buffer of each channel.
  parameter int unsigned InputWords = 512,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    link_param_t param;
    vc_param_t [Vcs-1:0] vc_param;
    word_t [Vcs-1:0][Lanes-1:0] tx;
    logic [Vcs-1:0][CountWidth-1:0] tx_count;
    logic [Vcs-1:0] tx_valid;
    logic [Vcs-1:0] rx_ready;
    broadcast_t broadcast;
    logic broadcast_valid;
    logic broadcast_ready;
    logic row_ready;
    logic [CountWidth-1:0] width;
    row_kind_e row;
    word_t [Lanes-1:0] row_words;
    logic [CountWidth-1:0] row_count;
    logic crc16_good;
    logic [Lanes-1:0] far_valid;
    logic [Lanes-1:0][7:0] far_end;
    logic any_active;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    link_status_t status;
    vc_status_t [Vcs-1:0] vc_status;
    logic [Vcs-1:0] tx_ready;
    word_t [Vcs-1:0][Lanes-1:0] rx;
    logic [Vcs-1:0][CountWidth-1:0] rx_count;
    logic [Vcs-1:0] rx_valid;
    logic broadcast_ready;
    broadcast_t broadcast;
    logic broadcast_valid;
    row_kind_e row;
    word_t [Lanes-1:0] row_words;
    logic [CountWidth-1:0] row_count;
    logic lane_reset;
    logic link_reset;
    logic [7:0] capability;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  spfe_sf_data_link #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .Frames(128),
    .ResetRetryWords(0)
  ) i_link (
    .clk_i,
    .rst_i(in_i.rst),
    .param_i(in_i.param),
    .vc_param_i(in_i.vc_param),
    .status_o(out_o.status),
    .vc_status_o(out_o.vc_status),
    .tx_i(in_i.tx),
    .tx_count_i(in_i.tx_count),
    .tx_valid_i(in_i.tx_valid),
    .tx_ready_o(out_o.tx_ready),
    .rx_o(out_o.rx),
    .rx_count_o(out_o.rx_count),
    .rx_valid_o(out_o.rx_valid),
    .rx_ready_i(in_i.rx_ready),
    .broadcast_i(in_i.broadcast),
    .broadcast_valid_i(in_i.broadcast_valid),
    .broadcast_ready_o(out_o.broadcast_ready),
    .broadcast_o(out_o.broadcast),
    .broadcast_valid_o(out_o.broadcast_valid),
    .broadcast_ready_i(in_i.broadcast_ready),
    .row_o(out_o.row),
    .row_words_o(out_o.row_words),
    .row_count_o(out_o.row_count),
    .row_ready_i(in_i.row_ready),
    .width_i(in_i.width),
    .row_i(in_i.row),
    .row_words_i(in_i.row_words),
    .row_count_i(in_i.row_count),
    .crc16_good_i(in_i.crc16_good),
    .lane_reset_o(out_o.lane_reset),
    .link_reset_o(out_o.link_reset),
    .capability_o(out_o.capability),
    .far_valid_i(in_i.far_valid),
    .far_i(in_i.far_end),
    .any_active_i(in_i.any_active)
  );
endmodule
