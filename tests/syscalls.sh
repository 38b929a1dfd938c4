#!/usr/bin/env bash
# System calls of the data path, counted with strace: none for a packet where a program polls; where
# it blocks one to sleep, one before it, and one to wake the other side.
#
#   tests/syscalls.sh          "ok NAME" or "not ok NAME" for each check
#
# Nothing here depends on how fast anything is. The counts of a short run are taken from those of a
# run ten times as long; what is left is what the packets of the difference have cost. Counters of
# the library say how often a thread slept, woke the other side or rang for the device.
#
# The program is crates/spfe/examples/round_trip.rs. SPFED_BIN names the daemon (default: that in
# target/release). Only what it started is ended; everything has a timeout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly spfed=${SPFED_BIN:-target/release/spfed}
readonly program=target/release/examples/round_trip
readonly short=300 long=3000
# Calls by which two equal runs may differ: memory for buffers of the C library, for instance.
readonly slack=12
failed=0
daemon=''
dir=$(mktemp -d) || exit

# finish: ends what is still running and removes all files.
finish() {
    [[ -z $daemon ]] || kill "$daemon" 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# check NAME COMMAND...: reports whether a command succeeds; else what it has said.
check() {
    local name=$1
    shift
    if "$@" >"$dir/check.out" 2>&1; then
        printf 'ok %s\n' "$name"
    else
        printf 'not ok %s\n' "$name"
        tail -n 12 "$dir/check.out" | sed 's/^/# /'
        failed=1
    fi
}

# trace FROM TO HOW ROUND_TRIPS STRACE_OPTION...: runs the program; its calls are in trace.ROUND_TRIPS,
# what it has counted in out.ROUND_TRIPS.
trace() {
    local from=$1 to=$2 how=$3 count=$4
    shift 4
    timeout --kill-after=5 120 strace -qq "$@" -o "$dir/trace.$count" \
        "$program" "$from" "$to" "$how" "$count" >"$dir/out.$count"
}

# counted NAME: how much more the program has counted in the long run than in the short one.
counted() {
    local before after
    before=$(sed -n "s/^$1: //p" "$dir/out.$short")
    after=$(sed -n "s/^$1: //p" "$dir/out.$long")
    echo $((after - before))
}

# calls PATTERN [INVERT]: how many more calls of the program's own threads match. The threads of a
# device in this process are the device's; a call in two parts is counted once.
calls() {
    local run
    local -a counts=()
    for run in "$short" "$long"; do
        counts+=("$(grep -v -e 'resumed>' -e '<spfe-device>' "$dir/trace.$run" \
            | grep -c ${2:+"$2"} -E -- "$1")")
    done
    echo $((counts[1] - counts[0]))
}

# at_most WHAT COUNT LIMIT
at_most() {
    printf '%s: %d, at most %d and %d\n' "$1" "$2" "$3" "$slack"
    (($2 <= $3 + slack))
}

# Polled: one thread, the one that is traced. A device that has gone to sleep has to be rung for.
polling() {
    local how=${3:-poll}
    trace "$1" "$2" "$how" "$short" && trace "$1" "$2" "$how" "$long" || return
    at_most 'system calls' "$(calls '')" "$(counted doorbells)"
}

# Blocking: a thread for each side. They wait once for each of the packets; a round trip is two.
blocking() {
    local packets=$((2 * (long - short))) sleeps wakes doorbells bad=0
    trace "$1" "$2" block "$short" -f --decode-pids=comm || return
    trace "$1" "$2" block "$long" -f --decode-pids=comm || return
    sleeps=$(counted sleeps) wakes=$(counted wake-ups) doorbells=$(counted doorbells)
    at_most 'wake-ups' "$wakes" "$packets" || bad=1
    at_most 'sleeps' "$sleeps" "$wakes" || bad=1
    at_most 'calls that sleep' "$(calls 'FUTEX_WAIT')" "$sleeps" || bad=1
    at_most 'calls that wake' "$(calls 'FUTEX_WAKE')" $((wakes + doorbells)) || bad=1
    at_most 'barriers before a sleep' "$(calls 'membarrier\(')" $((packets + sleeps)) || bad=1
    at_most 'other calls' "$(calls 'FUTEX_WAIT|FUTEX_WAKE|membarrier\(' -v)" 0 || bad=1
    return "$bad"
}

# A count of calls that are made is not zero: the checks above are able to fail.
counting_works() {
    ! polling "$1" "$2" block && grep -q 'FUTEX_WAIT' "$dir/trace.$long"
}

start_daemon() {
    rm -f "$dir/sock"
    "$spfed" --listen "$dir/sock" --mode "$1" >/dev/null 2>"$dir/spfed.err" &
    daemon=$!
    local turn
    for ((turn = 0; turn < 100; turn++)); do
        [[ -S $dir/sock ]] && return
        sleep 0.05
    done
    return 1
}

stop_daemon() {
    kill "$daemon"
    wait "$daemon" 2>/dev/null
    daemon=''
}

# both NAME FROM TO
both() {
    check "$1: no system call for a packet that is polled for" polling "$2" "$3"
    check "$1: one wake-up at most for a packet that is waited for" blocking "$2" "$3"
}

main() {
    local mode
    if ! strace -qq -o "$dir/probe" true 2>/dev/null; then
        printf 'ok system calls are counted # SKIP strace is not there, or may not trace\n'
        return
    fi
    cargo build --quiet --release -p spfe --example round_trip || return
    [[ -x $spfed ]] || {
        printf 'not ok %s is there: build it with "make build"\n' "$spfed"
        return 1
    }
    check 'calls are counted' counting_works 'virtual:lab/0' 'virtual:lab/1'
    for mode in inline coop thread; do
        both "embedded, $mode" "virtual:lab/0?mode=$mode" "virtual:lab/1?mode=$mode"
    done
    for mode in thread inline; do
        check "daemon, $mode: starts" start_daemon "$mode"
        both "daemon, $mode" "unix:$dir/sock/0" "unix:$dir/sock/1"
        stop_daemon
    done
    return "$failed"
}

main
