// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Skid buffer: registers ready_o and passes data in the same cycle. It cuts the combinational path
/// of ready only; spfe_slice cuts that of data as well.
module spfe_skid #(
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
  if (Width < 1) begin : gen_bad_width
    $error("spfe_skid: Width is %0d; 1 or more is possible", Width);
  end

  // The word that the source has transferred while the sink was not ready.
  logic full_q;
  logic [Width-1:0] data_q;

  assign ready_o = !full_q;
  assign valid_o = full_q || valid_i;
  assign data_o = full_q ? data_q : data_i;

  always_ff @(posedge clk_i) begin
    if (!full_q) data_q <= data_i;
    full_q <= valid_o && !ready_i;
    if (rst_i) full_q <= 1'b0;
  end

`ifndef SYNTHESIS
  spfe_check_stream #(
    .Width(Width)
  ) i_check_source (
    .clk_i,
    .rst_i,
    .valid_i,
    .ready_i(ready_o),
    .data_i
  );
  spfe_check_stream #(
    .Width(Width)
  ) i_check_sink (
    .clk_i,
    .rst_i,
    .valid_i(valid_o),
    .ready_i,
    .data_i(data_o)
  );
`endif
endmodule
