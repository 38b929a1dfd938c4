// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// 8b/10b decoder of a lane. A symbol that is no code, or one of the other disparity, becomes K0.0.
module spfe_sf_decode
  import spfe_sf_pkg::*;
  import spfe_sf_code_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// 40 bits of a word; bit 0 was received first.
  input logic [39:0] bits_i,
  /// The word, two cycles later.
  output word_t word_o,
  /// Symbols of word_o that are wrong.
  output logic [3:0] error_o
);
  localparam table_t Table = decode_table();

  decoded_t [3:0] found_q;
  // Running disparity, 1 is positive.
  logic plus;
  logic plus_q;
  word_t word, word_q;
  logic [3:0] error, error_q;

  always_comb begin
    plus = plus_q;
    for (int unsigned i = 0; i < 4; i++) begin
      error[i] = plus ? !found_q[i].valid_plus : !found_q[i].valid_minus;
      plus = plus ? found_q[i].after_plus : found_q[i].after_minus;
      word.k[i] = error[i] || found_q[i].k;
      word.bits[8*i+:8] = error[i] ? KError : found_q[i].value;
    end
  end
  assign word_o = word_q;
  assign error_o = error_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) found_q[i] <= Table[bits_i[10*i+:10]];
    plus_q <= plus;
    word_q <= word;
    error_q <= error;
    if (rst_i) plus_q <= 1'b0;
  end
endmodule
