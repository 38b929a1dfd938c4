// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decisions for the service of a session, with at most one command. Combinational;
/// spfe_tcp_eng_judge_send has determined what to send.
module spfe_tcp_eng_serve
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
(
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// What to send; from the judge stage.
  input eng_send_t send_i,
  /// Window scaling is enabled (tcp_cfg_t).
  input logic wscale_en_i,
  /// Decision for SendRtt.
  output eng_dec_t rtt_o,
  /// Decision for all other kinds.
  output eng_dec_t send_o
);
  eng_tcb_t tcb;
  eng_pred_t p;
  eng_dec_t rtt_dec, send_dec;
  logic passive_syn, tx;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{ctx_i, p};

  assign tcb = ctx_i.tcb;
  assign p = ctx_i.p;

  // RFC 6298, 2. SRTT is in 1/8 tick, RTTVAR in 1/4 tick.
  always_comb begin
    rtt_dec = dec_keep(tcb, ctx_i.tup);
    if (tcb.rtt_due) begin
      rtt_dec.tcb.rtt_due = 1'b0;
      rtt_dec.tcb.rearm = 1'b1;
      rtt_dec.tcb.backoff = 4'd0;
      rtt_dec.tcb.has_rtt = 1'b1;
      if (tcb.has_rtt) begin
        rtt_dec.tcb.srtt = 19'({1'b0, tcb.srtt} + p.rtt_err);
        rtt_dec.tcb.rttvar = 18'(20'(tcb.rttvar) - 20'(tcb.rttvar[17:2]) + send_i.error);
      end else begin
        rtt_dec.tcb.srtt = {tcb.tstart, 3'd0};
        rtt_dec.tcb.rttvar = {1'b0, tcb.tstart, 1'b0};
      end
    end else begin
      rtt_dec.tcb.rearm = 1'b0;
      if (tcb.tmr == TmRto) rtt_dec.arm = ArmRto;
    end
  end

  assign passive_syn = tcb.state == StSynRcvd;
  always_comb begin
    unique case (send_i.kind)
      SendRst, SendSyn, SendProbe, SendAgain, SendNew, SendFin: tx = 1'b1;
      SendLast: tx = tcb.fin_in;
      SendAck: tx = tcb.ack_now;
      default: tx = 1'b0;
    endcase
  end

  always_comb begin
    send_dec = dec_keep(tcb, ctx_i.tup);
    send_dec.tx = tx;
    send_dec.tx_seq = p.again;
    send_dec.tx_ack_rcv = 1'b1;
    send_dec.tx_flags = FlagAck;
    unique case (send_i.kind)
      SendRst: begin
        send_dec.tx_seq_nxt = 1'b1;
        send_dec.tx_flags = FlagRstAck;
        send_dec.tcb.rst_now = 1'b0;
        send_dec.count.rst_sent = 1'b1;
      end
      SendSyn: begin
        send_dec.tx_seq = tcb.una;
        send_dec.tx_ack_rcv = passive_syn;
        send_dec.tx_flags = passive_syn ? FlagSynAck : FlagSyn;
        send_dec.tx_ws = passive_syn ? tcb.scaled : wscale_en_i;
        send_dec.tcb.syn_now = 1'b0;
        // Measure only the first transmission (Karn's algorithm).
        send_dec.tcb.timing = tcb.tries == 8'd0 && tcb.tmr == TmNone;
        send_dec.tcb.timed = tcb.una + 32'd1;
        send_dec.tcb.tstart = ctx_i.now[15:0];
        send_dec.arm = ArmStop;  // starts when the segment has been sent
      end
      SendProbe: begin
        send_dec.tx_seq = tcb.una - 32'd1;
        send_dec.tcb.probe_now = 1'b0;
        send_dec.arm = ArmPersist;
        send_dec.count.probe = 1'b1;
      end
      SendGone: begin
        send_dec.tcb.rexmit = 1'b0;
        send_dec.tcb.rec = RecNone;
      end
      SendShut: begin
        send_dec.tcb.rexmit = 1'b0;
        send_dec.arm = ArmPersist;
      end
      SendLast: begin
        // Only FIN remains, if it was sent.
        send_dec.tcb.rexmit = 1'b0;
        if (tcb.rec == RecBack) send_dec.tcb.rec = RecAfter;
        send_dec.tx_flags = FlagFinAck;
        if (tx) send_dec.tcb.timing = 1'b0;
        // The timer restarts when the segment has been sent.
        if (tx && tcb.rec == RecFast) send_dec.arm = ArmStop;
      end
      SendAgain: begin
        send_dec.tx_len = send_i.len;
        send_dec.tx_flags = FlagPshAck;
        send_dec.tcb.again = p.again + 32'(send_i.len);
        send_dec.tcb.rexmit = tcb.rec == RecBack;
        send_dec.tcb.timing = 1'b0;
        if (tcb.rec == RecFast) send_dec.arm = ArmStop;
      end
      SendWait: send_dec.tcb.rexmit = 1'b0;
      SendNew: begin
        send_dec.tx_seq = ctx_i.snd_nxt;
        send_dec.tx_len = send_i.len;
        send_dec.tx_flags = send_i.push ? FlagPshAck : FlagAck;
        if (tcb.tmr == TmPersist) send_dec.arm = ArmStop;
        if (!tcb.timing && tcb.rec == RecNone) begin
          send_dec.tcb.timing = 1'b1;
          send_dec.tcb.timed = ctx_i.snd_nxt + 32'(send_i.len);
          send_dec.tcb.tstart = ctx_i.now[15:0];
        end
      end
      SendFin: begin
        send_dec.tx_seq_nxt = 1'b1;
        send_dec.tx_flags = FlagFinAck;
        send_dec.tcb.fin_out = 1'b1;
        send_dec.tcb.state = tcb.state == StCloseWait ? StLastAck : StFinWait1;
        send_dec.arm = ArmStop;
      end
      default: begin
        send_dec.tcb.send_check = 1'b0;
        if (send_i.blocked) send_dec.arm = ArmPersist;
        send_dec.tx_seq_nxt = 1'b1;
      end
    endcase
    if (tx) begin
      send_dec.tcb.busy = 2'd1;
      if (!tcb.syn_now || passive_syn) send_dec = dec_acked(send_dec);
    end
  end

  assign rtt_o = rtt_dec;
  assign send_o = send_dec;

endmodule
