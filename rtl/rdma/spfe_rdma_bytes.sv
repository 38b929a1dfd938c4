// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes the words of a virtual channel apart and joins their data bytes to words of four, so that
/// a packet starts with a word of its own. Fill may be anywhere.
module spfe_rdma_bytes
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,

  /// Bytes; byte 0 is the first.
  output logic [3:0][7:0] data_o,
  /// Number of bytes, 4 unless last_o is set; then 0 to 4. With data_o.
  output logic [2:0] count_o,
  /// The packet ends here; with data_o.
  output logic last_o,
  /// It ends with EEP; with last_o.
  output logic cut_o,
  output logic valid_o,
  input logic ready_i
);
  // Symbols of the word that were taken; bytes that wait for more; an end that waits for them.
  logic [3:0] taken_q, taken;
  logic [2:0][7:0] rest_q;
  logic [1:0] rest_count_q;
  logic end_q, cut_q;
  logic [7:0][7:0] joined;
  logic [3:0] count;
  logic ended, cut, accept;
  // The word that is offered.
  logic [3:0][7:0] data_q;
  logic [2:0] count_q;
  logic last_q, last_cut_q, valid_q;

  always_comb begin
    taken = taken_q;
    joined = '0;
    joined[2:0] = rest_q;
    count = {2'd0, rest_count_q};
    ended = 1'b0;
    cut = 1'b0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (!taken[i] && !ended) begin
        taken[i] = 1'b1;
        if (!word_i.k[i]) begin
          for (int unsigned j = 0; j < 7; j++) if (count == 4'(j)) joined[j] = word_i.bits[8*i+:8];
          count = count + 4'd1;
        end else if (word_i.bits[8*i+:8] == Eop || word_i.bits[8*i+:8] == Eep) begin
          ended = 1'b1;
          cut = word_i.bits[8*i+:8] == Eep;
        end
      end
    end
  end

  assign accept = word_valid_i && !end_q && (!valid_q || ready_i);
  assign word_ready_o = !end_q && (!valid_q || ready_i) && taken == '1;
  assign data_o = data_q;
  assign count_o = count_q;
  assign last_o = last_q;
  assign cut_o = last_cut_q;
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (valid_q && ready_i) valid_q <= 1'b0;
    if (end_q && (!valid_q || ready_i)) begin
      // What did not fit into the word before.
      data_q <= {8'd0, rest_q};
      count_q <= {1'b0, rest_count_q};
      last_q <= 1'b1;
      last_cut_q <= cut_q;
      valid_q <= 1'b1;
      end_q <= 1'b0;
      rest_count_q <= '0;
    end else if (accept) begin
      taken_q <= taken == '1 ? '0 : taken;
      data_q <= joined[3:0];
      last_cut_q <= cut;
      cut_q <= cut;
      if (count >= 4'd4) begin
        rest_q <= joined[6:4];
        rest_count_q <= 2'(count - 4'd4);
        count_q <= 3'd4;
        last_q <= ended && count == 4'd4;
        end_q <= ended && count != 4'd4;
        valid_q <= 1'b1;
      end else begin
        rest_q <= joined[2:0];
        rest_count_q <= ended ? '0 : 2'(count);
        count_q <= count[2:0];
        last_q <= 1'b1;
        valid_q <= ended;
      end
    end
    if (rst_i) begin
      taken_q <= '0;
      rest_count_q <= '0;
      end_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = ^joined[7];
endmodule
