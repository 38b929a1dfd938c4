#!/usr/bin/env bash
# The TCP core in simulation: the scripts of conformance, a TCP stack that is not ours at the other end,
# and frames that are almost right, in lock-step with the model of the core.
#
#   tests/tcp/core.sh          "ok NAME" or "not ok NAME" for each check; two minutes
#   tests/tcp/core.sh full     everything, and the bench's own tests; many minutes
#   tests/tcp/core.sh soak     the long form: hours
#
# Builds of the core and of the bench are made first where they are missing (some minutes each).
# CORE_BUILDS names the builds (default: "sf64 ct64", in the long forms also "reorder full"), CORE_SEED the
# seed of losses and frames (default: 1 in the short form, a random one in the long one); it is printed. Time in the tests is virtual:
# nothing depends on the speed of the machine. Records are left in target/rtl/report/data.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

readonly form=${1:-short}
if [[ $form == short ]]; then
    readonly builds=${CORE_BUILDS:-sf64 ct64}
else
    readonly builds=${CORE_BUILDS:-sf64 ct64 reorder full}
fi
readonly manifest=rtl/bench/Cargo.toml
readonly programs=${CARGO_TARGET_DIR:-rtl/bench/target}/release
case $form in
    short)
        readonly seed=${CORE_SEED:-1} limit=600 frames=3000 scale=1
        readonly cases='passive,active,zero windows'
        ;;
    full)
        readonly seed=${CORE_SEED:-1} limit=3600 frames=20000 scale=1 cases=''
        ;;
    soak)
        readonly seed=${CORE_SEED:-$RANDOM} limit=36000 frames=1000000 scale=100 cases=''
        ;;
    *)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
esac
failed=0
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT

# report NAME STATUS: a check has ended; what it said is in $dir/NAME.
report() {
    if (($2 == 0)); then
        printf 'ok %s\n' "$1"
        grep -E '^(scripts|fuzzing):' "$dir/$1" | sed 's/^/# /'
    else
        printf 'not ok %s\n' "$1"
        tail -n 20 "$dir/$1" | sed 's/^/# /'
        failed=1
    fi
}

# check NAME COMMAND...: reports whether a command succeeds within the limit.
check() {
    local name=$1
    shift
    timeout --kill-after=5 "$limit" "$@" >"$dir/$name" 2>&1
    report "$name" $?
    return "$failed"
}

# core BUILD: the checks of a build, beside each other.
core() {
    local build=$1 one
    local -a running=()
    check "$build.scripts" "$programs/tcp-check" --core "$build" drill &
    running+=($!)
    check "$build.peer" "$programs/tcp-check" --core "$build" peer --seed "$seed" --scale "$scale" --only "$cases" &
    running+=($!)
    check "$build.fuzz" "$programs/tcp-check" --core "$build" fuzz --seed "$seed" --frames "$frames" --lockstep &
    running+=($!)
    for one in "${running[@]}"; do
        wait "$one" || failed=1
    done
    return "$failed"
}

check bench.builds cargo build --locked --release --manifest-path "$manifest" --bins
((failed)) && exit 1
for build in $builds; do
    check "$build.model" "$programs/tcp-bench" build "$build"
done
((failed)) && exit 1
printf '# seed %s\n' "$seed"
if [[ $form == full ]]; then
    check bench.unit cargo test --locked --release --manifest-path "$manifest"
    check bench.lint cargo clippy --locked --release --all-targets --manifest-path "$manifest" -- -D warnings
fi

# A build on each core of the machine.
running=()
for build in $builds; do
    core "$build" &
    running+=($!)
done
for one in "${running[@]}"; do
    wait "$one" || failed=1
done
exit "$failed"
