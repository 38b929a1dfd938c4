// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Skid buffer: ready_o comes from a register, data passes through in the same cycle.
/// It cuts the path of ready; spfe_slice cuts that of data too.
module spfe_skid #(
  /// Bits of a word; 1 or more.
  parameter int unsigned Width = 8
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: forgets the word that waits.
  input logic rst_i,
  /// A word is offered; from the source, which keeps it until ready_o.
  input logic valid_i,
  /// The offered word is taken; to the source, from a register.
  output logic ready_o,
  /// The offered word; from the source.
  input logic [Width-1:0] data_i,
  /// A word is offered; to the sink.
  output logic valid_o,
  /// The offered word is taken; from the sink.
  input logic ready_i,
  /// The offered word; to the sink, stable until it is taken.
  output logic [Width-1:0] data_o
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_skid: Width is %0d; 1 or more is possible", Width);
  end

  // A word that was taken from the source and not yet by the sink.
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
