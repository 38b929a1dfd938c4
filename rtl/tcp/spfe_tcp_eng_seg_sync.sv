// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a segment does in the states from SYN-RECEIVED on (RFC 9293, 3.10.7.4). Combinational.
module spfe_tcp_eng_seg_sync
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
    /// Each segment with data is acknowledged at once.
    parameter bit InstantAck = 1'b0,
    /// A congestion window limits what is sent.
    parameter bit CongestionControl = 1'b0,
    /// Events when bytes of the ring become free.
    parameter bit CreditEvents = 1'b0
) (
    /// The event; from the pipeline.
    input eng_ctx_t ctx_i,
    /// What is to be done; to the pipeline.
    output eng_dec_t dec_o
);
  seg_t seg;
  eng_pred_t p;
  eng_tcb_t tcb;
  logic has_data, is_dup, ack_ok, fin_acked, wnd_ok, fin_taken;
  logic challenge;  // acknowledged within the limit
  logic duplicate;  // acknowledged always
  logic crossed;  // the SYN-ACK of a simultaneous open
  logic syn_again;  // the SYN that made this session: our answer was lost
  logic reopened;  // the peer, back with a new SYN while we are in TIME-WAIT
  eng_dec_t rst_dec, new_dec, ack_dec, fin_dec, old_dec;
  logic unused_bits;

  // Of structures handed on whole, and of distances but their sign.
  assign unused_bits = ^{ctx_i, seg, p};

  assign seg = ctx_i.seg;
  assign p = ctx_i.p;
  assign tcb = ctx_i.tcb;
  assign has_data = seg.len != 16'd0;
  assign ack_ok = p.ack_new || p.ack_same;
  assign fin_acked = tcb.fin_in && p.ack_all && ack_ok;
  assign fin_taken = seg.taken && seg.flags.fin;
  assign is_dup = p.ack_same && p.flying && !has_data && p.wnd_same && !seg.flags.fin &&
      ctx_i.pre.wnd != '0;
  // RFC 9293, 3.10.7.4: SND.WL2 =< ACK holds for every ACK that is not below SND.UNA. The first
  // window is taken in any case.
  assign wnd_ok = ack_ok && (p.wl_ok || tcb.state == StSynRcvd);
  assign reopened = tcb.state == StTimeWait && tcb.passive && seg.flags.syn && !seg.flags.ack &&
      !seg.flags.rst && !ctx_i.pre.old && !ctx_i.pre.prior;

  // Its sequence number is before the window, whatever data it has (RFC 9293, 3.10.7.4, first).
  assign syn_again = tcb.state == StSynRcvd && seg.flags.syn && ctx_i.pre.prior;
  assign crossed = syn_again && seg.flags.ack && !seg.flags.rst && p.ack_new;

  // RST: exact closes, in the window is challenged.
  always_comb begin
    rst_dec = dec_keep(tcb, ctx_i.tup);
    rst_dec.count.rst_seen = 1'b1;
    unique case (tcb.state)
      StSynRcvd: rst_dec = dec_close(rst_dec, !tcb.passive, CloseRefused, 1'b0);
      StTimeWait: rst_dec = dec_close(rst_dec, 1'b1, CloseDone, 1'b0);
      default: rst_dec = dec_close(rst_dec, 1'b1, CloseReset, 1'b0);
    endcase
  end

  // TIME-WAIT and a SYN above what was received: as if it had come to LISTEN.
  always_comb begin
    new_dec = dec_keep(tcb, ctx_i.tup);
    new_dec.tcb.state = StSynRcvd;
    new_dec.tcb.una = ctx_i.snd_nxt + 32'd131072;
    new_dec.tcb.mss = p.mss;
    // Offered anew, or not any more (RFC 7323, 1.3).
    new_dec.tcb.scaled = tcb.scaled && seg.has_ws;
    new_dec.tcb.snd_ws = new_dec.tcb.scaled ? seg.ws : 4'd0;
    new_dec.tcb.wnd = {14'd0, seg.wnd};
    new_dec.tcb.max_wnd = {14'd0, seg.wnd};
    new_dec.tcb.wl1 = seg.seq;
    new_dec.tcb.dups = 2'd0;
    new_dec.tcb.rec = RecNone;
    new_dec.tcb.rexmit = 1'b0;
    new_dec.tcb.timing = 1'b0;
    new_dec.tcb.backoff = 4'd0;
    new_dec.tcb.tries = 8'd0;
    new_dec.tcb.ack_now = 1'b0;
    new_dec.tcb.ack_pend = 1'b0;
    new_dec.tcb.dack = 1'b0;
    new_dec.tcb.fin_req = 1'b0;
    new_dec.tcb.fin_out = 1'b0;
    new_dec.tcb.fin_in = 1'b0;
    new_dec.tcb.send_check = 1'b0;
    new_dec.tcb.syn_now = 1'b1;
    new_dec.arm = ArmStop;
    new_dec.hdr = 1'b1;
    new_dec.rcv = 1'b1;
    new_dec.rcv_open = 1'b1;
    new_dec.rcv_set = 1'b1;
    new_dec.rcv_nxt = seg.seq + 32'd1;
    new_dec.snd = 1'b1;
    new_dec.snd_init = 1'b1;
    new_dec.closed = 1'b1;
    new_dec.reason = CloseDone;
    new_dec.count.closed = 1'b1;
  end

  // Acceptable, neither RST nor SYN, ACK in range.
  always_comb begin
    ack_dec = dec_keep(tcb, ctx_i.tup);
    if (tcb.state == StSynRcvd) begin
      ack_dec.tcb.state = StEstablished;
      ack_dec.opened = 1'b1;
      ack_dec.count.opened = 1'b1;
      ack_dec.cc = tcb.tries == 8'd0 ? CcInit : CcInitLost;
      ack_dec.snd = 1'b1;
      ack_dec.tcb.send_check = 1'b1;
    end
    if (p.ack_new) begin
      ack_dec.tcb.una = seg.ack;
      ack_dec.tcb.dups = 2'd0;
      ack_dec.tcb.tries = 8'd0;
      ack_dec.snd = 1'b1;
      ack_dec.arm = p.ack_all ? ArmStop : ArmRto;
      ack_dec.credit = CreditEvents && tcb.state != StSynRcvd;
      if (tcb.timing && p.timed_done) begin
        ack_dec.tcb.timing = 1'b0;
        ack_dec.tcb.rtt_due = 1'b1;
        ack_dec.tcb.tstart = p.sample;
      end
      ack_dec.tcb.rexmit = 1'b0;
      if (tcb.state != StSynRcvd) ack_dec.cc = CcAck;
      if (tcb.rec == RecNone) begin
        ack_dec.tcb.recover = tcb.una;  // follows, for the comparison on the circle
      end else if (p.rec_done || p.ack_all) begin
        ack_dec.tcb.rec = RecNone;
        if (tcb.rec == RecFast) ack_dec.cc = CcExit;
      end else if (tcb.rec == RecFast) begin
        // RFC 6582: a partial acknowledgement shows the next hole.
        ack_dec.tcb.rexmit = 1'b1;
        ack_dec.cc = CcPartial;
      end else if (tcb.rec == RecBack) begin
        ack_dec.tcb.rexmit = 1'b1;
        if (p.again_low) ack_dec.tcb.again = seg.ack;
      end
    end else if (is_dup) begin
      ack_dec.count.dup_ack = 1'b1;
      if (tcb.dups != 2'd3) ack_dec.tcb.dups = tcb.dups + 2'd1;
      if (tcb.dups == 2'd2 && tcb.rec == RecNone && p.una_fresh) begin
        ack_dec.tcb.rec = RecFast;
        ack_dec.tcb.recover = ctx_i.snd_nxt;
        ack_dec.tcb.rexmit = 1'b1;
        ack_dec.tcb.timing = 1'b0;
        ack_dec.snd = 1'b1;
        ack_dec.cc = CcEnter;
        ack_dec.count.fast_rexmit = 1'b1;
      end else if (tcb.dups == 2'd2 && tcb.rec == RecAfter) begin
        // What was sent again after a timeout was lost again.
        ack_dec.tcb.rexmit = 1'b1;
      end else if (tcb.dups == 2'd3 && tcb.rec == RecFast) begin
        ack_dec.cc = CcDup;
        ack_dec.snd = CongestionControl;
      end
    end
    if (wnd_ok) begin
      ack_dec.tcb.wl1 = seg.seq;
      ack_dec.tcb.wnd = ctx_i.pre.wnd;
      if (p.wnd_more) ack_dec.tcb.max_wnd = ctx_i.pre.wnd;
      ack_dec.snd = ack_dec.snd || !p.wnd_same;
    end
    if (tcb.tmr == TmPersist) begin
      // The peer lives, and that is all a probe asks.
      ack_dec.tcb.tries = 8'd0;
      if (wnd_ok && ctx_i.pre.wnd != '0) begin
        ack_dec.tcb.backoff = 4'd0;
        ack_dec.tcb.probe_now = 1'b0;
        if (!p.ack_all) begin
          // What had left when the window closed was thrown away.
          ack_dec.tcb.rexmit = 1'b1;
          ack_dec.tcb.rec = RecBack;
          ack_dec.tcb.recover = ctx_i.snd_nxt;
          ack_dec.tcb.again = seg.ack;
        end
        ack_dec.snd = 1'b1;
        ack_dec.tcb.send_check = 1'b1;
        ack_dec.arm = ArmStop;
      end else begin
        ack_dec.arm = ArmKeep;
      end
    end
    if (ack_dec.snd && (p.behind || tcb.fin_req)) ack_dec.tcb.send_check = 1'b1;
    if (fin_acked) begin
      unique case (tcb.state)
        StFinWait1: ack_dec.tcb.state = StFinWait2;
        StClosing: begin
          ack_dec.tcb.state = StTimeWait;
          ack_dec.arm = ArmTimeWait;
        end
        default: ;
      endcase
    end
    if (has_data) begin
      if (!seg.taken) begin
        // Out of order or not wanted any more; acknowledged below.
      end else if (InstantAck || tcb.ack_pend || seg.gap) begin
        ack_dec.tcb.ack_now = 1'b1;
      end else begin
        ack_dec.tcb.ack_pend = 1'b1;
        ack_dec.arm_dack = 1'b1;
      end
    end
    if (fin_acked && tcb.state == StLastAck) begin
      ack_dec = dec_close(ack_dec, 1'b1, CloseDone, 1'b0);
    end
  end

  // FIN, in order.
  always_comb begin
    fin_dec = ack_dec;
    if (fin_taken && !(fin_acked && tcb.state == StLastAck)) begin
      fin_dec.tcb.ack_now = 1'b1;
      unique case (ack_dec.tcb.state)
        StEstablished: begin
          fin_dec.tcb.state = StCloseWait;
          fin_dec.peer_fin = 1'b1;
        end
        StFinWait1: begin
          fin_dec.tcb.state = StClosing;
          fin_dec.peer_fin = 1'b1;
        end
        StFinWait2: begin
          fin_dec.tcb.state = StTimeWait;
          fin_dec.peer_fin = 1'b1;
          fin_dec.arm = ArmTimeWait;
        end
        default: ;
      endcase
    end
  end

  // What is not acceptable, and acknowledgements that are no progress.
  always_comb begin
    challenge = 1'b0;
    duplicate = 1'b0;
    old_dec = dec_keep(tcb, ctx_i.tup);
    if (crossed) begin
      old_dec = ack_dec;
    end else if (syn_again) begin
      if (!seg.flags.rst) old_dec.tcb.syn_now = 1'b1;
    end else if (!ctx_i.pre.accept) begin
      // Old or beyond the window: tell where we are. A keepalive ends here too.
      challenge = !seg.flags.rst && !has_data && !seg.flags.fin;
      duplicate = !seg.flags.rst && (has_data || seg.flags.fin);
      if (tcb.state == StTimeWait && seg.flags.fin && !seg.flags.rst) old_dec.arm = ArmTimeWait;
    end else if (seg.flags.rst) begin
      challenge = !ctx_i.pre.exact;
      if (ctx_i.pre.exact) old_dec = rst_dec;
    end else if (seg.flags.syn) begin
      // Half open from LISTEN: back there (RFC 9293, 3.10.7.4, fourth); else RFC 5961, 4.
      challenge = tcb.state != StSynRcvd || !tcb.passive;
      if (!challenge) old_dec = dec_close(old_dec, 1'b0, CloseReset, 1'b0);
    end else if (!seg.flags.ack) begin
      challenge = 1'b0;
    end else if (tcb.state == StSynRcvd && !p.ack_new) begin
      if (ctx_i.room && tcb.busy != 2'd3) begin
        old_dec.tx = 1'b1;
        old_dec.tx_seq = seg.ack;
        old_dec.tx_flags = FlagRst;
        old_dec.tcb.busy = tcb.busy + 2'd1;
        old_dec.count.rst_sent = 1'b1;
      end
    end else if (p.ack_beyond || p.ack_ancient) begin
      challenge = 1'b1;
    end else begin
      old_dec = fin_dec;
      duplicate = (has_data || seg.flags.fin) && !seg.taken && is_keyed(fin_dec.tcb.state);
    end
    if (reopened) begin
      old_dec = new_dec;
      challenge = 1'b0;
      duplicate = 1'b0;
    end
  end

  always_comb begin
    dec_o = old_dec;
    if (duplicate) dec_o.tcb.ack_now = 1'b1;
    if (challenge && p.tok < ChallengeLimit) begin
      dec_o.tcb.ack_now = 1'b1;
      dec_o.tcb.tok = p.tok + 3'd1;
      dec_o.tcb.tok_tick = ctx_i.now[7:0];
      dec_o.count.challenge = 1'b1;
    end
  end

endmodule
