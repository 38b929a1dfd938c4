// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Adds 16-bit words in ones' complement (RFC 1071). The sum is 0 only if all words are.
/// Combinational.
module spfe_oc_fold #(
  /// Words; 2 to 65536.
  parameter int unsigned WORDS = 4
) (
  /// The words to add, in any order.
  input  logic [WORDS-1:0][15:0] words_i,
  /// Their sum.
  output logic [15:0]            sum_o
);
  localparam int unsigned CARRY_WIDTH = $clog2(WORDS);

  if (WORDS < 2 || WORDS > 65536) begin : gen_bad_words
    $error("spfe_oc_fold: WORDS is %0d; 2 to 65536 are possible", WORDS);
  end

  logic [CARRY_WIDTH+15:0] total;

  always_comb begin
    total = '0;
    for (int unsigned i = 0; i < WORDS; i++) total += (CARRY_WIDTH + 16)'(words_i[i]);
  end

  spfe_oc_add fold (.a_i(total[15:0]), .b_i(16'(total[CARRY_WIDTH+15:16])), .sum_o);
endmodule
