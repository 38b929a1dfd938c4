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
  parameter string Name = "",
  /// Width of the receive MAC stream in bits.
  parameter int unsigned Rx = 32,
  /// Width of the transmit MAC stream in bits.
  parameter int unsigned Tx = 32,
  /// Number of virtual interfaces.
  parameter int unsigned Vifs = 1,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500,
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
    .query_i(query_q), .query_valid_i(query_valid_q), .answer_o(answer),
    .answer_valid_o(answer_valid),
    .update_o(update), .update_valid_o(update_valid), .update_ready_i(update_ready),
    .event_o(happened), .event_valid_o(happened_valid), .count_o(count)
  );

  // ---- Streams: frames in `line` are received, frames that were sent are in `got`.

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
        if (tx.keep[i] && over) $fatal(1, "keep %b is not contiguous", tx.keep);
        if (tx.keep[i]) coming.b.push_back(tx.data[8*i+:8]);
        else over = 1'b1;
      end
      if (over && !tx.last) $fatal(1, "keep %b before the last beat", tx.keep);
      if (tx.last) begin
        if (coming.b.size() < 60)
          $fatal(1, "frame of %0d bytes, the minimum is 60", coming.b.size());
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
      if (n == Hang * 100) $fatal(1, "the frames were not received in time");
    end
    cycles(10);
  endtask

  task automatic next(output Frame f);
    int unsigned n = 0;
    while (got.size() == 0) begin
      cycles(1);
      n++;
      if (n == Hang) $fatal(1, "no frame was sent");
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
    if (got.size() > 0) $fatal(1, "%s: unexpected frame: %s", what, got[0].text());
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

  // ---- Frames to and from an interface.

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

`include "tb_net_arp.svh"
`include "tb_net_echo.svh"
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
      else f = arp(to(v, chance(50) ? All : cfg.vif[v].mac, e.smac),
                   chance(50) ? 16'd1 : 16'd2, e.smac, p.sip, '0,
                   chance(80) ? cfg.vif[v].ip : host());
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
