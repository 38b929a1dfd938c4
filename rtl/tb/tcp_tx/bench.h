// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: drives every input in each cycle and checks every output with an
// independent model.
#pragma once
#include "model.h"

struct Bench {
  Vtb_tcp_tx top;
  Knobs k;
  u64 cycle = 0;
  int sessions, macb, userb, mtu, mss, ring_bytes;
  bool drop, pad;
  u64 mac[2] = {0x02a0b0c0d0e0, 0x02a1b1c1d1e1};
  u32 ip[2] = {0x0a010203, 0xfffe7f01};
  u16 tag = 0xa123;
  u32 rcv_wnd = 100000;
  int wscale = 3;
  std::vector<Session> ses;
  std::deque<Message> messages;
  std::size_t at_byte = 0;
  bool in_message = false, offered = false, bubble = false;
  std::deque<Expected> expected;
  std::deque<Command> commands;
  std::deque<Command> out;  // accepted by the transmitter, not yet sent and reported
  u32 msg_seq = 0, msg_una = 0;  // of the incoming message, and SND.UNA when it started
  bool old_bad = false;
  int stale = -1;  // session that is being closed and reopened
  Session old;
  Bytes old_data;
  std::deque<std::pair<int, u32>> bad_sums;  // recent ones
  u64 n_stale = 0, n_ring = 0;
  std::deque<int> hdr_queue;
  struct Snd { int sid; bool init; };
  std::deque<Snd> snd_queue;
  Bytes frame;
  bool in_frame = false;
  Bytes mem;
  struct Answer { u64 when; Bytes data; };
  std::deque<Answer> answers;
  std::deque<Bytes> net_sent;
  Bytes net_now;
  std::size_t net_at = 0;
  u64 n_live = 0, n_deferred = 0, n_command = 0, n_bad = 0, n_refused = 0, n_aborted = 0, n_err = 0;
  u64 n_frames = 0, n_net = 0, n_bad_frames = 0, x_refused = 0, x_bad = 0, last_seen = 0;
  u64 counted[8] = {0};
  // measurements
  u64 first_user = 0, first_mac = 0, gaps = 0;
  bool measure = false, seen_user = false, seen_mac = false;
  u32 last_id = 0;
  bool have_id = false;

  Bench() {
    top.clk_i = 0;
    top.rst_i = 1;
    top.eval();
    sessions = int(top.p_sessions_o);
    macb = int(top.p_mac_o) / 8;
    userb = int(top.p_user_o) / 8;
    mtu = int(top.p_mtu_o);
    mss = mtu - 40;
    drop = top.p_drop_o != 0;
    pad = top.p_pad_o != 0;
    int bits = 0;
    while ((1 << bits) < sessions) bits++;
    ring_bytes = 1 << (int(top.p_mem_o) + 4 - bits);
    mem.assign(std::size_t(16) << top.p_mem_o, 0);
    ses.resize(sessions + 1);
    top.cfg_mss_i = u16(mss);
    top.cfg_rcv_wnd_i = rcv_wnd;
    top.cfg_wscale_i = u8(wscale);
    top.cfg_mac0_i = mac[0];
    top.cfg_mac1_i = mac[1];
    top.cfg_ip0_i = ip[0];
    top.cfg_ip1_i = ip[1];
    top.cfg_tag1_i = tag;
    for (int i = 0; i < 10; i++) edge();
    top.rst_i = 0;
    for (int i = 0; i < 4; i++) edge();
  }

  void edge() {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    cycle++;
  }

