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

  localparam int unsigned PlaceWidth = $clog2(AlignWords);

  // Place of the next word.
  logic [PlaceWidth-1:0] place_q;
  logic [CountWidth-1:0] count_q, count;
  logic [Width-1:0] oldest;

  if ((AlignWords & (AlignWords - 1)) != 0) begin : gen_bad_words
    $error("spfe_sf_align_buffer: AlignWords is %0d; a power of two is possible", AlignWords);
  end

  assign count = flush_i ? '0 : count_q;
  assign full_o = push_i && count == CountWidth'(AlignWords);
  assign valid_o = push_i || count != '0;
  assign head_o = count == '0 ? word_i : oldest;

  spfe_lutram #(
    .Width(Width),
    .Depth(AlignWords)
  ) i_words (
    .clk_i,
    .we_i(push_i),
    .addr_i(place_q),
    .data_i(word_i),
    .raddr_i(place_q - PlaceWidth'(count_q)),
    .rdata_o(oldest)
  );

  always_ff @(posedge clk_i) begin
    if (push_i) place_q <= place_q + 1'b1;
    count_q <= drop_i ? '0 : count + CountWidth'(push_i) - CountWidth'(pop_i);
    if (rst_i) begin
      place_q <= '0;
      count_q <= '0;
    end
  end
endmodule
