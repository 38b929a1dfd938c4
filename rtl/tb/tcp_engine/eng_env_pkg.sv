// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the bench of the protocol engine.
package eng_env_pkg;
  import spfe_tcp_pkg::*;

  /// A segment sent to the peer, with the addresses of its header entry.
  typedef struct {
    int sid;  // header table entry
    mac_t dmac;
    ip_t dip;
    port_t dport;
    port_t sport;
    seq_t seq;
    seq_t ack;
    flags_t flags;
    int len;
    bit live;
    bit bad;  // the user's checksum was wrong, so the peer discards it
    bit ws;
  } frame_t;

  /// A segment received from a peer.
  typedef struct {
    ip_t sip;
    port_t sport;
    port_t dport;
    seq_t seq;
    seq_t ack;
    flags_t flags;
    int len;
    int wnd;
    int mss;
    int ws;  // window scale option; -1: absent
  } segment_t;

  function automatic flags_t fl(string s);
    flags_t f;
    f = '0;
    for (int i = 0; i < s.len(); i++) begin
      case (s[i])
        "S": f.syn = 1'b1;
        "A": f.ack = 1'b1;
        "F": f.fin = 1'b1;
        "R": f.rst = 1'b1;
        "P": f.psh = 1'b1;
        default: $fatal(1, "flag %s", s);
      endcase
    end
    return f;
  endfunction

  function automatic string fl_name(flags_t f);
    string s;
    s = "";
    if (f.syn) s = {s, "S"};
    if (f.fin) s = {s, "F"};
    if (f.rst) s = {s, "R"};
    if (f.psh) s = {s, "P"};
    if (f.ack) s = {s, "A"};
    return s;
  endfunction
endpackage