  // ---- user side
  void drive_user() {
    top.user_valid_i = 0;
    if (messages.empty()) return;
    Message& m = messages.front();
    if (!offered) {
      if (in_message && chance(m.bubbles)) return;
      offered = true;
    }
    std::size_t n = std::min<std::size_t>(userb, m.data.size() - at_byte);
    u8 beat[16];
    for (int i = 0; i < userb; i++) beat[i] = i < int(n) ? m.data[at_byte + i] : u8(rng());
    put(top.user_data_i, beat, userb);
    top.user_keep_i = (1u << n) - 1;
    top.user_valid_i = 1;
    top.user_last_i = at_byte + n == m.data.size();
    top.user_sid_i = in_message ? u16(rnd(512)) : u16(m.sid);
    top.user_mode_i = in_message ? u8(rnd(4)) : u8(m.mode);
    top.user_len_i = in_message ? u16(rng()) : u16(m.claim);
    top.user_sum_i = in_message ? u16(rng()) : m.sum;
    top.user_push_i = in_message ? rnd(2) : m.push;
    if (measure && !seen_user) {
      seen_user = true;
      first_user = cycle;
    }
  }
  bool msg_refused = false, small_ring = false;
  bool refused(const Message& m) const {
    bool known = m.mode == 1 || m.mode == 2;
    if (m.sid >= sessions || (drop && !ses[m.sid].open)) return true;
    if (known && (m.claim == 0 || m.claim > mss)) return true;
    return m.data.empty() || int(m.data.size()) > mss;
  }
  void sample_user() {
    if (!top.user_valid_i || !top.user_ready_o) return;
    Message& m = messages.front();
    Session& s = ses[std::min(m.sid, sessions)];
    offered = false;
    if (!in_message) {
      in_message = true;
      s.stream.resize(s.written);
      msg_seq = s.seq(s.written);
      msg_refused = refused(m);
      msg_una = s.una_before;
    }
    std::size_t n = std::min<std::size_t>(userb, m.data.size() - at_byte);
    s.stream.insert(s.stream.end(), m.data.begin() + at_byte, m.data.begin() + at_byte + n);
    at_byte += n;
    if (at_byte < m.data.size()) return;
    in_message = false;
    at_byte = 0;
    bool known = m.mode == 1 || m.mode == 2;
    Expected e = {m.sid, msg_seq, u32(m.data.size()), known && m.claim != int(m.data.size()), m.mode == 2 && m.bad_sum, m.push, msg_una};
    if (e.bad_sum) {
      bad_sums.push_back({e.sid, e.seq});
      if (bad_sums.size() > 64) bad_sums.pop_front();
    }
    if (msg_refused) {
      x_refused++;
    } else if (m.sid == stale) {
      expected.push_back(e);
    } else {
      CHECK(s.open, "a message of session %d was taken, which is closed", m.sid);
      expected.push_back(e);
      s.written += m.data.size();
      s.got.resize(s.written);
    }
    messages.pop_front();
  }

