#!/usr/bin/env bash
# Measures the endpoint core in simulation and writes target/rtl/endpoint/index.html, with the sizes
# in rtl/synth/results.json (make synth) and published figures beside it. RECOVERY_WORDS: words of
# data of the recovery test (4000000).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=target/rtl/endpoint programs=${CARGO_TARGET_DIR:-target}/release

mkdir -p "$out"
tools/rtl_model.sh 1 4 4
cargo build --locked --release -p spfe-cli --features rtl
"$programs/spfe" -q perf tables rtl: --json >"$out/tables.json"
"$programs/spfe" -q perf recovery rtl: --words "${RECOVERY_WORDS:-4000000}" --json >"$out/recovery.json"
# It fails if any figure of any core is missing or old; the report says which of these are.
tools/rtl.sh synth --status >"$out/status.txt" || true
cargo run --locked --release -p spfe-bench --bin endpoint_report
