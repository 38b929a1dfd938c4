// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Alignment buffer of a lane (ECSS-E-ST-50-11C, 5.6.4.5): words that wait for those of the other
/// lanes. A word may leave in the cycle in which it comes.
module spfe_sf_align_buffer
  import spfe_sf_lanes_pkg::*;
#(
  /// Bits of a word.
  parameter int unsigned Width = 40
) (
  input logic clk_i,
  input logic rst_i,
  /// Drops the words in the buffer, before the others happen.
  input logic flush_i,
  /// Word to add.
  input logic [Width-1:0] word_i,
  /// Adds it.
  input logic push_i,
  /// There is no room for it.
  output logic full_o,
  /// Drops all words, word_i among them.
  input logic drop_i,
  /// First word.
  output logic [Width-1:0] head_o,
  /// There is one, unless drop_i.
  output logic valid_o,
  /// Removes it.
  input logic pop_i
);
  localparam int unsigned CountWidth = $clog2(AlignWords + 1);

  // The newest word is first, so that a word never moves between two places at once.
  logic [AlignWords-1:0][Width-1:0] words_q;
  logic [CountWidth-1:0] count_q, count;

  assign count = flush_i ? '0 : count_q;
  assign full_o = push_i && count == CountWidth'(AlignWords);
  assign valid_o = push_i || count != '0;

  always_comb begin
    head_o = word_i;
    for (int unsigned i = 0; i < AlignWords; i++) begin
      if (count == CountWidth'(i + 1)) head_o = words_q[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) words_q <= {words_q[AlignWords-2:0], word_i};
    count_q <= drop_i ? '0 : count + CountWidth'(push_i) - CountWidth'(pop_i);
    if (rst_i) count_q <= '0;
  end
endmodule
