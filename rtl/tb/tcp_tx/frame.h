// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: checks the frames that it sends.
#pragma once
#include "bench.h"

inline void Bench::check_frame(const Bytes& f) {
  if (pad) CHECK(f.size() >= 60, "frame of %zu bytes", f.size());
  if (check_net_frame(f)) return;
  Segment g = check_headers(f);
  Command* command = matching_command(g);
  if (!command && g.sid == stale && g.seq == old.seq(old.live_to)) {
    CHECK(g.good || old_bad, "checksum of a stale message");
    for (std::size_t i = 0; i < g.len; i++)
      CHECK(g.data[i] == old_data[i], "byte %zu of a stale message", i);
    return;
  }
  if (command)
    check_command(g, *command);
  else
    check_live(g);
  if (g.len > 0) check_payload(g, command != nullptr);
}

/// Checks a frame of ARP or ICMP; returns false if the frame has another destination.
inline bool Bench::check_net_frame(const Bytes& f) {
  if ((u64(be16(&f[0])) << 32 | be32(&f[2])) != 0x024e45540000) return false;
  CHECK(!net_sent.empty(), "unexpected ARP frame");
  Bytes& e = net_sent.front();
  for (std::size_t i = 0; i < f.size(); i++)
    CHECK(f[i] == (i < e.size() ? e[i] : 0), "byte %zu of an ARP frame", i);
  CHECK(f.size() == (pad ? std::max<std::size_t>(60, e.size()) : e.size()),
        "ARP frame of %zu bytes", f.size());
  net_sent.pop_front();
  n_net++;
  return true;
}

/// Checks the Ethernet header; returns the offset of the IP header.
inline std::size_t Bench::check_ethernet(const Bytes& f, const Session& s) {
  u64 smac = u64(be16(&f[6])) << 32 | be32(&f[8]);
  CHECK(smac == mac[s.vif], "source address %012llx", (unsigned long long)smac);
  std::size_t o = 12;
  if (s.vif == 1) {
    CHECK(be16(&f[12]) == 0x8100 && be16(&f[14]) == tag, "VLAN tag");
    o += 4;
  }
  CHECK(be16(&f[o]) == 0x0800, "EtherType %04x", be16(&f[o]));
  return o + 2;
}

/// Checks the IP header and the padding after the packet.
inline void Bench::check_ip(const Bytes& f, std::size_t ip_at, const Session& s) {
  const u8* p = &f[ip_at];
  std::size_t room = f.size() - ip_at;
  std::size_t total = be16(p + 2);
  CHECK(p[0] == 0x45 && p[1] == 0, "IP version");
  CHECK(total >= 40 && total <= room, "total length %zu of %zu", total, room);
  CHECK(room == total || (pad && f.size() == 60), "frame of %zu bytes, IP packet of %zu", f.size(),
        total);
  for (std::size_t i = total; i < room; i++) CHECK(p[i] == 0, "padding is not 0");
  if (have_id) CHECK(u16(be16(p + 4)) == u16(last_id + 1) || n_err, "IP identification");
  last_id = be16(p + 4);
  have_id = true;
  CHECK(be16(p + 6) == (fragment ? 0 : 0x4000) && p[8] == 64 && p[9] == 6, "IP fields");
  CHECK(sum_of(p, 20) == 0xffff, "IP checksum");
  CHECK(be32(p + 12) == ip[s.vif] && be32(p + 16) == s.dip, "IP addresses");
}

inline Segment Bench::check_headers(const Bytes& f) {
  u64 dmac = u64(be16(&f[0])) << 32 | be32(&f[2]);
  Segment g;
  g.sid = int(dmac & 0xfff);
  CHECK(g.sid <= sessions && ses[g.sid].dmac == dmac, "unknown peer %012llx",
        (unsigned long long)dmac);
  Session& s = ses[g.sid];
  std::size_t ip_at = check_ethernet(f, s);
  check_ip(f, ip_at, s);
  const u8* p = &f[ip_at];
  const u8* t = p + 20;
  std::size_t total = be16(p + 2);
  CHECK(be16(t) == s.sport && be16(t + 2) == s.dport, "ports");
  g.seq = be32(t + 4);
  g.ack = be32(t + 8);
  g.header = std::size_t(t[12] >> 4) * 4;
  g.flags = t[13];
  CHECK((t[12] & 15) == 0 && (g.flags & 0xc0) == 0 && be16(t + 18) == 0, "reserved bits");
  u32 w = window_of(u32(g.sid)) >> (s.scaled && !(g.flags & SYN) ? wscale : 0);
  CHECK((g.flags & RST) || be16(t + 14) == std::min<u32>(w, 65535), "window %u", be16(t + 14));
  u32 pseudo = sum_of(p + 12, 8) + 6 + u32(total - 20);
  g.good = sum_of(t, total - 20, pseudo) == 0xffff;
  g.len = total - 20 - g.header;
  g.options = t + 20;
  g.data = t + g.header;
  return g;
}

