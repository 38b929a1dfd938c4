// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Adds any number of 16-bit words in ones' complement (RFC 1071). The sum is 0 only if all words
/// are 0. Combinational.
module spfe_oc_fold #(
  /// Number of words, 2 to 65536.
  parameter int unsigned Words = 4
) (
  /// Words to add.
  input logic [Words-1:0][15:0] words_i,
  /// Ones' complement sum.
  output logic [15:0] sum_o
);
  localparam int unsigned CarryWidth = $clog2(Words);

  if (Words < 2 || Words > 65536) begin : gen_bad_words
    $error("spfe_oc_fold: Words is %0d; 2 to 65536 are possible", Words);
  end

  logic [CarryWidth+15:0] total;

  always_comb begin
    total = '0;
    for (int unsigned i = 0; i < Words; i++) total += (CarryWidth + 16)'(words_i[i]);
  end

  spfe_oc_add i_fold (
    .a_i(total[15:0]),
    .b_i(16'(total[CarryWidth+15:16])),
    .sum_o
  );
endmodule