  // ---- MAC side
  void sample_mac() {
    if (in_frame) CHECK(top.mac_valid_o, "valid fell within a frame");
    if (measure && seen_mac && !top.mac_valid_o) gaps++;
    if (measure && top.mac_valid_o && !seen_mac) {
      seen_mac = true;
      first_mac = cycle;
    }
    if (!top.mac_valid_o || !top.mac_ready_i) return;
    if (measure) last_seen = cycle;
    u32 keep = top.mac_keep_o;
    int n = 0;
    while (n < macb && (keep >> n & 1)) n++;
    CHECK(n > 0 && keep == (1u << n) - 1, "keep %x", keep);
    if (!top.mac_last_o) CHECK(n == macb, "beat is not full: %x", keep);
    CHECK(top.mac_last_o || !top.mac_err_o, "err without last");
    for (int i = 0; i < n; i++) frame.push_back(at(top.mac_data_o, i));
    in_frame = !top.mac_last_o;
    if (!top.mac_last_o) return;
    n_frames++;
    if (top.mac_err_o) n_err++;
    else check_frame(frame);
    frame.clear();
  }
  void check_frame(const Bytes& f) {
    if (pad) CHECK(f.size() >= 60, "frame of %zu bytes", f.size());
    u64 dmac = u64(be16(&f[0])) << 32 | be32(&f[2]);
    if (dmac == 0x024e45540000) {
      CHECK(!net_sent.empty(), "a frame of ARP too many");
      Bytes& e = net_sent.front();
      for (std::size_t i = 0; i < f.size(); i++) CHECK(f[i] == (i < e.size() ? e[i] : 0), "byte %zu of an ARP frame", i);
      CHECK(f.size() == (pad ? std::max<std::size_t>(60, e.size()) : e.size()), "ARP frame of %zu bytes", f.size());
      net_sent.pop_front();
      n_net++;
      return;
    }
    int sid = int(dmac & 0xfff);
    CHECK(sid <= sessions && ses[sid].dmac == dmac, "unknown peer %012llx", (unsigned long long)dmac);
    Session& s = ses[sid];
    u64 smac = u64(be16(&f[6])) << 32 | be32(&f[8]);
    CHECK(smac == mac[s.vif], "source address %012llx", (unsigned long long)smac);
    std::size_t o = 12;
    if (s.vif == 1) {
      CHECK(be16(&f[12]) == 0x8100 && be16(&f[14]) == tag, "tag");
      o += 4;
    }
    CHECK(be16(&f[o]) == 0x0800, "EtherType %04x", be16(&f[o]));
    const u8* p = &f[o + 2];
    std::size_t room = f.size() - o - 2;
    std::size_t total = be16(p + 2);
    CHECK(p[0] == 0x45 && p[1] == 0, "IP version");
    CHECK(total >= 40 && total <= room, "total length %zu of %zu", total, room);
    CHECK(room == total || (pad && f.size() == 60), "frame of %zu bytes, IP of %zu", f.size(), total);
    for (std::size_t i = total; i < room; i++) CHECK(p[i] == 0, "padding");
    if (have_id) CHECK(u16(be16(p + 4)) == u16(last_id + 1) || n_err, "identification");
    last_id = be16(p + 4);
    have_id = true;
    CHECK(be16(p + 6) == 0x4000 && p[8] == 64 && p[9] == 6, "IP fields");
    CHECK(sum_of(p, 20) == 0xffff, "IP checksum");
    CHECK(be32(p + 12) == ip[s.vif] && be32(p + 16) == s.dip, "IP addresses");
    const u8* t = p + 20;
    CHECK(be16(t) == s.sport && be16(t + 2) == s.dport, "ports");
    u32 seq = be32(t + 4), ack = be32(t + 8);
    std::size_t hl = std::size_t(t[12] >> 4) * 4;
    u8 flags = t[13];
    CHECK((t[12] & 15) == 0 && (flags & 0xc0) == 0 && be16(t + 18) == 0, "reserved bits");
    u32 w = s.scaled && !(flags & SYN) ? rcv_wnd >> wscale : rcv_wnd;
    CHECK(be16(t + 14) == std::min<u32>(w, 65535), "window %u", be16(t + 14));
    u32 ps = sum_of(p + 12, 8) + 6 + u32(total - 20);
    bool good = sum_of(t, total - 20, ps) == 0xffff;
    std::size_t len = total - 20 - hl;
    const u8* d = t + hl;
    std::size_t n = 0;
    while (n < out.size() && out[n].seen) n++;
    bool command = false;
    if (n < out.size()) {
      Command& q = out[n];
      command = q.sid == sid && ack == (q.ack_rcv ? s.rcv_nxt : q.ack) && flags == q.flags && len == std::size_t(q.len) && (!q.ack_rcv || len == 0);
    }
    if (!command && sid == stale && seq == old.seq(old.live_to)) {
      CHECK(good || old_bad, "checksum of a stale message");
      for (std::size_t i = 0; i < len; i++) CHECK(d[i] == old_data[i], "byte %zu of a stale message", i);
      return;
    }
    if (command) {
      Command& cmd_now = out[n];
      cmd_now.seen = true;
      cmd_now.seen_seq = seq;
      CHECK(good, "checksum of a command");
      u32 nxt = s.seq(0) + u32(s.live_to);
      if (!cmd_now.seq_nxt) CHECK(seq == cmd_now.seq, "SEQ %08x", seq);
      else if (sid < sessions && !(flags & SYN)) CHECK(seq == nxt + (s.fin_seq ? 1 : 0), "SEQ %08x, SND.NXT is %08x", seq, nxt);
      if (flags & SYN) {
        CHECK(hl == (cmd_now.opt_ws ? 28u : 24u), "header of %zu bytes", hl);
        CHECK(be16(t + 20) == 0x0204 && be16(t + 22) == mss, "MSS option");
        if (cmd_now.opt_ws) CHECK(be32(t + 24) == (0x01030300u | u32(wscale)), "window scale option");
      } else {
        CHECK(hl == 20, "header of %zu bytes", hl);
      }
      if (flags & FIN) s.fin_seq = seq;
    } else {
      CHECK(hl == 20 && len > 0, "session %d: segment of nobody: flags %02x, %zu bytes, seq %08x ack %08x", sid, flags, len, seq, ack);
      CHECK((flags & ~PSH) == ACK, "flags %02x of a live message", flags);
      CHECK(ack == s.rcv_nxt, "ACK %08x of a live message", ack);
      CHECK(seq == s.seq(s.live_to), "session %d: live message at %08x, not %08x", sid, seq, s.seq(s.live_to));
    }
    if (len == 0) return;
    std::size_t off = seq - s.seq(0);
    CHECK(off + len <= s.stream.size(), "session %d: bytes %zu to %zu of %zu", sid, off, off + len, s.stream.size());
    for (std::size_t i = 0; i < len; i++) CHECK(d[i] == s.stream[off + i], "session %d: byte %zu of %zu of the segment at %zu is %02x, not %02x", sid, i, len, off, d[i], s.stream[off + i]);
    s.live_to = std::max(s.live_to, off + len);
    if (!good) {
      bool allowed = false;
      for (auto& e : bad_sums) allowed |= e.first == sid && e.second == seq;
      if (in_message && messages.front().sid == sid && messages.front().bad_sum) allowed = true;
      CHECK(allowed && !command, "TCP checksum of %zu bytes, session %d", len, sid);
      n_bad_frames++;
      return;
    }
    if (s.got.size() < off + len) s.got.resize(off + len);
    for (std::size_t i = 0; i < len; i++) s.got[off + i] = true;
    while (s.got_to < s.got.size() && s.got[s.got_to]) s.got_to++;
  }