/// Returns the oldest command that was not sent yet if the segment belongs to it.
inline Command* Bench::matching_command(const Segment& g) {
  std::size_t n = 0;
  while (n < out.size() && out[n].seen) n++;
  if (n == out.size()) return nullptr;
  Command& q = out[n];
  bool match = q.sid == g.sid && g.ack == (q.ack_rcv ? ses[g.sid].rcv_nxt : q.ack) &&
               g.flags == q.flags && g.len == std::size_t(q.len) && (!q.ack_rcv || g.len == 0);
  return match ? &q : nullptr;
}

inline void Bench::check_command(const Segment& g, Command& c) {
  Session& s = ses[g.sid];
  c.seen = true;
  c.seen_seq = g.seq;
  CHECK(g.good, "TCP checksum of a command");
  u32 nxt = s.seq(0) + u32(s.live_to);
  if (!c.seq_nxt)
    CHECK(g.seq == c.seq, "SEQ %08x", g.seq);
  else if (g.sid < sessions && !(g.flags & SYN))
    CHECK(g.seq == nxt + (s.fin_seq ? 1 : 0), "SEQ %08x, SND.NXT is %08x", g.seq, nxt);
  if (g.flags & SYN) {
    CHECK(g.header == (c.opt_ws ? 28u : 24u), "header of %zu bytes", g.header);
    CHECK(be16(g.options) == 0x0204 && be16(g.options + 2) == mss, "MSS option");
    if (c.opt_ws) CHECK(be32(g.options + 4) == (0x01030300u | u32(wscale)), "window scale option");
  } else {
    CHECK(g.header == 20, "header of %zu bytes", g.header);
  }
  if (g.flags & FIN) s.fin_seq = g.seq;
}

inline void Bench::check_live(const Segment& g) {
  Session& s = ses[g.sid];
  CHECK(g.header == 20 && g.len > 0,
        "session %d: unexpected segment: flags %02x, %zu bytes, seq %08x ack %08x", g.sid, g.flags,
        g.len, g.seq, g.ack);
  CHECK((g.flags & ~PSH) == ACK, "flags %02x of a live message", g.flags);
  CHECK(int(g.len) <= s.mss, "a live message of %zu bytes to a peer with an MSS of %d", g.len,
        s.mss);
  CHECK(g.sid == stale || int32_t(s.lim - g.seq - u32(g.len)) >= 0,
        "session %d: %zu bytes at %08x cross the right edge %08x", g.sid, g.len, g.seq, s.lim);
  CHECK(g.ack == s.rcv_nxt, "ACK %08x of a live message", g.ack);
  CHECK(g.seq == s.seq(s.live_to), "session %d: live message at %08x, not %08x", g.sid, g.seq,
        s.seq(s.live_to));
}

inline void Bench::check_payload(const Segment& g, bool command) {
  Session& s = ses[g.sid];
  std::size_t off = g.seq - s.seq(0);
  CHECK(off + g.len <= s.stream.size(), "session %d: bytes %zu to %zu of %zu", g.sid, off,
        off + g.len, s.stream.size());
  for (std::size_t i = 0; i < g.len; i++)
    CHECK(g.data[i] == s.stream[off + i],
          "session %d: byte %zu of %zu of the segment at %zu is %02x, not %02x", g.sid, i, g.len,
          off, g.data[i], s.stream[off + i]);
  s.live_to = std::max(s.live_to, off + g.len);
  if (!g.good) {
    bool allowed = false;
    for (auto& e : bad_sums) allowed |= e.first == g.sid && e.second == g.seq;
    if (in_message && messages.front().sid == g.sid && messages.front().bad_sum) allowed = true;
    CHECK(allowed && !command, "TCP checksum of %zu bytes, session %d", g.len, g.sid);
    n_bad_frames++;
    return;
  }
  if (s.got.size() < off + g.len) s.got.resize(off + g.len);
  for (std::size_t i = 0; i < g.len; i++) s.got[off + i] = true;
  while (s.got_to < s.got.size() && s.got[s.got_to]) s.got_to++;
}
