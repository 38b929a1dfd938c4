// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Determines the case of a segment (RFC 9293, 3.10.7, with RFC 5961) and the new values of flags
/// and states. Combinational; spfe_tcp_eng_seg_sync turns the result into a decision.
module spfe_tcp_eng_judge_seg
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
  /// 1: acknowledge each data segment at once.
  parameter bit InstantAck = 1'b0,
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  /// Segment of the event.
  input seg_t seg_i,
  /// State of its session.
  input eng_tcb_t tcb_i,
  /// Results of the read stage.
  input eng_pre_t pre_i,
  /// Results of the calc stage.
  input eng_pred_t p_i,
  /// Class of the segment before its ACK is checked.
  input eng_class_t class_i,
  /// The FIFO has room for a tx_cmd.
  input logic room_i,
  /// Action on the segment.
  output eng_act_t act_o
);
  logic has_data, ack_ok, fin_acked, fin_taken, is_dup, wnd_ok, half_open, can_send, in_range;
  logic challenge;  // answer with a rate-limited ACK
  logic duplicate;  // answer with an ACK
  logic crossed;  // SYN-ACK of a simultaneous open
  logic last_acked;  // our FIN is acknowledged in LAST-ACK: the connection ends
  logic syn_opens;  // SYN-SENT becomes ESTABLISHED
  logic data_taken, data_now, done, window_opens;
  act_kind_e kind;
  state_e mid_state;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{seg_i, tcb_i, pre_i, p_i};

  assign half_open = tcb_i.state == StSynRcvd;
  assign has_data = seg_i.len != 16'd0;
  assign ack_ok = p_i.ack_new || p_i.ack_same;
  assign fin_acked = tcb_i.fin_in && p_i.ack_all && ack_ok;
  // The receiver accepts nothing after LAST-ACK.
  assign fin_taken = seg_i.taken && seg_i.flags.fin;
  assign is_dup = p_i.ack_same && p_i.flying && !has_data && p_i.wnd_same && !seg_i.flags.fin &&
      pre_i.wnd != '0;
  // RFC 9293, 3.10.7.4: SND.WL2 =< ACK holds for every ACK at or above SND.UNA. The first window of
  // a connection is always accepted.
  assign wnd_ok = ack_ok && (p_i.wl_ok || half_open);
  assign crossed = class_i.crossed && p_i.ack_new;
  assign last_acked = fin_acked && tcb_i.state == StLastAck;
  assign syn_opens = seg_i.flags.syn && seg_i.flags.ack && p_i.ack_new && !seg_i.flags.rst;
  assign can_send = room_i && tcb_i.busy != 2'd3;

  // Selects ActAck. It may also be set for ActClose and ActRefuse, which ignore these fields.
  assign in_range = crossed || (class_i.kind == SegPlain && !p_i.ack_beyond && !p_i.ack_ancient);

  // Case of the segment.
  always_comb begin
    kind = ActKeep;
    challenge = class_i.challenge;
    duplicate = class_i.duplicate;
    if (crossed) begin
      kind = ActAck;
      challenge = 1'b0;
      duplicate = 1'b0;
    end else begin
      unique case (class_i.kind)
        // RST: an exact sequence number closes, any other in the window is challenged (RFC 5961,
        // 3).
        SegRst: if (!class_i.challenge) kind = ActClose;
        SegSyn: if (!class_i.challenge) kind = ActClose;
        SegReopen: kind = ActReopen;
        SegPlain: begin
          duplicate = 1'b0;
          if (half_open && !p_i.ack_new) begin
            kind = ActRefuse;
          end else if (p_i.ack_beyond || p_i.ack_ancient) begin
            challenge = 1'b1;
          end else begin
            kind = last_acked ? ActClose : ActAck;
            duplicate = class_i.duplicate;
          end
        end
        default: ;
      endcase
    end
    act_o.tell = class_i.kind == SegSyn ? 1'b0 : !(half_open && tcb_i.passive);
    act_o.reason = CloseReset;
    if (half_open) act_o.reason = class_i.kind == SegRst ? CloseRefused : CloseReset;
    else if (tcb_i.state == StTimeWait || class_i.kind == SegPlain) act_o.reason = CloseDone;
    // Once the connection is open, a pending retransmission of the SYN is cancelled.
    act_o.syn_now = !(in_range && p_i.ack_new) &&
        (tcb_i.syn_now || (class_i.syn_again && !seg_i.flags.rst));
  end

  // State transitions.
  always_comb begin
    mid_state = tcb_i.state;
    if (half_open) mid_state = StEstablished;
    else if (fin_acked && tcb_i.state == StFinWait1) mid_state = StFinWait2;
    else if (fin_acked && tcb_i.state == StClosing) mid_state = StTimeWait;
    act_o.state = mid_state;
    act_o.peer_fin = 1'b0;
    if (fin_taken) begin
      act_o.peer_fin = mid_state inside {StEstablished, StFinWait1, StFinWait2};
      unique case (mid_state)
        StEstablished: act_o.state = StCloseWait;
        StFinWait1: act_o.state = StClosing;
        StFinWait2: act_o.state = StTimeWait;
        default: ;
      endcase
    end
  end

  // The peer's acknowledgement, windows and recovery.
  assign done = p_i.rec_done || p_i.ack_all;
  assign window_opens = tcb_i.tmr == TmPersist && wnd_ok && pre_i.wnd != '0;
  always_comb begin
    act_o.kind = kind;
    act_o.ack_new = p_i.ack_new;
    act_o.wnd_ok = wnd_ok;
    act_o.opened = half_open;
    act_o.reopened = window_opens;
    act_o.dup_ack = !p_i.ack_new && is_dup;
    act_o.entered = 1'b0;
    act_o.cc = CcKeep;
    act_o.rec = tcb_i.rec;
    act_o.dups = tcb_i.dups;
    act_o.rexmit = tcb_i.rexmit;
    act_o.recover_now = 1'b0;
    act_o.recover_una = 1'b0;
    act_o.again_ack = 1'b0;
    act_o.measured = p_i.ack_new && tcb_i.timing && p_i.timed_done;
    act_o.timing = tcb_i.timing && !act_o.measured;
    act_o.rtt_due = tcb_i.rtt_due || act_o.measured;
    act_o.tries_zero = p_i.ack_new || tcb_i.tmr == TmPersist;
    act_o.snd = p_i.ack_new || half_open || (wnd_ok && !p_i.wnd_same) || window_opens;
    if (p_i.ack_new) begin
      act_o.dups = 2'd0;
      act_o.rexmit = 1'b0;
      if (!half_open) act_o.cc = CcAck;
      if (tcb_i.rec == RecNone) begin
        act_o.recover_una = 1'b1;  // keeps recover close to SND.UNA, for comparisons modulo 2^32
      end else if (done) begin
        act_o.rec = RecNone;
        if (tcb_i.rec == RecFast) act_o.cc = CcExit;
      end else if (tcb_i.rec == RecFast) begin
        // RFC 6582: a partial acknowledgement reveals the next hole.
        act_o.rexmit = 1'b1;
        act_o.cc = CcPartial;
      end else if (tcb_i.rec == RecBack) begin
        act_o.rexmit = 1'b1;
        act_o.again_ack = p_i.again_low;
      end
    end else if (is_dup) begin
      if (tcb_i.dups != 2'd3) act_o.dups = tcb_i.dups + 2'd1;
      if (tcb_i.dups == 2'd2 && tcb_i.rec == RecNone && p_i.una_fresh) begin
        act_o.entered = 1'b1;
        act_o.rec = RecFast;
        act_o.recover_now = 1'b1;
        act_o.rexmit = 1'b1;
        act_o.timing = 1'b0;
        act_o.snd = 1'b1;
        act_o.cc = CcEnter;
      end else if (tcb_i.dups == 2'd2 && tcb_i.rec == RecAfter) begin
        // A retransmission after the timeout was lost too.
        act_o.rexmit = 1'b1;
      end else if (tcb_i.dups == 2'd3 && tcb_i.rec == RecFast) begin
        act_o.cc = CcDup;
        if (CongestionControl) act_o.snd = 1'b1;
      end
    end
    if (half_open) act_o.cc = tcb_i.tries == 8'd0 ? CcInit : CcInitLost;
    if (window_opens && !p_i.ack_all) begin
      // Segments sent before the window closed were discarded by the peer.
      act_o.rexmit = 1'b1;
      act_o.rec = RecBack;
      act_o.recover_now = 1'b1;
      act_o.again_ack = 1'b1;
    end
    act_o.send_check = tcb_i.send_check || half_open || window_opens ||
        (act_o.snd && (p_i.behind || tcb_i.fin_req));
  end

  // Long timer.
  always_comb begin
    act_o.arm = ArmKeep;
    if (in_range) begin
      if (window_opens) act_o.arm = ArmStop;
      else if (p_i.ack_new && tcb_i.tmr != TmPersist) act_o.arm = p_i.ack_all ? ArmStop : ArmRto;
      if ((fin_acked && tcb_i.state == StClosing) || (fin_taken &&
          (tcb_i.state == StFinWait2 || (fin_acked && tcb_i.state == StFinWait1))))
        act_o.arm = ArmTimeWait;
    end else if (class_i.again) begin
      act_o.arm = ArmTimeWait;
    end
  end

  // Our acknowledgement.
  assign data_taken = has_data && seg_i.taken;
  assign data_now = data_taken && (InstantAck || tcb_i.ack_pend || seg_i.gap);
  always_comb begin
    act_o.challenge = challenge && p_i.tok < ChallengeLimit;
    act_o.ack_pend = tcb_i.ack_pend || data_taken;
    act_o.arm_dack = data_taken && !data_now;
    act_o.ack_now = tcb_i.ack_now || act_o.challenge || duplicate || data_now || fin_taken;
    // The ACK need not wait for a service event. Only ActKeep and ActAck use this.
    if (tcb_i.state == StSynSent) act_o.ack_go = syn_opens && can_send;
    else act_o.ack_go = act_o.ack_now && can_send && !act_o.syn_now;
  end

endmodule
