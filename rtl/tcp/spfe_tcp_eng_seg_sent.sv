// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decisions for a SYN in SYN-SENT (RFC 9293, 3.10.7.3), and for a wrong ACK before the connection
/// is open. Combinational.
module spfe_tcp_eng_seg_sent
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// Send the ACK with this event; from the judge stage.
  input logic ack_go_i,
  /// Window scaling is enabled (tcp_cfg_t).
  input logic wscale_en_i,
  /// Decision if the SYN is accepted.
  output eng_dec_t sent_o,
  /// Decision to answer with a reset.
  output eng_dec_t refuse_o
);
  eng_dec_t syn_dec;
  logic unused_bits;

  // The context is used in part.
  assign unused_bits = ^ctx_i;

  always_comb begin
    refuse_o = dec_keep(ctx_i.tcb, ctx_i.tup);
    if (ctx_i.room && ctx_i.tcb.busy != 2'd3) begin
      refuse_o.tx = 1'b1;
      refuse_o.tx_seq = ctx_i.seg.ack;
      refuse_o.tx_flags = FlagRst;
      refuse_o.tcb.busy = ctx_i.tcb.busy + 2'd1;
      refuse_o.count.rst_sent = 1'b1;
    end
  end

  always_comb begin
    syn_dec = dec_keep(ctx_i.tcb, ctx_i.tup);
    syn_dec = dec_syn(
      syn_dec,
      ctx_i.seg.seq,
      ctx_i.seg.wnd,
      ctx_i.p.mss,
      ctx_i.seg.has_ws && wscale_en_i,
      ctx_i.seg.ws
    );
    syn_dec.tcb.tries = 8'd0;
    syn_dec.tcb.timing = 1'b0;
    if (ctx_i.seg.flags.ack) begin
      syn_dec.tcb.state = StEstablished;
      syn_dec.tcb.una = ctx_i.seg.ack;
      syn_dec.tcb.recover = ctx_i.tcb.una;
      syn_dec.cc = ctx_i.tcb.tries == 8'd0 ? CcInit : CcInitLost;
      syn_dec.tcb.syn_now = 1'b0;  // cancel a pending retransmission
      syn_dec.tcb.ack_now = 1'b1;
      syn_dec.tcb.send_check = 1'b1;
      if (ctx_i.tcb.timing) begin
        syn_dec.tcb.rtt_due = 1'b1;
        syn_dec.tcb.tstart = ctx_i.p.sample;
      end
      syn_dec.arm = ArmStop;
      syn_dec.opened = 1'b1;
      syn_dec.count.opened = 1'b1;
    end else begin
      syn_dec.tcb.state = StSynRcvd;  // simultaneous open
      syn_dec.tcb.syn_now = 1'b1;
    end
    sent_o = ack_go_i ? dec_ack(syn_dec) : syn_dec;
  end

endmodule
