// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decision for a report of the transmitter or of the receiver's windows. Combinational.
module spfe_tcp_eng_done
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// The receiver knows the four-tuple of the session.
  input logic keyed_i,
  /// The segment consumes sequence numbers and is not acknowledged yet.
  input logic counts_i,
  /// Decision.
  output eng_dec_t dec_o
);
  eng_tcb_t tcb;
  tx_done_t done;
  logic unused_bits;

  // The context and the report are used in part.
  assign unused_bits = ^{ctx_i, done};

  assign tcb = ctx_i.tcb;
  assign done = ctx_i.done;
  always_comb begin
    dec_o = dec_keep(tcb, ctx_i.tup);
    if (done.kind == TxCommand) begin
      if (tcb.busy != 2'd0) dec_o.tcb.busy = tcb.busy - 2'd1;
      if (done.flags.fin) dec_o.tcb.fin_in = tcb.fin_out;
    end
    if (done.kind == TxWindow && tcb.state inside {StEstablished, StFinWait1, StFinWait2}) begin
      dec_o.tcb.ack_now = 1'b1;
    end
    if (done.kind == TxDeferred) begin
      dec_o.tcb.send_check = keyed_i;
    end else if (counts_i) begin
      if (tcb.tmr inside {TmNone, TmPersist}) dec_o.arm = ArmRto;
      dec_o.tcb.send_check = tcb.send_check || ctx_i.p.behind || tcb.fin_req;
    end
    if (done.kind == TxLive && keyed_i) begin
      if (ctx_i.p.done_ack_new) dec_o = dec_acked(dec_o);
      if (counts_i && !tcb.timing && tcb.rec == RecNone && !done.bad_sum) begin
        dec_o.tcb.timing = 1'b1;
        dec_o.tcb.timed = ctx_i.p.done_end;
        dec_o.tcb.tstart = ctx_i.now[15:0];
      end
      if (done.bad_sum && ctx_i.room && tcb.busy != 2'd3) begin
        // The ring holds the correct data, and the checksum is recomputed. Without room, the
        // retransmission timer recovers.
        dec_o.tx = 1'b1;
        dec_o.tx_seq = done.seq;
        dec_o.tx_ack_rcv = 1'b1;
        dec_o.tx_flags = FlagPshAck;
        dec_o.tx_len = done.len;
        dec_o.tcb.busy = tcb.busy + 2'd1;
        dec_o.tcb.timing = 1'b0;
      end
    end
  end

endmodule
