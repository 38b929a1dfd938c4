// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1 Test cases of tb_regs. The addresses are those
// of docs/tcp-registers.md, deliberately not those of the generated package.

  task automatic reset_values();
    must(12'h000, 32'h53544350);
    must(12'h004, 32'h00020000);
    must(12'h008, {16'd32, 16'd64});
    must(12'h00C, {8'd64, 8'd128, 8'd64, 8'd32});
    must(12'h010, {12'd0, 4'(Vifs), 16'(Mtu)});
    must(12'h014, 32'(Features));
    must(12'h018, {4'd2, 4'd1, 8'd3, 8'd15, 8'd16});
    must(12'h020, 32'd0);
    must(12'h028, 32'd65535);
    must(12'h02C, Mtu - 40);
    must(12'h034, 32'd200);
    must(12'h038, 32'd60000);
    must(12'h03C, 32'd1000);
    must(12'h040, {16'd0, 8'd15, 8'd6});
    must(12'h044, 32'd40);
    must(12'h048, 32'd1000);
    must(12'h04C, 32'd60000);
    must(12'h050, 32'd1000);
    must(12'h054, 32'd3);
    must(12'h058, 32'd60000);
    must(12'h400, 32'd0);
    must(12'h404, 32'h0000_FFFF);
    must(12'h408, 32'd0);
    must(12'h40C, 32'h0000_FFFF);
    if (cfg.mss != 16'(Mtu - 40) || cfg.rto_max != 16'd60000 || cfg.enable) $fatal(1, "cfg after reset");
  endtask

  function automatic bit exists(logic [11:0] a);
    return a <= 12'h018 || (a >= 12'h020 && a <= 12'h058 && a != 12'h030) || (a >= 12'h060 && a <= 12'h06C) || (a >= 12'h080 && a <= 12'h098)
        || (a >= 12'h100 && a <= 12'h118) || (a >= 12'h120 && a <= 12'h148)
        || (a >= 12'h200 && a < 12'h200 + 12'(8 * CounterCount)) || (a >= 12'h400 && a <= 12'h40C);
  endfunction

  /// Every address answers; those outside of the map answer with an error.
  task automatic map_of_all();
    for (int unsigned i = 0; i < 4096; i += 4) begin
      logic [31:0] data;
      bit good;
      get(12'(i), data, good);
      if (good != exists(12'(i))) $fatal(1, "address %h: %b", i, good);
      get(12'(i + $urandom_range(3, 1)), data, good);
      if (good) $fatal(1, "an odd address near %h is no error", i);
    end
  endtask

  function automatic logic [31:0] below(logic [31:0] least, logic [31:0] most);
    case ($urandom_range(4))
      0: return least;
      1: return most;
      default: return $urandom_range(most, least);
    endcase
  endfunction

  task automatic same(logic [31:0] seen, logic [31:0] want, string what);
    checks++;
    if (seen != want) $fatal(1, "cfg.%s is %h, not %h", what, seen, want);
  endtask

  task automatic stored();
    logic [31:0] v;
    v = $urandom & 32'h0000_0F1F;
    if (v[11:8] == 4'd15) v[8] = 1'b0;
    put(12'h020, v, 1'b1);
    must(12'h020, v);
    same(32'({cfg.wscale, 3'd0, cfg.fragment, cfg.wscale_en, cfg.ring_refuse, cfg.rst_silent, cfg.enable}), v, "control");
    v = below(0, 1073725440);
    put(12'h028, v, 1'b1);
    must(12'h028, v);
    same(cfg.rcv_wnd, v, "rcv_wnd");
    mss();
    key();
    v = below(1, 65535);
    put(12'h034, v, 1'b1);
    same(32'(cfg.rto_min), v, "rto_min");
    v = below(1, 65535);
    put(12'h038, v, 1'b1);
    same(32'(cfg.rto_max), v, "rto_max");
    v = below(1, 65535);
    put(12'h03C, v, 1'b1);
    same(32'(cfg.rto_init), v, "rto_init");
    v = {16'd0, 8'(below(1, 255)), 8'(below(1, 255))};
    put(12'h040, v, 1'b1);
    must(12'h040, v);
    same(32'({cfg.data_tries, cfg.syn_tries}), v, "tries");
    v = below(0, 500);
    put(12'h044, v, 1'b1);
    same(32'(cfg.delack), v, "delack");
    v = below(0, 65535);
    put(12'h048, v, 1'b1);
    same(32'(cfg.time_wait), v, "time_wait");
    v = below(1, 65535);
    put(12'h04C, v, 1'b1);
    same(32'(cfg.persist_max), v, "persist_max");
    v = below(1, 65535);
    put(12'h050, v, 1'b1);
    same(32'(cfg.arp_retry), v, "arp_retry");
    v = below(1, 255);
    put(12'h054, v, 1'b1);
    same(32'(cfg.arp_tries), v, "arp_tries");
    v = $urandom;
    put(12'h058, v, 1'b1);
    must(12'h058, v);
    same(cfg.arp_refresh, v, "arp_refresh");
    // Reserved bits are not stored.
    put(12'h048, 32'hFFFF_0123, 1'b1);
    must(12'h048, 32'h0123);
  endtask

  /// The longest segment changes only before the first operation after a reset.
  task automatic mss();
    logic [31:0] v;
    v = below(64, Mtu - 40);
    if (started) begin
      v = 32'(cfg.mss) == v ? 32'd64 + 32'(v == 32'd64) : v;
      put(12'h02C, v, 1'b0);
      v = 32'(cfg.mss);
    end else begin
      put(12'h02C, v, 1'b1);
    end
    must(12'h02C, v);
    checks++;
    if (32'(cfg.mss) != v) $fatal(1, "cfg.mss is %h, not %h", cfg.mss, v);
    if (started && v != shown_mss) $fatal(1, "the MSS was %h when the first session opened, and is %h", shown_mss, v);
    shown_mss = v;
  endtask

  /// The key reaches the core and cannot be read.
  task automatic key();
    logic [3:0][31:0] v;
    for (int unsigned i = 0; i < 4; i++) begin
      v[i] = $urandom;
      put(12'h060 + 12'(4 * i), v[i], 1'b1);
      must(12'h060 + 12'(4 * i), 32'd0);
    end
    checks++;
    if (cfg.iss_key != v) $fatal(1, "the key is %h, not %h", cfg.iss_key, v);
  endtask

  /// No session can be touched before each word of the key has been written.
  task automatic key_missing();
    int unsigned last;
    last = $urandom_range(3);
    for (int unsigned i = 0; i < 4; i++) begin
      must(12'h118, 32'd4);
      locked();
      if (i != last) put(12'h060 + 12'(4 * i), $urandom, 1'b1);
    end
    must(12'h118, 32'd4);
    locked();
    put(12'h060 + 12'(4 * last), 32'd0, 1'b1);
    must(12'h118, 32'd0);
  endtask

  task automatic interfaces();
    vif_cfg_t [Vifs-1:0] want;
    for (int unsigned i = 0; i < Vifs; i++) begin
      want[i] = {$urandom, $urandom, $urandom, $urandom, $urandom, 2'($urandom)};
      put(12'h080, i, 1'b1);
      put(12'h088, {16'($urandom), want[i].mac[47:32]}, 1'b1);
      put(12'h08C, want[i].mac[31:0], 1'b1);
      put(12'h090, want[i].ip, 1'b1);
      put(12'h094, want[i].mask, 1'b1);
      put(12'h098, want[i].gateway, 1'b1);
      put(12'h084, {want[i].tag, 14'd0, want[i].vlan, want[i].enable}, 1'b1);
    end
    put(12'h080, Vifs, 1'b0);
    for (int unsigned i = Vifs; i > 0; i--) begin
      checks++;
      if (cfg.vif[i-1] != want[i-1]) $fatal(1, "interface %0d is %h, not %h", i - 1, cfg.vif[i-1], want[i-1]);
      put(12'h080, i - 1, 1'b1);
      must(12'h080, i - 1);
      must(12'h084, {want[i-1].tag, 14'd0, want[i-1].vlan, want[i-1].enable});
      must(12'h088, {16'd0, want[i-1].mac[47:32]});
      must(12'h08C, want[i-1].mac[31:0]);
      must(12'h090, want[i-1].ip);
      must(12'h094, want[i-1].mask);
      must(12'h098, want[i-1].gateway);
    end
    for (int unsigned i = Vifs; i < MaxVifs; i++) begin
      if (cfg.vif[i] != '0) $fatal(1, "interface %0d is not there, but set", i);
    end
  endtask

  task automatic window(output op_cmd_t want);
    want.op = op_e'($urandom_range(4, 1));
    want.sid = sid_t'($urandom_range(Sessions - 1));
    want.vif = vif_t'($urandom_range(Vifs - 1));
    want.ip = $urandom;
    want.port = 16'($urandom);
    want.lport = 16'($urandom);
    put(12'h100, 32'(want.sid), 1'b1);
    put(12'h104, want.ip, 1'b1);
    put(12'h108, {want.port, want.lport}, 1'b1);
    put(12'h10C, 32'(want.vif), 1'b1);
  endtask

  task automatic locked();
    put(12'h100, 32'd1, 1'b0);
    put(12'h104, 32'd1, 1'b0);
    put(12'h108, 32'd1, 1'b0);
    put(12'h10C, 32'd0, 1'b0);
    put(12'h110, 32'd2, 1'b0);
    put(12'h114, 32'd0, 1'b0);
  endtask

  task automatic operation();
    op_cmd_t want;
    window(want);
    checks++;
    if (op_valid) $fatal(1, "an operation is offered before it was started");
    put(12'h110, 32'(want.op), 1'b1);
    started = 1'b1;
    must(12'h118, 32'd1);
    locked();
    cycles($urandom_range(50));
    if (!op_valid || op != want) $fatal(1, "operation %h (%b), not %h", op, op_valid, want);
    pins.op_ready = 1'b1;
    cycles(2);
    pins.op_ready = 1'b0;
    must(12'h118, 32'd0);
    if (op_valid) $fatal(1, "the operation is offered twice");
  endtask

  task automatic copy();
    op_cmd_t want;
    view_t v;
    window(want);
    put(12'h114, $urandom, 1'b1);
    must(12'h118, 32'd2);
    locked();
    checks++;
    if (!view_req || view_sid != want.sid) $fatal(1, "the copy is not requested");
    repeat (11) v = view_t'({v, $urandom});
    v.state = state_e'($urandom_range(11));
    pins.view = v;
    pins.view_valid = 1'b1;
    cycles(1);
    pins.view_valid = 1'b0;
    cycles(1);
    pins.view = '0;
    must(12'h118, 32'd0);
    must(12'h120, {v.mss, 5'd0, v.vif, 4'd0, v.state});
    must(12'h124, v.ip);
    must(12'h128, {v.port, v.lport});
    must(12'h12C, v.snd_una);
    must(12'h130, v.snd_nxt);
    must(12'h134, v.rcv_nxt);
    must(12'h138, v.snd_wnd);
    must(12'h13C, v.cwnd);
    must(12'h140, v.ssthresh);
    must(12'h144, {v.srtt, v.rto});
    must(12'h148, v.credit);
  endtask

  task automatic refusals();
    logic [31:0] was;
    bit good;
    get(12'h020, was, good);
    put(12'h020, 32'h0000_0F01, 1'b0);  // shift 15
    for (int unsigned i = 0; i < 15; i++) put(12'h020, ~was & 32'h0000_000F, 1'b0, 4'(i));
    must(12'h020, was);
    put(12'h028, 32'd1073725441, 1'b0);
    put(12'h02C, Mtu - 39, 1'b0);
    put(12'h02C, 32'd63, 1'b0);
    put(12'h034, 32'd0, 1'b0);
    put(12'h040, 32'h0000_0100, 1'b0);
    put(12'h040, 32'h0000_0001, 1'b0);
    put(12'h044, 32'd501, 1'b0);
    put(12'h050, 32'd0, 1'b0);
    put(12'h100, Sessions, 1'b0);
    put(12'h10C, Vifs, 1'b0);
    put(12'h110, 32'd0, 1'b0);
    put(12'h110, 32'd5, 1'b0);
    for (int unsigned i = 0; i < 12'h01C; i += 4) put(12'(i), $urandom, 1'b0);
    put(12'h118, 32'd0, 1'b0);
    put(12'h120, 32'd0, 1'b0);
    put(12'h200, 32'd0, 1'b0);
    put(12'h404, 32'd0, 1'b0);
    put(12'h030, 32'd0, 1'b0);
    put(12'h05C, 32'd0, 1'b0);
    put(12'hFFC, 32'd0, 1'b0);
    put(12'h022, 32'd0, 1'b0);
    must(12'h020, was);
  endtask

  task automatic count_must(longint unsigned more);
    for (int unsigned i = 0; i < CounterCount; i++) begin
      must(12'h200 + 12'(8 * i), 32'((counted[i] + more) & 64'hFFFF_FFFF));
      must(12'h204 + 12'(8 * i), 32'((counted[i] + more) >> 32));
    end
  endtask

  task automatic count(int unsigned n, int unsigned percent);
    repeat (n) begin
      for (int unsigned i = 0; i < CounterCount; i++) begin
        pins.happens[i] = chance(percent);
        counted[i] += 64'(pins.happens[i]);
      end
      cycles(1);
    end
    pins.happens = '0;
    cycles(80);
  endtask

  task automatic counters();
    foreach (counted[i]) counted[i] = 0;
    count_must(0);
    count(500, 50);
    count(300, 100);
    count(300, 3);
    count_must(0);
    // A carry into the high word. The memory is written twice, because the scan may just write back
    // a word that it has read before.
    repeat (2) begin
      for (int unsigned i = 0; i < CounterCount; i++) begin
        i_dut.i_count.i_mem.mem_q[i] = 64'h0000_0007_FFFF_FFF0;
        counted[i] = 64'h0000_0007_FFFF_FFF0;
      end
      cycles(5);
    end
    cycles(100);
    must(12'h200, 32'hFFFF_FFF0);
    count(32, 100);
    must(12'h204, 32'h0000_0007);  // stored by the read of the low word
    count_must(0);
    put(12'h024, 32'h0000_0002, 1'b1);
    cycles(64);
    foreach (counted[i]) counted[i] = 0;
    count_must(0);
    count(100, 50);
    count_must(0);
  endtask

  /// A reset by software lasts 16 cycles and cancels the pending operation; registers keep their
  /// values.
  task automatic software_reset();
    op_cmd_t want;
    logic [31:0] was;
    bit good;
    int unsigned n;
    get(12'h034, was, good);
    window(want);
    put(12'h110, 32'd2, 1'b1);
    if (core_rst) $fatal(1, "reset before software asked for it");
    n = 0;
    fork
      put(12'h024, 32'h0000_0001, 1'b1);
      repeat (300) begin
        cycles(1);
        if (core_rst) n++;
      end
    join
    checks++;
    if (n != 16) $fatal(1, "reset of %0d cycles", n);
    must(12'h118, 32'd0);
    must(12'h034, was);
    must(12'h100, 32'(want.sid));
    must(12'h02C, shown_mss);
    started = 1'b0;
    repeat (5) mss();
  endtask
