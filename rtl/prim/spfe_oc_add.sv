// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Adds two 16-bit numbers in ones' complement, as the Internet checksum does (RFC 1071): the carry
/// out is added to the sum. The sum is 0 only if both numbers are 0. Combinational.
module spfe_oc_add (
  /// First summand.
  input logic [15:0] a_i,
  /// Second summand.
  input logic [15:0] b_i,
  /// Ones' complement sum.
  output logic [15:0] sum_o
);
  logic [16:0] sum;

  assign sum = {1'b0, a_i} + {1'b0, b_i};
  assign sum_o = sum[15:0] + 16'(sum[16]);
endmodule
