// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Register slices one after the other.
module spfe_tcp_rx_pipe #(
  /// Bits of a word.
  parameter int unsigned Width = 8,
  /// Slices, each one cycle; 0: wires.
  parameter int unsigned Stages = 0
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// A word is offered.
  input logic valid_i,
  /// It is taken.
  output logic ready_o,
  /// The word.
  input logic [Width-1:0] data_i,
  /// A word is offered.
  output logic valid_o,
  /// It is taken.
  input logic ready_i,
  /// The word.
  output logic [Width-1:0] data_o
);
  logic [Stages:0] valid, ready;
  logic [Stages:0][Width-1:0] data;

  assign valid[0] = valid_i;
  assign data[0] = data_i;
  assign ready_o = ready[0];
  assign valid_o = valid[Stages];
  assign data_o = data[Stages];
  assign ready[Stages] = ready_i;

  for (genvar i = 0; i < Stages; i++) begin : gen_stage
    spfe_slice #(
      .Width(Width)
    ) i_slice (
      .clk_i,
      .rst_i,
      .valid_i(valid[i]),
      .ready_o(ready[i]),
      .data_i(data[i]),
      .valid_o(valid[i+1]),
      .ready_i(ready[i+1]),
      .data_o(data[i+1])
    );
  end

  if (Stages == 0) begin : gen_wires
    logic unused_bits;
    assign unused_bits = clk_i ^ rst_i;
  end
endmodule
