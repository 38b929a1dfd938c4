// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Adds two 16-bit numbers in ones' complement, as the Internet checksum does (RFC 1071): the carry
/// comes in again at the bottom. The sum is 0 only if both numbers are. Combinational.
module spfe_oc_add (
  /// First number.
  input logic [15:0] a_i,
  /// Second number.
  input logic [15:0] b_i,
  /// Their sum.
  output logic [15:0] sum_o
);
  logic [16:0] sum;

  assign sum = {1'b0, a_i} + {1'b0, b_i};
  assign sum_o = sum[15:0] + 16'(sum[16]);
endmodule
