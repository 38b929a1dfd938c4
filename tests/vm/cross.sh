#!/usr/bin/env bash
# Builds the Rust programs of the guest for another architecture, linked statically.
#
#   tests/vm/cross.sh ARCH       riscv64
#
# Needs the packages of group vm in tools/packages/debian.txt, and rustup, which gets Rust's library.
# image.sh takes the programs from the directory that this prints.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

case ${1:-} in
riscv64) target=riscv64gc-unknown-linux-gnu linker=riscv64-linux-gnu-gcc ;;
*) vm_die "no Rust programs for architecture '${1:-}'; there are: riscv64" ;;
esac
name=${target//-/_}
name=CARGO_TARGET_${name^^}
cd "$vm_source"
rustup target add "$target" >&2
env "${name}_LINKER=$linker" "${name}_RUSTFLAGS=-C target-feature=+crt-static" \
    cargo build --quiet --locked --target "$target" -p spfe-cli -p spfed -p spfe-conformance >&2
printf '%s\n' "${CARGO_TARGET_DIR:-$vm_source/target}/$target/debug"
