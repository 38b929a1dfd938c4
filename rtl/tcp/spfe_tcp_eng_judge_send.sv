// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Determines what a session sends next. Combinational.
module spfe_tcp_eng_judge_send
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
(
  /// State of the session.
  input eng_tcb_t tcb_i,
  /// Results of the calc stage.
  input eng_pred_t p_i,
  /// The FIFO has room for a tx_cmd.
  input logic room_i,
  /// What to send.
  output eng_send_t send_o
);
  logic [15:0] again_len, new_len;
  logic again_small, again_fits, again_ok;
  logic open, fits, wide, new_ok, fin_ok, fin_left;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{tcb_i, p_i};

  // Retransmission: limited by SND.NXT and the window. A segment shorter than the MSS is allowed
  // only at SND.UNA.
  assign again_small = p_i.again_left < 32'(tcb_i.mss);
  assign again_fits = !p_i.again_room[31] &&
      (again_small ? p_i.again_room >= p_i.again_left : p_i.again_room >= 32'(tcb_i.mss));
  assign again_ok = again_fits || tcb_i.rec != RecBack || p_i.again == tcb_i.una;
  always_comb begin
    if (!again_fits) again_len = p_i.again_room[15:0];
    else again_len = again_small ? p_i.again_left[15:0] : tcb_i.mss;
  end

  // New data: from SND.NXT to consumed. A short segment before the end of the data is sent only if
  // the usable window is at least half the largest seen or nothing is in flight (sender side silly
  // window avoidance, RFC 9293, 3.8.6.2.1).
  assign open = !p_i.usable[31] && p_i.usable != '0;
  assign fits = p_i.unsent <= p_i.usable;
  assign wide = p_i.usable >= 32'(tcb_i.mss);
  assign new_ok = p_i.behind && open && (fits || wide || !p_i.flying ||
      p_i.usable >= {3'd0, tcb_i.max_wnd[WndBits-1:1]});
  always_comb begin
    if (wide && p_i.unsent >= 32'(tcb_i.mss)) new_len = tcb_i.mss;
    else new_len = fits ? p_i.unsent[15:0] : p_i.usable[15:0];
  end
  assign fin_left = tcb_i.fin_req && !tcb_i.fin_out && p_i.drained;
  assign fin_ok = fin_left && open && tcb_i.state inside {StEstablished, StCloseWait};

  always_comb begin
    send_o.kind = SendAck;
    if (tcb_i.rtt_due || tcb_i.rearm) begin
      send_o.kind = SendRtt;
    end else if (tcb_i.busy != 2'd0 || !room_i) begin
      send_o.kind = SendNone;
    end else if (tcb_i.rst_now) begin
      send_o.kind = SendRst;
    end else if (tcb_i.syn_now) begin
      send_o.kind = SendSyn;
    end else if (tcb_i.probe_now) begin
      send_o.kind = SendProbe;
    end else if (tcb_i.rexmit) begin
      if (!p_i.flying) send_o.kind = SendGone;
      else if (tcb_i.wnd == '0) send_o.kind = SendShut;
      else if (p_i.again_left == 32'd0) send_o.kind = SendLast;
      else send_o.kind = again_ok ? SendAgain : SendWait;
    end else if (tcb_i.send_check) begin
      if (new_ok) send_o.kind = SendNew;
      else if (fin_ok) send_o.kind = SendFin;
    end
    send_o.len = tcb_i.rexmit ? again_len : new_len;
    send_o.push = fits && !(wide && p_i.unsent > 32'(tcb_i.mss));
    send_o.blocked = tcb_i.send_check && (p_i.behind || fin_left) && !p_i.flying &&
        tcb_i.tmr == TmNone;
    send_o.error = p_i.rtt_err[19] ? -p_i.rtt_err : p_i.rtt_err;
  end

endmodule
