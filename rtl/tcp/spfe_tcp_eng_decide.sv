// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What an event does: the decision of the block that knows its kind. Combinational.
module spfe_tcp_eng_decide
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
    /// Events when bytes of the ring become free.
    parameter bit CreditEvents = 1'b0
) (
    /// Kind of the event.
    input kind_e kind_i,
    /// The event; from the pipeline.
    input eng_ctx_t ctx_i,
    /// What a segment is; from the judge stage, as the next four.
    input eng_act_t act_i,
    /// What the service does.
    input eng_send_t send_i,
    /// A timer has run out.
    input logic due_i,
    /// It has done so often enough.
    input logic give_up_i,
    /// The session has another address of its next hop.
    input logic mac_new_i,
    /// Window scaling is offered (tcp_cfg_t).
    input logic wscale_en_i,
    /// The unit that asks for addresses is free.
    input logic query_free_i,
    /// What is to be done; to the pipeline.
    output eng_dec_t dec_o
);
  eng_dec_t seg_dec, serve_dec, timer_dec, done_dec, open_dec;

  spfe_tcp_eng_seg #(
      .CreditEvents(CreditEvents)
  ) i_seg (
      .ctx_i,
      .act_i,
      .wscale_en_i,
      .dec_o(seg_dec)
  );
  spfe_tcp_eng_serve i_serve (
      .ctx_i,
      .send_i,
      .wscale_en_i,
      .dec_o(serve_dec)
  );
  spfe_tcp_eng_timer i_timer (
      .ctx_i,
      .give_up_i,
      .query_free_i,
      .dec_o(timer_dec)
  );
  spfe_tcp_eng_done i_done (
      .ctx_i,
      .dec_o(done_dec)
  );
  spfe_tcp_eng_open i_open (
      .kind_i,
      .ctx_i,
      .mac_new_i,
      .wscale_en_i,
      .query_free_i,
      .dec_o(open_dec)
  );

  always_comb begin
    unique case (kind_i)
      KindSegment: dec_o = seg_dec;
      KindDone: dec_o = done_dec;
      KindServe: dec_o = due_i ? timer_dec : serve_dec;
      KindView: begin
        dec_o = dec_keep(ctx_i.tcb, ctx_i.tup);
        dec_o.we = 1'b0;
      end
      KindReset: begin
        // RFC 9293, 3.10.7.1.
        dec_o = '0;
        dec_o.tcb.dmac = ctx_i.seg.smac;
        dec_o.tup = '{
            used: UseNone,
            vif: ctx_i.seg.vif,
            ip: ctx_i.seg.sip,
            port: ctx_i.seg.sport,
            lport: ctx_i.seg.dport
        };
        dec_o.hdr = 1'b1;
        dec_o.tx = 1'b1;
        dec_o.tx_seq = ctx_i.seg.flags.ack ? ctx_i.seg.ack : 32'd0;
        dec_o.tx_ack = ctx_i.seg.seq + 32'(ctx_i.seg.len) + 32'(ctx_i.seg.flags.syn) +
            32'(ctx_i.seg.flags.fin);
        dec_o.tx_flags = ctx_i.seg.flags.ack ? FlagRst : FlagRstAck;
        dec_o.count.rst_sent = 1'b1;
      end
      default: dec_o = open_dec;
    endcase
  end

endmodule
