// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Initial sequence number: a clock plus a keyed hash of the four-tuple, similar to RFC 6528. The
/// hash uses rotations, additions and exclusive or, and makes no cryptographic claim. Takes nine
/// cycles.
module spfe_tcp_eng_mix
  import spfe_tcp_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Starts a computation. The inputs below must be stable until done_o.
  input logic start_i,
  /// Address of the peer.
  input ip_t ip_i,
  /// Port of the peer.
  input port_t port_i,
  /// Our port.
  input port_t lport_i,
  /// Virtual interface.
  input vif_t vif_i,
  /// Secret (tcp_cfg_t).
  input logic [31:0] key_i,
  /// Time part of the sequence number.
  input seq_t clock_i,
  /// iss_o is valid, until the next start.
  output logic done_o,
  /// Initial sequence number.
  output seq_t iss_o
);
  logic [3:0] round_q;
  logic [31:0] sum_q;
  logic [31:0] word, turned;
  seq_t iss_q;

  always_comb begin
    unique case (round_q[1:0])
      2'd0: word = ip_i;
      2'd1: word = {port_i, lport_i};
      2'd2: word = key_i;
      default: word = {29'd0, vif_i} ^ {key_i[12:0], key_i[31:13]};
    endcase
    turned = {sum_q[24:0], sum_q[31:25]} ^ {sum_q[12:0], sum_q[31:13]} ^ sum_q ^ word;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      round_q <= 4'd9;
    end else if (start_i) begin
      round_q <= 4'd0;
    end else if (round_q != 4'd9) begin
      round_q <= round_q + 4'd1;
    end
    if (start_i) sum_q <= key_i;
    else sum_q <= turned + {key_i[20:0], key_i[31:21]};
    if (round_q == 4'd8) iss_q <= sum_q + clock_i;
  end

  assign done_o = round_q == 4'd9 && !start_i;
  assign iss_o = iss_q;

endmodule
