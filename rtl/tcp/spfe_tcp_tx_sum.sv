// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Running ones-complement sum of a message (RFC 1071), available three cycles after its last beat.
module spfe_tcp_tx_sum
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Bytes per beat: 4, 8 or 16.
  parameter int unsigned Bytes = 8
) (
  input logic clk_i,
  input logic rst_i,
  /// A beat of a message is valid.
  input logic valid_i,
  /// First beat of the message.
  input logic first_i,
  /// Last beat of the message.
  input logic last_i,
  /// Beat data; first byte in bits 7:0, bytes that are not valid are 0.
  input logic [Bytes*8-1:0] data_i,
  /// sum_o is valid; one cycle.
  output logic valid_o,
  /// Ones-complement sum of the message, not inverted.
  output sum_t sum_o
);
  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned Pairs = Words / 2;
  localparam int unsigned Lanes = Bytes == 16 ? 2 : 1;
  logic valid_q;

  if (Bytes != 4 && Bytes != 8 && Bytes != 16) begin : gen_bad_bytes
    $error("spfe_tcp_tx_sum: Bytes is %0d; 4, 8 and 16 are possible", Bytes);
  end

  sum_t [Words-1:0] word;
  sum_t [Pairs-1:0] pair_q;
  sum_t [Lanes-1:0] lane_q, lane_d, acc_q;
  logic va_q, fa_q, la_q, vb_q, fb_q, lb_q;

  for (genvar i = 0; i < Words; i++) begin : gen_word
    assign word[i] = {data_i[i*16+:8], data_i[i*16+8+:8]};
  end
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    if (Pairs == 1) begin : gen_one
      assign lane_d[i] = pair_q[0];
    end else begin : gen_two
      assign lane_d[i] = sum2(pair_q[2*i], pair_q[2*i+1]);
    end
  end

  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Pairs; i++) pair_q[i] <= sum2(word[2*i], word[2*i+1]);
    va_q <= valid_i;
    fa_q <= first_i;
    la_q <= last_i;
    lane_q <= lane_d;
    vb_q <= va_q;
    fb_q <= fa_q;
    lb_q <= la_q;
    if (vb_q) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        acc_q[i] <= sum2(fb_q ? 16'd0 : acc_q[i], lane_q[i]);
      end
    end
    valid_q <= vb_q && lb_q;
    if (rst_i) begin
      va_q <= 1'b0;
      vb_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

  if (Lanes == 1) begin : gen_direct
    assign sum_o = acc_q[0];
  end else begin : gen_fold
    assign sum_o = sum2(acc_q[0], acc_q[1]);
  end
endmodule
