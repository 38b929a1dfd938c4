#!/usr/bin/env bash
# Runs tests with a sanitizer of the compiler.
#
#   tools/sanitize.sh address [CRATE...]   accesses out of bounds and after a release
#   tools/sanitize.sh thread [CRATE...]    data races
#   tools/sanitize.sh                      both
#
# Without crates: those with unsafe code that needs no other machine. Sanitizers need a nightly
# toolchain, and ThreadSanitizer its component rust-src, because it instruments the standard library
# too. Without them the script says what is missing and exits with 2.
#
# Miri (tools/miri.sh) finds more in less code. Leaks are not reported: tests leak what stands for
# shared memory. ThreadSanitizer does not know fences, so it runs only tests that do not depend on
# them; the loom models check the others.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly host=x86_64-unknown-linux-gnu
readonly address_crates=(spfe-ring spfe-device spfe-host spfe-session spfe-plane)
readonly thread_crates=(spfe-host spfe-session)

missing() {
    echo "sanitize: $1" >&2
    echo 'sanitize: rustup toolchain install nightly --component rust-src' >&2
    exit 2
}

# packages CRATE...: prints cargo's options for these crates.
packages() {
    printf -- '-p %s ' "$@"
}

address() {
    local -a crates=("$@")
    [[ $# -gt 0 ]] || crates=("${address_crates[@]}")
    # shellcheck disable=SC2046 # two words for each crate
    ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS='-Zsanitizer=address' \
        CARGO_TARGET_DIR=target/sanitize-address \
        cargo +nightly test --target "$host" $(packages "${crates[@]}") --lib --tests
}

thread() {
    local -a crates=("$@")
    [[ $# -gt 0 ]] || crates=("${thread_crates[@]}")
    grep -q '^rust-src' <<<"$(rustup +nightly component list --installed)" ||
        missing 'the nightly component rust-src is missing'
    # shellcheck disable=SC2046 # two words for each crate
    RUSTFLAGS='-Zsanitizer=thread' CARGO_TARGET_DIR=target/sanitize-thread \
        cargo +nightly test -Zbuild-std --target "$host" $(packages "${crates[@]}") --lib --tests
}

command -v rustup >/dev/null || missing 'rustup is missing, so there is no nightly toolchain'
rustc +nightly --version >/dev/null 2>&1 || missing 'the nightly toolchain is missing'
case ${1:-both} in
address | thread) "$@" ;;
both)
    address "${address_crates[@]}"
    thread "${thread_crates[@]}"
    ;;
*)
    echo "sanitize: '$1' is neither address nor thread" >&2
    exit 2
    ;;
esac
