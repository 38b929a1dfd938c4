// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Register slice: no path from an input to an output, one word a cycle, one cycle of latency.
module spfe_slice #(
  /// Bits of a word; 1 or more.
  parameter int unsigned Width = 8
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: forgets the words that wait.
  input logic rst_i,
  /// A word is offered; from the source, which keeps it until ready_o.
  input logic valid_i,
  /// The offered word is taken; to the source, from a register.
  output logic ready_o,
  /// The offered word; from the source.
  input logic [Width-1:0] data_i,
  /// A word is offered; to the sink, from a register.
  output logic valid_o,
  /// The offered word is taken; from the sink.
  input logic ready_i,
  /// The offered word; to the sink, from a register, stable until it is taken.
  output logic [Width-1:0] data_o
);
  logic valid;
  logic ready;
  logic [Width-1:0] data;

  spfe_skid #(
    .Width(Width)
  ) i_skid (
    .clk_i,
    .rst_i,
    .valid_i,
    .ready_o,
    .data_i,
    .valid_o(valid),
    .ready_i(ready),
    .data_o(data)
  );

  assign ready = !valid_o || ready_i;

  always_ff @(posedge clk_i) begin
    if (ready) begin
      valid_o <= valid;
      data_o <= data;
    end
    if (rst_i) valid_o <= 1'b0;
  end
endmodule
