// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a session has to send next, one command at most. Combinational.
module spfe_tcp_eng_serve
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
    /// The event; from the pipeline.
    input eng_ctx_t ctx_i,
    /// Window scaling is offered (tcp_cfg_t).
    input logic wscale_en_i,
    /// What is to be done; to the pipeline.
    output eng_dec_t dec_o
);
  eng_tcb_t tcb;
  eng_pred_t p;
  logic [15:0] again_len, new_len;
  logic again_ok, new_ok, fin_ok, blocked;
  eng_dec_t rtt_dec, send_dec;
  logic unused_bits;

  // Of structures handed on whole, and of distances but their sign.
  assign unused_bits = ^{ctx_i, p};

  assign tcb = ctx_i.tcb;
  assign p = ctx_i.p;

  // Again: within what was sent and what may be sent. Less than a segment only at SND.UNA.
  always_comb begin
    again_len = tcb.mss;
    if (p.again_left < 32'(tcb.mss)) again_len = p.again_left[15:0];
    again_ok = !p.again_room[31] && p.again_room >= 32'(again_len);
    if (!again_ok && (tcb.rec != RecBack || p.again == tcb.una)) begin
      again_len = p.again_room[15:0];
      again_ok = 1'b1;
    end
  end

  // New: from SND.NXT to consumed. A short segment that is not the end of the data leaves only if
  // the window is small for good or nothing is on its way (RFC 9293, 3.8.6.2.1).
  always_comb begin
    logic fits, room;
    room = !p.usable[31] && p.usable != '0;
    fits = p.unsent <= p.usable;
    new_len = fits ? p.unsent[15:0] : p.usable[15:0];
    if (p.usable >= 32'(tcb.mss) && p.unsent >= 32'(tcb.mss)) new_len = tcb.mss;
    new_ok = p.behind && room && (fits || p.usable >= 32'(tcb.mss) || !p.flying ||
        p.usable >= {3'd0, tcb.max_wnd[WndBits-1:1]});
    fin_ok = tcb.state inside {StEstablished, StCloseWait} && tcb.fin_req && !tcb.fin_out &&
        p.drained && room;
    blocked = (p.behind || (tcb.fin_req && !tcb.fin_out && p.drained)) && !p.flying;
  end

  // RFC 6298, 2: SRTT in eighths, RTTVAR in quarters of a tick.
  always_comb begin
    logic [19:0] magnitude;
    rtt_dec = dec_keep(tcb, ctx_i.tup);
    magnitude = p.rtt_err[19] ? -p.rtt_err : p.rtt_err;
    if (tcb.rtt_due) begin
      rtt_dec.tcb.rtt_due = 1'b0;
      rtt_dec.tcb.rearm = 1'b1;
      rtt_dec.tcb.backoff = 4'd0;
      rtt_dec.tcb.has_rtt = 1'b1;
      if (tcb.has_rtt) begin
        rtt_dec.tcb.srtt = 19'({1'b0, tcb.srtt} + p.rtt_err);
        rtt_dec.tcb.rttvar = 18'(20'(tcb.rttvar) - 20'(tcb.rttvar[17:2]) + magnitude);
      end else begin
        rtt_dec.tcb.srtt = {tcb.tstart, 3'd0};
        rtt_dec.tcb.rttvar = {1'b0, tcb.tstart, 1'b0};
      end
    end else begin
      rtt_dec.tcb.rearm = 1'b0;
      if (tcb.tmr == TmRto) rtt_dec.arm = ArmRto;
    end
  end

  always_comb begin
    send_dec = dec_keep(tcb, ctx_i.tup);
    send_dec.tx_seq_nxt = 1'b0;
    send_dec.tx_seq = p.again;
    send_dec.tx_ack_rcv = 1'b1;
    send_dec.tx_flags = FlagAck;
    if (tcb.rst_now) begin
      send_dec.tx = 1'b1;
      send_dec.tx_seq_nxt = 1'b1;
      send_dec.tx_flags = FlagRstAck;
      send_dec.tcb.rst_now = 1'b0;
      send_dec.count.rst_sent = 1'b1;
    end else if (tcb.syn_now) begin
      send_dec.tx = 1'b1;
      send_dec.tx_seq = tcb.una;
      send_dec.tx_ack_rcv = tcb.state == StSynRcvd;
      send_dec.tx_flags = tcb.state == StSynRcvd ? FlagSynAck : FlagSyn;
      send_dec.tx_ws = tcb.state == StSynRcvd ? tcb.scaled : wscale_en_i;
      send_dec.tcb.syn_now = 1'b0;
      // Measured if it is the first one (Karn).
      send_dec.tcb.timing = tcb.tries == 8'd0 && tcb.tmr == TmNone;
      send_dec.tcb.timed = tcb.una + 32'd1;
      send_dec.tcb.tstart = ctx_i.now[15:0];
      send_dec.arm = ArmStop;  // runs from when it has left
    end else if (tcb.probe_now) begin
      send_dec.tx = 1'b1;
      send_dec.tx_seq = tcb.una - 32'd1;
      send_dec.tcb.probe_now = 1'b0;
      send_dec.arm = ArmPersist;
      send_dec.count.probe = 1'b1;
    end else if (tcb.rexmit) begin
      send_dec.tcb.rexmit = 1'b0;
      if (!p.flying) begin
        send_dec.tcb.rec = RecNone;
      end else if (tcb.wnd == '0) begin
        send_dec.arm = ArmPersist;
      end else if (p.again_left == 32'd0) begin
        // All data has left again; FIN is what remains, if it has left at all.
        if (tcb.rec == RecBack) send_dec.tcb.rec = RecAfter;
        send_dec.tx = tcb.fin_in;
        send_dec.tx_flags = FlagFinAck;
      end else if (again_ok) begin
        send_dec.tx = 1'b1;
        send_dec.tx_len = again_len;
        send_dec.tx_flags = FlagPshAck;
        send_dec.tcb.again = p.again + 32'(again_len);
        send_dec.tcb.rexmit = tcb.rec == RecBack;
      end
      if (send_dec.tx) begin
        send_dec.tcb.timing = 1'b0;
        // Runs again from when the segment has left.
        if (tcb.rec == RecFast) send_dec.arm = ArmStop;
      end
    end else if (tcb.send_check && new_ok) begin
      send_dec.tx = 1'b1;
      send_dec.tx_seq = ctx_i.snd_nxt;
      send_dec.tx_len = new_len;
      send_dec.tx_flags = p.unsent == 32'(new_len) ? FlagPshAck : FlagAck;
      if (tcb.tmr == TmPersist) send_dec.arm = ArmStop;
      if (!tcb.timing && tcb.rec == RecNone) begin
        send_dec.tcb.timing = 1'b1;
        send_dec.tcb.timed = ctx_i.snd_nxt + 32'(new_len);
        send_dec.tcb.tstart = ctx_i.now[15:0];
      end
    end else if (tcb.send_check && fin_ok) begin
      send_dec.tx = 1'b1;
      send_dec.tx_seq_nxt = 1'b1;
      send_dec.tx_flags = FlagFinAck;
      send_dec.tcb.fin_out = 1'b1;
      send_dec.tcb.state = tcb.state == StCloseWait ? StLastAck : StFinWait1;
      send_dec.arm = ArmStop;
    end else begin
      send_dec.tcb.send_check = 1'b0;
      if (tcb.send_check && blocked && tcb.tmr == TmNone) send_dec.arm = ArmPersist;
      send_dec.tx = tcb.ack_now;
      send_dec.tx_seq_nxt = 1'b1;
    end
    if (send_dec.tx) begin
      send_dec.tcb.busy = 2'd1;
      if (!tcb.syn_now || tcb.state == StSynRcvd) send_dec = dec_acked(send_dec);
    end
  end

  always_comb begin
    if (tcb.rtt_due || tcb.rearm) dec_o = rtt_dec;
    else if (tcb.busy == 2'd0 && ctx_i.room) dec_o = send_dec;
    else dec_o = dec_keep(tcb, ctx_i.tup);
  end

endmodule