  // ---- engine
  void resend(int sid, u32 seq, u32 len) {
    while (len) {
      u32 n = chance(30) ? 1 + rnd(len) : len;
      Command c;
      c.sid = sid;
      c.seq = seq;
      c.len = int(n);
      c.ack = 0xeeee0000 + rnd(65536);
      c.flags = u8(ACK | (chance(50) ? PSH : 0));
      commands.push_back(c);
      seq += n;
      len -= n;
    }
  }
  void drive_engine() {
    top.hdr_valid_i = !hdr_queue.empty();
    if (!hdr_queue.empty()) {
      Session& s = ses[hdr_queue.front()];
      top.hdr_sid_i = u16(hdr_queue.front());
      top.hdr_dmac_i = s.dmac;
      top.hdr_dip_i = s.dip;
      top.hdr_dport_i = s.dport;
      top.hdr_sport_i = s.sport;
      top.hdr_vif_i = u8(s.vif);
      top.hdr_scaled_i = s.scaled;
    }
    if (snd_queue.empty() && k.acks && chance(k.acks)) set(int(rnd(u32(sessions))));
    top.snd_valid_i = !snd_queue.empty();
    if (!snd_queue.empty()) {
      Snd& q = snd_queue.front();
      Session& s = ses[q.sid];
      top.snd_sid_i = u16(q.sid);
      top.snd_init_i = q.init;
      top.snd_iss_i = s.iss;
      top.snd_una_i = s.una;
      top.snd_lim_i = s.lim;
      top.snd_open_i = s.open;
      top.snd_live_i = s.live;
    }
    top.cmd_valid_i = !commands.empty() && int(out.size()) < k.outstanding;
    if (top.cmd_valid_i) {
      Command& c = commands.front();
      top.cmd_sid_i = u16(c.sid);
      top.cmd_seq_nxt_i = c.seq_nxt;
      top.cmd_seq_i = c.seq;
      top.cmd_ack_rcv_i = c.ack_rcv;
      top.cmd_ack_i = c.ack;
      top.cmd_flags_i = c.flags;
      top.cmd_len_i = u16(c.len);
      top.cmd_opt_ws_i = c.opt_ws;
    }
    if (!top.done_ready_i || top.done_valid_o || true) top.done_ready_i = chance(k.done_ready);
    top.rcv_nxt_i = top.rcv_sid_o <= u32(sessions) ? ses[top.rcv_sid_o].rcv_nxt : 0;
  }
  /// Sets SND.UNA and the right edge to what the peer has acknowledged.
  void set(int sid, bool init = false) {
    Session& s = ses[sid];
    if (!init) {
      s.una = s.seq(s.got_to);
      s.lim = s.una + u32(k.window);
      s.live = s.open && !chance(k.stop_live);
    }
    snd_queue.push_back({sid, init});
  }
  void sample_engine() {
    if (top.hdr_valid_i && top.hdr_ready_o) hdr_queue.pop_front();
    if (top.snd_valid_i && top.snd_ready_o) {
      Session& s = ses[snd_queue.front().sid];
      s.una_before = s.una_taken;
      s.una_taken = top.snd_una_i;
      snd_queue.pop_front();
    }
    if (top.cmd_valid_i && top.cmd_ready_o) {
      out.push_back(commands.front());
      commands.pop_front();
    }
    if (!top.done_valid_o || !top.done_ready_i) return;
    int sid = top.done_sid_o;
    if (top.done_kind_o == 2) {
      std::size_t n = 0;
      while (n < out.size() && out[n].done) n++;
      CHECK(n < out.size(), "done of no command");
      CHECK(out[n].sid == sid && int(top.done_len_o) == out[n].len && top.done_flags_o == out[n].flags, "done of another command");
      out[n].done = true;
      out[n].done_seq = top.done_seq_o;
      n_command++;
      return;
    }
    CHECK(!expected.empty(), "done of no message");
    Expected e = expected.front();
    expected.pop_front();
    CHECK(sid == stale || int(e.seq + e.len - ses[sid].una) <= ring_bytes, "ring of session %d overflows", sid);
    CHECK(e.sid == sid && e.seq == top.done_seq_o && e.len == top.done_len_o, "done of session %d, %08x, %u bytes; not %d, %08x, %u", sid, top.done_seq_o, top.done_len_o, e.sid, e.seq, e.len);
    CHECK(top.done_flags_o == (ACK | (e.push ? PSH : 0)), "flags of done");
    if (top.done_kind_o == 0) {
      n_live++;
      CHECK(!e.lie, "a message with a wrong length was sent live");
      CHECK(bool(top.done_bad_sum_o) == e.bad_sum, "bad_sum %d", top.done_bad_sum_o);
      if (e.bad_sum) {
        x_bad++;
        if (sid != stale) resend(sid, e.seq, e.len);
      }
    } else {
      CHECK(top.done_kind_o == 1, "kind %d", top.done_kind_o);
      n_deferred++;
      if (sid != stale) resend(sid, e.seq, e.len);
    }
  }

