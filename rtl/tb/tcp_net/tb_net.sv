// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Bench of ARP and ICMP: checks replies byte by byte, silence where no reply is allowed, the life
/// of an ARP table entry, and recovery after floods of damaged frames.
module tb_net
  import spfe_tb_pkg::*;
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import tb_net_frame_pkg::*;
#(
  /// Name of the bench for spfe_tb_pkg.
  parameter string       Name    = "",
  /// Width of the receive MAC stream in bits.
  parameter int unsigned Rx      = 32,
  /// Width of the transmit MAC stream in bits.
  parameter int unsigned Tx      = 32,
  /// Number of virtual interfaces.
  parameter int unsigned Vifs    = 1,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu     = 1500,
  /// Number of entries in the ARP table.
  parameter int unsigned Entries = 32
);
  localparam int unsigned Hang = 60000;
  localparam int unsigned Retry = 3;
  localparam int unsigned Tries = 2;
  localparam int unsigned Refresh = 9;
  localparam int unsigned Defend = 12;
  localparam mac_t All = '1;

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  logic tick = 1'b0;
  tcp_cfg_t cfg = '0;
  logic [Rx-1:0] rx_data;
  logic [Rx/8-1:0] rx_keep;
  logic rx_valid = 1'b0, rx_last, rx_err;
  mac_beat_t tx;
  logic tx_valid, tx_ready = 1'b0;
  arp_query_t query;
  logic query_valid = 1'b0;
  arp_answer_t answer;
  logic answer_valid;
  arp_update_t update;
  logic update_valid, update_ready = 1'b0;
  event_t happened;
  logic happened_valid;
  net_count_t count;

  // Tasks change these inputs between two clock edges.
  logic rst_q = 1'b1, tick_q = 1'b0, query_valid_q = 1'b0;
  tcp_cfg_t cfg_q;
  arp_query_t query_q;
  always @(negedge clk) begin
    rst_q <= rst;
    tick_q <= tick;
    cfg_q <= cfg;
    query_q <= query;
    query_valid_q <= query_valid;
  end

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  spfe_tcp_net #(
    .MacRxWidth(Rx), .MacTxWidth(Tx), .VifCount(Vifs), .ArpEntries(Entries), .Mtu(Mtu),
    .ArpDefendTicks(Defend)
  ) i_dut (
    .clk_i(clk), .rst_i(rst_q), .tick_i(tick_q), .cfg_i(cfg_q),
    .mac_i('{data: MacBits'(rx_data), keep: (MacBits / 8)'(rx_keep), last: rx_last, err: rx_err}),
    .mac_valid_i(rx_valid), .net_o(tx), .net_valid_o(tx_valid), .net_ready_i(tx_ready),
    .query_i(query_q), .query_valid_i(query_valid_q), .answer_o(answer), .answer_valid_o(answer_valid),
    .update_o(update), .update_valid_o(update_valid), .update_ready_i(update_ready),
    .event_o(happened), .event_valid_o(happened_valid), .count_o(count)
  );

  // ------------------------------------------------------------------------------------------
  // Streams: frames in `line` are received, frames that were sent are in `got`.

  Frame line[$];
  Frame got[$];
  int unsigned fill = 100, drain = 100, gap = 0, wait_gap = 0, at = 0;
  Frame sending, coming;
  int unsigned updates = 0, events = 0, checks = 0;
  arp_update_t last_update;
  event_t last_event;
  int unsigned counts[7];

  /* verilator lint_off BLKSEQ */  // variables used by one process only
  always @(posedge clk) begin
    rx_valid <= 1'b0;
    rx_data <= {Rx/32{$urandom}};
    rx_keep <= '1;
    rx_last <= chance(50);
    rx_err <= chance(50);
    if (wait_gap > 0) wait_gap--;
    else if (!rst_q && (sending != null || line.size() > 0) && chance(fill)) begin
      if (sending == null) begin
        sending = line.pop_front();
        at = 0;
      end
      rx_valid <= 1'b1;
      for (int unsigned i = 0; i < Rx / 8; i++) begin
        rx_keep[i] <= at + i < sending.b.size();
        if (at + i < sending.b.size()) rx_data[8*i+:8] <= sending.b[at+i];
      end
      at += Rx / 8;
      rx_last <= at >= sending.b.size();
      if (at >= sending.b.size()) begin
        rx_err <= sending.err;
        sending = null;
        wait_gap = gap;
      end else rx_err <= chance(50);
    end
  end

  always @(posedge clk) begin
    tx_ready <= chance(drain);
    if (!rst_q && tx_valid && tx_ready) begin
      bit over;
      over = 1'b0;
      if (coming == null) coming = new;
      for (int unsigned i = 0; i < Tx / 8; i++) begin
        if (tx.keep[i] && over) $fatal(1, "bytes after the end of a frame: keep %b", tx.keep);
        if (tx.keep[i]) coming.b.push_back(tx.data[8*i+:8]);
        else over = 1'b1;
      end
      if (over && !tx.last) $fatal(1, "keep %b before the end of a frame", tx.keep);
      if (tx.last) begin
        if (coming.b.size() < 60) $fatal(1, "a frame of %0d bytes", coming.b.size());
        got.push_back(coming);
        coming = null;
      end
    end
    update_ready <= chance(drain);
    if (update_valid && update_ready) begin
      last_update <= update;
      updates <= updates + 1;
    end
    if (happened_valid) begin
      last_event <= happened;
      events <= events + 1;
    end
    for (int unsigned i = 0; i < 7; i++) if (!rst_q && count[i]) counts[i]++;
  end
  /* verilator lint_on BLKSEQ */

  task automatic cycles(int unsigned n);
    repeat (n) @(posedge clk);
  endtask

  /// Waits until all queued frames have been received and processed.
  task automatic settle();
    int unsigned n = 0;
    while (line.size() > 0 || sending != null) begin
      cycles(1);
      n++;
      if (n == Hang * 100) $fatal(1, "the line does not become free");
    end
    cycles(10);
  endtask

  task automatic next(output Frame f);
    int unsigned n = 0;
    while (got.size() == 0) begin
      cycles(1);
      n++;
      if (n == Hang) $fatal(1, "no frame came");
    end
    f = got.pop_front();
  endtask

  task automatic must(Frame want, string what);
    Frame f;
    next(f);
    checks++;
    if (f.b != want.b) $fatal(1, "%s:\n got %s\nwant %s", what, f.text(), want.text());
  endtask

  /// Checks that no frame is sent for longer than any reply takes.
  task automatic silence(string what);
    settle();
    cycles(200 + 4 * Entries);
    checks++;
    if (got.size() > 0) $fatal(1, "%s: a frame came: %s", what, got[0].text());
  endtask

  task automatic ticks(int unsigned n);
    repeat (n) begin
      tick = 1'b1;
      cycles(1);
      tick = 1'b0;
      cycles(5 * Entries + 40);
    end
  endtask

  task automatic pace();
    fill = activity();
    drain = activity();
    gap = $urandom_range(2) * $urandom_range(8);
  endtask

  // ------------------------------------------------------------------------------------------
  // Frames to and from an interface.

  function automatic ether_t to(int unsigned v, mac_t dmac, mac_t smac);
    return {dmac, smac, cfg.vif[v].vlan, cfg.vif[v].tag};
  endfunction

  function automatic ether_t from(int unsigned v, mac_t dmac);
    return to(v, dmac, cfg.vif[v].mac);
  endfunction

  function automatic Frame announcement(int unsigned v);
    return arp(from(v, All), 16'd1, cfg.vif[v].mac, cfg.vif[v].ip, 48'd0, cfg.vif[v].ip);
  endfunction

  function automatic Frame asking(int unsigned v, mac_t dmac, ip_t ip);
    return arp(from(v, dmac), 16'd1, cfg.vif[v].mac, cfg.vif[v].ip, 48'd0, ip);
  endfunction

  function automatic mac_t mac();
    return {8'h02, 40'({$urandom, $urandom})};
  endfunction

  function automatic ip_t host();
    return {8'd10, 24'($urandom_range(250, 2))};
  endfunction

  function automatic int unsigned some_vif();
    return $urandom_range(Vifs - 1);
  endfunction

  task automatic setup();
    cfg.arp_retry = 16'(Retry);
    cfg.arp_tries = 8'(Tries);
    cfg.arp_refresh = 32'(Refresh);
    for (int unsigned v = 0; v < Vifs; v++) begin
      cfg.vif[v].enable = 1'b1;
      cfg.vif[v].mac = mac();
      cfg.vif[v].vlan = chance(50);
      cfg.vif[v].tag = {4'($urandom), 12'(100 + v)};
      cfg.vif[v].ip = {8'd10, 8'd1, 8'(v), 8'd1};
      // Interface 2 shares MAC address and tag with interface 1 and has another IP address.
      if (v == 2) begin
        cfg.vif[2].mac = cfg.vif[1].mac;
        cfg.vif[2].vlan = cfg.vif[1].vlan;
        cfg.vif[2].tag = cfg.vif[1].tag;
      end else if (v != 1) cfg.vif[v].vlan = v != 0;
    end
  endtask

  // ------------------------------------------------------------------------------------------
  // The cases.

  task automatic announce();
    cycles(20);
    cfg.enable = 1'b1;
    for (int unsigned v = 0; v < Vifs; v++) must(announcement(v), "announcement at the start");
    ticks(Refresh - 1);
    silence("before the refresh");
    ticks(1);
    for (int unsigned v = 0; v < Vifs; v++) must(announcement(v), "announcement at the refresh");
  endtask

  task automatic serve();
    int unsigned v;
    mac_t peer;
    ip_t ip;
    Frame f;
    v = some_vif();
    peer = mac();
    ip = chance(30) ? '0 : host();
    f = arp(to(v, chance(50) ? All : cfg.vif[v].mac, peer), 16'd1, peer, ip,
            chance(50) ? '0 : All, cfg.vif[v].ip);
    if (chance(30)) while (f.b.size() > (cfg.vif[v].vlan ? 46 : 42)) void'(f.b.pop_back());
    line.push_back(f);
    must(arp(from(v, peer), 16'd2, cfg.vif[v].mac, cfg.vif[v].ip, peer, ip), "ARP reply");
  endtask

  /// ARP packets that must not be answered.
  task automatic ignore();
    int unsigned v, offset, which;
    mac_t peer;
    Frame f;
    v = some_vif();
    peer = mac();
    f = arp(to(v, All, peer), 16'd1, peer, host(), '0, cfg.vif[v].ip);
    offset = cfg.vif[v].vlan ? 18 : 14;
    which = $urandom_range(9);
    case (which)
      0: f.err = 1'b1;
      1: f.b[offset+1] ^= 8'h10;  // hardware type
      2: f.b[offset+2] ^= 8'h10;  // protocol type
      3: f.b[offset+4] ^= 8'h01;  // length of a hardware address
      4: f.b[offset+5] ^= 8'h01;
      5: f.b[offset+7] = 8'd2;  // not a request
      6: f.b[offset+27] ^= 8'h80;  // target is another host
      7: f.b[0] = 8'h02;  // frame for another host
      8: while (32'(f.b.size()) >= offset + 28 || chance(80)) begin
        void'(f.b.pop_back());
        if (f.b.size() == 1) break;
      end
      default: f.b[offset+8] |= 8'h01;  // sender is a group address
    endcase
    line.push_back(f);
    silence($sformatf("ARP of kind %0d", which));
  endtask

  task automatic wrong_tag();
    mac_t peer;
    ether_t e;
    peer = mac();
    e = to(0, All, peer);
    e.vlan = !e.vlan;
    e.tag = 16'd77;
    line.push_back(arp(e, 16'd1, peer, host(), '0, cfg.vif[0].ip));
    e = to(Vifs - 1, All, peer);
    e.tag[11:0] ^= 12'h800;
    if (e.vlan) line.push_back(arp(e, 16'd1, peer, host(), '0, cfg.vif[Vifs-1].ip));
    silence("ARP with another tag");
  endtask

  function automatic void request(output ether_t e, output echo_t p, output ether_t re,
                                  output echo_t rp, input int unsigned len);
    int unsigned v;
    mac_t peer;
    v = some_vif();
    peer = mac();
    e = to(v, cfg.vif[v].mac, peer);
    p = {8'd8, 8'($urandom), 16'($urandom), chance(50) ? 16'h4000 : 16'h0, 8'($urandom_range(255, 1)),
         host(), cfg.vif[v].ip, $urandom, $urandom, 16'(len)};
    re = from(v, peer);
    rp = p;
    rp.kind = 8'd0;
    rp.ttl = 8'd64;
    rp.sip = p.dip;
    rp.dip = p.sip;
  endfunction

  task automatic ping(int unsigned len);
    ether_t e, re;
    echo_t p, rp;
    request(e, p, re, rp, len);
    line.push_back(echo(e, p));
    must(echo(re, rp), "echo reply");
  endtask

  /// Requests of equal size at line rate are all answered in order. While no reply can leave, two
  /// requests are kept.
  task automatic pings();
    ether_t e, re;
    echo_t p, rp;
    Frame want[$];
    int unsigned len, bytes, dropped;
    settle();
    fill = 100;
    drain = 100;
    len = $urandom_range(chance(20) ? Mtu - 28 : 80);
    bytes = len + 46 < 60 ? 60 : len + 46;
    gap = 24 * 8 / Rx;
    if (Rx > Tx) gap += (bytes + 24) * 8 / Tx - bytes * 8 / Rx;
    repeat (20) begin
      request(e, p, re, rp, len);
      line.push_back(echo(e, p));
      want.push_back(echo(re, rp));
    end
    foreach (want[i]) must(want[i], $sformatf("reply %0d of 20", i));
    settle();
    dropped = counts[0];
    drain = 0;
    cycles(2);
    for (int unsigned i = 0; i < 4; i++) begin
      request(e, p, re, rp, len);
      line.push_back(echo(e, p));
      want[i] = echo(re, rp);
    end
    settle();
    drain = 100;
    for (int unsigned i = 0; i < 2; i++) must(want[i], $sformatf("reply %0d of 2", i));
    silence("the third and the fourth request");
    checks++;
    if (counts[0] != dropped + 2) $fatal(1, "%0d echo requests dropped, not 2", counts[0] - dropped);
  endtask

  /// A conflict over our address is answered with an announcement, once per interval.
  task automatic defend();
    Frame f;
    int unsigned v;
    mac_t peer;
    pace();
    v = some_vif();
    peer = mac();
    // The other host announces our address, or uses it in a request or reply. No other interface
    // has it.
    f = arp(to(v, All, peer), chance(50) ? 16'd1 : 16'd2, peer, cfg.vif[v].ip, '0, host());
    line.push_back(f);
    must(announcement(v), "defence");
    line.push_back(f);
    silence("a second conflict");
    ticks(Defend - 1);
    line.push_back(f);
    silence("a conflict before the interval is over");
    ticks(1);
    line.push_back(f);
    must(announcement(v), "defence after the interval");
    // Our own announcement, received again, is not a conflict.
    ticks(Defend);
    line.push_back(announcement(v));
    silence("our own announcement");
    // An announcement of another host must not be answered as a request.
    line.push_back(arp(to(v, All, peer), 16'd1, peer, cfg.vif[v].ip, '0, cfg.vif[v].ip));
    must(announcement(v), "defence against an announcement");
    silence("behind it");
    ticks(Defend);
  endtask

  /// Echo requests that must not be answered.
  task automatic bad_ping();
    ether_t e, re;
    echo_t p, rp;
    Frame f;
    int unsigned ip, which, dropped, bit_at;
    request(e, p, re, rp, $urandom_range(200));
    which = $urandom_range(7);
    if (which == 0) p.fragment = 16'h2000;
    if (which == 1) p.len = 16'(Mtu - 27);
    if (which == 6) p.sip = 32'hE000_0001;
    if (which == 7) e.smac[40] = 1'b1;
    f = echo(e, p);
    ip = start(e);
    bit_at = 8 * (ip + 22) + $urandom_range(8 * (32'(p.len) + 6) - 1);
    case (which)
      2: f.err = 1'b1;
      3: f.b[bit_at/8][bit_at%8] ^= 1'b1;  // ICMP message
      4: f.b[ip+4][3] ^= 1'b1;  // IP header
      5: begin  // truncated
        int unsigned whole;
        whole = ip + 28 + 32'(p.len);
        while (32'(f.b.size()) >= whole) void'(f.b.pop_back());
      end
      default: ;
    endcase
    settle();
    dropped = counts[0];
    line.push_back(f);
    silence($sformatf("echo of kind %0d", which));
    checks++;
    if (which == 5 && f.b.size() < 32'(ip) + 28) return;
    if (counts[0] != dropped + 1) $fatal(1, "echo of kind %0d was not counted", which);
  endtask

`include "tb_net_table.svh"

  /// Floods the block with damaged frames; afterwards every echo request must be accounted for.
  task automatic flood();
    int unsigned n;
    pace();
    n = $urandom_range(300, 100);
    repeat (n) begin
      ether_t e, re;
      echo_t p, rp;
      Frame f;
      int unsigned v;
      v = some_vif();
      request(e, p, re, rp, $urandom_range(chance(10) ? Mtu + 40 : 64));
      if (chance(50)) f = echo(e, p);
      else f = arp(to(v, chance(50) ? All : cfg.vif[v].mac, e.smac), chance(50) ? 16'd1 : 16'd2, e.smac,
                   p.sip, '0, chance(80) ? cfg.vif[v].ip : host());
      repeat ($urandom_range(3)) f.b[$urandom_range(f.b.size()-1)] = 8'($urandom);
      if (chance(20)) repeat ($urandom_range(f.b.size()-1)) void'(f.b.pop_back());
      f.err = chance(10);
      line.push_back(f);
    end
    settle();
    drain = 100;
    cycles(4000);
    got.delete();
    checks++;
    if (counts[2] != counts[1] + counts[0]) begin
      $fatal(1, "%0d echo requests, %0d answered, %0d dropped", counts[2], counts[1], counts[0]);
    end
  endtask

  initial begin
    run = chosen(Name);
    if (run) begin
      setup();
      cycles(5);
      rst = 1'b0;
      announce();
      cfg.arp_refresh = '0;
      repeat (5) begin
        repeat (20) begin
          pace();
          serve();
          ping($urandom_range(chance(20) ? Mtu - 28 : 80));
          ignore();
          bad_ping();
        end
        ping(Mtu - 28);
        ping(0);
        pings();
        defend();
        wrong_tag();
        table_cases();
        flood();
      end
      serve();
      ping(56);
      passed(Name, checks);
    end
  end
endmodule
