// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the protocol engine: the state of a session (eng_tcb_t), everything known about an
/// event when the decide stage runs (eng_ctx_t), and the decision (eng_dec_t).
package spfe_tcp_eng_pkg;
  import spfe_tcp_pkg::*;

  // No single module uses every constant.
  /* verilator lint_off UNUSEDPARAM */

  /// Width of a point in time: more than twice the longest timer, so that times compare modulo
  /// 2^18.
  localparam int unsigned TimeBits = 18;
  typedef logic [TimeBits-1:0] when_t;  // ticks
  /// Width of a window: 65535 shifted left by 14.
  localparam int unsigned WndBits = 30;
  typedef logic [WndBits-1:0] wnd_t;  // bytes

  /// Limit of challenge acknowledgements per tick and session (RFC 5961, 7). Acknowledgements of
  /// out-of-order data are not limited, because RFC 5681 requires each of them.
  localparam logic [2:0] ChallengeLimit = 3'd4;
  /// MSS of a peer that does not announce one (RFC 9293, 3.7.1).
  localparam logic [15:0] DefaultMss = 16'd536;
  /// Least MSS of a peer that the engine uses: a smaller one would let a peer have a message cut
  /// into segments that are nearly all header. It is also the least value of the register MSS.
  localparam logic [15:0] LeastMss = 16'd64;

  /// Purpose of the long timer of a session. Only one of these runs at a time.
  typedef enum logic [2:0] {
    TmNone = 3'd0,
    TmRto = 3'd1,  // retransmission timeout (RFC 6298)
    TmPersist = 3'd2,  // window probe
    TmTimeWait = 3'd3,
    TmResolve = 3'd4  // repeat the query for the next hop
  } timer_e;

  typedef enum logic [2:0] {
    ArmKeep = 3'd0,
    ArmStop = 3'd1,
    ArmRto = 3'd2,
    ArmPersist = 3'd3,
    ArmTimeWait = 3'd4,
    ArmResolve = 3'd5
  } arm_e;

  /// Loss recovery.
  typedef enum logic [1:0] {
    RecNone = 2'd0,
    RecFast = 2'd1,  // after three duplicate ACKs (RFC 6582): retransmit hole by hole
    RecBack = 2'd2,  // after a timeout: retransmit from SND.UNA to SND.NXT (go-back-N)
    RecAfter = 2'd3  // go-back-N has resent everything; waiting for the ACK
  } rec_e;

  /// Update of the congestion window.
  typedef enum logic [3:0] {
    CcKeep = 4'd0,
    CcInit = 4'd1,  // initial window (RFC 6928)
    CcInitLost = 4'd2,  // initial window after a lost SYN or SYN-ACK (RFC 5681, 3.1)
    CcAck = 4'd3,  // slow start or congestion avoidance
    CcEnter = 4'd4,  // enter fast recovery (RFC 6582, 3.2, step 2)
    CcDup = 4'd5,  // further duplicate ACK (RFC 5681, 3.2, step 4)
    CcPartial = 4'd6,  // partial ACK (RFC 6582, 3.2, step 3)
    CcExit = 4'd7,
    CcTimeout = 4'd8,  // first timeout of a segment (RFC 5681, 3.1)
    CcTimeoutAgain = 4'd9  // repeated timeout of the same segment
  } cc_e;

  /// Kinds of events.
  typedef enum logic [3:0] {
    KindSegment = 4'd0,
    KindDone = 4'd1,
    KindArp = 4'd2,  // answer to a next-hop query
    KindMac = 4'd3,  // the MAC address of a next hop has changed
    KindOp = 4'd4,
    KindView = 4'd5,
    KindSyn = 4'd6,  // SYN for a listening session
    KindReset = 4'd7,  // segment without a session, answered with a reset
    KindServe = 4'd8
  } kind_e;

  /// Use of a session slot, as the search for a listening session sees it.
  typedef enum logic [1:0] {
    UseNone = 2'd0,
    UseListen = 2'd1,
    UseActive = 2'd2,  // has a four-tuple
    UsePassive = 2'd3  // has a four-tuple and returns to LISTEN
  } use_e;

  /// Four-tuple. In a listening session, ip is the only allowed peer or 0 for any, and port is 0.
  typedef struct packed {
    use_e used;
    vif_t vif;
    ip_t ip;
    port_t port;
    port_t lport;
  } eng_tup_t;

  /// State of a session owned by the engine. All zeros means CLOSED.
  typedef struct packed {
    state_e state;
    logic passive;  // returns to LISTEN when the connection ends
    ip_t lip;  // the only peer that a listening session accepts, or 0 for any
    mac_t dmac;  // MAC address of the next hop
    logic scaled;  // window scaling is in use (both sides offered it)
    logic [3:0] snd_ws;  // window shift of the peer
    logic [15:0] mss;  // effective MSS: the smaller of both sides'
    seq_t una;  // SND.UNA; before the first SYN, ISS
    wnd_t wnd;  // SND.WND
    wnd_t max_wnd;  // MAX.SND.WND (RFC 5961, 5.2)
    seq_t wl1;  // SND.WL1. SND.WL2 <= SND.UNA always holds, so the ACK check covers it.
    seq_t recover;  // SND.NXT when recovery began (RFC 6582)
    logic [1:0] dups;  // duplicate ACKs seen, saturating at 3
    rec_e rec;
    logic rexmit;  // a segment must be retransmitted: at `again` in RecBack, otherwise at SND.UNA
    seq_t again;  // RecBack: everything before this number has been resent
    seq_t timed;  // end of the segment whose round trip is measured
    // send time of that segment; when rtt_due is set, the sample itself (both in ticks)
    logic [15:0] tstart;
    logic timing;
    logic rtt_due;  // a round-trip sample waits to be processed
    logic rearm;  // the RTO has changed while its timer runs
    logic has_rtt;
    logic [18:0] srtt;  // units of 1/8 tick
    logic [17:0] rttvar;  // units of 1/4 tick
    logic [3:0] backoff;  // number of RTO doublings
    logic [7:0] tries;  // consecutive timeouts without progress
    timer_e tmr;
    when_t deadline;
    logic dack;  // a delayed ACK is due at dack_at
    when_t dack_at;
    logic ack_now;
    logic ack_pend;  // one data segment is unacknowledged
    logic syn_now;
    logic probe_now;
    logic rst_now;
    logic send_check;  // check for data or FIN to send
    logic fin_req;  // the user has closed: send FIN after the data
    logic fin_out;  // FIN was passed to the transmitter
    logic fin_in;  // FIN was sent and SND.NXT includes it
    logic [1:0] busy;  // commands in progress in the transmitter
    logic [7:0] tok_tick;  // low bits of the tick that tok counts in
    logic [2:0] tok;  // challenge acknowledgements sent in that tick
    wnd_t cwnd;
    wnd_t ssthresh;
    wnd_t cacc;  // bytes acknowledged since cwnd last grew in congestion avoidance
  } eng_tcb_t;

  /// Congestion control state.
  typedef struct packed {
    wnd_t cwnd;
    wnd_t ssthresh;
    wnd_t cacc;
  } eng_cc_t;

  /// A received segment with values that do not depend on session state.
  typedef struct packed {
    seg_t seg;
    seq_t off;  // SEQ - RCV.NXT
  } eng_seg_t;

  /// Results of the read stage.
  typedef struct packed {
    logic accept;  // acceptable (RFC 9293, 3.10.7.4, first step)
    logic exact;  // SEQ is RCV.NXT
    logic old;  // SEQ < RCV.NXT
    logic prior;  // SEQ is RCV.NXT - 1
    wnd_t wnd;  // window field of the segment after scaling
    logic [18:0] rto;  // ticks, before limits and backoff
    wnd_t swnd;  // min(SND.WND, cwnd)
  } eng_pre_t;

  /// Results of the calc stage.
  typedef struct packed {
    logic ack_new;  // SND.UNA < ACK <= SND.NXT
    logic ack_same;  // ACK is SND.UNA
    logic ack_beyond;  // ACK > SND.NXT
    logic ack_ancient;  // ACK < SND.UNA - MAX.SND.WND
    logic ack_all;  // ACK is SND.NXT
    logic wl_ok;  // SEQ >= SND.WL1
    logic wnd_same;
    logic wnd_more;  // window is above MAX.SND.WND
    logic rec_done;  // ACK >= recover
    logic timed_done;  // ACK >= timed
    logic una_fresh;  // SND.UNA has passed the last recovery point (RFC 6582, 3.2, step 2)
    logic again_low;  // ACK >= again
    logic flying;  // SND.UNA != SND.NXT: data is in flight
    logic drained;  // consumed and written both equal SND.NXT
    logic behind;  // SND.NXT != consumed: unsent data is left to the engine
    seq_t acked;  // ACK - SND.UNA
    seq_t flight;  // SND.NXT - SND.UNA
    seq_t unsent;  // consumed - SND.NXT
    seq_t usable;  // SND.UNA + swnd - SND.NXT
    seq_t stored;  // written - SND.UNA
    seq_t again;  // start of the next retransmission
    seq_t again_left;  // data bytes from again to SND.NXT
    seq_t again_room;  // window space from again
    seq_t stored_ack;  // written - ACK
    logic [15:0] mss;  // for a SYN: the smaller of both sides' MSS
    logic [18:0] rto;  // ticks, not below the minimum, before backoff
    logic [15:0] sample;  // now - tstart
    logic [19:0] rtt_err;  // tstart - SRTT, signed
    logic [2:0] tok;  // challenge acknowledgements already sent in this tick
    logic tmr_due;
    logic give_up;  // the retry limit has been reached
    logic dack_due;
    logic done_ack_new;  // the segment in tx_done acknowledged the current RCV.NXT
    logic done_open;  // the end of the segment in tx_done is above SND.UNA
    seq_t done_end;
  } eng_pred_t;

  typedef struct packed {
    sid_t sid;
    eng_tcb_t tcb;
    eng_tup_t tup;
    seg_t seg;
    tx_done_t done;
    op_cmd_t op;
    arp_answer_t arp;
    mac_t mac;
    seq_t iss;  // new ISS for KindOp and KindSyn
    seq_t snd_nxt;
    when_t now;
    logic room;  // the FIFO has room for a tx_cmd
    eng_pre_t pre;
    eng_pred_t p;
  } eng_ctx_t;

  typedef struct packed {
    logic we;  // write tcb and tup
    cc_e cc;
    eng_tcb_t tcb;
    eng_tup_t tup;
    arm_e arm;
    logic arm_dack;
    logic rcv;  // issue a rcv_cmd
    logic rcv_open;
    logic rcv_set;
    seq_t rcv_nxt;
    logic key;  // issue a key_cmd
    logic hdr;  // issue a hdr_cmd
    logic snd;  // issue a snd_cmd
    logic snd_init;
    logic tx;  // issue a tx_cmd
    logic tx_seq_nxt;
    seq_t tx_seq;
    logic tx_ack_rcv;
    seq_t tx_ack;
    flags_t tx_flags;
    logic [15:0] tx_len;
    logic tx_ws;
    logic query;  // query the MAC address of the next hop
    logic op_done;  // KindOp: the operation is finished and need not be retried
    logic opened;
    logic closed;
    close_e reason;
    logic peer_fin;
    logic arp_failed;
    logic credit;
    eng_count_t count;
  } eng_dec_t;

  localparam flags_t FlagAck = '{ack: 1'b1, default: 1'b0};
  localparam flags_t FlagPshAck = '{ack: 1'b1, psh: 1'b1, default: 1'b0};
  localparam flags_t FlagFinAck = '{ack: 1'b1, fin: 1'b1, default: 1'b0};
  localparam flags_t FlagSyn = '{syn: 1'b1, default: 1'b0};
  localparam flags_t FlagSynAck = '{syn: 1'b1, ack: 1'b1, default: 1'b0};
  localparam flags_t FlagRst = '{rst: 1'b1, default: 1'b0};
  localparam flags_t FlagRstAck = '{rst: 1'b1, ack: 1'b1, default: 1'b0};

  /// A decision that changes nothing.
  function automatic eng_dec_t dec_keep(eng_tcb_t tcb, eng_tup_t tup);
    eng_dec_t d;
    d = '0;
    d.we = 1'b1;
    d.tcb = tcb;
    d.tup = tup;
    return d;
  endfunction

  // Takes sequence number, options and window from the peer's SYN, whose window is never scaled
  // (RFC 7323, 2.2), and opens delivery. `scaled`: both sides offer window scaling.
  function automatic eng_dec_t dec_syn(eng_dec_t dec, logic [31:0] seq, logic [15:0] wnd,
                                       logic [15:0] mss, logic scaled, logic [3:0] ws);
    eng_dec_t d;
    d = dec;
    d.tcb.mss = mss;
    d.tcb.scaled = scaled;
    d.tcb.snd_ws = scaled ? ws : 4'd0;
    d.tcb.wnd = {14'd0, wnd};
    d.tcb.max_wnd = {14'd0, wnd};
    d.tcb.wl1 = seq;
    d.hdr = 1'b1;
    d.snd = 1'b1;
    d.rcv = 1'b1;
    d.rcv_open = 1'b1;
    d.rcv_set = 1'b1;
    d.rcv_nxt = seq + 32'd1;
    return d;
  endfunction

  /// Sends an acknowledgement now, with SEQ = SND.NXT and ACK = RCV.NXT.
  function automatic eng_dec_t dec_ack(eng_dec_t dec);
    eng_dec_t d;
    d = dec;
    d.tx = 1'b1;
    d.tx_seq_nxt = 1'b1;
    d.tx_ack_rcv = 1'b1;
    d.tx_flags = FlagAck;
    d.tcb.busy = dec.tcb.busy + 2'd1;
    return dec_acked(d);
  endfunction

  /// Clears all pending acknowledgements, because the segment being sent carries RCV.NXT.
  function automatic eng_dec_t dec_acked(eng_dec_t dec);
    eng_dec_t d;
    d = dec;
    d.tcb.ack_now = 1'b0;
    d.tcb.ack_pend = 1'b0;
    d.tcb.dack = 1'b0;
    d.arm_dack = 1'b0;
    return d;
  endfunction

  /// Ends the connection and returns to LISTEN or CLOSED. `tell`: report it to the user.
  function automatic eng_dec_t dec_close(eng_dec_t dec, logic tell, close_e reason, logic reset);
    eng_dec_t d;
    d = dec;
    d.tcb = '0;
    d.tcb.state = dec.tcb.passive ? StListen : StClosed;
    d.tcb.passive = dec.tcb.passive;
    d.tcb.lip = dec.tcb.lip;
    d.tcb.una = dec.tcb.una;
    d.tcb.busy = dec.tcb.busy;
    d.tcb.rst_now = reset;
    d.tup.ip = dec.tcb.passive ? dec.tcb.lip : dec.tup.ip;
    d.tup.port = dec.tcb.passive ? '0 : dec.tup.port;
    d.cc = CcKeep;
    d.arm = ArmStop;
    d.arm_dack = 1'b0;
    d.rcv = 1'b1;
    d.rcv_open = 1'b0;
    d.rcv_set = 1'b0;
    d.key = 1'b1;
    d.snd = 1'b1;
    d.snd_init = 1'b0;
    d.opened = 1'b0;
    d.peer_fin = 1'b0;
    d.credit = 1'b0;
    d.closed = tell;
    d.reason = reason;
    d.count.closed = tell;
    d.count.opened = 1'b0;
    return d;
  endfunction

  /// Returns whether the receiver knows the four-tuple of the session.
  function automatic logic is_keyed(state_e state);
    return !(state inside {StClosed, StListen, StResolve});
  endfunction

  /// Returns whether the user may send.
  function automatic logic is_open(eng_tcb_t tcb);
    logic unused_bits;
    unused_bits = ^tcb;
    return (tcb.state inside {StEstablished, StCloseWait}) && !tcb.fin_req;
  endfunction

  /// Returns whether aborting a session in this state sends a reset.
  function automatic logic wants_reset(state_e state);
    return state inside {
      StSynRcvd, StEstablished, StFinWait1, StFinWait2, StCloseWait, StClosing, StLastAck
    };
  endfunction

  /// Returns whether a service event would make progress now.
  function automatic logic wants_service(eng_tcb_t tcb);
    logic unused_bits;
    unused_bits = ^tcb;
    return tcb.rtt_due || tcb.rearm || (tcb.busy == 2'd0 && (tcb.ack_now || tcb.syn_now ||
        tcb.probe_now || tcb.rst_now || tcb.rexmit || tcb.send_check));
  endfunction

  function automatic use_e use_of(eng_tcb_t tcb);
    logic unused_bits;
    unused_bits = ^tcb;
    if (tcb.state == StClosed) return UseNone;
    if (tcb.state == StListen) begin
      // The header entry must not change while a reset of the last connection is in progress.
      return (tcb.busy != 2'd0 || tcb.rst_now) ? UsePassive : UseListen;
    end
    return tcb.passive ? UsePassive : UseActive;
  endfunction

  /* verilator lint_on UNUSEDPARAM */
endpackage
