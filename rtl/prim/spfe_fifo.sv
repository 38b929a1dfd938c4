// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Synchronous FIFO that shows its oldest word. Up to 64 words are in distributed RAM and readable
/// one cycle after they were written; more are in block RAM and readable after two.
module spfe_fifo #(
  /// Bits of a word; 1 or more.
  parameter int unsigned Width = 8,
  /// Words; a power of two, 2 or more.
  parameter int unsigned Depth = 16,
  /// almost_full_o means that fewer than this many words are free; 1 to Depth.
  parameter int unsigned AlmostFull = 1,
  /// Bits of a number of words; follows from Depth.
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: empties the FIFO.
  input logic rst_i,
  /// A word is offered; from the writer, which keeps it until ready_o.
  input logic valid_i,
  /// There is room for it; to the writer.
  output logic ready_o,
  /// The offered word; from the writer.
  input logic [Width-1:0] data_i,
  /// A word can be read; to the reader.
  output logic valid_o,
  /// The word is taken; from the reader.
  input logic ready_i,
  /// The oldest word; to the reader, stable until it is taken.
  output logic [Width-1:0] data_o,
  /// Words in the FIFO.
  output logic [CountWidth-1:0] count_o,
  /// Fewer than AlmostFull words are free.
  output logic almost_full_o
);
  logic [CountWidth-1:0] unused_used;

  spfe_packet_fifo #(
    .Width(Width),
    .Depth(Depth),
    .AlmostFull(AlmostFull)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i,
    .ready_o,
    .data_i,
    .commit_i(1'b1),
    .rollback_i(1'b0),
    .valid_o,
    .ready_i,
    .data_o,
    .count_o,
    .used_o(unused_used),
    .almost_full_o
  );

`ifndef SYNTHESIS
  spfe_check_stream #(
    .Width(Width)
  ) i_check_writer (
    .clk_i,
    .rst_i,
    .valid_i,
    .ready_i(ready_o),
    .data_i
  );
`endif
endmodule
