// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Register slice: no combinational path from an input to an output. It adds one cycle of latency
/// and keeps the full rate of one word a cycle.
module spfe_slice #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8
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
  logic valid, valid_q;
  logic ready;
  logic [Width-1:0] data, data_q;

  assign data_o = data_q;
  assign valid_o = valid_q;

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

  assign ready = !valid_q || ready_i;

  always_ff @(posedge clk_i) begin
    if (ready) begin
      valid_q <= valid;
      data_q <= data;
    end
    if (rst_i) valid_q <= 1'b0;
  end
endmodule
