// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Row of register slices.
module spfe_tcp_rx_pipe #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8,
  /// Number of slices; each adds one cycle of latency.
  parameter int unsigned Stages = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Word from the source.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  output logic ready_o,
  /// Word to the sink.
  output logic [Width-1:0] data_o,
  output logic valid_o,
  input logic ready_i
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
