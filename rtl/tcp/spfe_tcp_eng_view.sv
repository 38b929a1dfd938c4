// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// View of a session for software: holds the request until the pipeline accepts it, and the answer
/// until the next one.
module spfe_tcp_eng_view
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// Requested session; a number out of range shows session 0.
  input sid_t sid_i,
  /// Requests a view; one cycle.
  input logic req_i,
  /// A request is pending; to the pipeline.
  output logic wait_o,
  /// Session of the request.
  output sid_t sid_o,
  /// Pipeline accepts the request.
  input logic take_i,
  /// The following inputs belong to the requested session.
  input logic done_i,
  /// State of the session.
  input eng_tcb_t tcb_i,
  /// Four-tuple of the session.
  input eng_tup_t tup_i,
  /// SND.NXT of the session.
  input seq_t snd_nxt_i,
  /// RCV.NXT of the session.
  input seq_t rcv_nxt_i,
  /// RTO with backoff, in ticks.
  input logic [15:0] rto_i,
  /// Free bytes in the ring.
  input logic [31:0] credit_i,
  /// View; held until the next one.
  output view_t view_o,
  /// view_o is new; one cycle.
  output logic valid_o
);
  logic wait_q;
  sid_t sid_q;
  logic valid_q;
  view_t view_q;
  logic unused_bits;
  assign unused_bits = ^{tcb_i, tup_i};

  assign wait_o = wait_q;
  assign sid_o = sid_q;
  assign valid_o = valid_q;
  assign view_o = view_q;

  always_ff @(posedge clk_i) begin
    if (req_i) begin
      wait_q <= 1'b1;
      sid_q <= 32'(sid_i) < SessionCount ? sid_i : '0;
    end else if (take_i) begin
      wait_q <= 1'b0;
    end
    valid_q <= done_i;
    if (done_i) begin
      view_q <= '{
        state: tcb_i.state,
        ip: tup_i.ip,
        port: tup_i.port,
        lport: tup_i.lport,
        vif: tup_i.vif,
        snd_una: tcb_i.una,
        snd_nxt: snd_nxt_i,
        rcv_nxt: rcv_nxt_i,
        snd_wnd: 32'(tcb_i.wnd),
        cwnd: 32'(tcb_i.cwnd),
        ssthresh: 32'(tcb_i.ssthresh),
        rto: rto_i,
        srtt: tcb_i.srtt[18:3],
        mss: tcb_i.mss,
        credit: credit_i
      };
    end
    if (rst_i) begin
      wait_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

endmodule
