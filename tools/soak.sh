#!/usr/bin/env bash
# Long runs that are not part of `make test`: a 1 GiB file through the daemon in every mode, the
# published tables in full length (10 x 10 s a case), and longer fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -q
SPFE_SOAK=1 tests/file_transfer.sh
FUZZ_SECONDS=${FUZZ_SECONDS:-600} tools/fuzz.sh
target/release/spfe perf tables --report bench/out/tables-full
