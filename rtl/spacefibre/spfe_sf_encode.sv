// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// 8b/10b encoder of a lane: 40 bits of the line for each word, one cycle later.
module spfe_sf_encode
  import spfe_sf_pkg::*;
  import spfe_sf_code_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Word to send, in each cycle.
  input word_t word_i,
  /// Bits of the line; bit 0 is sent first.
  output logic [39:0] bits_o
);
  // Running disparity, 1 is positive. Whether a symbol changes it does not depend on it,
  // so the four symbols need not wait for each other.
  logic plus;
  logic plus_q;
  code_t [3:0] minus_code;
  code_t [3:0] plus_code;
  logic [39:0] bits;
  logic [39:0] bits_q;

  always_comb begin
    plus = plus_q;
    for (int unsigned i = 0; i < 4; i++) begin
      minus_code[i] = encode(word_i.k[i], word_i.bits[8*i+:8], 1'b0);
      plus_code[i] = encode(word_i.k[i], word_i.bits[8*i+:8], 1'b1);
      bits[10*i+:10] = plus ? plus_code[i].bits : minus_code[i].bits;
      plus ^= minus_code[i].valid && minus_code[i].flips;
    end
  end
  assign bits_o = bits_q;

  always_ff @(posedge clk_i) begin
    plus_q <= plus;
    bits_q <= bits;
    if (rst_i) plus_q <= 1'b0;
  end

  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int unsigned i = 0; i < 4; i++) unused |= plus_code[i].valid ^ plus_code[i].flips;
  end
endmodule
