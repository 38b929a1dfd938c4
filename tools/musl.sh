#!/usr/bin/env bash
# Builds the C library for musl, and runs the suite in C and an example, linked statically. Needs
# musl-gcc, and rustup, which gets Rust's library for musl.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly target=x86_64-unknown-linux-musl
rustup target add "$target"
cargo build --release --quiet --target "$target" -p spfe-capi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# The unwinder of gcc needs glibc; Rust has one for musl.
libraries=("${CARGO_TARGET_DIR:-target}/$target/release/libspfe_capi.a"
    "$(rustc --print sysroot)/lib/rustlib/$target/lib/self-contained/libunwind.a" -pthread)
musl-gcc -std=c11 -Iinclude -static -o "$out/suite" tests/c/suite/*.c "${libraries[@]}"
musl-gcc -std=c11 -Iinclude -static -o "$out/hello" examples/c/hello.c "${libraries[@]}"
"$out/suite"
"$out/hello"
