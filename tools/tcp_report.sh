#!/usr/bin/env bash
# Measures the TCP core, runs the short form of its checks, and writes target/rtl/report/index.html.
# Every section of the report needs its record, so this fails where a check cannot run: that against
# Linux needs a network namespace and a TAP device. Longer runs (make test-tcp) add to the records.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly programs=${CARGO_TARGET_DIR:-rtl/bench/target}/release
readonly builds=(sf64 ct64)

cargo build --locked --release --manifest-path rtl/bench/Cargo.toml --bins
"$programs/tcp-bench" all
for build in "${builds[@]}"; do
    "$programs/tcp-check" --core "$build" drill &
    "$programs/tcp-check" --core "$build" fuzz --frames 3000 --lockstep &
    wait -n
    wait -n
    "$programs/tcp-check" --core "$build" peer --only passive,active,zero
    for part in network transfers; do
        "$programs/tcp-bench" peers --endpoint "$build" --part "$part"
    done
done
"$programs/tcp-bench" report
