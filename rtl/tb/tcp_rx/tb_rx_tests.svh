// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Waits for one cycle; inputs change a little after the edge.
task automatic tick();
  bit done;
  @(posedge clk);
  done = rcv_cmd_ready;
  #1;
  // A command ends when it is accepted.
  if (done) rcv_cmd_valid = 1'b0;
  key_cmd_valid = 1'b0;
  tx_head = 1'b0;
  if (heads && head_age > 7 && spfe_tb_pkg::chance(5)) announce(spfe_tb_pkg::chance(60) ? 1 : $urandom_range(Sessions - 1));
  if ($urandom_range(999) < disturbance) begin
    disturb(spfe_tb_pkg::chance(70) ? 1 : $urandom_range(Sessions - 1));
  end
endtask

// Lets the transmitter build a header of a session, with its window.
function automatic void announce(int unsigned i);
  tx_sid = 9'(i);
  tx_scaled = 1'($urandom);
  tx_head = 1'b1;
endfunction

// Sends a frame, with random pauses in `bubble` percent of the cycles, at `rate` idle cycles per
// beat, and with `gap` cycles after it.
task automatic send(bytes_t f, bit fcs_bad, int unsigned bubble, real rate, int unsigned gap);
  int unsigned beats, used, start;
  beats = (32'(f.size()) + Bytes - 1) / Bytes;
  for (int unsigned k = 0; k < beats; k++) begin
    while (spfe_tb_pkg::chance(bubble)) tick();
    if (k > 0) begin
      used = k;
      if ($ceil(real'(k) * rate) > 1.0) used = k + 32'($rtoi($ceil(real'(k) * rate))) - 1;
      while (cycle - start < used) tick();
    end
    mac_data = '0;
    mac_keep = '0;
    for (int unsigned i = 0; i < Bytes && k * Bytes + i < 32'(f.size()); i++) begin
      mac_data[8*i+:8] = f[k*Bytes+i];
      mac_keep[i] = 1'b1;
    end
    mac_valid = 1'b1;
    mac_last = k == beats - 1;
    mac_err = k == beats - 1 ? fcs_bad : 1'($urandom);
    if (k == beats - 1) begin
      frame_t fr;
      fr.bytes = f;
      fr.fcs_bad = fcs_bad;
      fr.start_cycle = beats == 1 ? cycle : start;
      fr.last_cycle = cycle;
      sent.push_back(fr);
    end
    if (k == 0) begin
      first_cycle = cycle;
      start = cycle;
    end
    tick();
    mac_valid = 1'b0;
  end
  repeat (gap) tick();
endtask

task automatic idle();
  repeat (8) tick();
  ready_percent = 100;
  disturbance = 0;
  heads = 0;
  repeat (50) tick();
  for (int unsigned i = 0; i < 100000 && (wanted.size() != 0 || user_valid); i++) tick();
  must(sent.size() == 0, "a frame has no end");
  must(segs.size() == 0, "a segment was not reported");
  must(wanted.size() == 0 && got.size() == 0 && !part_begun, "deliveries left over");
  for (int unsigned i = 0; i < Sessions; i++) begin
    eng_sid = 9'(i);
    tx_sid = 9'(Sessions - 1 - i);
    tick();
    tick();
    if (key[i].valid) must(eng_nxt == nxt[i], "RCV.NXT for the engine");
    if (key[Sessions-1-i].valid) must(tx_nxt == nxt[Sessions-1-i], "RCV.NXT for the transmitter");
    guess[i] = nxt[i];
  end
endtask

// Gives a session its four-tuple and a random RCV.NXT.
task automatic session(int unsigned i, bit valid, bit opened);
  key_cmd = '{sid: 9'(i), valid: valid, vif: 3'(i % Vifs), sip: 32'h0a000000 + 32'(i / 4),
             sport: 16'(40000 + i % 3), dport: 16'(80 + i % 4)};
  // The session was closed before, so that no old window remains.
  key_cmd.valid = 1'b0;
  key_cmd_valid = 1'b1;
  repeat (8) tick();
  key_cmd.valid = valid;
  key_cmd_valid = 1'b1;
  tick();
  guess[i] = $urandom_range(1) == 0 ? $urandom : 32'(-$urandom_range(3000));
  ack_lo[i] = $urandom;
  snd_nxt[i] = ack_lo[i] + $urandom_range(200000);
  rcv_cmd = '{sid: 9'(i), open: opened, set: 1'b1, nxt: guess[i]};
  rcv_cmd_valid = 1'b1;
  tick();
  while (rcv_cmd_valid) tick();
  repeat (8) tick();
  announce(i);
  repeat (8) tick();
endtask

// Changes a session while frames arrive: opens or closes delivery, sets RCV.NXT, or removes or
// restores the four-tuple.
function automatic void disturb(int unsigned i);
  if (rcv_cmd_valid || key_cmd_valid) return;
  // The engine takes longer for each session.
  if (Sum && cycle - key_cycle > 12 && spfe_tb_pkg::chance(30)) begin
    key_cmd = key[i];
    key_cmd.valid = spfe_tb_pkg::chance(70);
    key_cmd_valid = 1'b1;
  end else begin
    rcv_cmd = '{sid: 9'(i), open: spfe_tb_pkg::chance(80), set: spfe_tb_pkg::chance(30),
                nxt: nxt[i] + $urandom_range(2)};
    rcv_cmd_valid = 1'b1;
  end
endfunction

function automatic recipe_t recipe(int unsigned i, int unsigned len);
  recipe_t r;
  int unsigned v = i % Vifs;
  r.dmac = cfg.vif[v].mac;
  r.smac = {16'h0200, 32'($urandom)};
  r.has_tag = cfg.vif[v].vlan;
  r.tag = cfg.vif[v].tag ^ {4'($urandom), 12'd0};
  r.ethertype = 16'h0800;
  r.version_ihl = 8'h45;
  r.fragment = $urandom_range(1) == 0 ? 16'h4000 : 16'h0000;
  r.protocol = 8'd6;
  r.sip = key[i].sip;
  r.dip = cfg.vif[v].ip;
  r.sport = key[i].sport;
  r.dport = key[i].dport;
  r.seq = guess[i];
  r.ack = ack_lo[i] + $urandom_range(snd_nxt[i] - ack_lo[i]);
  r.flags = '{ack: 1'b1, psh: 1'($urandom), urg: 1'($urandom), default: 1'b0};
  r.wnd = 16'($urandom);
  r.pad = 1'b1;
  for (int unsigned k = 0; k < len; k++) r.payload.push_back(8'($urandom));
  return r;
endfunction

// Makes one field of the frame wrong or unexpected.
function automatic void spoil(ref recipe_t r);
  case ($urandom_range(27))
    0: r.dmac ^= 48'd1 << $urandom_range(47);
    1: r.dmac = '1;
    2: r.has_tag = !r.has_tag;
    3: r.tag ^= 16'd1 << $urandom_range(11);
    4: r.ethertype = $urandom_range(1) == 0 ? 16'h0806 : 16'h8100;
    5: r.version_ihl = 8'h46;
    6: r.version_ihl = 8'h65;
    7: r.fragment = 16'($urandom_range(16'h3fff));
    8: r.protocol = 8'($urandom);
    9: r.dip ^= 32'd1 << $urandom_range(31);
    10: r.sip = 32'he0000001;
    11: r.sip ^= 32'd1 << $urandom_range(31);
    12: r.sport ^= 16'd1 << $urandom_range(15);
    13: r.dport ^= 16'd1 << $urandom_range(15);
    14: r.seq += $urandom_range(2000);
    15: r.seq -= $urandom_range(2000);
    16: r.ack ^= 32'd1 << $urandom_range(31);
    17: r.flags.ack = 1'b0;
    18: r.flags.syn = 1'b1;
    19: r.flags.rst = 1'b1;
    20: r.flags.fin = 1'b1;
    21: r.total_wrong = -int'($urandom_range(40 + r.payload.size()));
    22: r.total_wrong = int'($urandom_range(30));
    23: r.doff_wrong = int'($urandom_range(10)) - 5;
    24: r.ip_sum_wrong = 16'd1 << $urandom_range(15);
    25: r.tcp_sum_wrong = 16'd1 << $urandom_range(15);
    26: r.total_wrong = 5;
    default: r.flags = 6'($urandom);
  endcase
endfunction

function automatic int unsigned some_length();
  case ($urandom_range(5))
    0: return 0;
    1: return $urandom_range(8);
    2: return $urandom_range(40);
    3: return $urandom_range(200);
    4: return $urandom_range(20);
    default: return $urandom_range(Mtu < 1600 ? Mtu - 30 : 1600);
  endcase
endfunction

task automatic random_frames();
  int unsigned bubble = 0, gap = 0, wrongness = 0, syns = 5;
  for (int unsigned n = 0; n < Frames; n++) begin
    recipe_t r;
    bytes_t f;
    int unsigned i, len;
    bit fcs_bad;
    if (n % 200 == 0) begin
      idle();
      for (int unsigned s = 0; s < Sessions; s++) begin
        if (n == 0 || !open[s] || spfe_tb_pkg::chance(20)) begin
          session(s, spfe_tb_pkg::chance(95), spfe_tb_pkg::chance(95));
        end
      end
      bubble = spfe_tb_pkg::chance(50) ? 0 : $urandom_range(60);
      gap = spfe_tb_pkg::chance(50) ? 0 : $urandom_range(20);
      wrongness = spfe_tb_pkg::chance(30) ? 0 : $urandom_range(60);
      ready_percent = spfe_tb_pkg::chance(60) ? 100 : spfe_tb_pkg::activity();
      if (spfe_tb_pkg::chance(15)) ready_percent = 2;
      syns = spfe_tb_pkg::chance(10) ? 70 : 5;
      disturbance = spfe_tb_pkg::chance(20) ? $urandom_range(10) : 0;
      case ($urandom_range(5))
        0: cfg.rcv_wnd = 32'($urandom_range(2));
        1: cfg.rcv_wnd = $urandom_range(1500);
        2: cfg.rcv_wnd = $urandom;
        default: cfg.rcv_wnd = 32'd65535;
      endcase
      repeat (2) tick();
      heads = 1;
    end
    if (n % 20 == 0) begin
      // The sender learns what was lost.
      repeat (8) tick();
      guess = nxt;
    end
    i = spfe_tb_pkg::chance(60) ? 1 : $urandom_range(Sessions - 1);
    len = some_length();
    r = recipe(i, len);
    r.pad = spfe_tb_pkg::chance(80);
    if (spfe_tb_pkg::chance(40)) r.options = some_options(1'b0);
    if (spfe_tb_pkg::chance(10)) r.options = some_options(1'b1);
    while (40 + r.options.size() + r.payload.size() > Mtu && spfe_tb_pkg::chance(95)) begin
      void'(r.payload.pop_back());
    end
    if ((Ahead || Order) && spfe_tb_pkg::chance(60)) begin
      r.seq = nxt[i];
      if (spfe_tb_pkg::chance(60)) begin
        r.seq += 32 * $urandom_range(spfe_tb_pkg::chance(90) ? 20 : 80);
      end
      while (r.payload.size() > 200) void'(r.payload.pop_back());
      r.flags.fin = spfe_tb_pkg::chance(2);
    end
    if (spfe_tb_pkg::chance(syns)) begin
      r.flags = '{syn: 1'b1, ack: 1'($urandom), default: 1'b0};
      r.payload.delete();
    end
    if (spfe_tb_pkg::chance(wrongness)) spoil(r);
    f = build(r);
    fcs_bad = spfe_tb_pkg::chance(wrongness / 5);
    if (spfe_tb_pkg::chance(wrongness / 5)) begin
      f[$urandom_range(f.size()-1)] ^= 8'd1 << $urandom_range(7);
    end
    if (spfe_tb_pkg::chance(wrongness / 5)) begin
      repeat ($urandom_range(f.size() - 1)) void'(f.pop_back());
    end
    if (spfe_tb_pkg::chance(3)) repeat ($urandom_range(9)) f.push_back(8'($urandom));
    // The sender assumes that a segment in order is accepted.
    if (r.seq == guess[i] && !r.flags.syn && !fcs_bad) guess[i] += 32'(r.payload.size());
    send(f, fcs_bad, bubble, 0.0, spfe_tb_pkg::chance(50) ? 0 : $urandom_range(gap));
  end
  idle();
endtask

// Cuts a stream into segments and sends them in random order, repeated, joined or split, the FIN
// with the last one, until the stream is complete.
task automatic shuffle();
  for (int unsigned round = 0; round < 30; round++) begin
    int unsigned cuts[$];
    bytes_t stream;
    seq_t base;
    int unsigned picks = 0;
    idle();
    cfg.rcv_wnd = 32'd65535;
    session(1, 1'b1, 1'b1);
    repeat (4) tick();
    base = nxt[1];
    cuts.push_back(0);
    repeat (2 + $urandom_range(10)) cuts.push_back(cuts[cuts.size()-1] + 1 + $urandom_range(140));
    for (int unsigned i = 0; i < cuts[cuts.size()-1]; i++) stream.push_back(8'($urandom));
    while (open[1]) begin
      recipe_t r;
      int unsigned a, b;
      a = $urandom_range(cuts.size() - 2);
      b = a + 1 + (spfe_tb_pkg::chance(80) ? 0 : $urandom_range(cuts.size() - 2 - a));
      r = recipe(1, 0);
      r.seq = base + cuts[a];
      for (int unsigned i = cuts[a]; i < cuts[b]; i++) r.payload.push_back(stream[i]);
      r.flags.fin = b == cuts.size() - 1;
      send(build(r), spfe_tb_pkg::chance(10), 0, 0.0, $urandom_range(4));
      ready_percent = spfe_tb_pkg::chance(70) ? 100 : 20;
      picks++;
      must(picks < 3000, "the stream does not end");
    end
    repeat (20) tick();
    must(nxt[1] == base + cuts[cuts.size()-1] + 1, "end of the stream");
  end
  idle();
endtask

// Expected cycles from the first word of the frame to the first beat for the user.
function automatic int unsigned cycles_wanted(int unsigned n, real rate);
  int unsigned words, k, first;
  if (Sum) begin
    words = (n < 6 ? 60 : 54 + n);
    k = (words + Bytes - 1) / Bytes - 1;
    if ($ceil(real'(k) * rate) > 1.0) k += 32'($rtoi($ceil(real'(k) * rate))) - 1;
    return k + 2 + Pipe;
  end
  // Offset of the byte that completes the first beat, or of the last byte of the payload.
  if (!Packed) first = 55;
  else first = 54 + UserBytes - 1;
  if (54 + n - 1 < first) first = 54 + n - 1;
  if (Merge && 54 + n - 1 <= first + (Packed ? 0 : 8 * (Bytes / 8) - 2 * (Bytes / 8))) begin
    first = n < 6 ? 59 : 54 + n - 1;
  end
  return first / Bytes + 1 + Pipe;
endfunction

// Segments in order that end after the window: the random frames may have none.
task automatic beyond_window();
  idle();
  cfg.rcv_wnd = 32'd40;
  repeat (2) tick();
  foreach (guess[i]) begin
    if (i < 2) begin
      session(i, 1'b1, 1'b1);
      for (int unsigned len = 40; len < 43; len++) begin
        idle();
        send(build(recipe(i, len)), 1'b0, 0, 0.0, 10);
      end
    end
  end
  idle();
  must(window_count != 0, "no segment was beyond the window");
  cfg.rcv_wnd = 32'd65535;
  repeat (2) tick();
endtask

task automatic latency();
  int unsigned sizes[10] = '{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  int unsigned stored[10] = '{16, 17, 19, 23, 31, 48, 81, 147, 279, 542};
  real rate = Mac == 32 ? 322.0 * 32.0 / 10000.0 - 1.0 : 0.0;
  string line = "";
  for (int unsigned s = 0; s < Sessions; s++) session(s, 1'b1, 1'b1);
  foreach (sizes[i]) begin
    if (40 + sizes[i] <= Mtu) begin
      recipe_t r;
      idle();
      r = recipe(0, sizes[i]);
      measuring = 1;
      send(build(r), 1'b0, 0, rate, 0);
      repeat (6) tick();
      must(!measuring, "nothing was delivered");
      line = {line, $sformatf(" %0d:%0d", sizes[i], first_beat - first_cycle)};
      must(first_beat - first_cycle == cycles_wanted(sizes[i], rate),
           $sformatf("first beat of %0d bytes in cycle %0d, wanted %0d", sizes[i],
                     first_beat - first_cycle, cycles_wanted(sizes[i], rate)));
      if (Sum && Mac == 32) must(first_beat - first_cycle == stored[i] + Pipe, "table");
    end
  end
  idle();
  $display("%s cycles%s", Name, line);
endtask

initial begin
  if (spfe_tb_pkg::chosen(Name)) begin
    rst = 1'b1;
    cfg = '0;
    cfg.enable = 1'b1;
    cfg.rcv_wnd = 32'd65535;
    for (int unsigned i = 0; i < Vifs; i++) begin
      cfg.vif[i].enable = 1'b1;
      cfg.vif[i].mac = 48'h02005e100000 + 48'(i);
      cfg.vif[i].vlan = i == 1;
      cfg.vif[i].tag = 16'h2064;
      cfg.vif[i].ip = 32'hc0a80101 + 32'(i << 8);
    end
    {mac_data, mac_keep, mac_valid, mac_last, mac_err} = '0;
    {rcv_cmd, rcv_cmd_valid, key_cmd, key_cmd_valid, eng_sid, tx_sid, tx_head, tx_scaled} = '0;
    ready_percent = 100;
    run = 1'b1;
    repeat (4) tick();
    rst = 1'b0;
    tick();
    latency();
    beyond_window();
    random_frames();
    if (Order) shuffle();
    if (Ahead || Order) must(ahead_count > Frames / 20, "hardly any segment was ahead");
    if (Order) must(jump_count > 15, "hardly any hole was closed");
    must(taken_count > Frames / 20, "hardly any segment was accepted");
    if (Sum) must(head_count > Frames && cut_count > 20, "hardly any window was cut");
    $display("%s: %0d accepted, %0d withdrawn, %0d without room, %0d beyond the window, %0d stale,",
             Name, taken_count, err_count, full_count, window_count, stale_count,
             " %0d ahead, %0d holes closed, %0d windows cut, %0d told", ahead_count, jump_count,
             cut_count, told_count);
    spfe_tb_pkg::passed(Name, checks);
  end
end
