// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// View of a session for software: holds the request until the pipeline accepts it, and the answer
/// until the next one.
module spfe_tcp_eng_view
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  input logic clk_i,
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
  /// commit_i is the view event of the request; one cycle.
  input logic done_i,
  /// The event in the write stage.
  input eng_commit_t commit_i,
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
  assign unused_bits = ^commit_i;

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
        state: commit_i.old_tcb.state,
        ip: commit_i.old_tup.ip,
        port: commit_i.old_tup.port,
        lport: commit_i.old_tup.lport,
        vif: commit_i.old_tup.vif,
        snd_una: commit_i.old_tcb.una,
        snd_nxt: commit_i.snd_nxt,
        rcv_nxt: commit_i.rcv_nxt,
        snd_wnd: 32'(commit_i.old_tcb.wnd),
        cwnd: 32'(commit_i.old_tcb.cwnd),
        ssthresh: 32'(commit_i.old_tcb.ssthresh),
        rto: commit_i.rto,
        srtt: commit_i.old_tcb.srtt[18:3],
        mss: commit_i.old_tcb.mss,
        credit: commit_i.credit
      };
    end
    if (rst_i) begin
      wait_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

endmodule
