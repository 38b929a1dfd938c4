// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Events to the user: serialises the events of one decision into a FIFO. Events that find the FIFO
/// full are lost and counted.
module spfe_tcp_eng_event
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// 1: raise EvStatus at each state change of a session.
  parameter bit StatusEvents = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// A decision is committed; only while idle_o is high.
  input logic valid_i,
  /// The event in the write stage.
  input eng_commit_t commit_i,
  /// No event of the last decision is pending.
  output logic idle_o,
  /// Event to the user.
  output event_t event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// An event was lost; one cycle.
  output logic lost_o
);
  logic opened_q, closed_q, fin_q, failed_q, status_q, credit_q;
  sid_t sid_q;
  state_e state_q;
  eng_tup_t tup_q;
  close_e reason_q;
  logic [31:0] bytes_q;
  event_t next;
  logic next_valid, ready, unused_almost;
  logic [5:0] unused_count;
  logic unused_bits;

  // The decision and the four-tuple are used in part.
  assign unused_bits = ^{commit_i, tup_q};

  always_comb begin
    next.kind = EvOpened;
    next.sid = 16'(sid_q);
    next.data = {5'd0, tup_q.vif, tup_q.port, tup_q.lport};
    next_valid = 1'b1;
    if (opened_q) begin
      next.kind = EvOpened;
    end else if (failed_q) begin
      next.kind = EvArpFailed;
      next.data = {8'd0, tup_q.ip};
    end else if (fin_q) begin
      next.kind = EvPeerFin;
      next.data = '0;
    end else if (credit_q) begin
      next.kind = EvCredit;
      next.data = {8'd0, bytes_q};
    end else if (closed_q) begin
      next.kind = EvClosed;
      next.data = {32'd0, reason_q};
    end else if (status_q) begin
      next.kind = EvStatus;
      next.data = {36'd0, state_q};
    end else begin
      next_valid = 1'b0;
    end
  end

  assign idle_o = !next_valid;
  assign lost_o = next_valid && !ready;

  spfe_fifo #(
    .Width($bits(event_t)),
    .Depth(32)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(next_valid && ready),
    .ready_o(ready),
    .data_i(next),
    .valid_o(event_valid_o),
    .ready_i(event_ready_i),
    .data_o(event_o),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );

  always_ff @(posedge clk_i) begin
    // One event per cycle, in the order of the selection above.
    opened_q <= 1'b0;
    if (!opened_q) begin
      failed_q <= 1'b0;
      if (!failed_q) begin
        fin_q <= 1'b0;
        if (!fin_q) begin
          credit_q <= 1'b0;
          if (!credit_q) begin
            closed_q <= 1'b0;
            if (!closed_q) status_q <= 1'b0;
          end
        end
      end
    end
    if (valid_i) begin
      opened_q <= commit_i.dec.opened;
      closed_q <= commit_i.dec.closed;
      fin_q <= commit_i.dec.peer_fin;
      failed_q <= commit_i.dec.arp_failed;
      credit_q <= commit_i.dec.credit;
      status_q <= StatusEvents && commit_i.dec.we &&
          commit_i.dec.tcb.state != commit_i.old_tcb.state;
      sid_q <= commit_i.sid;
      state_q <= commit_i.dec.tcb.state;
      tup_q <= commit_i.old_tup;
      reason_q <= commit_i.dec.reason;
      bytes_q <= commit_i.credit;
    end
    if (rst_i) begin
      opened_q <= 1'b0;
      closed_q <= 1'b0;
      fin_q <= 1'b0;
      failed_q <= 1'b0;
      credit_q <= 1'b0;
      status_q <= 1'b0;
    end
  end

endmodule
