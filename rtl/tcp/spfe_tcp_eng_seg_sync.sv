// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decisions for a segment in SYN-RECEIVED or later (RFC 9293, 3.10.7.4). Combinational; the judge
/// stage has determined which one applies.
module spfe_tcp_eng_seg_sync
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
  /// 1: raise EvCredit when an ACK frees bytes in the ring.
  parameter bit CreditEvents = 1'b0
) (
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// Action on the segment; from the judge stage.
  input eng_act_t act_i,
  /// Window scaling is enabled (tcp_cfg_t).
  input logic wscale_en_i,
  /// Decision for ActAck.
  output eng_dec_t ack_o,
  /// Decision for ActKeep.
  output eng_dec_t answer_o,
  /// Decision for ActReopen.
  output eng_dec_t reopen_o
);
  seg_t seg;
  eng_pred_t p;
  eng_tcb_t tcb;
  eng_dec_t keep_dec, new_dec, ack_dec;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{ctx_i, seg, p, act_i};

  assign seg = ctx_i.seg;
  assign p = ctx_i.p;
  assign tcb = ctx_i.tcb;

  // Segments that are not acceptable or make no progress.
  always_comb begin
    keep_dec = dec_keep(tcb, ctx_i.tup);
    keep_dec.arm = act_i.arm;
    keep_dec.tcb.syn_now = act_i.syn_now;
    keep_dec.tcb.ack_now = act_i.ack_now;
    if (act_i.challenge) begin
      keep_dec.tcb.tok = p.tok + 3'd1;
      keep_dec.tcb.tok_tick = ctx_i.now[7:0];
      keep_dec.count.challenge = 1'b1;
    end
  end

  // A SYN above RCV.NXT in TIME-WAIT opens a new connection as in LISTEN (RFC 9293, 3.6.1).
  always_comb begin
    new_dec = dec_keep(tcb, ctx_i.tup);
    new_dec = dec_syn(new_dec, seg.seq, seg.wnd, p.mss, seg.has_ws && wscale_en_i, seg.ws);
    new_dec.tcb.state = StSynRcvd;
    new_dec.tcb.una = ctx_i.snd_nxt + 32'd131072;
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
    new_dec.snd_init = 1'b1;
    new_dec.closed = 1'b1;
    new_dec.reason = CloseDone;
    new_dec.count.closed = 1'b1;
  end

  // Acceptable segment, neither RST nor SYN, with an ACK in range.
  always_comb begin
    ack_dec = dec_keep(tcb, ctx_i.tup);
    ack_dec.arm = act_i.arm;
    ack_dec.arm_dack = act_i.arm_dack;
    ack_dec.cc = act_i.cc;
    ack_dec.snd = act_i.snd;
    ack_dec.opened = act_i.opened;
    ack_dec.peer_fin = act_i.peer_fin;
    ack_dec.credit = CreditEvents && act_i.ack_new && !act_i.opened;
    ack_dec.count.opened = act_i.opened;
    ack_dec.count.dup_ack = act_i.dup_ack;
    ack_dec.count.fast_rexmit = act_i.entered;
    ack_dec.tcb.state = act_i.state;
    ack_dec.tcb.syn_now = act_i.syn_now;
    ack_dec.tcb.send_check = act_i.send_check;
    ack_dec.tcb.rec = act_i.rec;
    ack_dec.tcb.dups = act_i.dups;
    ack_dec.tcb.rexmit = act_i.rexmit;
    ack_dec.tcb.timing = act_i.timing;
    ack_dec.tcb.rtt_due = act_i.rtt_due;
    ack_dec.tcb.ack_pend = act_i.ack_pend;
    ack_dec.tcb.ack_now = act_i.ack_now;
    if (act_i.tries_zero) ack_dec.tcb.tries = 8'd0;
    if (act_i.ack_new) ack_dec.tcb.una = seg.ack;
    if (act_i.measured) ack_dec.tcb.tstart = p.sample;
    if (act_i.recover_now) ack_dec.tcb.recover = ctx_i.snd_nxt;
    else if (act_i.recover_una) ack_dec.tcb.recover = tcb.una;
    if (act_i.again_ack) ack_dec.tcb.again = seg.ack;
    if (act_i.wnd_ok) begin
      ack_dec.tcb.wl1 = seg.seq;
      ack_dec.tcb.wnd = ctx_i.pre.wnd;
      if (p.wnd_more) ack_dec.tcb.max_wnd = ctx_i.pre.wnd;
    end
    if (act_i.reopened) begin
      ack_dec.tcb.backoff = 4'd0;
      ack_dec.tcb.probe_now = 1'b0;
    end
  end

  assign ack_o = act_i.ack_go ? dec_ack(ack_dec) : ack_dec;
  assign answer_o = act_i.ack_go ? dec_ack(keep_dec) : keep_dec;
  assign reopen_o = new_dec;

endmodule
