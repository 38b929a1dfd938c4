#!/usr/bin/env bash
# Runs every fuzz target, one after the other, for FUZZ_SECONDS (default 30) each.
#
#   tools/fuzz.sh [TARGET...]      all targets, or these
#   tools/fuzz.sh --check          only checks that the fuzz crates compile, are formatted and lint
#                                  clean
#
# Prints a line for each target and a summary; the logs are in target/fuzz-logs/. A target that
# fails does not stop the run: its input is kept in artifacts/ of its crate, the run prints the
# command that repeats it, and the exit code is 1. Fuzz crates are fuzz/ and crates/*/fuzz/;
# seeds/TARGET/ of a crate has inputs to start from.
#
# A nightly compiler builds with AddressSanitizer. Without one, the default compiler builds targets
# that have only their own checks. FUZZ_TOOLCHAIN names another toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${FUZZ_SECONDS:-30}
readonly logs=target/fuzz-logs
cargo_fuzz=(cargo)
options=()
failed=()
ran=0

# choose_toolchain: sets cargo_fuzz, the command, and options, which every call of it takes.
choose_toolchain() {
    local toolchain=${FUZZ_TOOLCHAIN:-}
    if [[ -z $toolchain ]] && command -v rustup >/dev/null &&
        grep -q '^nightly' <<<"$(rustup toolchain list)"; then
        toolchain=nightly
    fi
    [[ -z $toolchain ]] || cargo_fuzz+=("+$toolchain")
    if [[ $("${cargo_fuzz[@]}" --version) != *nightly* ]]; then
        options=(--sanitizer none)
        echo 'fuzz: no nightly compiler, so no AddressSanitizer'
    fi
    cargo_fuzz+=(fuzz)
}

# crates: prints the directory of each fuzz crate.
crates() {
    local manifest
    for manifest in fuzz/Cargo.toml crates/*/fuzz/Cargo.toml; do
        [[ ! -f $manifest ]] || dirname "$manifest"
    done
}

# check: the crates compile with the compiler of the workspace, without libFuzzer itself.
check() {
    local crate
    for crate in $(crates); do
        cargo fmt --manifest-path "$crate/Cargo.toml" --check
        cargo clippy --manifest-path "$crate/Cargo.toml" --target-dir target/fuzz-check \
            --no-default-features --all-targets -- -D warnings
    done
}

# stat NAME LOG: prints a statistic that libFuzzer printed at its end, or "?".
stat() {
    local value
    value=$(sed -n "s/^stat::$1: *//p" "$2" | tail -n 1)
    echo "${value:-?}"
}

# report_failure CRATE TARGET LOG CODE: prints the failure and the command that repeats it.
report_failure() {
    local input command
    grep -aE -m 3 "panicked at|ERROR: |SUMMARY: " "$3" -A 1 | sed 's/^/    | /' || true
    input=$(sed -n 's/.*Test unit written to //p' "$3" | tail -n 1)
    if [[ -z $input ]]; then
        printf '    no input was kept (exit code %d); the log is %s\n' "$4" "$3"
        return
    fi
    printf -v command '%q ' "${cargo_fuzz[@]}" run "${options[@]}" --fuzz-dir "$1" "$2"
    printf '    repeat it with: %s%q\n' "$command" "${input#"$PWD/"}"
}

# fuzz CRATE TARGET: runs one target.
fuzz() {
    local crate=$1 target=$2 log=$logs/$2.log code=0
    local -a corpus=("$crate/corpus/$target")
    mkdir -p "${corpus[0]}"
    [[ ! -d $crate/seeds/$target ]] || corpus+=("$crate/seeds/$target")
    printf '%-20s ' "$target"
    # The fuzzer ends by itself. A fuzzer that hangs is a failure too.
    timeout --kill-after=10 $((seconds + 300)) \
        "${cargo_fuzz[@]}" run "${options[@]}" --fuzz-dir "$crate" "$target" "${corpus[@]}" -- \
        -max_total_time="$seconds" -len_control=0 -max_len=2048 -timeout=20 \
        -rss_limit_mb=4096 -print_final_stats=1 \
        </dev/null >"$log" 2>&1 || code=$?
    ran=$((ran + 1))
    printf '%4d s %10s runs %6s MiB   %s\n' "$seconds" "$(stat number_of_executed_units "$log")" \
        "$(stat peak_rss_mb "$log")" "$( ((code == 0)) && echo ok || echo FAILED)"
    if ((code != 0)); then
        failed+=("$target")
        report_failure "$crate" "$target" "$log" "$code"
    fi
}

# run_all [TARGET...]
run_all() {
    local crate target targets
    mkdir -p "$logs"
    choose_toolchain
    for crate in $(crates); do
        targets=$("${cargo_fuzz[@]}" list --fuzz-dir "$crate")
        if (($# == 0)); then
            "${cargo_fuzz[@]}" build "${options[@]}" --fuzz-dir "$crate"
        fi
        for target in $targets; do
            (($# == 0)) || [[ " $* " == *" $target "* ]] || continue
            fuzz "$crate" "$target"
        done
    done
    ((ran > 0)) || {
        echo "fuzz: no such target: $*" >&2
        exit 1
    }
    printf '%d targets fuzzed, %d failed%s\n' "$ran" "${#failed[@]}" \
        "${failed:+: ${failed[*]}}"
    ((${#failed[@]} == 0))
}

case ${1:-} in
--check) check ;;
*) run_all "$@" ;;
esac
