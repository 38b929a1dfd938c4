// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
//
// Bench of the transmitter: checks every frame with an independent model; every message must reach
// the peer complete. +seed=N sets the seed and +messages=N the length of each phase.
#include "phases.h"

static Phases* bench;
static u64 seed;
[[noreturn]] static void fail(const std::string& why) {
  printf("FAILED, seed %llu, cycle %llu: %s\n", (unsigned long long)seed,
         bench ? (unsigned long long)bench->cycle : 0ull, why.c_str());
  exit(1);
}

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

#define STRING_(x) #x
#define STRING(x) STRING_(x)
static const char* const NAME = STRING(BENCH);

/// Returns the value of +NAME=VALUE on the command line, or `otherwise`.
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
  bench = new Phases;
  Phases& b = *bench;
  printf("tcp_tx: %d sessions, MAC %d bytes, user %d bytes, MTU %d, pad %d, pipe %d, seed %llu\n",
         b.sessions, b.macb, b.userb, b.mtu, b.pad, int(b.top.p_pipe_o), (unsigned long long)seed);
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
      CHECK(int(l) == want, "mode %d, %d bytes: %llu cycles, not %d", mode, n,
            (unsigned long long)l, want);
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
  b.fit_phase();
  b.mss_phase(count / 4);
  b.any_mss = true;

  Knobs clean;
  clean.acks = 5;
  b.phase("clean", clean, count);
  Knobs k = clean;
  k.net = 2;
  k.bad_sums = 20;
  k.lies = 10;
  b.phase("wrong lengths and sums, ARP", k, count);
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
  b.phase("slow memory, not live", k, count);
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
    k.window = chance(50) ? 1 << 30 : 300 + int(rnd(chance(50) ? 3000 : 30000));
    b.phase("all at random", k, count);
  }
  printf("passed %s: %llu frames, %llu cycles\n", NAME, (unsigned long long)b.n_frames,
         (unsigned long long)b.cycle);
  return 0;
}
