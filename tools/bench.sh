#!/usr/bin/env bash
# Runs all measurements one after the other; results in bench/out.
#
#   tools/bench.sh            rings (criterion), instructions (callgrind), exact links, clients of a
#                             daemon, peers side by side, the tables
#   tools/bench.sh --quick    the same, shorter
#   tools/bench.sh STEP...    some of: rings instructions links daemon peers tables
set -euo pipefail
cd "$(dirname "$0")/.."
out=bench/out
mkdir -p "$out"
quick=()
steps=()
for arg in "$@"; do
  case $arg in
    --quick) quick=(--quick) ;;
    rings | instructions | links | daemon | peers | tables) steps+=("$arg") ;;
    *)
      echo "bench: unknown step '$arg' (rings, instructions, links, daemon, peers, tables, --quick)" >&2
      exit 2
      ;;
  esac
done
[ ${#steps[@]} -gt 0 ] || steps=(rings instructions links daemon peers tables)

say() { printf '\n== %s\n' "$*"; }

for step in "${steps[@]}"; do
  case $step in
    rings)
      say "rings: time per entry (criterion)"
      cargo bench -q -p spfe-bench --bench rings -- --noplot "${quick[@]}"
      ;;
    instructions)
      say "instructions per packet (callgrind)"
      tools/callgrind.sh | tee "$out/instructions.tsv"
      ;;
    links)
      cargo build --release -q -p spfe-bench
      say "exact links: words simulated per second and core"
      target/release/link_speed | tee "$out/link_speed.txt"
      say "networks of exact links: how cost grows with size"
      while read -r -a network; do
        target/release/network_speed "${network[@]}"
      done <<'END' | tee "$out/network_speed.txt"
pairs 8 400
pairs 128 400
pairs 128 400 2
tree 8 400
tree 128 400
tree 128 400 2
idle 0 2000
idle 64 2000
flows 4096 2000
idle 2047 10
END
      say "exact links: user data rates beside the standard's arithmetic and published figures"
      target/release/link_rates | tee "$out/link_rates.txt"
      say "exact links: quality of service, configured and measured"
      target/release/link_qos | tee "$out/link_qos.txt"
      ;;
    daemon)
      say "a daemon with many clients, and exact daemons with many endpoints"
      cargo build --release -q -p spfe-cli -p spfed
      python3 bench/daemon.py | tee "$out/daemon.txt"
      ;;
    peers)
      say "peers, side by side"
      tools/setup.sh bench
      cargo build --release -q -p spfe-cli -p spfed -p spfe-measure
      python3 bench/peers/run.py "${quick[@]}" --json "$out/peers.json" | tee "$out/peers.txt"
      ;;
    tables)
      say "the published scenarios, latencies and messages; written into docs/performance.md"
      cargo build --release -q -p spfe-cli -p spfed
      if [ ${#quick[@]} -gt 0 ]; then
        python3 tools/performance.py --iterations 1 --duration 700ms
      else
        python3 tools/performance.py
      fi
      ;;
  esac
done
say "results in $out"
