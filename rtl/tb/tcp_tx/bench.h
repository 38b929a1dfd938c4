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
  u32 wnd_stage[2] = {0, 0};
  bool fragment = false;
  int peer_mss = 0;     // of the next session that connects; 0: ours
  bool any_mss = false;  // peers have any MSS
  int wscale = 3;
  std::vector<Session> ses;
  std::deque<Message> messages;
  std::size_t at_byte = 0;
  bool in_message = false, offered = false, bubble = false;
  std::deque<Expected> expected;
  std::deque<Command> commands;
  std::deque<Command> out;       // accepted by the transmitter, not yet sent and reported
  u32 msg_seq = 0, msg_una = 0;  // of the incoming message, and SND.UNA when it started
  bool old_bad = false;
  int stale = -1;  // session that is being closed and reopened
  Session old;
  Bytes old_data;
  std::deque<std::pair<int, u32>> bad_sums;  // recent ones
  u64 n_stale = 0, n_ring = 0;
  std::deque<int> hdr_queue;
  struct Snd {
    int sid;
    bool init;
  };
  std::deque<Snd> snd_queue;
  Bytes frame;
  bool in_frame = false;
  Bytes mem;
  struct Answer {
    u64 when;
    Bytes data;
  };
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
    fragment = chance(50);
    top.cfg_fragment_i = fragment;
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

  /// Receive window of a session: different for each, some with more bits than the field has.
  u32 window_of(u32 sid) const { return 40000 + 9001 * sid; }

  void edge() {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    cycle++;
  }

  bool msg_refused = false, small_ring = false;

  // In drive.h.
  void drive_user();
  bool refused(const Message& m) const;
  void sample_user();
  void sample_mac();
  void resend(int sid, u32 seq, u32 len);
  void drive_engine();
  void set(int sid, bool init = false);
  void sample_engine();
  void drive_memory();
  void sample_memory();
  void drive_net();
  void sample_net();
  void sample_event();
  void refused_event(int sid, int why);

  // In frame.h.
  void check_frame(const Bytes& f);
  bool check_net_frame(const Bytes& f);
  Segment check_headers(const Bytes& f);
  std::size_t check_ethernet(const Bytes& f, const Session& s);
  void check_ip(const Bytes& f, std::size_t ip_at, const Session& s);
  Command* matching_command(const Segment& g);
  void check_command(const Segment& g, Command& c);
  void check_live(const Segment& g);
  void check_payload(const Segment& g, bool command);

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
      CHECK(out.front().seen_seq == out.front().done_seq,
            "SEQ %08x in the frame, %08x in the report", out.front().seen_seq,
            out.front().done_seq);
      out.pop_front();
    }
    for (int i = 0; i < 8; i++) counted[i] += top.count_o >> i & 1;
    edge();
  }

  bool idle() {
    return messages.empty() && expected.empty() && commands.empty() && out.empty() &&
           snd_queue.empty() && hdr_queue.empty() && !in_frame && net_now.empty() &&
           net_sent.empty() && answers.empty();
  }
  void settle(u64 limit = 2000000) {
    u64 end = cycle + limit;
    while (!idle()) {
      if (cycle % 64 == 0)
        for (int i = 0; i < sessions; i++)
          if (ses[i].open && snd_queue.size() < 4 && ses[i].una != ses[i].seq(ses[i].got_to))
            set(i);
      step();
      CHECK(cycle < end,
            "not idle in time: %zu messages, %zu expected, %zu commands, %zu out, net %zu",
            messages.size(), expected.size(), commands.size(), out.size(), net_sent.size());
    }
    Knobs keep = k;
    k.net = k.acks = 0;
    for (int i = 0; i < 40; i++) step();
    k = keep;
    CHECK(idle(), "activity after the bench was idle");
    for (int i = 0; i < sessions; i++) {
      Session& s = ses[i];
      top.eng_sid_i = u16(i);
      top.eval();
      u32 end_seq = s.seq(s.written) + (s.fin_seq ? 1 : 0);
      if (!s.dmac) continue;
      CHECK(s.got_to == s.written, "session %d: the peer has %zu of %zu bytes", i, s.got_to,
            s.written);
      CHECK(top.eng_nxt_o == end_seq && top.eng_consumed_o == end_seq &&
                top.eng_written_o == end_seq && top.rx_nxt_o == end_seq,
            "session %d: nxt %08x consumed %08x written %08x, end is %08x", i, top.eng_nxt_o,
            top.eng_consumed_o, top.eng_written_o, end_seq);
    }
    CHECK(n_err == n_aborted, "%llu invalidated frames, %llu EvTxAborted",
          (unsigned long long)n_err, (unsigned long long)n_aborted);
    CHECK(n_refused == x_refused, "%llu messages refused, not %llu", (unsigned long long)n_refused,
          (unsigned long long)x_refused);
    CHECK(n_bad == x_bad, "%llu wrong checksums, not %llu", (unsigned long long)n_bad,
          (unsigned long long)x_bad);
  }
  void connect(int sid) {
    Session& s = ses[sid];
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
    s.mss = peer_mss ? peer_mss : any_mss && chance(50) ? 100 + int(rnd(u32(mss - 99))) : mss;
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
