// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types shared by the blocks of the TCP core. docs/tcp-core.md lists the owner of each state.
///
/// Compare sequence numbers only with the functions at the end, modulo 2^32 (RFC 9293, 3.4). Times
/// are counts of `tick_i`, an input of the core.
package spfe_tcp_pkg;

  /// Bits in a session number: up to 256 sessions, and one more number, SessionCount. That is the
  /// anonymous session, which sends resets to segments that match no session.
  localparam int unsigned SidBits = 9;
  /// Bits in the number of a virtual interface.
  localparam int unsigned VifBits = 3;
  /// Number of virtual interfaces in tcp_cfg_t.
  localparam int unsigned MaxVifs = 2 ** VifBits;

  typedef logic [SidBits-1:0] sid_t;
  typedef logic [VifBits-1:0] vif_t;
  typedef logic [31:0] seq_t;
  typedef logic [31:0] ip_t;  // first byte on the wire in bits 31:24
  typedef logic [47:0] mac_t;  // first byte on the wire in bits 47:40
  typedef logic [15:0] port_t;
  typedef logic [15:0] sum_t;  // ones' complement sum, not inverted (RFC 1071)

  /// States of RFC 9293, 3.3.2. StResolve comes before SYN-SENT, while ARP finds the next hop.
  typedef enum logic [3:0] {
    StClosed = 4'd0,
    StListen = 4'd1,
    StSynSent = 4'd2,
    StSynRcvd = 4'd3,
    StEstablished = 4'd4,
    StFinWait1 = 4'd5,
    StFinWait2 = 4'd6,
    StCloseWait = 4'd7,
    StClosing = 4'd8,
    StLastAck = 4'd9,
    StTimeWait = 4'd10,
    StResolve = 4'd11
  } state_e;

  /// Control bits of a segment, as on the wire (RFC 9293, 3.1).
  typedef struct packed {
    logic urg;
    logic ack;
    logic psh;
    logic rst;
    logic syn;
    logic fin;
  } flags_t;

  // -------------------------------------------------------------------------------------------
  // Configuration: written by software while no session is open, read by all blocks.

  /// A virtual interface.
  typedef struct packed {
    logic enable;
    mac_t mac;
    logic vlan;  // frames carry an IEEE 802.1Q tag
    logic [15:0] tag;  // priority, DEI and VLAN identifier
    ip_t ip;
    ip_t mask;
    ip_t gateway;
  } vif_cfg_t;

  typedef struct packed {
    logic enable;  // 0: nothing is received or sent
    vif_cfg_t [MaxVifs-1:0] vif;
    logic rst_silent;  // no reset is sent to segments of no session
    logic ring_refuse;  // 1: refuse a message if the ring is full, with an event; 0: stall the user
    logic fragment;  // routers may fragment our segments: DF is clear
    logic wscale_en;  // offer window scaling (RFC 7323, 2)
    logic [3:0] wscale;  // our shift, 0..14
    logic [31:0] rcv_wnd;  // receive window in bytes, at most 65535 << wscale
    logic [15:0] mss;  // announced, and limit of our segments: MTU - 40
    logic [127:0] iss_key;  // secret of the initial sequence numbers (RFC 6528)
    logic [15:0] rto_min;  // ticks
    logic [15:0] rto_max;  // ticks
    logic [15:0] rto_init;  // ticks, until a round trip is measured
    logic [7:0] syn_tries;  // transmissions of SYN or SYN-ACK before giving up
    logic [7:0] data_tries;  // transmissions of data or FIN before giving up
    logic [15:0] delack;  // ticks by which an acknowledgement may be delayed
    logic [15:0] time_wait;  // ticks
    logic [15:0] persist_max;  // ticks, longest interval of window probes
    logic [15:0] arp_retry;  // ticks between requests
    logic [7:0] arp_tries;  // requests before resolution fails
    logic [31:0] arp_refresh;  // ticks between announcements and refreshes of entries; 0: never
  } tcp_cfg_t;

  // -------------------------------------------------------------------------------------------
  // Receiver -> engine

  /// A segment for one of our addresses, whole and with good FCS (and checksum, if verified).
  typedef struct packed {
    logic hit;  // a session has this four-tuple and interface
    sid_t sid;  // with hit: number of the session
    vif_t vif;
    mac_t smac;
    ip_t sip;
    port_t sport;
    port_t dport;
    seq_t seq;
    seq_t ack;
    flags_t flags;
    logic [15:0] wnd;  // as in the header, not scaled
    logic [15:0] len;  // bytes of payload
    logic [15:0] mss;  // option of a SYN; 0 without it
    logic has_ws;  // option of a SYN
    logic [3:0] ws;  // clamped to 14
    logic taken;  // payload and FIN are in order and accepted: RCV.NXT has advanced over both
    logic gap;  // payload or FIN beyond RCV.NXT was kept before this segment (RFC 5681, 4.2)
    seq_t rcv_nxt;  // RCV.NXT of the session before this segment
  } seg_t;

  /// Engine -> receiver: receive state of a session.
  typedef struct packed {
    sid_t sid;
    logic open;  // payload in order is delivered
    logic set;  // RCV.NXT becomes `nxt`; else it stays
    seq_t nxt;
  } rcv_cmd_t;

  /// Engine -> receiver: the four-tuple of a session.
  typedef struct packed {
    sid_t sid;
    logic valid;  // 0: no segment matches the session
    vif_t vif;
    ip_t sip;  // peer
    port_t sport;  // peer
    port_t dport;  // ours
  } key_cmd_t;

  // -------------------------------------------------------------------------------------------
  // Engine -> transmitter

  /// Header fields that all segments of a session share. Entry SessionCount is the anonymous one.
  typedef struct packed {
    sid_t sid;
    mac_t dmac;
    ip_t dip;
    port_t dport;  // peer
    port_t sport;  // ours
    vif_t vif;
    logic scaled;  // the window field is shifted by cfg.wscale
  } hdr_cmd_t;

  /// State of the sending side of a session; given after each change. Not for new sessions only.
  typedef struct packed {
    sid_t sid;
    logic init;  // NXT and the end of what was consumed and written become iss + 1
    seq_t iss;
    logic open;  // user data may be sent: ESTABLISHED or CLOSE-WAIT, not closing
    logic live;  // a message may leave at once if it fits: no recovery
    logic [15:0] mss;  // longest segment for the peer, at most our MSS
    seq_t una;  // SND.UNA: what is before it leaves the ring
    seq_t lim;  // right edge: SND.UNA + min(SND.WND, cwnd)
  } snd_cmd_t;

  /// A segment the engine wants to be sent.
  typedef struct packed {
    sid_t sid;  // entry of the table of headers
    logic seq_nxt;  // SEQ is SND.NXT when the header is built; else `seq`
    seq_t seq;
    logic ack_rcv;  // ACK is RCV.NXT when the header is built; else `ack`
    seq_t ack;
    flags_t flags;
    logic [15:0] len;  // bytes of payload, from the ring at `seq`
    logic opt_ws;  // of a SYN: window scale option after the MSS option
  } tx_cmd_t;

  // -------------------------------------------------------------------------------------------
  // Transmitter -> engine

  /// Announced by the user with the first beat of a message.
  typedef struct packed {
    sid_t sid;
    logic [1:0] mode;  // 1 length known, 2 length and checksum known, other values nothing known
    logic [15:0] len;  // modes 1 and 2: bytes of the message
    sum_t sum;  // mode 2: ones-complement sum of the message, not inverted
    logic push;  // set PSH in the segment
  } user_head_t;

  /// Send pointers of a session, owned by the transmitter.
  typedef struct packed {
    seq_t nxt;  // SND.NXT
    seq_t consumed;  // end of the data that was sent live or left to the engine
    seq_t written;  // end of the data in the ring
  } snd_ptr_t;

  // A header announces a receive window: a request of the transmitter to the receiver.
  typedef struct packed {
    logic valid;
    logic scaled;  // the window is scaled
  } wnd_req_t;

  // A session whose receive window has opened again: the engine should announce it.
  typedef struct packed {
    logic valid;
    sid_t sid;
  } wnd_open_t;

  typedef enum logic [1:0] {
    TxLive = 2'd0,  // a message has left at once
    TxDeferred = 2'd1,  // a message waits in the ring: not sent live, or its frame was aborted
    TxCommand = 2'd2,  // the segment of a tx_cmd_t has left
    TxWindow = 2'd3  // no transmission: the receive window has opened and should be announced
  } tx_kind_e;

  typedef struct packed {
    tx_kind_e kind;
    sid_t sid;
    seq_t seq;  // of the first byte
    logic [15:0] len;  // bytes of payload
    flags_t flags;
    seq_t ack;  // the RCV.NXT that the segment carried
    logic bad_sum;  // TxLive: the user's checksum was wrong; it has to be sent again
  } tx_done_t;

  // -------------------------------------------------------------------------------------------
  // Software -> engine

  typedef enum logic [2:0] {
    OpNone = 3'd0,
    OpListen = 3'd1,  // passive open of a port, for any peer or, if ip is not 0, for one
    OpConnect = 3'd2,  // active open
    OpClose = 3'd3,  // FIN after all data
    OpAbort = 3'd4  // RST
  } op_e;

  typedef struct packed {
    op_e op;
    sid_t sid;
    vif_t vif;
    ip_t ip;  // peer
    port_t port;  // peer
    port_t lport;  // ours
  } op_cmd_t;

  /// State of a session for software.
  typedef struct packed {
    state_e state;
    ip_t ip;
    port_t port;
    port_t lport;
    vif_t vif;
    seq_t snd_una;
    seq_t snd_nxt;
    seq_t rcv_nxt;
    logic [31:0] snd_wnd;
    logic [31:0] cwnd;
    logic [31:0] ssthresh;
    logic [15:0] rto;  // ticks
    logic [15:0] srtt;  // ticks
    logic [15:0] mss;  // of the peer
    logic [31:0] credit;  // free bytes in the ring
  } view_t;

  // -------------------------------------------------------------------------------------------
  // Address resolution

  typedef struct packed {
    vif_t vif;
    ip_t ip;  // the next hop
  } arp_query_t;

  typedef struct packed {
    logic found;
    logic failed;  // no request was answered
    mac_t mac;
  } arp_answer_t;

  typedef struct packed {
    ip_t ip;
    mac_t mac;
  } arp_update_t;

  // -------------------------------------------------------------------------------------------
  // Events to the user: {type 8, session 16, data 40}

  typedef enum logic [7:0] {
    EvOpened = 8'd1,  // data: {vif 8, peer port 16, our port 16}
    EvClosed = 8'd2,  // data: close_e
    EvPeerFin = 8'd3,  // the peer has sent its FIN
    EvCredit = 8'd4,  // data: free bytes in the ring
    EvTxDeferred = 8'd5,  // data: {8'0, length}: a message could not leave at once
    EvTxAborted = 8'd6,  // a frame was aborted: the user was too slow or gave a wrong length
    EvTxBadSum = 8'd7,  // the user's checksum was wrong; the segment is sent again
    EvTxRefused = 8'd8,  // data: reason; the whole message was discarded
    EvRxBad = 8'd9,  // a segment of the session was bad: FCS or checksum
    EvArpFailed = 8'd10,  // data: address; for session 16'hffff, then for each waiting session
    EvStatus = 8'd11  // data: {32'0, state}; each change of state, with StatusEvents
  } event_e;

  typedef enum logic [7:0] {
    CloseDone = 8'd0,  // both sides closed
    CloseReset = 8'd1,  // reset by the peer
    CloseTimeout = 8'd2,  // no answer
    CloseAbort = 8'd3,  // by software
    CloseRefused = 8'd4,  // the peer answered our SYN with RST
    CloseNoRoute = 8'd5  // ARP found no next hop
  } close_e;

  typedef struct packed {
    event_e kind;
    logic [15:0] sid;
    logic [39:0] data;
  } event_t;

  // -------------------------------------------------------------------------------------------
  // Counters: each bit is an event of this cycle, counted in the registers

  typedef struct packed {
    logic frames;  // frames seen
    logic segments;  // segments delivered or handed to the engine
    logic bad_fcs;
    logic bad_ip_sum;
    logic bad_tcp_sum;
    logic not_for_us;  // addresses, EtherType, protocol
    logic ip_options;
    logic fragment;
    logic length;  // inconsistent lengths
    logic no_session;
    logic out_of_order;
    logic old;
    logic no_room;  // FIFO of store-and-forward full
    logic not_open;
    logic oversize;
    logic bad_ack;  // ACK not acceptable (RFC 5961, 5.2)
  } rx_count_t;

  typedef struct packed {
    logic frames;
    logic live;
    logic deferred;
    logic command;
    logic aborted;
    logic bad_sum;
    logic refused;
    logic mem_segments;
  } tx_count_t;

  typedef struct packed {
    logic rto;
    logic fast_rexmit;
    logic dup_ack;
    logic challenge;
    logic probe;
    logic rst_sent;
    logic rst_seen;
    logic opened;
    logic closed;
    logic lost_event;  // the FIFO of events was full
    logic syn_drop;  // a SYN found no listening session, or the search was busy
  } eng_count_t;

  typedef struct packed {
    logic arp_rx;
    logic arp_reply;
    logic arp_request;
    logic arp_learnt;
    logic icmp_rx;
    logic icmp_reply;
    logic icmp_drop;
  } net_count_t;

  /// All events to count.
  typedef struct packed {
    rx_count_t rx;
    tx_count_t tx;
    eng_count_t eng;
    net_count_t net;
    logic event_lost;  // an event of rx, tx or ARP found no room
  } count_t;

  // -------------------------------------------------------------------------------------------
  // Serial arithmetic

  function automatic logic seq_lt(seq_t a, seq_t b);
    return (a - b) >= 32'h8000_0000;
  endfunction

  function automatic logic seq_le(seq_t a, seq_t b);
    return !seq_lt(b, a);
  endfunction

  /// lo <= x <= hi, modulo 2^32.
  function automatic logic seq_between(seq_t lo, seq_t x, seq_t hi);
    seq_t dx, dh;
    dx = x - lo;
    dh = hi - lo;
    return dx <= dh;
  endfunction

  /// Ones' complement sum of two sums.
  function automatic sum_t sum_add(sum_t a, sum_t b);
    logic [16:0] s;
    s = {1'b0, a} + {1'b0, b};
    return s[15:0] + {15'd0, s[16]};
  endfunction

endpackage
