// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Verifies the checksums of an ICMP message and its IP header while the frame arrives (RFC 1071).
/// Assumes an IP header without options, in words 3 to 8.
module spfe_tcp_icmp_sum
  import spfe_tcp_net_pkg::*;
#(
  /// Words per beat: 1 or 2.
  parameter int unsigned Lanes = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// A frame starts with the words of this cycle.
  input logic start_i,
  /// The lane carries a word.
  input logic [Lanes-1:0] word_valid_i,
  /// Word number.
  input pos_t [Lanes-1:0] word_pos_i,
  /// Word data; first byte in bits 31:24.
  input logic [Lanes-1:0][31:0] word_data_i,
  /// Length of the IP packet in bytes; valid from word 8.
  input logic [15:0] len_i,
  /// Both checksums are correct; valid three cycles after the last word.
  output logic good_o
);
  // room for the carries, which are folded in with the next words
  localparam int unsigned SumBits = 20;
  typedef logic [SumBits-1:0] acc_t;
  logic good_q;

  // Bytes of each word that belong to the IP header and to the ICMP message.
  logic start_q;
  logic [Lanes-1:0][31:0] ip_q, ip_d, icmp_q, icmp_d;
  // End of the packet in the frame in bytes; valid from two cycles after word 4.
  logic [15:0] total_q;

  always_comb begin
    ip_d = '0;
    icmp_d = '0;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      logic counts;
      logic [31:0] word;
      counts = 14'(word_pos_i[lane]) < total_q[15:2];
      word = '0;
      for (int unsigned i = 0; i < 4; i++) begin
        if (counts || (14'(word_pos_i[lane]) == total_q[15:2] && 2'(i) < total_q[1:0])) begin
          word[31-8*i-:8] = word_data_i[lane][31-8*i-:8];
        end
      end
      if (word_valid_i[lane]) begin
        if (word_pos_i[lane] == pos_t'(3)) ip_d[lane] = {16'd0, word_data_i[lane][15:0]};
        else if (word_pos_i[lane] > pos_t'(3) && word_pos_i[lane] < pos_t'(8)) begin
          ip_d[lane] = word_data_i[lane];
        end else if (word_pos_i[lane] == pos_t'(8)) begin
          ip_d[lane] = {word_data_i[lane][31:16], 16'd0};
          icmp_d[lane] = {16'd0, word[15:0]};
        end else if (word_pos_i[lane] > pos_t'(8)) icmp_d[lane] = word;
      end
    end
  end

  acc_t ip_sum_q, icmp_sum_q;

  function automatic acc_t add(acc_t acc, logic [Lanes-1:0][31:0] words);
    acc_t sum;
    sum = acc_t'(acc[15:0]) + acc_t'(acc[SumBits-1:16]);
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      sum = sum + acc_t'(words[lane][31:16]) + acc_t'(words[lane][15:0]);
    end
    return sum;
  endfunction

  // A correct packet, including its checksum, sums to 0xFFFF.
  function automatic logic right(acc_t acc);
    logic [16:0] sum;
    sum = 17'(acc[15:0]) + 17'(acc[SumBits-1:16]);
    return sum == 17'h0FFFF || sum == 17'h1FFFE;
  endfunction

  assign good_o = good_q;

  always_ff @(posedge clk_i) begin
    start_q <= start_i;
    total_q <= len_i + 16'(EthBytes);
    ip_q <= ip_d;
    icmp_q <= icmp_d;
    ip_sum_q <= add(start_q ? '0 : ip_sum_q, ip_q);
    icmp_sum_q <= add(start_q ? '0 : icmp_sum_q, icmp_q);
    good_q <= right(ip_sum_q) && right(icmp_sum_q);
    if (rst_i) start_q <= 1'b0;
  end
endmodule
