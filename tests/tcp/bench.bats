#!/usr/bin/env bats
# The test bench of the TCP core: its own unit tests, and clippy.

load ../lib/common

manifest=rtl/bench/Cargo.toml

@test "unit tests" {
    cargo test --locked --release --manifest-path "$manifest"
}

@test "clippy" {
    cargo clippy --locked --release --all-targets --manifest-path "$manifest" -- -D warnings
}
