#!/usr/bin/env bash
# Runs fuzz targets, one after the other.
#
#   tools/fuzz.sh [--resume] [TARGET...]   all targets, or these
#   tools/fuzz.sh --replay [TARGET...]     only runs the kept inputs, with the usual compiler; prints
#                                          TAP; the program for that is taken from SPFE_PROGRAMS if it
#                                          is there, and built otherwise
#   tools/fuzz.sh --keep TARGET...         replaces the kept inputs by some of those found, spread
#                                          over a smallest set that reaches the same code
#   tools/fuzz.sh --check                  only checks that the fuzz crates are formatted and lint
#                                          clean
#
# Each target runs for FUZZ_SECONDS (default 30), or until it has made FUZZ_RUNS executions (default
# no limit). With --resume the executions and seconds of earlier calls count, and a target that has
# reached one of the limits is skipped: the same command, repeated, finishes a long run that was
# interrupted. The last lines are a table of executions, seconds, edges reached and crashes, which is
# also in target/fuzz-logs/totals.tsv; the logs are beside it. A target that fails does not stop the
# run: its input is kept in artifacts/ of its crate, the run prints the command that repeats it, and
# the exit code is 1. Fuzz crates are fuzz/ and crates/*/fuzz/. seeds/TARGET/ of a crate has the kept
# inputs, and corpus/TARGET/ what this machine has found.
#
# A nightly compiler builds with AddressSanitizer. Without one, the default compiler builds targets
# that have only their own checks. FUZZ_TOOLCHAIN names another toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${FUZZ_SECONDS:-30}
readonly runs=${FUZZ_RUNS:-0}
readonly logs=target/fuzz-logs
readonly totals=$logs/totals.tsv
readonly max_len=2048
# Largest kept input of a target, and most inputs kept of it.
readonly keep_bytes=1024 keep_count=40
resume=false
# What LeakSanitizer takes for a leak but is none; the file says why.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/fuzz/lsan.supp:print_suppressions=0}
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
            --no-default-features --lib --bins -- -D warnings
    done
}

# replay [TARGET...]: the kept inputs run through the targets.
replay() {
    local program=${SPFE_PROGRAMS:-}/spfe-fuzz-replay
    if [[ -x $program ]]; then
        "$program" "$@"
    else
        cargo run --quiet -p spfe-fuzz-replay -- "$@"
    fi
}

# stat NAME LOG: prints a statistic that libFuzzer printed at its end, or 0.
stat() {
    local value
    value=$(sed -n "s/^stat::$1: *//p" "$2" | tail -n 1)
    echo "${value:-0}"
}

# edges LOG: prints the number of edges reached.
edges() {
    local value
    value=$(grep -aoE 'cov: [0-9]+' "$1" | tail -n 1) || true
    echo "${value#cov: }"
}

# total TARGET COLUMN: prints what earlier calls have counted: 2 executions, 3 seconds, 5 crashes.
total() {
    [[ -f $totals ]] || { echo 0 && return; }
    awk -F '\t' -v target="$1" -v column="$2" \
        '$1 == target { value = $column } END { print value + 0 }' "$totals"
}

