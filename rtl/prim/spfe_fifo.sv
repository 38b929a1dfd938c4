// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Synchronous first-word-fall-through FIFO. With up to 64 words it uses distributed RAM and a word
/// can be read one cycle after it was written; a deeper one uses block RAM and takes two cycles.
module spfe_fifo #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8,
  /// Number of words, a power of two, 2 or more.
  parameter int unsigned Depth = 16,
  /// almost_full_o rises when fewer than this many words are free, 1 to Depth.
  parameter int unsigned AlmostFull = 1,
  /// Bits in a number of words; follows from Depth.
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Word from the writer.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  output logic ready_o,
  /// Oldest word, to the reader.
  output logic [Width-1:0] data_o,
  output logic valid_o,
  input logic ready_i,
  /// Number of words in the FIFO.
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
