// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_secded_decode corrects any one wrong bit of any word and detects any two.
module formal_secded
  import spfe_secded_pkg::*;
#(
  /// Bits in a word.
  parameter int unsigned Width = 16,
  /// Bits of a word with its check bits; follows from Width.
  localparam int unsigned Stored = Width + check_bits(Width)
) (
  input logic clk_i,
  /// Free: the word.
  input logic [Width-1:0] data_i,
  /// Free: a wrong bit.
  input logic [$clog2(Stored)-1:0] one_i,
  /// Free: another wrong bit.
  input logic [$clog2(Stored)-1:0] two_i,
  /// Free: how many bits are wrong, 0 to 2.
  input logic [1:0] wrong_i
);
  logic [Stored-Width-1:0] check;
  logic [Stored-1:0] flips;
  logic [Stored-1:0] stored;
  logic [Width-1:0] data;
  logic corrected;
  logic failed;

  spfe_secded_encode #(
    .Width(Width)
  ) i_encode (
    .data_i,
    .check_o(check)
  );

  always_comb begin
    flips = '0;
    for (int unsigned i = 0; i < Stored; i++) begin
      if (wrong_i >= 2'd1 && 32'(one_i) == i) flips[i] = 1'b1;
      if (wrong_i == 2'd2 && 32'(two_i) == i) flips[i] = 1'b1;
    end
  end
  assign stored = {check, data_i} ^ flips;

  spfe_secded_decode #(
    .Width(Width)
  ) i_decode (
    .data_i(stored[Width-1:0]),
    .check_i(stored[Stored-1:Width]),
    .data_o(data),
    .corrected_o(corrected),
    .failed_o(failed)
  );

  always_ff @(posedge clk_i) begin
    m_places : assume (32'(one_i) < Stored && 32'(two_i) < Stored && one_i != two_i);
    m_wrong : assume (wrong_i <= 2'd2);
    a_good : assert (wrong_i == 2'd2 || data == data_i);
    a_corrected : assert (corrected == (wrong_i == 2'd1));
    a_failed : assert (failed == (wrong_i == 2'd2));
    c_data : cover (corrected && stored[Width-1:0] != data_i);
    c_check : cover (corrected && stored[Width-1:0] == data_i);
  end
endmodule
