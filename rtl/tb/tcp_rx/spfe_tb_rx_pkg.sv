// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Builds frames for the benches of the receiver, and parses them again byte by byte for the model.
package spfe_tb_rx_pkg;
  import spfe_tcp_pkg::*;

  typedef byte unsigned bytes_t[$];

  /// Fields of a frame to build, and deliberate errors.
  typedef struct {
    mac_t dmac;
    mac_t smac;
    bit has_tag;
    bit [15:0] tag;
    bit [15:0] ethertype;
    bit [7:0] version_ihl;
    bit [15:0] fragment;
    bit [7:0] protocol;
    ip_t sip;
    ip_t dip;
    port_t sport;
    port_t dport;
    seq_t seq;
    seq_t ack;
    flags_t flags;
    bit [15:0] wnd;
    bytes_t options;  // a multiple of four bytes, at most 40
    bytes_t payload;
    int total_wrong;  // added to the total length
    int doff_wrong;  // added to the data offset
    bit [15:0] ip_sum_wrong;
    bit [15:0] tcp_sum_wrong;
    bit pad;  // to 60 bytes
  } recipe_t;

  function automatic void put(ref bytes_t to, input bit [63:0] value, input int unsigned count);
    for (int i = int'(count) - 1; i >= 0; i--) to.push_back(value[8*i+:8]);
  endfunction

  /// Ones' complement sum of 16-bit big-endian words.
  function automatic bit [15:0] sum(bytes_t from, int unsigned first, int unsigned count);
    bit [31:0] total = 0;
    for (int unsigned i = 0; i < count; i++) begin
      total += (i % 2 == 0) ? {16'd0, from[first+i], 8'd0} : {24'd0, from[first+i]};
    end
    while (total[31:16] != 0) total = {16'd0, total[31:16]} + {16'd0, total[15:0]};
    return total[15:0];
  endfunction

  function automatic bytes_t build(recipe_t r);
    bytes_t f, segment, pseudo;
    bit [15:0] total;
    bit [15:0] check;
    int doff;
    total = 16'(40 + r.options.size() + r.payload.size() + r.total_wrong);
    doff = 5 + r.options.size() / 4 + r.doff_wrong;
    put(f, {16'd0, r.dmac}, 6);
    put(f, {16'd0, r.smac}, 6);
    if (r.has_tag) begin
      put(f, 64'h8100, 2);
      put(f, {48'd0, r.tag}, 2);
    end
    put(f, {48'd0, r.ethertype}, 2);
    begin
      bytes_t ip;
      put(ip, {56'd0, r.version_ihl}, 1);
      put(ip, 64'($urandom_range(255)), 1);
      put(ip, {48'd0, total}, 2);
      put(ip, 64'($urandom_range(65535)), 2);
      put(ip, {48'd0, r.fragment}, 2);
      put(ip, 64'($urandom_range(255)), 1);
      put(ip, {56'd0, r.protocol}, 1);
      put(ip, 64'd0, 2);
      put(ip, {32'd0, r.sip}, 4);
      put(ip, {32'd0, r.dip}, 4);
      check = ~sum(ip, 0, 20) ^ r.ip_sum_wrong;
      ip[10] = check[15:8];
      ip[11] = check[7:0];
      foreach (ip[i]) f.push_back(ip[i]);
    end
    put(segment, {48'd0, r.sport}, 2);
    put(segment, {48'd0, r.dport}, 2);
    put(segment, {32'd0, r.seq}, 4);
    put(segment, {32'd0, r.ack}, 4);
    put(segment, {48'd0, doff[3:0], 6'd0, r.flags}, 2);
    put(segment, {48'd0, r.wnd}, 2);
    put(segment, 64'd0, 2);
    put(segment, 64'($urandom_range(65535)), 2);
    foreach (r.options[i]) segment.push_back(r.options[i]);
    foreach (r.payload[i]) segment.push_back(r.payload[i]);
    pseudo = segment;
    put(pseudo, 64'd0, 32'(segment.size() % 2));
    put(pseudo, {32'd0, r.sip}, 4);
    put(pseudo, {32'd0, r.dip}, 4);
    put(pseudo, {48'd0, r.protocol, 8'd0} >> 8, 2);
    put(pseudo, {48'd0, total - 16'd20}, 2);
    check = ~sum(pseudo, 0, 32'(pseudo.size())) ^ r.tcp_sum_wrong;
    segment[16] = check[15:8];
    segment[17] = check[7:0];
    foreach (segment[i]) f.push_back(segment[i]);
    while (r.pad && f.size() < 60) f.push_back(8'($urandom));
    return f;
  endfunction

  /// Bytes of a frame as a big-endian number; bytes beyond its end are 0.
  function automatic bit [63:0] get(bytes_t f, int unsigned first, int unsigned count);
    bit [63:0] value = 0;
    for (int unsigned i = first; i < first + count; i++) begin
      value = value << 8;
      if (i < 32'(f.size())) value[7:0] = f[i];
    end
    return value;
  endfunction

  /// Offset of the TCP header, if the IP header has no options.
  function automatic int unsigned tcp_at(bytes_t f);
    return get(f, 12, 2) == 64'h8100 ? 38 : 34;
  endfunction

  /// Reads the options of a segment one by one.
  function automatic void options(bytes_t f, ref seg_t seg);
    int unsigned at, stop;
    at = tcp_at(f) + 20;
    stop = tcp_at(f) + 4 * 32'(f[tcp_at(f)+12][7:4]);
    seg.mss = 0;
    seg.has_ws = 0;
    seg.ws = 0;
    while (at < stop) begin
      int unsigned kind, len;
      kind = 32'(f[at]);
      if (kind == 0) return;
      if (kind == 1) begin
        at++;
        continue;
      end
      if (at + 1 >= stop) return;
      len = 32'(f[at+1]);
      if (len < 2 || at + len > stop) return;
      if (kind == 2 && len == 4) seg.mss = 16'(get(f, at + 2, 2));
      if (kind == 3 && len == 3) begin
        seg.has_ws = 1;
        seg.ws = f[at+2] > 14 ? 4'd14 : f[at+2][3:0];
      end
      at += len;
    end
  endfunction

  /// Random options, valid and invalid; only NOPs if only_nops is set.
  function automatic bytes_t some_options(bit only_nops);
    bytes_t made;
    int unsigned size;
    size = 4 * $urandom_range(10);
    if (only_nops) begin
      for (int unsigned i = 0; i < size; i++) made.push_back(8'd1);
      return made;
    end
    while (32'(made.size()) < size) begin
      case ($urandom_range(6))
        0: put(made, {32'd0, 16'h0204, 16'($urandom)}, 4);
        1: put(made, {40'd0, 16'h0303, 8'($urandom_range(17))}, 3);
        2: put(made, 64'd1, 1);
        3: put(made, 64'h0402, 2);
        4: begin
          put(made, 64'h080a, 2);
          put(made, {$urandom, $urandom}, 8);
        end
        5: if ($urandom_range(3) == 0) put(made, 64'($urandom_range(255)), 1);
        default: begin
          if ($urandom_range(3) == 0) put(made, {48'd0, 8'($urandom), 8'($urandom_range(5))}, 2);
        end
      endcase
    end
    while (32'(made.size()) > size) void'(made.pop_back());
    return made;
  endfunction
endpackage
