// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Turns words in the order of the banks of spfe_sf_ring into the order of their positions.
///
/// Each word has registers of its own for its choice, in which the bits have another order or form:
/// if words shared a multiplexer of two words, one of four would not fit into a look-up table.
module spfe_sf_turn
  import spfe_sf_pkg::*;
#(
  /// Words that come in, a power of two.
  parameter int unsigned Banks = 4,
  /// Words that go out, up to Banks.
  parameter int unsigned Lanes = Banks,
  /// Bits of the number of a word; follows from Banks.
  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input logic clk_i,
  /// The words of the next cycle are others.
  input logic load_i,
  /// Number of that of them which becomes word 0; the others follow it, word 0 after the last.
  input logic [BankWidth-1:0] first_i,
  /// Words.
  input word_t [Banks-1:0] words_i,
  /// The words turned.
  output word_t [Lanes-1:0] words_o
);
  if (Banks == 1) begin : gen_one
    assign words_o = words_i;
    logic unused_first;
    assign unused_first = ^{clk_i, load_i, first_i};
  end else begin : gen_turn
    localparam int unsigned Second = BankWidth > 1 ? 1 : 0;

    function automatic logic [BankWidth-1:0] code(input int unsigned i,
                                                  input logic [BankWidth-1:0] number);
      code = number;
      if (BankWidth > 1 && i % 4 == 2) begin
        code[0] = number[Second];
        code[Second] = number[0] ^ number[Second];
      end
      if (BankWidth > 1 && i % 4 == 3) begin
        code[0] = !number[0];
        code[Second] = number[Second];
      end
    endfunction

    for (genvar i = 0; i < Lanes; i++) begin : gen_word
      word_t [Banks-1:0] coded;
      logic [BankWidth-1:0] choice_q;
      always_ff @(posedge clk_i) if (load_i) choice_q <= code(i, first_i + BankWidth'(i));
      always_comb begin
        for (int unsigned b = 0; b < Banks; b++) coded[code(i, BankWidth'(b))] = words_i[b];
      end
      assign words_o[i] = coded[choice_q];
    end
  end
endmodule
