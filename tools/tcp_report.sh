#!/usr/bin/env bash
# Measures the TCP core, runs the short form of its checks, and writes target/rtl/report/index.html.
# Every section of the report needs its record, so this fails where a check cannot run: that against
# Linux needs a network namespace and a TAP device. It also fails, with a report that says so, where
# rtl/synth/results.json lacks a result (make synth). Longer runs (make test-tcp) add to the records.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly programs=${CARGO_TARGET_DIR:-rtl/bench/target}/release
readonly builds=(sf64 ct64) linux=(sf64 ct64 ct64_mac64)

# check BUILD: scripts, mutated frames, and smoltcp at rest and racing.
check() {
    "$programs/tcp-check" --core "$1" drill
    "$programs/tcp-check" --core "$1" fuzz --frames 3000 --lockstep
    "$programs/tcp-check" --core "$1" peer --only passive,active,zero
    "$programs/tcp-check" --core "$1" peer --racing --only 'delay 0,16 sessions'
}

cargo build --locked --release --manifest-path rtl/bench/Cargo.toml --bins
"$programs/tcp-bench" all
running=()
for build in "${builds[@]}"; do
    check "$build" &
    running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
for build in "${linux[@]}"; do
    "$programs/tcp-bench" peers --endpoint "$build" --part network --part curl --part iperf3
done
"$programs/tcp-bench" report
