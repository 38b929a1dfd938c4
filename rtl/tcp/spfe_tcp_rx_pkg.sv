// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types shared by the parts of the receiver only.
package spfe_tcp_rx_pkg;
  import spfe_tcp_pkg::*;

  /// Fields of a segment, as they were on the wire.
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

  /// What is wrong with a frame. Header checks only; all zero: it may be a segment for us.
  typedef struct packed {
    logic not_for_us;  // addresses, tag, EtherType, version, protocol
    logic ip_options;
    logic fragment;
    logic oversize;  // total length above the MTU
    logic length;  // total length below 40, or the TCP header does not fit in it
  } fault_t;

  /// Options of a SYN.
  typedef struct packed {
    logic [15:0] mss;  // 0: none
    logic has_ws;
    logic [3:0] ws;
  } options_t;

  /// Payload that was kept because something before it was missing, and is wanted now.
  typedef struct packed {
    sid_t sid;
    seq_t seq;  // of the first byte
    logic [31:0] len;  // bytes
  } drain_t;

endpackage
