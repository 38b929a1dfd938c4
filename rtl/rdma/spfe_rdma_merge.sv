// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Puts the packets of two sides one after the other. The first side has precedence.
module spfe_rdma_merge
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// Word of each side.
  input word_t [1:0] side_i,
  /// Virtual channel; with side_i.
  input logic [1:0][4:0] side_vc_i,
  input logic [1:0] side_valid_i,
  output logic [1:0] side_ready_o,
  /// Word to send.
  output word_t word_o,
  /// Virtual channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  // A packet has begun, or a word is on offer that must not change, and it is of the second side.
  logic sends_q, second_q, second, ends;

  always_comb begin
    second = sends_q ? second_q : !side_valid_i[0];
    word_o = side_i[second];
    vc_o = side_vc_i[second];
    word_valid_o = side_valid_i[second];
    ends = 1'b0;
    for (int unsigned i = 0; i < 4; i++)
    ends |= word_o.k[i] && word_o.bits[8*i+:8] inside {Eop, Eep};
  end

  assign side_ready_o = word_ready_i ? {second, !second} : '0;

  always_ff @(posedge clk_i) begin
    if (word_valid_o) begin
      sends_q <= !(word_ready_i && ends);
      second_q <= second;
    end
    if (rst_i) sends_q <= 1'b0;
  end
endmodule
