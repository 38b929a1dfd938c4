// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceWire port as a program sees it: its inputs and outputs are one struct each.
module spfe_sim_spacewire
  import spfe_sw_pkg::*;
#(
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    sw_control_t control;
    logic [7:0] bit_cycles;
    logic [8:0] tx;
    logic tx_valid;
    logic rx_ready;
    logic [7:0] code;
    logic code_valid;
    logic d;
    logic s;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    sw_status_t status;
    logic tx_ready;
    logic [8:0] rx;
    logic rx_valid;
    logic [7:0] code;
    logic code_valid;
    logic code_ready;
    logic d;
    logic s;
    logic tick;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  spfe_sw_port i_port (
    .clk_i,
    .rst_i(in_i.rst),
    .control_i(in_i.control),
    .bit_cycles_i(in_i.bit_cycles),
    .status_o(out_o.status),
    .tx_i(in_i.tx),
    .tx_valid_i(in_i.tx_valid),
    .tx_ready_o(out_o.tx_ready),
    .rx_o(out_o.rx),
    .rx_valid_o(out_o.rx_valid),
    .rx_ready_i(in_i.rx_ready),
    .code_i(in_i.code),
    .code_valid_i(in_i.code_valid),
    .code_ready_o(out_o.code_ready),
    .code_o(out_o.code),
    .code_valid_o(out_o.code_valid),
    .d_o(out_o.d),
    .s_o(out_o.s),
    .tick_o(out_o.tick),
    .d_i(in_i.d),
    .s_i(in_i.s)
  );
endmodule
