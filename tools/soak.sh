#!/usr/bin/env bash
# Long runs that are not part of `make test`: random errors on exact links over SOAK_WORDS words
# (10^9), a 1 GiB file through the daemon in every mode, 10^6 operations of RDMA over networks that
# drop, repeat, reorder, damage and cut packets (SPFE_RDMA_SEEDS networks of each kind for the
# engines; SPFE_RDMA_OPERATIONS of each kind of link, from seed SPFE_RDMA_FIRST on, for at most
# SPFE_RDMA_SECONDS each), longer fuzzing, the published tables in full length (10 x 10 s per case),
# damaged words between two endpoint cores (10^7 words of data), and the TCP core in simulation and
# against Linux.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh rtl test
cargo build --release -q
target/release/link_soak "${SOAK_WORDS:-1000000000}"
SPFE_SOAK=1 tests/run.sh tests/file_transfer.bats tests/rdma.bats
SPFE_RDMA_SEEDS=${SPFE_RDMA_SEEDS:-1310} cargo test --release -q -p spfe-rdma --test faults
SPFE_RDMA_OPERATIONS=${SPFE_RDMA_OPERATIONS:-1000000} SPFE_RDMA_SECONDS=${SPFE_RDMA_SECONDS:-1800} \
    cargo test --release -q -p spfe-remote --test random -- --nocapture
FUZZ_SECONDS=${FUZZ_SECONDS:-600} tools/fuzz.sh
target/release/spfe perf tables --report bench/out/tables-full
tools/rtl_model.sh 1 4 4
cargo run --release -q -p spfe-cli --features rtl -- perf recovery rtl: --words 10000000
CORE_FORM=soak TEST_VARIANTS="sf64 ct64 reorder full" tests/run.sh tests/tcp/core.bats
SPFE_SOAK=1 tests/run.sh tests/tcp/peer.bats
