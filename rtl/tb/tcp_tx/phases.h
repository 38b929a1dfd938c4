// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: test phases, each of which runs until all queues are empty.
#pragma once
#include "drive.h"
#include "frame.h"

struct Phases : Bench {
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
    int len = chance(60)   ? 1 + int(rnd(40))
              : chance(30) ? mss - int(rnd(20))
                           : 1 + int(rnd(u32(mss)));
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
      m.bad_sum =
          !(m.sum == real || ((m.sum == 0 || m.sum == 0xffff) && (real == 0 || real == 0xffff)));
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
      if (chance(5)) {  // an ACK, or a reset without a session
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
    printf(
        "  %-28s live %6llu deferred %5llu aborted %4llu refused %4llu bad sum %4llu commands "
        "%5llu\n",
        name, (unsigned long long)(n_live - l), (unsigned long long)(n_deferred - d),
        (unsigned long long)(n_aborted - a), (unsigned long long)(n_refused - r),
        (unsigned long long)(n_bad - b), (unsigned long long)(n_command - c));
  }
  /// Closes and reopens sessions while a message arrives, waits or is sent.
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
      old_bad = m.bad_sum =
          m.sum != real && !((m.sum == 0 || m.sum == 0xffff) && (real == 0 || real == 0xffff));
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
      // ISS near the old one, or such that the first byte has the sequence number of the message.
      s.iss = chance(20)   ? old.iss + u32(rnd(8))
              : chance(40) ? old.iss + u32(old.written)
                           : u32(rng());
      s.stream.clear();
      s.got.clear();
      s.written = s.got_to = s.live_to = 0;
      s.una = s.lim = s.iss;
      set(sid, true);
      for (u32 i = rnd(30); i || !snd_queue.empty(); i -= i != 0) step();
      bool waits = !in_message && !messages.empty();  // it belongs to the new session
      if (waits) stale = -1;
      u64 end = cycle + 100000;
      while (!waits && (!messages.empty() || !expected.empty() || in_frame)) {
        step();
        CHECK(cycle < end, "a stale message does not complete: %zu messages, %zu expected",
              messages.size(), expected.size());
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
      CHECK(n_live == live + 1, "session %d does not send live after it was reopened", sid);
    }
    printf("  %-28s stale %llu\n", "closed and reopened", (unsigned long long)(n_stale - before));
  }
  /// Messages to closed sessions must be discarded or stalled.
  void closed_phase() {
    k = Knobs();
    settle();
    for (int i = 0; i < 20; i++)
      messages.push_back(
          message(sessions + int(rnd(u32(512 - sessions))), int(rnd(3)), 1 + int(rnd(100))));
    settle();
    for (int sid = 0; sid < std::min(sessions, 4); sid++) {
      close(sid);
      u64 refusals = n_refused;
      for (int i = 0; i < 5; i++) messages.push_back(message(sid, int(rnd(3)), 1 + int(rnd(100))));
      for (int i = 0; i < 300; i++) step();
      CHECK(drop ? n_refused == refusals + 5 : messages.size() == 5 && !in_message,
            "%zu messages wait, %llu refused", messages.size(),
            (unsigned long long)(n_refused - refusals));
      connect(sid);
      settle();
    }
    printf("  %-28s refused %llu\n", "closed sessions", (unsigned long long)n_refused);
  }
  /// A peer with a smaller MSS, and then with a smaller window: a message that fits leaves at once,
  /// four cycles later than to other peers; one that does not fit is left to the engine.
  void fit_phase() {
    peer_mss = 300;
    connect(0);
    settle();
    peer_mss = 0;
    for (int len : {1, 299, 300}) small(len);
    deferred(0, 301);
    connect(0);
    settle();
    k.window = 200;
    set(0);
    settle();
    small(200);
    deferred(0, 201);
    k.window = 1 << 30;
    connect(0);
    settle();
    printf("  %-28s passed\n", "small MSS, small window");
  }
  /// Software changes our MSS, as it must, while no session is open: from then on it is the limit of
  /// messages, the option of a SYN, and what a window must have room for.
  void mss_phase(int count) {
    const int longest = mss;
    for (int now : {64, 100 + int(rnd(u32(longest - 200))), longest}) {
      for (int i = 0; i < sessions; i++) close(i);
      mss = now;
      top.cfg_mss_i = u16(mss);
      for (int i = 0; i < 8; i++) step();
      for (int i = 0; i < sessions; i++) connect(i);
      settle();
      u64 cycles = latency(0, 2, mss);
      CHECK(cycles == 1 + u64(top.p_pipe_o), "with an MSS of %d a full message takes %llu cycles",
            mss, (unsigned long long)cycles);
      Knobs clean;
      clean.acks = 5;
      clean.lies = 10;
      phase("MSS changed", clean, count);
    }
  }
  void small(int len) {
    u64 cycles = latency(0, 2, len);
    CHECK(cycles == 5 + u64(top.p_pipe_o), "%d bytes leave after %llu cycles", len,
          (unsigned long long)cycles);
  }
  void deferred(int sid, int len) {
    u64 left = n_deferred;
    messages.push_back(message(sid, 2, len));
    settle();
    CHECK(n_deferred == left + 1, "%d bytes were not left to the engine", len);
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
  /// A user that never pauses delays a command by at most 16 frames and those already started.
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
      CHECK(!from || n_command > told_commands || n_live <= from + 20,
            "a command waits for more than 20 live frames");
    }
    settle();
    CHECK(n_command == told_commands + 1, "the command was not sent");
    for (int i = 0; i < sessions; i++) set(i);
    settle();
    printf("  %-28s a command is sent in time\n", "users that never pause");
  }
  /// Counts idle MAC beats between the first and the last beat of a series of messages.
  u64 bandwidth(int mode, int len, bool round_robin, int count) {
    for (int i = 0; i < count; i++)
      messages.push_back(message(round_robin ? i % sessions : 1, mode, len));
    measure = true;
    seen_user = seen_mac = false;
    gaps = 0;
    u64 live = n_live, empty = 0;
    u64 told = live;
    while (!messages.empty() || !expected.empty()) {
      step();
      // Acknowledge each message.
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
