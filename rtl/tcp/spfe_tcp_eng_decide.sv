// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decide stage: computes all possible decisions in parallel and selects one. Combinational.
module spfe_tcp_eng_decide
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
  /// 1: raise EvCredit when an ACK frees bytes in the ring.
  parameter bit CreditEvents = 1'b0
) (
  /// Kind of the event.
  input kind_e kind_i,
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// Case of the event; from the judge stage.
  input eng_case_t case_i,
  /// Window scaling is enabled (tcp_cfg_t).
  input logic wscale_en_i,
  /// A next-hop query can be started.
  input logic query_free_i,
  /// Decision.
  output eng_dec_t dec_o
);
  eng_dec_t ack_dec, answer_dec, reopen_dec, sent_dec, refuse_dec, rtt_dec, send_dec, timer_dec;
  eng_dec_t done_dec, op_dec, arp_dec, mac_dec, passive_dec, keep_dec, close_dec, reset_dec;

  spfe_tcp_eng_seg_sync #(
    .CreditEvents(CreditEvents)
  ) i_sync (
    .ctx_i,
    .act_i(case_i.act),
    .wscale_en_i,
    .ack_o(ack_dec),
    .answer_o(answer_dec),
    .reopen_o(reopen_dec)
  );
  spfe_tcp_eng_seg_sent i_sent (
    .ctx_i,
    .ack_go_i(case_i.act.ack_go),
    .wscale_en_i,
    .sent_o(sent_dec),
    .refuse_o(refuse_dec)
  );
  spfe_tcp_eng_serve i_serve (
    .ctx_i,
    .send_i(case_i.send),
    .wscale_en_i,
    .rtt_o(rtt_dec),
    .send_o(send_dec)
  );
  spfe_tcp_eng_timer i_timer (
    .ctx_i,
    .opening_i(case_i.opening),
    .query_free_i,
    .dec_o(timer_dec)
  );
  spfe_tcp_eng_done i_done (
    .ctx_i,
    .keyed_i(case_i.keyed),
    .counts_i(case_i.counts),
    .dec_o(done_dec)
  );
  spfe_tcp_eng_open i_open (
    .ctx_i,
    .case_i,
    .wscale_en_i,
    .query_free_i,
    .op_o(op_dec),
    .arp_o(arp_dec),
    .mac_o(mac_dec),
    .passive_o(passive_dec)
  );

  always_comb begin
    keep_dec = dec_keep(ctx_i.tcb, ctx_i.tup);
    keep_dec.we = kind_i != KindView;
  end

  always_comb begin
    close_dec = dec_keep(ctx_i.tcb, ctx_i.tup);
    if (case_i.close.free) close_dec.tcb.passive = 1'b0;
    close_dec = dec_close(close_dec, case_i.close.tell, case_i.close.reason, case_i.close.reset);
    close_dec.op_done = 1'b1;
    close_dec.arp_failed = case_i.close.arp_failed;
    close_dec.count.rst_seen = case_i.close.rst_seen;
    close_dec.count.rto = case_i.close.rto;
  end

  // Reset to a segment without a session (RFC 9293, 3.10.7.1).
  always_comb begin
    reset_dec = '0;
    reset_dec.tcb.dmac = ctx_i.seg.smac;
    reset_dec.tup = '{
      used: UseNone,
      vif: ctx_i.seg.vif,
      ip: ctx_i.seg.sip,
      port: ctx_i.seg.sport,
      lport: ctx_i.seg.dport
    };
    reset_dec.hdr = 1'b1;
    reset_dec.tx = 1'b1;
    reset_dec.tx_seq = ctx_i.seg.flags.ack ? ctx_i.seg.ack : 32'd0;
    reset_dec.tx_ack = ctx_i.seg.seq + 32'(ctx_i.seg.len) + 32'(ctx_i.seg.flags.syn) +
        32'(ctx_i.seg.flags.fin);
    reset_dec.tx_flags = ctx_i.seg.flags.ack ? FlagRst : FlagRstAck;
    reset_dec.count.rst_sent = 1'b1;
  end

  always_comb begin
    unique case (case_i.route)
      RouteClose: dec_o = close_dec;
      RouteAck: dec_o = ack_dec;
      RouteAnswer: dec_o = answer_dec;
      RouteReopen: dec_o = reopen_dec;
      RouteRefuse: dec_o = refuse_dec;
      RouteSent: dec_o = sent_dec;
      RouteDone: dec_o = done_dec;
      RouteRtt: dec_o = rtt_dec;
      RouteSend: dec_o = send_dec;
      RouteTimer: dec_o = timer_dec;
      RouteReset: dec_o = reset_dec;
      RouteOp: dec_o = op_dec;
      RouteArp: dec_o = arp_dec;
      RouteMac: dec_o = mac_dec;
      RoutePassive: dec_o = passive_dec;
      default: dec_o = keep_dec;
    endcase
  end

endmodule
