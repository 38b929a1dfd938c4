// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: its model of messages, sessions and commands, and helpers.
#pragma once
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
#define CHECK(cond, ...)                    \
  do {                                      \
    if (!(cond)) {                          \
      char b_[400];                         \
      snprintf(b_, sizeof b_, __VA_ARGS__); \
      fail(std::string(#cond) + ": " + b_); \
    }                                       \
  } while (0)

// ---- ports of any width as bytes
static void put(IData& p, const u8* b, int n) {
  p = 0;
  for (int i = 0; i < n; i++) p |= IData(b[i]) << (8 * i);
}
static void put(QData& p, const u8* b, int n) {
  p = 0;
  for (int i = 0; i < n; i++) p |= QData(b[i]) << (8 * i);
}
template <std::size_t N>
static void put(VlWide<N>& p, const u8* b, int n) {
  for (std::size_t i = 0; i < N; i++) p[i] = 0;
  for (int i = 0; i < n; i++) p[i / 4] |= EData(b[i]) << (8 * (i % 4));
}
static u8 at(IData p, int i) { return u8(p >> (8 * i)); }
static u8 at(QData p, int i) { return u8(p >> (8 * i)); }
template <std::size_t N>
static u8 at(const VlWide<N>& p, int i) {
  return u8(p[i / 4] >> (8 * (i % 4)));
}

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
struct Expected {  // expected tx_done, in message order
  int sid;
  u32 seq, len;
  bool lie, bad_sum, push;
  u32 una;
};
struct Session {
  u32 iss = 0, una = 0, lim = 0, fin_seq = 0;
  int mss = 0;  // of the peer, at most ours
  bool open = false, live = false;
  Bytes stream;  // byte i has sequence number iss + 1 + i
  std::size_t written = 0, got_to = 0, live_to = 0;
  std::vector<bool> got;
  u64 dmac = 0;
  u32 dip = 0, rcv_nxt = 0;
  u16 dport = 0, sport = 0;
  int vif = 0;
  u32 una_taken = 0, una_before = 0;  // known to the transmitter, and before its last snd_cmd
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
struct Segment {  // of a frame that was sent
  int sid = 0;
  u32 seq = 0, ack = 0;
  u8 flags = 0;
  bool good = false;       // the TCP checksum is correct
  std::size_t header = 0;  // bytes of the TCP header
  std::size_t len = 0;     // bytes of payload
  const u8* options = nullptr;
  const u8* data = nullptr;
};
struct Knobs {
  int mac_ready = 100, wr_ready = 100, rd_ready = 100, done_ready = 100, latency = 2, jitter = 0;
  int outstanding = 3;
  int bubbles = 0, lies = 0, bad_sums = 0, stop_live = 0, net = 0, window = 1 << 30, acks = 0;
};

static const u8 FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16;
