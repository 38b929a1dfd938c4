// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Effect of an expired timer that does not close the session. Combinational; the service event
/// sends what is due.
module spfe_tcp_eng_timer
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// The session is in SYN-SENT or SYN-RECEIVED.
  input logic opening_i,
  /// A next-hop query can be started.
  input logic query_free_i,
  /// Decision.
  output eng_dec_t dec_o
);
  eng_tcb_t tcb;
  logic unused_bits;

  // The context is used in part.
  assign unused_bits = ^ctx_i;

  assign tcb = ctx_i.tcb;

  always_comb begin
    dec_o = dec_keep(tcb, ctx_i.tup);
    if (ctx_i.p.dack_due) begin
      dec_o.tcb.dack = 1'b0;
      dec_o.tcb.ack_now = 1'b1;
    end else begin
      dec_o.arm = ArmStop;
      unique case (tcb.tmr)
        TmRto: begin
          dec_o.tcb.tries = tcb.tries + 8'd1;
          if (tcb.backoff != 4'd15) dec_o.tcb.backoff = tcb.backoff + 4'd1;
          dec_o.tcb.timing = 1'b0;
          if (opening_i) begin
            dec_o.tcb.syn_now = 1'b1;
            dec_o.count.rto = 1'b1;
          end else if (ctx_i.p.flying) begin
            dec_o.tcb.rexmit = 1'b1;
            dec_o.tcb.rec = RecBack;
            dec_o.tcb.recover = ctx_i.snd_nxt;
            dec_o.tcb.again = tcb.una;
            dec_o.cc = tcb.tries == 8'd0 ? CcTimeout : CcTimeoutAgain;
            dec_o.snd = 1'b1;
            dec_o.count.rto = 1'b1;
          end else begin
            dec_o.tcb.tries = 8'd0;
          end
        end
        TmPersist: begin
          // Everything may have been acknowledged while the window was closed.
          if (ctx_i.p.flying || ctx_i.p.behind || (tcb.fin_req && !tcb.fin_out)) begin
            dec_o.tcb.tries = tcb.tries + 8'd1;
            if (tcb.backoff != 4'd15) dec_o.tcb.backoff = tcb.backoff + 4'd1;
            dec_o.tcb.probe_now = 1'b1;
          end
        end
        TmResolve: begin
          dec_o.arm = ArmResolve;
          dec_o.query = query_free_i;
        end
        default: ;
      endcase
    end
  end

endmodule
