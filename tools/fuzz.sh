#!/usr/bin/env bash
# Runs every fuzz target, one after the other, for FUZZ_SECONDS (default 30) each.
#
#   tools/fuzz.sh [TARGET...]
#
# Fuzz crates are fuzz/ and crates/*/fuzz/. A target that fails does not stop the run; the input is
# kept in artifacts/ of its crate, and the exit code is then 1. Inputs to start from, if any, are in
# seeds/TARGET/ of the crate.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${FUZZ_SECONDS:-30}
failed=()
ran=0

for manifest in fuzz/Cargo.toml crates/*/fuzz/Cargo.toml; do
    [[ -f $manifest ]] || continue
    crate=$(dirname "$manifest")
    targets=$(cargo +nightly fuzz list --fuzz-dir "$crate")
    for target in $targets; do
        (($# == 0)) || [[ " $* " == *" $target "* ]] || continue
        printf '== %s of %s, %s s\n' "$target" "$crate" "$seconds"
        ran=$((ran + 1))
        corpus=("$crate/corpus/$target")
        mkdir -p "${corpus[0]}"
        [[ ! -d $crate/seeds/$target ]] || corpus+=("$crate/seeds/$target")
        cargo +nightly fuzz run --fuzz-dir "$crate" "$target" "${corpus[@]}" -- \
            -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
            </dev/null ||
            failed+=("$target")
    done
done

((ran > 0)) || {
    echo 'fuzz: no such target' >&2
    exit 1
}
printf '%d targets fuzzed, %d failed%s\n' "$ran" "${#failed[@]}" "${failed:+: ${failed[*]}}"
((${#failed[@]} == 0))
