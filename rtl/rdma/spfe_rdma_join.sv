// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins the bytes of packets to words of a virtual channel, with the end of each packet.
module spfe_rdma_join
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// Bytes; byte 0 is the first.
  input logic [3:0][7:0] data_i,
  /// Number of bytes, 0 to 4; with data_i.
  input logic [2:0] count_i,
  /// The packet ends, and brings no more bytes; with data_i.
  input logic end_i,
  /// With EEP; with end_i.
  input logic cut_i,
  /// Virtual channel; with data_i.
  input logic [4:0] vc_i,
  input logic valid_i,
  output logic ready_o,

  /// Word for the virtual channel.
  output word_t word_o,
  /// Number of the channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  // Bytes that wait for more.
  logic [2:0][7:0] rest_q;
  logic [1:0] rest_count_q;
  logic [2:0] rest_after;
  logic [6:0][7:0] joined;
  word_t word_q, last_word;
  logic [4:0] vc_q;
  logic word_valid_q;

  assign ready_o = !word_valid_q || word_ready_i;
  always_comb begin
    joined = '0;
    joined[2:0] = rest_q;
    for (int unsigned i = 0; i < 4; i++) joined[3'(rest_count_q)+3'(i)] = data_i[i];
    rest_after = 3'(rest_count_q) + count_i;
    last_word = '{k: 4'hf, bits: {4{Fill}}};
    for (int unsigned i = 0; i < 4; i++) begin
      if (i < 32'(rest_count_q)) begin
        last_word.k[i] = 1'b0;
        last_word.bits[8*i+:8] = joined[i];
      end else if (i == 32'(rest_count_q)) begin
        last_word.bits[8*i+:8] = cut_i ? Eep : Eop;
      end
    end
  end

  assign vc_o = vc_q;
  assign word_o = word_q;
  assign word_valid_o = word_valid_q;
  always_ff @(posedge clk_i) begin
    if (word_valid_q && word_ready_i) word_valid_q <= 1'b0;
    if (valid_i && ready_o) begin
      vc_q <= vc_i;
      if (end_i) begin
        word_q <= last_word;
        word_valid_q <= 1'b1;
        rest_count_q <= '0;
      end else begin
        word_q <= '{k: '0, bits: joined[3:0]};
        word_valid_q <= rest_after >= 3'd4;
        rest_q <= rest_after >= 3'd4 ? joined[6:4] : joined[2:0];
        rest_count_q <= rest_after[1:0];
      end
    end
    if (rst_i) begin
      word_valid_q <= 1'b0;
      rest_count_q <= '0;
    end
  end
endmodule
