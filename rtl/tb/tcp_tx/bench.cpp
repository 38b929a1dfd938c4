// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: every frame is checked by a model of its own, every message must reach
// the peer whole. +seed=N, +messages=N of each phase; prints the seed, the latency table and what was seen.
#include "Vtb_tcp_tx.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using Bytes = std::vector<u8>;

static std::mt19937_64 rng;
static u32 rnd(u32 n) { return n ? u32(rng() % n) : 0; }
static bool chance(u32 percent) { return rnd(100) < percent; }

[[noreturn]] static void fail(const std::string& why);
#define CHECK(cond, ...)                                  \
  do {                                                    \
    if (!(cond)) {                                        \
      char b_[400];                                       \
      snprintf(b_, sizeof b_, __VA_ARGS__);               \
      fail(std::string(#cond) + ": " + b_);               \
    }                                                     \
  } while (0)

// ---- ports of any width as bytes
static void put(IData& p, const u8* b, int n) { p = 0; for (int i = 0; i < n; i++) p |= IData(b[i]) << (8 * i); }
static void put(QData& p, const u8* b, int n) { p = 0; for (int i = 0; i < n; i++) p |= QData(b[i]) << (8 * i); }
template <std::size_t N> static void put(VlWide<N>& p, const u8* b, int n) {
  for (std::size_t i = 0; i < N; i++) p[i] = 0;
  for (int i = 0; i < n; i++) p[i / 4] |= EData(b[i]) << (8 * (i % 4));
}
static u8 at(IData p, int i) { return u8(p >> (8 * i)); }
static u8 at(QData p, int i) { return u8(p >> (8 * i)); }
template <std::size_t N> static u8 at(const VlWide<N>& p, int i) { return u8(p[i / 4] >> (8 * (i % 4))); }

static u16 sum_of(const u8* b, std::size_t n, u32 s = 0) {
  u64 t = s;
  for (std::size_t i = 0; i < n; i++) t += i % 2 ? b[i] : u32(b[i]) << 8;
  while (t >> 16) t = (t & 0xffff) + (t >> 16);
  return u16(t);
}
static u16 be16(const u8* b) { return u16(b[0] << 8 | b[1]); }
static u32 be32(const u8* b) { return u32(be16(b)) << 16 | be16(b + 2); }

struct Message {
  int sid = 0, mode = 0, claim = 0, bubbles = 0;
  u16 sum = 0;
  bool push = false, bad_sum = false;
  Bytes data;
};
struct Expected {  // of tx_done, in order of the messages
  int sid;
  u32 seq, len;
  bool lie, bad_sum, push;
  u32 una;
};
struct Session {
  u32 iss = 0, una = 0, lim = 0, fin_seq = 0;
  bool open = false, live = false, dirty = false;
  Bytes stream;  // byte i has sequence number iss + 1 + i
  std::size_t written = 0, got_to = 0, live_to = 0;
  std::vector<bool> got;
  u64 dmac = 0;
  u32 dip = 0, rcv_nxt = 0;
  u16 dport = 0, sport = 0;
  int vif = 0;
  u32 una_taken = 0, una_before = 0;  // what the transmitter knows, and before its last command
  bool scaled = false;
  u32 seq(std::size_t i) const { return iss + 1 + u32(i); }
};
struct Command {
  int sid = 0;
  bool seq_nxt = false, ack_rcv = false, opt_ws = false;
  u32 seq = 0, ack = 0;
  u8 flags = 0;
  int len = 0;
  bool seen = false, done = false;
  u32 seen_seq = 0, done_seq = 0;
};
struct Knobs {
  int mac_ready = 100, wr_ready = 100, rd_ready = 100, done_ready = 100, latency = 2, jitter = 0;
  int outstanding = 3;
  int bubbles = 0, lies = 0, bad_sums = 0, stop_live = 0, net = 0, window = 1 << 30, acks = 0;
};

static const u8 FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16;

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
  std::deque<Command> out;  // taken by the transmitter, not yet seen and done
  u32 msg_seq = 0, msg_una = 0;  // of the message that comes in, and SND.UNA when it began
  bool old_bad = false;
  int stale = -1;  // session that is closed and opened again at this moment
  Session old;
  Bytes old_data;
  std::deque<std::pair<int, u32>> bad_sums;  // of late
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
  /// New SND.UNA and right edge, as the peer has acknowledged.
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
    if (why == 2) {  // no room in the ring: the message that came last
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
  Message message(int sid, int mode, int len) {
    Message m;
    m.sid = sid;
    m.mode = mode;
    m.data.resize(std::size_t(len));
    int kind = int(rnd(4));
    for (auto& b : m.data) b = kind == 0 ? 0 : kind == 1 ? 0xff : u8(rng());
    m.claim = len;
    m.sum = sum_of(m.data.data(), m.data.size());
    if (m.sum == 0xffff && chance(50)) m.sum = 0;
    m.push = chance(50);
    return m;
  }
  void random_message() {
    int len = chance(60) ? 1 + int(rnd(40)) : chance(30) ? mss - int(rnd(20)) : 1 + int(rnd(u32(mss)));
    Message m = message(small_ring ? int(rnd(2)) : int(rnd(u32(sessions))), int(rnd(3)), len);
    m.bubbles = chance(50) ? k.bubbles : 0;
    if (chance(k.lies)) {
      int what = int(rnd(4));
      if (what == 0) m.claim = 1 + int(rnd(u32(mss)));
      if (what == 1) m.claim = std::max(1, len + int(rnd(9)) - 4);
      if (what == 2) m.claim = chance(50) ? 0 : mss + 1 + int(rnd(100));
      if (what == 3) {
        m = message(m.sid, m.mode, mss + 1 + int(rnd(200)));
        m.claim = chance(50) ? int(m.data.size()) : 1 + int(rnd(u32(mss)));
      }
      m.sum = sum_of(m.data.data(), m.data.size());
    }
    if (chance(k.bad_sums) && m.mode == 2) {
      m.sum = u16(m.sum + 1 + rnd(60000));
      u16 real = sum_of(m.data.data(), m.data.size());
      m.bad_sum = !(m.sum == real || ((m.sum == 0 || m.sum == 0xffff) && (real == 0 || real == 0xffff)));
    }
    messages.push_back(m);
  }
  void phase(const char* name, const Knobs& knobs, int count) {
    k = knobs;
    u64 l = n_live, d = n_deferred, a = n_aborted, r = n_refused, b = n_bad, c = n_command;
    for (int i = 0; i < count; i++) {
      while (messages.size() > 4) {
        step();
        if (small_ring ? cycle % 1024 == 0 : cycle % 16 == 0 && snd_queue.empty()) {
          int sid = messages.front().sid;
          if (ses[sid].una != ses[sid].seq(ses[sid].got_to) || !ses[sid].live) set(sid);
        }
      }
      if (chance(5)) {  // an acknowledgement, a reset of nobody
        Command q;
        q.sid = chance(70) ? int(rnd(u32(sessions))) : sessions;
        q.flags = q.sid == sessions ? RST | ACK : ACK;
        q.seq_nxt = q.sid != sessions;
        q.ack_rcv = q.seq_nxt;
        q.seq = u32(rng());
        q.ack = u32(rng());
        commands.push_back(q);
      }
      random_message();
    }
    settle();
    if (small_ring) printf("  refused for lack of room: %llu\n", (unsigned long long)n_ring);
    printf("  %-28s live %6llu deferred %5llu aborted %4llu refused %4llu bad sum %4llu commands %5llu\n", name, (unsigned long long)(n_live - l), (unsigned long long)(n_deferred - d),
           (unsigned long long)(n_aborted - a), (unsigned long long)(n_refused - r), (unsigned long long)(n_bad - b), (unsigned long long)(n_command - c));
  }
  /// Sessions are closed and opened anew while a message comes in, waits or leaves.
  void stale_phase(int rounds) {
    k = Knobs();
    u64 before = n_stale;
    for (int round = 0; round < rounds; round++) {
      settle();
      k.mac_ready = chance(50) ? 100 : 30 + int(rnd(70));
      k.wr_ready = 50 + int(rnd(51));
      int sid = int(rnd(u32(sessions)));
      Session& s = ses[sid];
      int len = chance(50) ? 1 + int(rnd(60)) : 1 + int(rnd(u32(std::min(mss, 600))));
      Message m = message(sid, int(rnd(3)), len);
      m.bubbles = int(rnd(80));
      if (chance(20)) m.sum ^= 0x0102;
      u16 real = sum_of(m.data.data(), m.data.size());
      old_bad = m.bad_sum = m.sum != real && !((m.sum == 0 || m.sum == 0xffff) && (real == 0 || real == 0xffff));
      old_data = m.data;
      if (chance(30)) s.live = false, s.lim = s.una, snd_queue.push_back({sid, false});
      messages.push_back(m);
      stale = sid;
      old = s;
      while (drop && !in_message && !messages.empty()) step();
      for (u32 i = rnd(u32(2 * len / userb + 60)); i; i--) step();
      s.open = s.live = false;
      set(sid);
      for (u32 i = rnd(30); i; i--) step();
      // A number that is near the old one, or such that the first byte is where the message was.
      s.iss = chance(20) ? old.iss + u32(rnd(8)) : chance(40) ? old.iss + u32(old.written) : u32(rng());
      s.stream.clear();
      s.got.clear();
      s.written = s.got_to = s.live_to = 0;
      s.una = s.lim = s.iss;
      set(sid, true);
      for (u32 i = rnd(30); i || !snd_queue.empty(); i -= i != 0) step();
      bool waits = !in_message && !messages.empty();  // belongs to the new session
      if (waits) stale = -1;
      u64 end = cycle + 100000;
      while (!waits && (!messages.empty() || !expected.empty() || in_frame)) {
        step();
        CHECK(cycle < end, "a stale message does not end: %zu to come, %zu expected", messages.size(), expected.size());
      }
      for (int i = 0; i < 20; i++) step();
      stale = -1;
      Command c;
      c.sid = sid;
      c.seq = s.iss;
      c.ack = s.rcv_nxt;
      c.flags = SYN | ACK;
      commands.push_back(c);
      while (!commands.empty() || !out.empty()) step();
      s.open = true;
      set(sid);
      settle();
      u64 live = n_live;
      messages.push_back(message(sid, int(rnd(3)), 1 + int(rnd(100))));
      settle();
      CHECK(n_live == live + 1, "session %d does not send live after it was opened anew", sid);
    }
    printf("  %-28s stale %llu\n", "closed and opened anew", (unsigned long long)(n_stale - before));
  }
  /// Messages to sessions that are closed: discarded, or they wait.
  void closed_phase() {
    k = Knobs();
    settle();
    for (int i = 0; i < 20; i++) messages.push_back(message(sessions + int(rnd(u32(512 - sessions))), int(rnd(3)), 1 + int(rnd(100))));
    settle();
    for (int sid = 0; sid < std::min(sessions, 4); sid++) {
      close(sid);
      u64 refusals = n_refused;
      for (int i = 0; i < 5; i++) messages.push_back(message(sid, int(rnd(3)), 1 + int(rnd(100))));
      for (int i = 0; i < 300; i++) step();
      CHECK(drop ? n_refused == refusals + 5 : messages.size() == 5 && !in_message, "%zu messages wait, %llu refused", messages.size(), (unsigned long long)(n_refused - refusals));
      connect(sid);
      settle();
    }
    printf("  %-28s refused %llu\n", "closed sessions", (unsigned long long)n_refused);
  }
  u64 latency(int sid, int mode, int len) {
    messages.push_back(message(sid, mode, len));
    measure = true;
    seen_user = seen_mac = false;
    u64 live = n_live;
    settle();
    measure = false;
    CHECK(n_live == live + 1, "the message was not sent live");
    set(sid);
    settle();
    return first_mac - first_user;
  }
  /// Users who never pause do not keep a command waiting for more than the 16 frames of its turn,
  /// and those that had begun.
  void turn_phase() {
    for (int i = 0; i < 100; i++) messages.push_back(message(i % sessions, 0, 64));
    u64 live = n_live, told = live, told_commands = n_command;
    u64 from = 0;
    while (!messages.empty() || !expected.empty()) {
      step();
      for (; told < n_live; told++) set(int((told - live) % u64(sessions)));
      if (!from && n_live >= live + 10) {
        Command c;
        c.sid = 1;
        c.flags = ACK;
        c.seq_nxt = c.ack_rcv = true;
        commands.push_back(c);
        from = n_live;
      }
      CHECK(!from || n_command > told_commands || n_live <= from + 20, "a command waits for more than 20 live frames");
    }
    settle();
    CHECK(n_command == told_commands + 1, "the command has not left");
    for (int i = 0; i < sessions; i++) set(i);
    settle();
    printf("  %-28s a command passes them\n", "users without a pause");
  }
  /// Beats of the MAC without data between the first and the last one of some messages.
  u64 bandwidth(int mode, int len, bool round_robin, int count) {
    for (int i = 0; i < count; i++) messages.push_back(message(round_robin ? i % sessions : 1, mode, len));
    measure = true;
    seen_user = seen_mac = false;
    gaps = 0;
    u64 live = n_live, empty = 0;
    u64 told = live;
    while (!messages.empty() || !expected.empty()) {
      step();
      // Each message is acknowledged.
      for (; told < n_live; told++) set(round_robin ? int((told - live) % u64(sessions)) : 1);
      CHECK(snd_queue.size() < 8, "acknowledgements fall behind");
      if (in_frame) empty = gaps;
    }
    settle();
    measure = false;
    for (int i = 0; i < sessions; i++) set(i);
    settle();
    CHECK(n_live == live + u64(count), "not all messages were sent live");
    return empty;
  }
};

static Bench* bench;
static u64 seed;
[[noreturn]] static void fail(const std::string& why) {
  printf("FAILED, seed %llu, cycle %llu: %s\n", (unsigned long long)seed, bench ? (unsigned long long)bench->cycle : 0ull, why.c_str());
  exit(1);
}

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

#define STRING_(x) #x
#define STRING(x) STRING_(x)
static const char* const NAME = STRING(BENCH);

/// The value of +NAME=VALUE on the command line.
static std::string argument(const std::string& name, const std::string& otherwise) {
  std::string found = Verilated::commandArgsPlusMatch((name + "=").c_str());
  return found.empty() ? otherwise : found.substr(name.size() + 2);
}

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  if (*Verilated::commandArgsPlusMatch("list")) {
    printf("bench %s\n", NAME);
    return 0;
  }
  seed = strtoull(argument("seed", "1").c_str(), nullptr, 0);
  int count = atoi(argument("messages", "400").c_str());
  rng.seed(seed);
  bench = new Bench;
  Bench& b = *bench;
  printf("tcp_tx: %d sessions, MAC %d bytes, user %d bytes, MTU %d, pad %d, pipe %d, seed %llu\n", b.sessions, b.macb, b.userb, b.mtu, b.pad, int(b.top.p_pipe_o), (unsigned long long)seed);
  for (int i = 0; i <= b.sessions; i++) b.connect(i);
  b.settle();

  int early = b.macb == 4 ? 9 : 3;
  static const int sizes[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024};
  for (int mode = 0; mode < 3; mode++) {
    printf("  latency, mode %d:", mode);
    for (int n : sizes) {
      if (n > b.mss) continue;
      u64 l = b.latency(int(rnd(u32(b.sessions))), mode, n);
      printf(" %llu", (unsigned long long)l);
      int beats = ceil_div(n, b.userb);
      int want = mode == 0 ? beats : mode == 1 ? std::max(1, beats - early) : 1;
      if (mode == 2 && b.userb < b.macb) want = std::max(1, beats - (n >> 3) - 1);
      want += int(b.top.p_pipe_o);
      CHECK(int(l) == want, "mode %d, %d bytes: %llu cycles, not %d", mode, n, (unsigned long long)l, want);
    }
    printf("\n");
  }
  for (int rr = 0; rr < 2; rr++)
    for (int mode = 0; mode < 3; mode++) {
      printf("  empty beats, %s, mode %d:", rr ? "round robin" : "one session", mode);
      for (int n : {1, 6, 7, 8, 17, 33, 64, 100, 177, 256, 512, 1024, 1460}) {
        if (n > b.mss) continue;
        u64 g = b.bandwidth(mode, n, rr != 0, 100);
        printf(" %llu", (unsigned long long)g);
        bool possible = b.userb >= b.macb;
        if (possible) CHECK(g == 0, "mode %d, %d bytes: %llu", mode, n, (unsigned long long)g);
      }
      printf("\n");
    }

  b.turn_phase();

  Knobs clean;
  clean.acks = 5;
  b.phase("clean", clean, count);
  Knobs k = clean;
  k.net = 2;
  k.bad_sums = 20;
  k.lies = 10;
  b.phase("lies, wrong sums, ARP", k, count);
  k = clean;
  k.bubbles = 30;
  k.mac_ready = 70;
  b.phase("bubbles, MAC waits", k, count);
  k = clean;
  k.wr_ready = 40;
  k.rd_ready = 50;
  k.latency = 20;
  k.jitter = 20;
  k.stop_live = 50;
  b.phase("slow memory, no leave", k, count);
  k = clean;
  k.window = 4000;
  k.done_ready = 10;
  b.phase("small window, slow engine", k, count);
  k = clean;
  k.acks = 0;
  k.stop_live = 30;
  k.rd_ready = 40;
  k.latency = 30;
  b.top.cfg_ring_refuse_i = 1;
  b.small_ring = true;
  b.phase("ring full, refused", k, count);
  b.top.cfg_ring_refuse_i = 0;
  b.small_ring = false;
  b.closed_phase();
  b.stale_phase(count / 5);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < b.sessions; i++) b.close(i);
    for (int i = 0; i < b.sessions; i++) b.connect(i);
    b.settle();
    k = clean;
    k.net = int(rnd(4));
    k.bad_sums = int(rnd(20));
    k.lies = int(rnd(20));
    k.bubbles = int(rnd(60));
    k.mac_ready = 40 + int(rnd(61));
    k.wr_ready = 50 + int(rnd(51));
    k.rd_ready = 30 + int(rnd(71));
    k.done_ready = 20 + int(rnd(81));
    k.latency = 1 + int(rnd(40));
    k.jitter = int(rnd(30));
    k.stop_live = int(rnd(60));
    k.window = chance(50) ? 1 << 30 : 3000 + int(rnd(30000));
    b.phase("all at random", k, count);
  }
  printf("passed %s: %llu frames, %llu cycles\n", NAME, (unsigned long long)b.n_frames, (unsigned long long)b.cycle);
  return 0;
}
