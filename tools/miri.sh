#!/usr/bin/env bash
# Runs tests of spfe-ring and spfe-device under Miri, which finds undefined behaviour: accesses out
# of bounds, data races, wrong aliasing and alignment.
#
#   tools/miri.sh           all of it, about 15 minutes of processor time
#   tools/miri.sh --quick   one random case of each test, about 5 minutes
#
# Miri needs a nightly toolchain with the components miri and rust-src. Without them the script says
# what is missing and exits with 2. PROPTEST_CASES sets the number of random cases (4).
#
# Not run: the loom models, which check memory orderings themselves, and tests that an interpreter
# takes minutes for (`cfg_attr(miri, ignore)`). Addresses of regions are integers in shared memory, so
# provenance is permissive. Tests leak what stands for shared memory, so leaks are allowed.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
    echo "miri: $1" >&2
    echo 'miri: rustup toolchain install nightly --component miri,rust-src' >&2
    exit 2
}

command -v rustup >/dev/null || missing 'rustup is missing, so there is no nightly toolchain'
installed=$(rustup +nightly component list --installed 2>/dev/null) ||
    missing 'the nightly toolchain is missing'
for component in miri rust-src; do
    grep -q "^$component" <<<"$installed" || missing "the nightly component $component is missing"
done

export PROPTEST_CASES=${PROPTEST_CASES:-4}
[[ ${1:-} != --quick ]] || PROPTEST_CASES=1
# Without isolation proptest reads its seed and the number of cases from the environment.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"
MIRIFLAGS+=" -Zmiri-permissive-provenance -Zmiri-ignore-leaks"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/miri
cargo +nightly miri test -p spfe-ring --tests
cargo +nightly miri test -p spfe-device --tests
