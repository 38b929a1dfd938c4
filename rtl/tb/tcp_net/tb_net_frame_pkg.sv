// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Frames for the bench of ARP and ICMP, with checksums computed independently of the design.
package tb_net_frame_pkg;
  import spfe_tcp_pkg::*;

  /// Ethernet header of a frame.
  typedef struct packed {
    mac_t dmac;
    mac_t smac;
    logic vlan;
    logic [15:0] tag;
  } ether_t;

  /* verilator lint_off DECLFILENAME */
  class Frame;
    logic [7:0] b[$];
    bit err;

    function void put(logic [63:0] value, int unsigned n);
      for (int unsigned i = n; i > 0; i--) b.push_back(value[8*(i-1)+:8]);
    endfunction

    function void ether(ether_t e, logic [15:0] kind);
      put(64'(e.dmac), 6);
      put(64'(e.smac), 6);
      if (e.vlan) put({32'd0, 16'h8100, e.tag}, 4);
      put(64'(kind), 2);
    endfunction

    function void pad();
      while (b.size() < 60) b.push_back(8'd0);
    endfunction

    function logic [15:0] word(int unsigned at);
      return {at < b.size() ? b[at] : 8'd0, at + 1 < b.size() ? b[at+1] : 8'd0};
    endfunction

    /// Checksum of a range of bytes; its own field at `field` counts as 0.
    function logic [15:0] check(int unsigned from, int unsigned len, int unsigned field);
      logic [31:0] sum = '0;
      for (int unsigned i = 0; i < len; i += 2) begin
        logic [15:0] w;
        w = word(from + i);
        if (i + 1 == len) w[7:0] = 8'd0;
        if (from + i != field) sum += 32'(w);
      end
      while (sum[31:16] != '0) sum = 32'(sum[15:0]) + 32'(sum[31:16]);
      return ~sum[15:0];
    endfunction

    function void set(int unsigned at, logic [15:0] value);
      b[at] = value[15:8];
      b[at+1] = value[7:0];
    endfunction

    function string text();
      string s = "";
      foreach (b[i]) s = {s, $sformatf("%02x%s", b[i], i % 4 == 3 ? " " : "")};
      return s;
    endfunction
  endclass
  /* verilator lint_on DECLFILENAME */

  function automatic Frame arp(ether_t e, logic [15:0] op, mac_t sha, ip_t spa, mac_t tha,
                               ip_t tpa);
    Frame f = new;
    f.ether(e, 16'h0806);
    f.put(64'h0001_0800_0604, 6);
    f.put(64'(op), 2);
    f.put(64'(sha), 6);
    f.put(64'(spa), 4);
    f.put(64'(tha), 6);
    f.put(64'(tpa), 4);
    f.pad();
    return f;
  endfunction

  /// Fields of an echo packet in addition to its Ethernet header.
  typedef struct packed {
    logic [7:0] kind;  // 8 request, 0 reply
    logic [7:0] tos;
    logic [15:0] id;
    logic [15:0] fragment;
    logic [7:0] ttl;
    ip_t sip;
    ip_t dip;
    logic [31:0] ident;  // identifier and sequence number
    logic [31:0] seed;  // seed of the data
    logic [15:0] len;  // bytes of data
  } echo_t;

  /// Offset of the IP header in the frame.
  function automatic int unsigned start(ether_t e);
    return e.vlan ? 18 : 14;
  endfunction

  function automatic Frame echo(ether_t e, echo_t p);
    Frame f = new;
    int unsigned ip;
    logic [31:0] random;
    ip = start(e);
    f.ether(e, 16'h0800);
    f.put({48'd0, 8'h45, p.tos}, 2);
    f.put(64'(p.len) + 64'd28, 2);
    f.put({32'd0, p.id, p.fragment}, 4);
    f.put({32'd0, p.ttl, 8'd1, 16'd0}, 4);
    f.put({p.sip, p.dip}, 8);
    f.put({48'd0, p.kind, 8'd0}, 2);
    f.put({16'd0, 16'd0, p.ident}, 6);
    random = p.seed;
    for (int unsigned i = 0; i < 32'(p.len); i++) begin
      random = random * 32'd1664525 + 32'd1013904223;
      f.put(64'(random[31:24]), 1);
    end
    f.set(ip + 10, f.check(ip, 20, ip + 10));
    f.set(ip + 22, f.check(ip + 20, 32'(p.len) + 8, ip + 22));
    f.pad();
    return f;
  endfunction
endpackage
