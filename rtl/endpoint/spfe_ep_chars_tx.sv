// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes the words of a channel apart into the N-Chars of SpaceWire. Fill is left out.
module spfe_ep_chars_tx
  import spfe_sf_pkg::*;
#(
  /// Words in a beat of the channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bits of a number of words; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Words of the channel.
  input word_t [Words-1:0] words_i,
  /// Their number; with words_i.
  input logic [CountWidth-1:0] count_i,
  input logic words_valid_i,
  output logic words_ready_o,
  /// N-Char: a byte, or with bit 8 EOP (0) or EEP (1).
  output logic [8:0] char_o,
  output logic char_valid_o,
  input logic char_ready_i
);
  localparam int unsigned AtWidth = $clog2(4 * Words);

  // The symbol in turn.
  logic [AtWidth-1:0] at_q;
  logic [4*Words-1:0] k;
  logic [4*Words-1:0][7:0] symbols;
  logic [7:0] symbol;
  logic control, fill, step, last;
  always_comb begin
    for (int unsigned i = 0; i < Words; i++) begin
      k[4*i+:4] = words_i[i].k;
      symbols[4*i+:4] = words_i[i].bits;
    end
  end
  assign symbol = symbols[at_q];
  assign control = k[at_q];
  assign fill = control && symbol != Eop && symbol != Eep;
  assign char_o = control ? {8'h80, symbol == Eep} : {1'b0, symbol};
  assign char_valid_o = words_valid_i && !fill;
  assign step = words_valid_i && (fill || char_ready_i);
  assign last = 32'(at_q) + 1 == 4 * 32'(count_i);
  assign words_ready_o = step && last;

  always_ff @(posedge clk_i) begin
    if (step) at_q <= last ? '0 : at_q + 1'b1;
    if (rst_i) at_q <= '0;
  end
endmodule