  // ---- memory
  void drive_memory() {
    top.wr_ready_i = chance(k.wr_ready);
    top.rd_ready_i = chance(k.rd_ready);
    top.rsp_valid_i = 0;
    if (!answers.empty() && answers.front().when <= cycle) {
      top.rsp_valid_i = 1;
      put(top.rsp_data_i, answers.front().data.data(), 16);
      answers.pop_front();
    }
  }
  void sample_memory() {
    if (top.rd_valid_o && top.rd_ready_i) {
      std::size_t a = std::size_t(top.rd_addr_o) * 16;
      answers.push_back({cycle + u64(k.latency) + rnd(u32(k.jitter)), Bytes(mem.begin() + long(a), mem.begin() + long(a) + 16)});
    }
    if (top.wr_valid_o && top.wr_ready_i) {
      std::size_t a = std::size_t(top.wr_addr_o) * 16;
      for (int i = 0; i < 16; i++)
        if (top.wr_mask_o >> i & 1) mem[a + std::size_t(i)] = at(top.wr_data_o, i);
    }
  }

  // ---- ARP and ICMP
  void drive_net() {
    if (net_now.empty() && chance(k.net)) {
      net_now.resize(42 + rnd(chance(50) ? 30 : 400));
      for (auto& b : net_now) b = u8(rng());
      const u8 mac_net[6] = {0x02, 0x4e, 0x45, 0x54, 0, 0};
      for (int i = 0; i < 6; i++) net_now[std::size_t(i)] = mac_net[i];
      net_sent.push_back(net_now);
      net_at = 0;
    }
    top.net_valid_i = !net_now.empty();
    if (net_now.empty()) return;
    std::size_t n = std::min<std::size_t>(macb, net_now.size() - net_at);
    u8 beat[8];
    for (int i = 0; i < macb; i++) beat[i] = i < int(n) ? net_now[net_at + i] : u8(rng());
    put(top.net_data_i, beat, macb);
    top.net_keep_i = u8((1u << n) - 1);
    top.net_last_i = net_at + n == net_now.size();
  }
  void sample_net() {
    if (!top.net_valid_i || !top.net_ready_o) return;
    net_at += std::size_t(macb);
    if (top.net_last_i) net_now.clear();
  }

