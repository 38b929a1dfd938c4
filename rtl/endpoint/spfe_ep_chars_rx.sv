// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Makes words of a channel out of the N-Chars of SpaceWire. Fill completes the last word of a
/// packet.
module spfe_ep_chars_rx
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// N-Char: a byte, or with bit 8 EOP (0) or EEP (1).
  input logic [8:0] char_i,
  input logic char_valid_i,
  output logic char_ready_o,
  /// Word of the channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  word_t word_q, word;
  logic [1:0] at_q;
  logic full_q, takes;
  assign char_ready_o = !full_q || word_ready_i;
  assign takes = char_valid_i && char_ready_o;
  assign word_o = word_q;
  assign word_valid_o = full_q;

  always_comb begin
    word = at_q == '0 ? '{k: 4'hf, bits: {4{Fill}}} : word_q;
    word.k[at_q] = char_i[8];
    word.bits[8*at_q+:8] = !char_i[8] ? char_i[7:0] : char_i[0] ? Eep : Eop;
  end

  always_ff @(posedge clk_i) begin
    if (word_ready_i) full_q <= 1'b0;
    if (takes) begin
      word_q <= word;
      full_q <= char_i[8] || at_q == 2'd3;
      at_q <= char_i[8] ? '0 : at_q + 2'd1;
    end
    if (rst_i) begin
      full_q <= 1'b0;
      at_q <= '0;
    end
  end
endmodule
