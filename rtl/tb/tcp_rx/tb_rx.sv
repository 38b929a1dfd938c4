// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Bench of the receiver. It measures latencies first, then sends random valid and invalid frames.
/// A model parses each frame again when the receiver has reached its end.
module tb_rx
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import spfe_tb_rx_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "rx",
  /// Width of the MAC stream in bits.
  parameter int unsigned Mac = 32,
  /// Width of the user stream in bits.
  parameter int unsigned User = 64,
  /// 1: store-and-forward; 0: cut-through.
  parameter bit Sum = 1'b1,
  /// Passed to spfe_tcp_rx.
  parameter bit Packed = 1'b1,
  /// Passed to spfe_tcp_rx as EopMerge.
  parameter bit Merge = 1'b0,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500,
  /// Number of sessions.
  parameter int unsigned Sessions = 16,
  /// Passed to spfe_tcp_rx as OutputPipe.
  parameter int unsigned Pipe = 0,
  /// Passed to spfe_tcp_rx as OutOfSequence.
  parameter bit Ahead = 1'b0,
  /// Passed to spfe_tcp_rx as Reordering.
  parameter bit Order = 1'b0,
  /// Passed to spfe_tcp_rx as MemAddrBits.
  parameter int unsigned Mem = 11,
  /// Passed to spfe_tcp_rx as FifoPackets.
  parameter int unsigned Fifo = 64,
  /// Number of random frames.
  parameter int unsigned Frames = 2000
);
  localparam int unsigned Bytes = Mac / 8;
  localparam int unsigned UserBytes = User / 8;
  localparam int unsigned Vifs = 2;
  localparam int unsigned Ring = 2 ** (Mem + 4 - $clog2(Sessions));
  localparam int unsigned Spans = 4;
  localparam int unsigned Capacity = UserBytes * 2 ** $clog2(Fifo * ((Mtu + UserBytes - 1) / UserBytes));

  logic clk, rst;
  bit run;
  tcp_cfg_t cfg;
  logic [Mac-1:0] mac_data;
  logic [Bytes-1:0] mac_keep;
  logic mac_valid, mac_last, mac_err;
  logic [User-1:0] user_data;
  logic [UserBytes-1:0] user_keep;
  logic user_valid, user_ready, user_last, user_err, user_oos;
  sid_t user_sid, ack_sid, snd_sid, eng_sid, tx_sid;
  seq_t user_rel, eng_nxt, tx_nxt;
  logic tx_head, tx_scaled;
  logic [31:0] tx_wnd;
  wnd_open_t tell;
  seg_t seg;
  logic seg_valid, rcv_cmd_valid, rcv_cmd_ready, key_cmd_valid, event_valid;
  rcv_cmd_t rcv_cmd;
  key_cmd_t key_cmd;
  event_t event_data;
  rx_count_t count;

  mac_beat_t mac;
  user_rx_beat_t user;
  assign mac = '{
    data: MacBits'(mac_data), keep: (MacBits / 8)'(mac_keep), last: mac_last, err: mac_err
  };
  assign user_data = user.data[User-1:0];
  assign user_keep = user.keep[UserBytes-1:0];
  assign user_last = user.last;
  assign user_sid = user.sid;
  assign user_err = user.err;
  assign user_oos = user.oos;
  assign user_rel = user.rel;

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  seq_t ack_lo[2**$bits(sid_t)];
  seq_t snd_nxt[2**$bits(sid_t)];

  spfe_tcp_rx #(
    .SessionCount(Sessions), .MacWidth(Mac), .UserWidth(User), .Mtu(Mtu), .VifCount(Vifs),
    .Checksum(Sum), .Packed(Packed), .EopMerge(Merge), .OutputPipe(Pipe), .Reordering(Order),
    .OutOfSequence(Ahead), .MemAddrBits(Mem), .FifoPackets(Fifo)
  ) i_dut (
    .clk_i(clk), .rst_i(rst), .cfg_i(cfg),
    .mac_i(mac), .mac_valid_i(mac_valid),
    .user_o(user), .user_valid_o(user_valid), .user_ready_i(user_ready),
    .seg_o(seg), .seg_valid_o(seg_valid),
    .rcv_cmd_i(rcv_cmd), .rcv_cmd_valid_i(rcv_cmd_valid), .rcv_cmd_ready_o(rcv_cmd_ready),
    .key_cmd_i(key_cmd), .key_cmd_valid_i(key_cmd_valid),
    .tx_sid_i(tx_sid), .tx_nxt_o(tx_nxt), .wnd_req_i('{valid: tx_head, scaled: tx_scaled}),
    .wnd_o(tx_wnd), .wnd_open_o(tell), .wnd_open_ready_i(1'b1), .eng_sid_i(eng_sid),
    .eng_nxt_o(eng_nxt),
    .ack_sid_o(ack_sid), .ack_lo_i(ack_lo[ack_sid]),
    .snd_sid_o(snd_sid), .snd_nxt_i(snd_nxt[snd_sid]),
    .event_o(event_data), .event_valid_o(event_valid), .count_o(count)
  );

  // State of the model for each session.
  localparam int unsigned Numbers = 2 ** $bits(sid_t);
  key_cmd_t key[Numbers];
  bit open[Numbers];
  seq_t nxt[Numbers];
  typedef struct {
    seq_t first;
    seq_t stop;
  } span_t;
  span_t span[Numbers][$];  // payload kept after a hole
  bit [7:0] kept[Numbers][seq_t];
  bit fin_noted[Numbers];
  seq_t fin_seq[Numbers];
  // State of the session of the current segment, when the receiver read it.
  seq_t read_nxt;
  bit read_open, stale, stale_q, room_q, hit_q;
  // Right edges of the windows that were announced, as far as the bench knows them.
  seq_t right[Numbers], read_edge, head_nxt;
  bit known[Numbers], read_sure;
  sid_t head_sid;
  int unsigned head_age = 99, head_count, cut_count, told_count, changed[Numbers];
  bit read_gap;
  sid_t read_sid, sid_q;
  // RCV.NXT as the sender of the frames assumes it; runs ahead of the model.
  seq_t guess[Numbers];

  typedef struct {
    bytes_t bytes;
    bit fcs_bad;
    int unsigned start_cycle;
    int unsigned last_cycle;
  } frame_t;
  typedef struct {
    sid_t sid;
    bit err;
    bit oos;
    seq_t rel;
    bytes_t bytes;
  } delivery_t;

  frame_t sent[$], recent;
  delivery_t wanted[$], got[$];
  seg_t segs[$];
  int unsigned seg_last[$];
  int unsigned cycle, first_cycle, first_beat;
  int unsigned checks, taken_count, err_count, full_count, ahead_count, jump_count, stale_count;
  int unsigned window_count;
  bit measuring;
  int unsigned ready_percent, disturbance, key_cycle;
  bit heads;

  function automatic void must(bit good, string what);
    checks++;
    if (!good) begin
      $write("%s: the last frame was", Name);
      foreach (recent.bytes[i]) $write(" %02x", recent.bytes[i]);
      $fatal(1, "%s: %s (cycle %0d, FCS %0d)", Name, what, cycle, recent.fcs_bad);
    end
  endfunction

  // Parses a frame again, predicts its outcome, and compares the counted events.
  function automatic void judge(frame_t fr, rx_count_t seen);
    bytes_t f = fr.bytes;
    int unsigned n = 32'(f.size()), t = tcp_at(f), total, doff, base;
    bit word13, fits, good, hit, accept, ack_ok, begun, taken, wrong, oos, in_window, deliver;
    bit [31:0] limit, ahead;
    bit [Vifs-1:0] vm;
    rx_count_t e = '0, clean;
    seg_t s = '0;
    delivery_t d;
    recent = fr;
    base = t - 34;
    total = 32'(get(f, base + 16, 2));
    doff = 32'(get(f, t + 12, 1)) >> 4;
    word13 = n > base + 52;
    for (int unsigned i = 0; i < Vifs; i++) begin
      vm[i] = cfg.vif[i].mac[47:16] == get(f, 0, 4)[31:0];
      if (n > 4 && cfg.vif[i].mac[15:0] != get(f, 4, 2)[15:0]) vm[i] = 0;
      if (n > base + 12 && (base != 0) != cfg.vif[i].vlan) vm[i] = 0;
      if (base != 0 && get(f, 14, 2)[11:0] != cfg.vif[i].tag[11:0]) vm[i] = 0;
      if (n > base + 28 && cfg.vif[i].ip[31:16] != get(f, base + 30, 2)[15:0]) vm[i] = 0;
      if (n > base + 32 && cfg.vif[i].ip[15:0] != get(f, base + 32, 2)[15:0]) vm[i] = 0;
    end
    e.frames = 1;
    e.not_for_us = vm == 0 || (n > base + 12 && get(f, base + 12, 3) >> 4 != 64'h08004) ||
        (n > base + 20 && get(f, base + 23, 1) != 6) ||
        (n > base + 24 && get(f, base + 26, 1) >= 224);
    e.ip_options = n > base + 12 && get(f, base + 14, 1)[3:0] != 5;
    e.fragment = n > base + 20 && get(f, base + 20, 2)[13:0] != 0;
    e.oversize = n > base + 16 && total > Mtu;
    fits = total >= 40 && n >= base + 14 + total && doff >= 5 && 20 + 4 * doff <= total && word13;
    e.length = !fits;
    wrong = e.not_for_us || e.ip_options || e.fragment || e.oversize ||
        (n > base + 16 && total < 40);
    if (Sum && fits) begin
      bytes_t pseudo;
      e.bad_ip_sum = sum(f, base + 14, 20) != 16'hffff;
      for (int unsigned i = 0; i < total - 20; i++) pseudo.push_back(f[t+i]);
      if (total % 2 != 0) pseudo.push_back(0);
      put(pseudo, get(f, base + 26, 8), 8);
      put(pseudo, 64'd6, 2);
      put(pseudo, 64'(total - 20), 2);
      e.bad_tcp_sum = sum(pseudo, 0, 32'(pseudo.size())) != 16'hffff;
    end
    e.bad_fcs = fr.fcs_bad;
    // Only the first reason counts.
    if (e.bad_fcs) e = '{frames: 1, bad_fcs: 1, default: 0};
    else if (!word13) e = '{frames: 1, length: 1, default: 0};
    else if (e.not_for_us) e = '{frames: 1, not_for_us: 1, default: 0};
    else if (e.ip_options) e = '{frames: 1, ip_options: 1, default: 0};
    else if (e.fragment) e = '{frames: 1, fragment: 1, default: 0};
    else if (e.oversize) e = '{frames: 1, oversize: 1, default: 0};
    else if (e.length) e = '{frames: 1, length: 1, default: 0};
    else if (e.bad_ip_sum) e.bad_tcp_sum = 0;
    clean = '{frames: 1, default: 0};
    good = e == clean;

    s.smac = 48'(get(f, 6, 6));
    s.sip = 32'(get(f, base + 26, 4));
    s.sport = 16'(get(f, t, 2));
    s.dport = 16'(get(f, t + 2, 2));
    s.seq = 32'(get(f, t + 4, 4));
    s.ack = 32'(get(f, t + 8, 4));
    s.flags = 6'(get(f, t + 13, 1));
    s.wnd = 16'(get(f, t + 14, 2));
    s.vif = vm[0] ? 3'd0 : 3'd1;
    s.len = 16'(total - 20 - 4 * doff);
    for (int unsigned i = 0; i < Sessions; i++) begin
      if (key[i].valid && key[i].sip == s.sip && key[i].sport == s.sport &&
          key[i].dport == s.dport && key[i].vif == s.vif) begin
        hit = 1;
        s.sid = 9'(i);
      end
    end
    // A four-tuple changed during the frame: follow the receiver, as both outcomes are right.
    if (key_cycle >= fr.start_cycle) begin
      hit = hit_q;
      s.sid = sid_q;
    end
    s.hit = hit;
    s.rcv_nxt = read_nxt;
    if (good) options(f, s);
    if (!s.flags.syn) begin
      s.mss = 0;
      s.has_ws = 0;
    end
    ahead = s.seq - read_nxt;
    limit = Order && cfg.rcv_wnd > Ring ? Ring : cfg.rcv_wnd;
    oos = (Ahead || Order) && ahead != 0 && ahead < limit;
    if (Sum) begin
      // A window that is announced while the session is read: follow the receiver, as both are right.
      limit = read_sure ? read_edge - read_nxt : i_dut.i_session.room_q;
    end
    in_window = 64'(oos ? ahead : 0) + 64'(s.len) + 64'(s.flags.fin) <= 64'(limit);
    accept = !wrong && hit && read_open && (ahead == 0 || oos) && s.flags.ack && !s.flags.syn &&
        !s.flags.rst && doff >= 5 && word13;
    ack_ok = s.ack - ack_lo[s.sid] <= snd_nxt[s.sid] - ack_lo[s.sid];
    begun = accept && n > base + 4 * (8 + doff) && total > 20 + 4 * doff;
    deliver = good && accept && ack_ok && in_window && !stale_q;
    if (Sum && room_q) begin
      must(ready_percent < 100 || User <= Mac, "no room in the FIFO");
      if (deliver) full_count++;
      deliver = 0;
    end
    taken = deliver && !oos;
    if (good) begin
      bit data;
      data = s.len != 0 || s.flags.fin;
      e.segments = 1;
      if (!hit) e.no_session = 1;
      else if (data && !read_open) e.not_open = 1;
      else if (read_open && s.flags.ack && !ack_ok) e.bad_ack = 1;
      else if (data && ahead[31]) e.old = 1;
      else if (data && ahead != 0) e.out_of_order = 1;
      else if ((Sum && room_q) || (data && !in_window)) e.no_room = 1;
      if (hit && data && ahead == 0 && !in_window) window_count++;
      s.taken = taken;
      s.gap = read_gap;
    end
    must(e == seen, $sformatf("counted %b, model %b, frame of %0d bytes", seen, e, n));
    must(event_valid == (hit && word13 && !wrong && !good), "event");
    if (event_valid) must(event_data == '{kind: EvRxBad, sid: 16'(s.sid), data: 0}, "event data");
    if (Sum ? deliver && s.len != 0 && !(Order && oos) : begun) begin
      d.sid = s.sid;
      d.err = !deliver;
      d.oos = oos;
      d.rel = oos ? ahead : 0;
      if (deliver) for (int unsigned i = 0; i < 32'(s.len); i++) d.bytes.push_back(f[t+4*doff+i]);
      wanted.push_back(d);
    end
    if (taken) begin
      taken_count++;
      move(s);
      s.flags.fin = s.flags.fin || !open[s.sid];
    end
    if (deliver && oos) ahead_count++;
    if (deliver && oos && Order) begin
      for (int unsigned i = 0; i < 32'(s.len); i++) kept[s.sid][s.seq+i] = f[t+4*doff+i];
      note(s);
    end
    if (good) begin
      segs.push_back(s);
      seg_last.push_back(fr.last_cycle);
    end
    if (stale_q) stale_count++;
  endfunction

  // Accepts a segment in order, and payload kept after it that is complete now.
  function automatic void move(seg_t s);
    seq_t stop = s.seq + 32'(s.len);
    bit fin = s.flags.fin || (fin_noted[s.sid] && fin_seq[s.sid] == stop);
    span_t rest[$];
    nxt[s.sid] = stop;
    foreach (span[s.sid][i]) begin
      span_t p = span[s.sid][i];
      if (seq_le(p.first, stop) && seq_lt(stop, p.stop) && !fin) begin
        delivery_t d;
        d.sid = s.sid;
        for (seq_t at = stop; at != p.stop; at++) d.bytes.push_back(kept[s.sid][at]);
        wanted.push_back(d);
        nxt[s.sid] = p.stop;
        jump_count++;
        if (fin_noted[s.sid] && fin_seq[s.sid] == p.stop) fin = 1;
      end else if (seq_lt(stop, p.stop) && !seq_le(p.first, stop)) rest.push_back(p);
    end
    span[s.sid] = rest;
    if (fin) begin
      nxt[s.sid]++;
      open[s.sid] = 0;
    end
  endfunction

  // Keeps a segment that is ahead of RCV.NXT.
  function automatic void note(seg_t s);
    span_t rest[$], all = '{first: s.seq, stop: s.seq + 32'(s.len)};
    if (s.flags.fin) begin
      fin_noted[s.sid] = 1;
      fin_seq[s.sid] = all.stop;
    end
    if (s.len == 0) return;
    foreach (span[s.sid][i]) begin
      span_t p = span[s.sid][i];
      if (seq_le(p.first, s.seq + 32'(s.len)) && seq_le(s.seq, p.stop)) begin
        if (seq_lt(p.first, all.first)) all.first = p.first;
        if (seq_lt(all.stop, p.stop)) all.stop = p.stop;
      end else rest.push_back(p);
    end
    if (rest.size() < Spans) rest.push_back(all);
    span[s.sid] = rest;
  endfunction

  // Follows commands of the engine, and finds the segments that they make stale.
  function automatic void watch_commands();
    bit command;
    sid_t sid;
    command = rcv_cmd_valid && rcv_cmd_ready;
    sid = rcv_cmd.sid;
    stale_q = stale;
    room_q = i_dut.no_room;
    hit_q = i_dut.match.hit;
    sid_q = i_dut.match.sid;
    if (i_dut.read) begin
      read_sid = i_dut.ack_sid_o;
      read_nxt = nxt[read_sid];
      read_open = open[read_sid];
      read_gap = Order && (span[read_sid].size() != 0 || fin_noted[read_sid]);
      stale = 0;
      read_edge = right[read_sid];
      read_sure = known[read_sid] && !(head_sid == read_sid && head_age < 5) &&
          cycle - changed[read_sid] > 8;
    end
    if (command) begin
      if (sid == read_sid) stale = 1;
      open[sid] = rcv_cmd.open;
      if (rcv_cmd.set) begin
        right[sid] += rcv_cmd.nxt - nxt[sid];
        changed[sid] = cycle;
        nxt[sid] = rcv_cmd.nxt;
        span[sid].delete();
        fin_noted[sid] = 0;
      end
    end
    if (key_cmd_valid) begin
      if (key_cmd.valid != key[key_cmd.sid].valid) known[key_cmd.sid] = 0;
      changed[key_cmd.sid] = cycle;
      key[key_cmd.sid] = key_cmd;
      key_cycle = cycle;
    end
  endfunction

  // Follows the announced windows: an edge never moves left, and beside what is in the FIFO there is
  // twice the room for all that was offered.
  function automatic void watch_windows();
    if (head_age < 99) head_age++;
    if (tell.valid) told_count++;
    if (tx_head) begin
      head_age = 0;
      head_sid = tx_sid;
      head_nxt = tx_nxt;
      head_count++;
    end
    // In cut-through the window is always the configured one.
    if (Sum && head_age == 2 && cycle - changed[head_sid] > 4 && key[head_sid].valid) begin
      seq_t now;
      longint unsigned held;
      now = head_nxt + tx_wnd;
      must(!known[head_sid] || seq_le(right[head_sid], now), $sformatf(
           "the window of session %0d shrinks from %0d to %0d", head_sid, right[head_sid], now));
      must(tx_wnd <= cfg.rcv_wnd || known[head_sid], "the window is larger than configured");
      held = 64'(i_dut.used) * 64'(UserBytes);
      for (int unsigned i = 0; i < Sessions; i++) begin
        if (key[i].valid && known[i] && !right[i][31] == !nxt[i][31] && seq_le(nxt[i], right[i]))
          held += 64'(32'(right[i] - nxt[i])) * 2;
      end
      must(!known[head_sid] || now == right[head_sid] || held <= 64'(Capacity),
           "more is offered than fits");
      if (tx_wnd < cfg.rcv_wnd) cut_count++;
      right[head_sid] = now;
      known[head_sid] = 1;
    end
  endfunction

  function automatic void watch_frames();
    if (!rst) begin
      if (count.frames) begin
        if (sent.size() == 0) $fatal(1, "%s: a frame was counted that was not sent", Name);
        judge(sent.pop_front(), count);
      end else begin
        must(count == 0 && !event_valid, "counted without a frame");
      end
    end
  endfunction

  // Checks the segments for the engine.
  function automatic void watch_segments();
    if (!rst && seg_valid) begin
      seg_t s;
      if (segs.size() == 0) $fatal(1, "%s: an unexpected segment", Name);
      s = segs.pop_front();
      // The four-tuple was changed since.
      if (disturbance != 0 && !seg.hit) s.hit = 0;
      if (!s.hit) begin
        s.sid = seg.sid;
        s.rcv_nxt = seg.rcv_nxt;
        s.gap = seg.gap;
      end
      if (!s.has_ws) s.ws = seg.ws;
      must(seg == s, $sformatf("segment %h, model %h", seg, s));
      must(cycle - seg_last.pop_front() <= 5, "segment reported late");
    end
  endfunction

  delivery_t part;
  bit part_begun;
  function automatic void watch_user();
    if (!rst && user_valid && (user_ready || !Sum)) begin
      int unsigned number;
      number = 32'($countones(user_keep));
      must(user_keep == UserBytes'((1 << number) - 1), "keep has holes");
      must(number == UserBytes || user_last || !Packed && !part_begun || !Merge && !Sum,
           "beat is not full");
      must(number != 0 || (user_last && !Sum && (!Merge || user_err)), "empty beat");
      must(user_oos ? Ahead : user_rel == 0, "out of sequence");
      if (part_begun) begin
        must(part.sid == user_sid && part.oos == user_oos && part.rel == user_rel,
             "session or distance changes in a segment");
      end
      part.oos = user_oos;
      part.rel = user_rel;
      part.sid = user_sid;
      part_begun = 1;
      for (int unsigned i = 0; i < number; i++) part.bytes.push_back(user_data[8*i+:8]);
      if (user_last) begin
        part.err = user_err;
        if (part.err) part.bytes.delete();
        got.push_back(part);
        part.bytes.delete();
        part_begun = 0;
      end else must(!user_err, "error without last");
    end
    if (user_valid && measuring) begin
      first_beat = cycle;
      measuring = 0;
    end
    while (got.size() != 0 && wanted.size() != 0) begin
      delivery_t g, w;
      g = got.pop_front();
      w = wanted.pop_front();
      must(g.sid == w.sid && g.err == w.err,
           $sformatf("session %0d, error %0d delivered; model %0d, %0d; %0d bytes", g.sid, g.err,
                     w.sid, w.err, w.bytes.size()));
      must(g.oos == w.oos && g.rel == w.rel, $sformatf(
           "distance %0d %0d, model %0d %0d", g.oos, g.rel, w.oos, w.rel));
      must(g.bytes == w.bytes, $sformatf("%0d bytes delivered, model %0d", g.bytes.size(),
                                         w.bytes.size()));
      if (w.err) err_count++;
    end
  endfunction

  always @(posedge clk) begin
    cycle <= cycle + 1;
    watch_frames();
    watch_windows();
    watch_commands();
    watch_segments();
    watch_user();
    user_ready <= spfe_tb_pkg::chance(ready_percent);
  end

  `include "tb_rx_tests.svh"
endmodule