  void sample_event() {
    if (!top.event_valid_o) return;
    int sid = top.event_sid_o;
    switch (top.event_kind_o) {
      case 5: break;
      case 6: n_aborted++; break;
      case 7: n_bad++; break;
      case 8: refused_event(sid, int(top.event_data_o & 0xff)); break;
      default: CHECK(false, "event %d", top.event_kind_o);
    }
  }
  void refused_event(int sid, int why) {
    if (why == 2) {  // RefusedRing: the latest message
      CHECK(top.cfg_ring_refuse_i && !expected.empty() && expected.back().sid == sid, "refused for lack of room");
      Session& s = ses[sid];
      Expected e = expected.back();
      CHECK(int(e.seq + u32(mss) - e.una) > ring_bytes, "refused with %u bytes in the ring", e.seq - e.una);
      s.written -= e.len;
      s.got.resize(s.written);
      expected.pop_back();
      n_ring++;
    } else if (why == 4) {
      CHECK(sid == stale, "stale message of session %d", sid);
      std::size_t n = 0;
      while (n < expected.size() && expected[n].sid != sid) n++;
      CHECK(n < expected.size(), "stale message that did not come");
      expected.erase(expected.begin() + long(n));
      n_stale++;
    } else {
      CHECK(why == 1 || why == 3, "reason %d", why);
      n_refused++;
    }
  }
  void step() {
    drive_user();
    drive_engine();
    drive_memory();
    drive_net();
    top.mac_ready_i = chance(k.mac_ready);
    top.eval();
    sample_event();
    sample_user();
    sample_engine();
    sample_memory();
    sample_net();
    sample_mac();
    while (!out.empty() && out.front().seen && out.front().done) {
      CHECK(out.front().seen_seq == out.front().done_seq, "SEQ %08x in the frame, %08x in done", out.front().seen_seq, out.front().done_seq);
      out.pop_front();
    }
    for (int i = 0; i < 8; i++) counted[i] += top.count_o >> i & 1;
    edge();
  }

