// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: drives the inputs and samples the outputs of each interface.
#pragma once
#include "bench.h"

// ---- user side
inline void Bench::drive_user() {
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
inline bool Bench::refused(const Message& m) const {
  bool known = m.mode == 1 || m.mode == 2;
  if (m.sid >= sessions || (drop && !ses[m.sid].open)) return true;
  if (known && (m.claim == 0 || m.claim > mss)) return true;
  return m.data.empty() || int(m.data.size()) > mss;
}
inline void Bench::sample_user() {
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
  Expected e = {m.sid,
                msg_seq,
                u32(m.data.size()),
                known && m.claim != int(m.data.size()),
                m.mode == 2 && m.bad_sum,
                m.push,
                msg_una};
  if (e.bad_sum) {
    bad_sums.push_back({e.sid, e.seq});
    if (bad_sums.size() > 64) bad_sums.pop_front();
  }
  if (msg_refused) {
    x_refused++;
  } else if (m.sid == stale) {
    expected.push_back(e);
  } else {
    CHECK(s.open, "session %d is closed, but a message was accepted", m.sid);
    expected.push_back(e);
    s.written += m.data.size();
    s.got.resize(s.written);
  }
  messages.pop_front();
}

// ---- MAC side
inline void Bench::sample_mac() {
  if (in_frame) CHECK(top.mac_valid_o, "mac_valid fell within a frame");
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
  if (!top.mac_last_o) CHECK(n == macb, "beat before the last is not full: keep %x", keep);
  CHECK(top.mac_last_o || !top.mac_err_o, "mac_err without mac_last");
  for (int i = 0; i < n; i++) frame.push_back(at(top.mac_data_o, i));
  in_frame = !top.mac_last_o;
  if (!top.mac_last_o) return;
  n_frames++;
  if (top.mac_err_o)
    n_err++;
  else
    check_frame(frame);
  frame.clear();
}
// ---- engine
inline void Bench::resend(int sid, u32 seq, u32 len) {
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
inline void Bench::drive_engine() {
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
    top.snd_mss_i = u16(s.mss);
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
  top.done_ready_i = chance(k.done_ready);
  top.rcv_nxt_i = top.rcv_sid_o <= u32(sessions) ? ses[top.rcv_sid_o].rcv_nxt : 0;
  // The window of a header comes two cycles after the request for it.
  top.wnd_i = wnd_stage[1];
  wnd_stage[1] = wnd_stage[0];
  if (top.wnd_valid_o) wnd_stage[0] = window_of(top.rcv_sid_o);
}
/// Sets SND.UNA and the right edge to what the peer has acknowledged.
inline void Bench::set(int sid, bool init) {
  Session& s = ses[sid];
  if (!init) {
    s.una = s.seq(s.got_to);
    s.lim = s.una + u32(k.window);
    s.live = s.open && !chance(k.stop_live);
  }
  snd_queue.push_back({sid, init});
}
inline void Bench::sample_engine() {
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
    CHECK(n < out.size(), "report of an unknown command");
    CHECK(
        out[n].sid == sid && int(top.done_len_o) == out[n].len && top.done_flags_o == out[n].flags,
        "report of another command than the oldest");
    out[n].done = true;
    out[n].done_seq = top.done_seq_o;
    n_command++;
    return;
  }
  CHECK(!expected.empty(), "report of an unknown message");
  Expected e = expected.front();
  expected.pop_front();
  CHECK(sid == stale || int(e.seq + e.len - ses[sid].una) <= ring_bytes,
        "ring of session %d overflows", sid);
  CHECK(e.sid == sid && e.seq == top.done_seq_o && e.len == top.done_len_o,
        "report of session %d, %08x, %u bytes; not %d, %08x, %u", sid, top.done_seq_o,
        top.done_len_o, e.sid, e.seq, e.len);
  CHECK(top.done_flags_o == (ACK | (e.push ? PSH : 0)), "flags of a report");
  if (top.done_kind_o == 0) {
    n_live++;
    CHECK(!e.lie, "a message with a wrong length was sent live");
    CHECK(bool(top.done_bad_sum_o) == e.bad_sum, "bad_sum of a report is %d", top.done_bad_sum_o);
    if (e.bad_sum) {
      x_bad++;
      if (sid != stale) resend(sid, e.seq, e.len);
    }
  } else {
    CHECK(top.done_kind_o == 1, "report of kind %d", top.done_kind_o);
    n_deferred++;
    if (sid != stale) resend(sid, e.seq, e.len);
  }
}

// ---- memory
inline void Bench::drive_memory() {
  top.wr_ready_i = chance(k.wr_ready);
  top.rd_ready_i = chance(k.rd_ready);
  top.rsp_valid_i = 0;
  if (!answers.empty() && answers.front().when <= cycle) {
    top.rsp_valid_i = 1;
    put(top.rsp_data_i, answers.front().data.data(), 16);
    answers.pop_front();
  }
}
inline void Bench::sample_memory() {
  if (top.rd_valid_o && top.rd_ready_i) {
    std::size_t a = std::size_t(top.rd_addr_o) * 16;
    answers.push_back({cycle + u64(k.latency) + rnd(u32(k.jitter)),
                       Bytes(mem.begin() + long(a), mem.begin() + long(a) + 16)});
  }
  if (top.wr_valid_o && top.wr_ready_i) {
    std::size_t a = std::size_t(top.wr_addr_o) * 16;
    for (int i = 0; i < 16; i++)
      if (top.wr_mask_o >> i & 1) mem[a + std::size_t(i)] = at(top.wr_data_o, i);
  }
}

// ---- ARP and ICMP
inline void Bench::drive_net() {
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
inline void Bench::sample_net() {
  if (!top.net_valid_i || !top.net_ready_o) return;
  net_at += std::size_t(macb);
  if (top.net_last_i) net_now.clear();
}

// ---- events
inline void Bench::sample_event() {
  if (!top.event_valid_o) return;
  int sid = top.event_sid_o;
  switch (top.event_kind_o) {
    case 5:
      break;
    case 6:
      n_aborted++;
      break;
    case 7:
      n_bad++;
      break;
    case 8:
      refused_event(sid, int(top.event_data_o & 0xff));
      break;
    default:
      CHECK(false, "unexpected event %d", top.event_kind_o);
  }
}
inline void Bench::refused_event(int sid, int why) {
  if (why == 2) {  // RefusedRing: the latest message
    CHECK(top.cfg_ring_refuse_i && !expected.empty() && expected.back().sid == sid,
          "refused for lack of room in the ring");
    Session& s = ses[sid];
    Expected e = expected.back();
    CHECK(int(e.seq + u32(mss) - e.una) > ring_bytes, "refused with %u bytes in the ring",
          e.seq - e.una);
    s.written -= e.len;
    s.got.resize(s.written);
    expected.pop_back();
    n_ring++;
  } else if (why == 4) {
    CHECK(sid == stale, "stale message of session %d", sid);
    std::size_t n = 0;
    while (n < expected.size() && expected[n].sid != sid) n++;
    CHECK(n < expected.size(), "unknown stale message");
    expected.erase(expected.begin() + long(n));
    n_stale++;
  } else {
    CHECK(why == 1 || why == 3, "refused with reason %d", why);
    n_refused++;
  }
}