# count TARGET EXECUTIONS SECONDS EDGES CRASHES: replaces the line of a target.
count() {
    local others=''
    [[ ! -f $totals ]] || others=$(awk -F '\t' -v target="$1" '$1 != target' "$totals")
    { [[ -z $others ]] || printf '%s\n' "$others"; printf '%s\t%s\t%s\t%s\t%s\n' "$@"; } |
        sort >"$totals.new"
    mv "$totals.new" "$totals"
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
    local crate=$1 target=$2 log=$logs/$2.log code=0 start
    local left=$seconds done_runs=0 done_seconds=0 crashes=0
    local -a corpus=("$crate/corpus/$target") limits=()
    if $resume; then
        done_runs=$(total "$target" 2) done_seconds=$(total "$target" 3) crashes=$(total "$target" 5)
        left=$((seconds - done_seconds))
        if ((left <= 0 || (runs > 0 && done_runs >= runs))); then
            return
        fi
    fi
    ((runs == 0)) || limits=(-runs=$((runs - done_runs)))
    mkdir -p "${corpus[0]}"
    [[ ! -d $crate/seeds/$target ]] || corpus+=("$crate/seeds/$target")
    # The time of a build does not count.
    "${cargo_fuzz[@]}" build "${options[@]}" --fuzz-dir "$crate" "$target" >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
    start=$SECONDS
    # The fuzzer ends by itself. A fuzzer that hangs is a failure too.
    timeout --kill-after=10 $((left + 300)) \
        "${cargo_fuzz[@]}" run "${options[@]}" --fuzz-dir "$crate" "$target" "${corpus[@]}" -- \
        -max_total_time="$left" "${limits[@]}" -len_control=0 -max_len="$max_len" -timeout=20 \
        -rss_limit_mb=4096 -print_final_stats=1 \
        </dev/null >"$log" 2>&1 || code=$?
    ran=$((ran + 1))
    ((code == 0)) || crashes=$((crashes + 1))
    count "$target" $((done_runs + $(stat number_of_executed_units "$log"))) \
        $((done_seconds + SECONDS - start)) "$(edges "$log")" "$crashes"
    printf '%-20s %5d s %10s runs  %s\n' "$target" $((SECONDS - start)) \
        "$(stat number_of_executed_units "$log")" "$( ((code == 0)) && echo ok || echo FAILED)"
    if ((code != 0)); then
        failed+=("$target")
        report_failure "$crate" "$target" "$log" "$code"
    fi
}

# keep CRATE TARGET: keeps inputs for the replay.
keep() {
    local crate=$1 target=$2 kept count number place
    local -a found
    kept=$(mktemp -d)
    mkdir -p "$crate/seeds/$target" "$crate/corpus/$target"
    "${cargo_fuzz[@]}" run "${options[@]}" --fuzz-dir "$crate" "$target" "$kept" \
        "$crate/seeds/$target" "$crate/corpus/$target" -- \
        -merge=1 -max_len="$keep_bytes" >"$logs/$target-keep.log" 2>&1
    mapfile -t found < <(
        find "$kept" -type f -printf '%s %p\n' | sort -k 1n -k 2 | cut -d ' ' -f 2-
    )
    # Inputs that have a name of their own are for a finding and stay.
    find "$crate/seeds/$target" -type f -name 'input-*' -delete
    count=$((${#found[@]} < keep_count ? ${#found[@]} : keep_count))
    for ((number = 0; number < count; number++)); do
        place=$((number * ${#found[@]} / count))
        cp "${found[place]}" "$crate/seeds/$target/$(printf 'input-%02d' "$number")"
    done
    rm -r "$kept"
    printf '%-20s %3d of %d inputs kept\n' "$target" "$count" "${#found[@]}"
}

# each FUNCTION [TARGET...]: calls it for all targets, or for these.
each() {
    local function=$1 crate target targets tried=0
    shift
    mkdir -p "$logs"
    choose_toolchain
    for crate in $(crates); do
        targets=$("${cargo_fuzz[@]}" list --fuzz-dir "$crate")
        if (($# == 0)); then
            "${cargo_fuzz[@]}" build "${options[@]}" --fuzz-dir "$crate"
        fi
        for target in $targets; do
            (($# == 0)) || [[ " $* " == *" $target "* ]] || continue
            tried=$((tried + 1))
            "$function" "$crate" "$target"
        done
    done
    ((tried > 0)) || {
        echo "fuzz: no such target: $*" >&2
        exit 1
    }
}

run_all() {
    each fuzz "$@"
    printf '\n%-20s %12s %8s %7s %8s\n' target executions seconds edges crashes
    awk -F '\t' '{ printf "%-20s %12d %8d %7d %8d\n", $1, $2, $3, $4, $5 }' "$totals"
    printf '%d targets fuzzed, %d failed%s\n' "$ran" "${#failed[@]}" \
        "${failed:+: ${failed[*]}}"
    ((${#failed[@]} == 0))
}

case ${1:-} in
--check) check ;;
--replay) replay "${@:2}" ;;
--keep) each keep "${@:2}" ;;
--resume)
    resume=true
    run_all "${@:2}"
    ;;
*) run_all "$@" ;;
esac