  bool idle() {
    return messages.empty() && expected.empty() && commands.empty() && out.empty() && snd_queue.empty() && hdr_queue.empty() && !in_frame && net_now.empty() && net_sent.empty() && answers.empty();
  }
  void settle(u64 limit = 2000000) {
    u64 end = cycle + limit;
    while (!idle()) {
      if (cycle % 64 == 0) for (int i = 0; i < sessions; i++)
        if (ses[i].open && snd_queue.size() < 4 && ses[i].una != ses[i].seq(ses[i].got_to)) set(i);
      step();
      CHECK(cycle < end, "does not settle: %zu messages, %zu expected, %zu commands, %zu out, net %zu", messages.size(), expected.size(), commands.size(), out.size(), net_sent.size());
    }
    Knobs keep = k;
    k.net = k.acks = 0;
    for (int i = 0; i < 40; i++) step();
    k = keep;
    CHECK(idle(), "not idle");
    for (int i = 0; i < sessions; i++) {
      Session& s = ses[i];
      top.eng_sid_i = u16(i);
      top.eval();
      u32 end_seq = s.seq(s.written) + (s.fin_seq ? 1 : 0);
      if (!s.dmac) continue;
      CHECK(s.got_to == s.written, "session %d: peer has %zu of %zu bytes", i, s.got_to, s.written);
      CHECK(top.eng_nxt_o == end_seq && top.eng_consumed_o == end_seq && top.eng_written_o == end_seq && top.rx_nxt_o == end_seq,
            "session %d: nxt %08x consumed %08x written %08x, end is %08x", i, top.eng_nxt_o, top.eng_consumed_o, top.eng_written_o, end_seq);
    }
    CHECK(n_err == n_aborted, "%llu spoilt frames, %llu events", (unsigned long long)n_err, (unsigned long long)n_aborted);
    CHECK(n_refused == x_refused, "%llu refused, not %llu", (unsigned long long)n_refused, (unsigned long long)x_refused);
    CHECK(n_bad == x_bad, "%llu wrong checksums, not %llu", (unsigned long long)n_bad, (unsigned long long)x_bad);
  }
  void connect(int sid) {
    Session& s = ses[sid];
    s.dmac = 0x0211223340000000 >> 16 << 12 | u64(sid);
    s.dmac = (0x021122334000 & ~0xfffull) | u64(sid);
    s.dip = u32(rng());
    s.dport = u16(rng());
    s.sport = u16(rng());
    s.vif = int(rnd(2));
    s.scaled = chance(50);
    s.rcv_nxt = u32(rng()) & 0x7fffffff;
    s.iss = chance(30) ? u32(-1) - rnd(5000) : u32(rng());
    s.stream.clear();
    s.got.clear();
    s.written = s.got_to = s.live_to = 0;
    s.una = s.iss;
    s.lim = s.iss;
    s.fin_seq = 0;
    s.open = s.live = false;
    hdr_queue.push_back(sid);
    if (sid == sessions) return;
    set(sid, true);
    Command c;
    c.sid = sid;
    for (int i = 0; i < 30; i++) step();
    c.seq = s.iss;
    c.ack = s.rcv_nxt;
    c.flags = SYN | (chance(50) ? ACK : 0);
    c.opt_ws = chance(50);
    commands.push_back(c);
    while (!commands.empty() || !out.empty()) step();
    s.open = true;
    set(sid);
    while (!snd_queue.empty()) step();
  }
  void close(int sid) {
    Session& s = ses[sid];
    s.open = false;
    set(sid);
    Command c;
    c.sid = sid;
    c.seq_nxt = c.ack_rcv = true;
    c.flags = FIN | ACK;
    commands.push_back(c);
    settle();
  }
};
