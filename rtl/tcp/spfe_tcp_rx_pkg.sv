// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types that only the parts of the receiver share.
package spfe_tcp_rx_pkg;
  import spfe_tcp_pkg::*;

  /// Fields of a segment, as on the wire.
  typedef struct packed {
    mac_t smac;
    ip_t sip;
    port_t sport;
    port_t dport;
    seq_t seq;
    seq_t ack;
    logic [3:0] doff;
    flags_t flags;
    logic [15:0] wnd;
  } fields_t;

  /// Faults that the checks of the headers find. All zero: the frame may be a segment for us.
  typedef struct packed {
    logic not_for_us;  // addresses, tag, EtherType, version, protocol
    logic ip_options;
    logic fragment;
    logic oversize;  // total length above the MTU
    logic length;  // total length below 40, or the TCP header does not fit in it
  } fault_t;

  /// Options of a SYN.
  typedef struct packed {
    logic [15:0] mss;  // 0 without the option
    logic has_ws;
    logic [3:0] ws;
  } options_t;

  /// The session of a segment, and how the segment fits into it. ack_ok, ahead and fits are valid
  /// from the end of the frame on.
  typedef struct packed {
    logic hit;  // a session has the four-tuple of the segment
    sid_t sid;
    vif_t vif;
    seq_t nxt;  // RCV.NXT before this segment
    logic open;  // the session delivers payload
    logic stale;  // the engine has changed the session since it was read
    logic ack_ok;  // the ACK is acceptable
    logic accept;  // the payload goes to the user: the headers are good and SEQ is as expected
    logic oos;  // with accept: SEQ is ahead of RCV.NXT
    seq_t rel;  // with accept: SEQ - RCV.NXT
    seq_t ahead;  // SEQ - RCV.NXT
    logic fits;  // the segment ends within the window
  } match_t;

  /// Kept payload that can be delivered because the hole before it has closed.
  typedef struct packed {
    sid_t sid;
    seq_t seq;  // of the first byte
    logic [31:0] len;  // bytes
  } drain_t;

endpackage
