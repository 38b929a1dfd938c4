// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a segment of a session does (RFC 9293, 3.10.7, with RFC 5961). Combinational.
module spfe_tcp_eng_seg
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
    /// Events when bytes of the ring become free.
    parameter bit CreditEvents = 1'b0
) (
    /// The event; from the pipeline.
    input eng_ctx_t ctx_i,
    /// Which case it is; from the pipeline.
    input eng_act_t act_i,
    /// Window scaling is enabled (tcp_cfg_t).
    input logic wscale_en_i,
    /// What is to be done; to the pipeline.
    output eng_dec_t dec_o
);
  eng_dec_t sync_dec;
  eng_dec_t syn_dec;

  spfe_tcp_eng_seg_sync #(
      .CreditEvents(CreditEvents)
  ) i_sync (
      .ctx_i,
      .act_i,
      .dec_o(sync_dec)
  );

  // SYN-SENT (RFC 9293, 3.10.7.3).
  always_comb begin
    syn_dec = dec_keep(ctx_i.tcb, ctx_i.tup);
    if (ctx_i.seg.flags.ack && !ctx_i.p.ack_new) begin
      if (!ctx_i.seg.flags.rst && ctx_i.room && ctx_i.tcb.busy != 2'd3) begin
        syn_dec.tx = 1'b1;
        syn_dec.tx_seq = ctx_i.seg.ack;
        syn_dec.tx_flags = FlagRst;
        syn_dec.tcb.busy = ctx_i.tcb.busy + 2'd1;
        syn_dec.count.rst_sent = 1'b1;
      end
    end else if (ctx_i.seg.flags.rst) begin
      if (ctx_i.seg.flags.ack) begin
        syn_dec = dec_close(syn_dec, 1'b1, CloseRefused, 1'b0);
        syn_dec.count.rst_seen = 1'b1;
      end
    end else if (ctx_i.seg.flags.syn) begin
      syn_dec.tcb.mss = ctx_i.p.mss;
      syn_dec.tcb.scaled = ctx_i.seg.has_ws && wscale_en_i;
      syn_dec.tcb.snd_ws = syn_dec.tcb.scaled ? ctx_i.seg.ws : 4'd0;
      syn_dec.tcb.wnd = {14'd0, ctx_i.seg.wnd};  // never scaled in a SYN
      syn_dec.tcb.max_wnd = {14'd0, ctx_i.seg.wnd};
      syn_dec.tcb.wl1 = ctx_i.seg.seq;
      syn_dec.rcv = 1'b1;
      syn_dec.rcv_open = 1'b1;
      syn_dec.rcv_set = 1'b1;
      syn_dec.rcv_nxt = ctx_i.seg.seq + 32'd1;
      syn_dec.hdr = 1'b1;
      syn_dec.snd = 1'b1;
      syn_dec.tcb.tries = 8'd0;
      if (ctx_i.seg.flags.ack) begin
        syn_dec.tcb.state = StEstablished;
        syn_dec.tcb.una = ctx_i.seg.ack;
        syn_dec.tcb.recover = ctx_i.tcb.una;
        syn_dec.cc = ctx_i.tcb.tries == 8'd0 ? CcInit : CcInitLost;
        syn_dec.tcb.syn_now = 1'b0;  // that was to be sent again
        syn_dec.tcb.ack_now = 1'b1;
        syn_dec.tcb.send_check = 1'b1;
        syn_dec.tcb.timing = 1'b0;
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
        syn_dec.tcb.timing = 1'b0;
      end
    end
  end

  always_comb begin
    unique case (ctx_i.tcb.state)
      StClosed, StListen, StResolve: dec_o = dec_keep(ctx_i.tcb, ctx_i.tup);
      StSynSent: dec_o = act_i.ack_go ? dec_ack(syn_dec) : syn_dec;
      default: dec_o = act_i.ack_go ? dec_ack(sync_dec) : sync_dec;
    endcase
  end

endmodule
