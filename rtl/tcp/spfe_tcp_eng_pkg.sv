// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types inside of the protocol engine: the state of a session, what is known of an event when it
/// is decided (eng_ctx_t), and what is decided (eng_dec_t).
package spfe_tcp_eng_pkg;
  import spfe_tcp_pkg::*;

  // Not every module needs every constant.
  /* verilator lint_off UNUSEDPARAM */

  /// Bits of a point in time: more than twice the longest timer, for comparisons on the circle.
  localparam int unsigned TimeBits = 18;
  typedef logic [TimeBits-1:0] when_t;  // ticks
  /// Bits of a window: 65535 shifted by 14.
  localparam int unsigned WndBits = 30;
  typedef logic [WndBits-1:0] wnd_t;  // bytes

  /// Acknowledgements of segments without data that nobody needs for progress: at most so many in a
  /// tick and session (RFC 5961, 7). RFC 5681 wants all those of data out of order.
  localparam logic [2:0] ChallengeLimit = 3'd4;
  /// MSS of a peer that tells none (RFC 9293, 3.7.1).
  localparam logic [15:0] DefaultMss = 16'd536;

  /// What the one long timer of a session waits for.
  typedef enum logic [2:0] {
    TmNone = 3'd0,
    TmRto = 3'd1,  // RFC 6298
    TmPersist = 3'd2,  // window probe
    TmTimeWait = 3'd3,
    TmResolve = 3'd4  // ask for the address of the next hop again
  } timer_e;

  typedef enum logic [2:0] {
    ArmKeep = 3'd0,
    ArmStop = 3'd1,
    ArmRto = 3'd2,
    ArmPersist = 3'd3,
    ArmTimeWait = 3'd4,
    ArmResolve = 3'd5
  } arm_e;

  /// Recovery of lost segments.
  typedef enum logic [1:0] {
    RecNone = 2'd0,
    RecFast = 2'd1,  // after three duplicates (RFC 6582): holes one by one
    RecBack = 2'd2,  // after a timeout: all from SND.UNA to SND.NXT again
    RecAfter = 2'd3  // all of it has left again
  } rec_e;

  /// What becomes of the congestion window.
  typedef enum logic [3:0] {
    CcKeep = 4'd0,
    CcInit = 4'd1,  // RFC 6928
    CcInitLost = 4'd2,  // SYN or SYN-ACK was lost (RFC 5681, 3.1)
    CcAck = 4'd3,  // slow start or congestion avoidance
    CcEnter = 4'd4,  // RFC 6582, 3.2: step 2
    CcDup = 4'd5,  // step 3 of RFC 5681, 3.2
    CcPartial = 4'd6,  // RFC 6582, 3.2: step 3
    CcExit = 4'd7,
    CcTimeout = 4'd8,  // RFC 5681, 3.1
    CcTimeoutAgain = 4'd9  // the same segment once more
  } cc_e;

  /// Kinds of events, the order of the bits of a request is that of priority.
  typedef enum logic [3:0] {
    KindSegment = 4'd0,
    KindDone = 4'd1,
    KindArp = 4'd2,  // answer to a query
    KindMac = 4'd3,  // a next hop has a new address
    KindOp = 4'd4,
    KindView = 4'd5,
    KindSyn = 4'd6,  // SYN for a listening session
    KindReset = 4'd7,  // segment of no session
    KindServe = 4'd8
  } kind_e;

  /// Use of a session, as the search for listening ones sees it.
  typedef enum logic [1:0] {
    UseNone = 2'd0,
    UseListen = 2'd1,
    UseActive = 2'd2,  // has a four-tuple
    UsePassive = 2'd3  // the same, and goes back to LISTEN
  } use_e;

  /// Four-tuple. Of a listening session: ip is the only peer allowed or 0, port is 0.
  typedef struct packed {
    use_e used;
    vif_t vif;
    ip_t ip;
    port_t port;
    port_t lport;
  } eng_tup_t;

  /// State of a session that the engine owns. All zero is CLOSED.
  typedef struct packed {
    state_e state;
    logic passive;  // goes back to LISTEN
    ip_t lip;  // the only peer allowed, 0: any
    mac_t dmac;  // next hop
    logic scaled;  // both sides have offered window scaling
    logic [3:0] snd_ws;  // shift of the windows of the peer
    logic [15:0] mss;  // the smaller of both
    seq_t una;  // SND.UNA; ISS before the first SYN
    wnd_t wnd;  // SND.WND
    wnd_t max_wnd;  // MAX.SND.WND (RFC 5961, 5.2)
    seq_t wl1;  // SND.WL1. SND.WL2 <= SND.UNA always, so the test of it is that of the ACK.
    seq_t recover;  // end of what was sent when recovery began (RFC 6582)
    logic [1:0] dups;  // duplicate acknowledgements
    rec_e rec;
    logic rexmit;  // the segment at `again` (RecBack) or SND.UNA has to be sent again
    seq_t again;  // RecBack: what is before it has left again
    seq_t timed;  // end of the segment whose round trip is measured
    logic [15:0] tstart;  // tick in which it left; with rtt_due the sample in ticks
    logic timing;
    logic rtt_due;  // a sample waits
    logic rearm;  // the RTO has changed while the timer runs
    logic has_rtt;
    logic [18:0] srtt;  // ticks * 8
    logic [17:0] rttvar;  // ticks * 4
    logic [3:0] backoff;  // doublings
    logic [7:0] tries;  // timeouts without progress
    timer_e tmr;
    when_t deadline;
    logic dack;  // an acknowledgement waits until
    when_t dack_at;
    logic ack_now;
    logic ack_pend;  // one segment is not acknowledged
    logic syn_now;
    logic probe_now;
    logic rst_now;
    logic send_check;  // look for data or FIN to send
    logic fin_req;  // FIN after the data
    logic fin_out;  // FIN was given to the transmitter
    logic fin_in;  // and has left: SND.NXT counts it
    logic [1:0] busy;  // commands in the transmitter
    logic [7:0] tok_tick;  // tick of
    logic [2:0] tok;  // acknowledgements that are limited
    wnd_t cwnd;
    wnd_t ssthresh;
    wnd_t cacc;  // bytes acknowledged in congestion avoidance
  } eng_tcb_t;

  /// Congestion window.
  typedef struct packed {
    wnd_t cwnd;
    wnd_t ssthresh;
    wnd_t cacc;
  } eng_cc_t;

  /// A segment with what can be said of it without the state of the session.
  typedef struct packed {
    seg_t seg;
    seq_t off;  // SEQ - RCV.NXT
  } eng_seg_t;

  /// Known at the end of the read stage.
  typedef struct packed {
    logic accept;  // RFC 9293, 3.10.7.4, first
    logic exact;  // SEQ is RCV.NXT
    logic old;  // SEQ < RCV.NXT
    logic prior;  // SEQ is RCV.NXT - 1
    wnd_t wnd;  // window of the segment, scaled
    logic [18:0] rto;  // ticks, before limits and backoff
    wnd_t swnd;  // min(SND.WND, cwnd)
  } eng_pre_t;

  /// Known at the end of the first stage of execution.
  typedef struct packed {
    logic ack_new;  // SND.UNA < ACK <= SND.NXT
    logic ack_same;  // ACK is SND.UNA
    logic ack_beyond;  // ACK > SND.NXT
    logic ack_ancient;  // ACK < SND.UNA - MAX.SND.WND
    logic ack_all;  // ACK is SND.NXT
    logic wl_ok;  // SEQ >= SND.WL1
    logic wnd_same;
    logic wnd_more;  // above MAX.SND.WND
    logic rec_done;  // ACK >= recover
    logic timed_done;  // ACK >= timed
    logic una_fresh;  // SND.UNA is beyond the last recovery (RFC 6582, 3.2: step 2)
    logic again_low;  // ACK is beyond what has left again
    logic flying;  // SND.UNA is not SND.NXT
    logic drained;  // consumed and written are SND.NXT
    logic behind;  // SND.NXT is not consumed
    seq_t acked;  // ACK - SND.UNA
    seq_t flight;  // SND.NXT - SND.UNA
    seq_t unsent;  // consumed - SND.NXT
    seq_t usable;  // SND.UNA + swnd - SND.NXT
    seq_t stored;  // written - SND.UNA
    seq_t again;  // where to send again
    seq_t again_left;  // data from there to SND.NXT
    seq_t again_room;  // window from there
    seq_t stored_ack;  // written - ACK
    logic [15:0] mss;  // for a SYN: the smaller of both
    logic [18:0] rto;  // ticks, not below the minimum, before backoff
    logic [15:0] sample;  // now - tstart
    logic [19:0] rtt_err;  // tstart - SRTT, signed
    logic [2:0] tok;  // limited acknowledgements in this tick
    logic tmr_due;
    logic give_up;  // the timer has run out often enough
    logic dack_due;
    logic done_ack_new;  // tx_done carried our newest RCV.NXT
    logic done_open;  // end of the segment of tx_done is beyond SND.UNA
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
    seq_t iss;  // for KindOp and KindSyn
    seq_t snd_nxt;
    when_t now;
    logic room;  // a tx_cmd can be given
    eng_pre_t pre;
    eng_pred_t p;
  } eng_ctx_t;

  typedef struct packed {
    logic we;  // tcb and tup are written
    cc_e cc;
    eng_tcb_t tcb;
    eng_tup_t tup;
    arm_e arm;
    logic arm_dack;
    logic rcv;  // rcv_cmd
    logic rcv_open;
    logic rcv_set;
    seq_t rcv_nxt;
    logic key;  // key_cmd
    logic hdr;  // hdr_cmd
    logic snd;  // snd_cmd
    logic snd_init;
    logic tx;  // tx_cmd
    logic tx_seq_nxt;
    seq_t tx_seq;
    logic tx_ack_rcv;
    seq_t tx_ack;
    flags_t tx_flags;
    logic [15:0] tx_len;
    logic tx_ws;
    logic query;  // ask for the address of the next hop
    logic op_done;  // KindOp: it need not be tried again
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

  /// Nothing changes.
  function automatic eng_dec_t dec_keep(eng_tcb_t tcb, eng_tup_t tup);
    eng_dec_t d;
    d = '0;
    d.we = 1'b1;
    d.tcb = tcb;
    d.tup = tup;
    return d;
  endfunction

  // What the peer's SYN says: its sequence number, options and window, which is never scaled in a SYN
  // (RFC 7323, 2.2). Delivery is open from the next byte on. scaled: both sides offer scaling.
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

  /// An acknowledgement leaves now: SEQ is SND.NXT, ACK is RCV.NXT.
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

  /// What leaves carries RCV.NXT: nothing is left to acknowledge.
  function automatic eng_dec_t dec_acked(eng_dec_t dec);
    eng_dec_t d;
    d = dec;
    d.tcb.ack_now = 1'b0;
    d.tcb.ack_pend = 1'b0;
    d.tcb.dack = 1'b0;
    d.arm_dack = 1'b0;
    return d;
  endfunction

  /// The connection is gone: back to LISTEN or CLOSED. `tell`: the user had one.
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

  /// The session has a four-tuple known to the receiver.
  function automatic logic is_keyed(state_e state);
    return !(state inside {StClosed, StListen, StResolve});
  endfunction

  /// The user may send.
  function automatic logic is_open(eng_tcb_t tcb);
    logic unused_bits;
    unused_bits = ^tcb;
    return (tcb.state inside {StEstablished, StCloseWait}) && !tcb.fin_req;
  endfunction

  /// A reset tells the peer that the connection is gone.
  function automatic logic wants_reset(state_e state);
    return state inside {
      StSynRcvd, StEstablished, StFinWait1, StFinWait2, StCloseWait, StClosing, StLastAck
    };
  endfunction

  /// There is work that the service can do now.
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
      // While a reset of the last connection is on its way the headers must stay.
      return (tcb.busy != 2'd0 || tcb.rst_now) ? UsePassive : UseListen;
    end
    return tcb.passive ? UsePassive : UseActive;
  endfunction

  /* verilator lint_on UNUSEDPARAM */
endpackage
