// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Compares ones' complement sums with a model that adds one word and one carry at a time.
module tb_oc
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Number of words in a sum.
  parameter int unsigned Words = 4,
  /// Number of sums to check.
  parameter int unsigned Sums = 50000
);
  logic [Words-1:0][15:0] words;
  logic [15:0] folded;
  logic [15:0] added;

  spfe_oc_fold #(.Words(Words)) i_fold (.words_i(words), .sum_o(folded));
  spfe_oc_add i_add (.a_i(words[0]), .b_i(words[1]), .sum_o(added));

  // Random word with a preference for the ends of the range.
  function automatic bit [15:0] word();
    case ($urandom_range(4))
      0: return 16'h0000;
      1: return 16'hffff;
      2: return 16'h0001;
      default: return 16'($urandom);
    endcase
  endfunction

  function automatic bit [15:0] plain(int unsigned number);
    int unsigned sum = 0;
    for (int unsigned i = 0; i < number; i++) begin
      sum += 32'(words[i]);
      while (sum > 32'hffff) sum = sum - 32'hffff;
    end
    return 16'(sum);
  endfunction

  initial begin
    if (chosen(Name)) begin
      for (int unsigned n = 0; n < Sums; n++) begin
        for (int unsigned i = 0; i < Words; i++) words[i] = word();
        #1;
        if (folded != plain(Words)) $fatal(1, "%h: %h instead of %h", words, folded, plain(Words));
        if (added != plain(2))
          $fatal(1, "%h + %h: %h instead of %h", words[0], words[1], added, plain(2));
      end
      passed(Name, Sums);
    end
  end
endmodule
