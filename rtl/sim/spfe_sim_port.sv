// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A port as a program sees it: its inputs and outputs are one struct each.
module spfe_sim_port
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Words in the output buffer of each channel.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Maximum number of data-sending lanes.
  parameter int unsigned SegmentMultiplier = Lanes,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    link_param_t param;
    vc_param_t [Vcs-1:0] vc_param;
    multilane_param_t multilane_param;
    lane_param_t [Lanes-1:0] lane_param;
    word_t [Vcs-1:0][Lanes-1:0] tx;
    logic [Vcs-1:0][CountWidth-1:0] tx_valid;
    logic [Vcs-1:0] rx_ready;
    broadcast_t broadcast;
    logic broadcast_valid;
    logic broadcast_ready;
    word_t [Lanes-1:0] line;
    logic [Lanes-1:0] line_on;
    logic [Lanes-1:0] realigned;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    link_status_t status;
    multilane_status_t multilane_status;
    lane_status_t [Lanes-1:0] lane_status;
    vc_status_t [Vcs-1:0] vc_status;
    logic [Vcs-1:0] tx_ready;
    word_t [Vcs-1:0][Lanes-1:0] rx;
    logic [Vcs-1:0][CountWidth-1:0] rx_valid;
    logic broadcast_ready;
    broadcast_t broadcast;
    logic broadcast_valid;
    word_t [Lanes-1:0] line;
    logic [Lanes-1:0] line_on;
    logic [Lanes-1:0] receive;
    logic [Lanes-1:0] invert;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  spfe_sf_port #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .SegmentMultiplier(SegmentMultiplier),
    .OutputWords(OutputWords)
  ) i_port (
    .clk_i,
    .rst_i(in_i.rst),
    .param_i(in_i.param),
    .vc_param_i(in_i.vc_param),
    .multilane_param_i(in_i.multilane_param),
    .lane_param_i(in_i.lane_param),
    .status_o(out_o.status),
    .multilane_status_o(out_o.multilane_status),
    .lane_status_o(out_o.lane_status),
    .vc_status_o(out_o.vc_status),
    .tx_i(in_i.tx),
    .tx_valid_i(in_i.tx_valid),
    .tx_ready_o(out_o.tx_ready),
    .rx_o(out_o.rx),
    .rx_valid_o(out_o.rx_valid),
    .rx_ready_i(in_i.rx_ready),
    .broadcast_i(in_i.broadcast),
    .broadcast_valid_i(in_i.broadcast_valid),
    .broadcast_ready_o(out_o.broadcast_ready),
    .broadcast_o(out_o.broadcast),
    .broadcast_valid_o(out_o.broadcast_valid),
    .broadcast_ready_i(in_i.broadcast_ready),
    .line_o(out_o.line),
    .line_on_o(out_o.line_on),
    .line_i(in_i.line),
    .line_on_i(in_i.line_on),
    .realigned_i(in_i.realigned),
    .receive_o(out_o.receive),
    .invert_o(out_o.invert)
  );
endmodule
