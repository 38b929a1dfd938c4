#!/usr/bin/env bash
# System calls of the data path, counted with strace: none for a packet where a program polls; where
# it blocks one to sleep, one before it, and one to wake the other side.
#
#   tests/syscalls.sh          "ok NAME" or "not ok NAME" for each check
#
# Nothing here depends on how fast anything is. Where the count is to be zero, that of a short run is
# taken from that of a run ten times as long: what is left is what the packets have cost. How often
# threads sleep differs from run to run; there the calls of the long run are held against what the
# library has counted: how often a thread slept, was woken, or rang for the device.
#
# The program is crates/spfe/examples/round_trip.rs. SPFED_BIN names the daemon (default: that in
# target/release). Only what it started is ended; everything has a timeout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=../tools/checks.sh
source tools/checks.sh

readonly spfed=${SPFED_BIN:-target/release/spfed}
readonly program=target/release/examples/round_trip
readonly short=300 long=3000
# Calls by which two equal runs may differ (memory for the C library, for instance), and calls of one
# kind that starting and stopping may take.
readonly slack=12 start=60
daemon=''
dir=$(mktemp -d) || exit

# finish: ends what is still running and removes all files.
finish() {
    [[ -z $daemon ]] || kill "$daemon" 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# trace FROM TO HOW ROUND_TRIPS STRACE_OPTION...: runs the program; its calls are in trace.ROUND_TRIPS,
# what it has counted in out.ROUND_TRIPS.
trace() {
    local from=$1 to=$2 how=$3 count=$4
    shift 4
    timeout --kill-after=5 120 strace -qq "$@" -o "$dir/trace.$count" \
        "$program" "$from" "$to" "$how" "$count" >"$dir/out.$count"
}

# counted NAME RUN: what the program has counted.
counted() { sed -n "s/^$1: //p" "$dir/out.$2"; }

# calls RUN PATTERN [INVERT]: how many calls of the program's own threads match. The threads of a
# device in this process are the device's; a call in two parts is counted once.
calls() {
    grep -v -e 'resumed>' -e '<spfe-device>' "$dir/trace.$1" | grep -c ${3:+"$3"} -E -- "$2"
}

# at_most WHAT COUNT LIMIT SLACK
at_most() {
    printf '%s: %d, at most %d and %d\n' "$1" "$2" "$3" "$4"
    (($2 <= $3 + $4))
}

# Polled: one thread, the one that is traced. A device that has gone to sleep has to be rung for.
polling() {
    local how=${3:-poll} run
    local -a rest=()
    for run in "$short" "$long"; do
        trace "$1" "$2" "$how" "$run" || return
        rest+=($(($(calls "$run" '') - $(counted doorbells "$run"))))
    done
    at_most 'system calls but doorbells' "${rest[1]}" "${rest[0]}" "$slack"
}

# Blocking: a thread for each side. They wait once for each of the packets; a round trip is two.
blocking() {
    local packets=$((2 * long)) sleeps wakes rings run bad=0
    local -a rest=()
    for run in "$short" "$long"; do
        trace "$1" "$2" block "$run" -f --decode-pids=comm || return
        rest+=("$(calls "$run" 'FUTEX_WAIT|FUTEX_WAKE|membarrier\(' -v)")
    done
    sleeps=$(counted sleeps "$long")
    wakes=$(counted wake-ups "$long")
    rings=$(counted doorbells "$long")
    at_most 'wake-ups' "$wakes" "$packets" 0 || bad=1
    # The last wake-ups may be counted after the program has asked.
    at_most 'sleeps' "$sleeps" "$wakes" "$slack" || bad=1
    at_most 'calls that sleep' "$(calls "$long" 'FUTEX_WAIT')" "$sleeps" "$start" || bad=1
    at_most 'calls that wake' "$(calls "$long" 'FUTEX_WAKE')" $((wakes + rings)) "$start" || bad=1
    # Each wait looks once more behind a barrier before it sleeps, and again after a sleep.
    at_most 'barriers' "$(calls "$long" 'membarrier\(')" $((packets + sleeps)) "$start" || bad=1
    at_most 'other calls' "${rest[1]}" "${rest[0]}" "$slack" || bad=1
    return "$bad"
}

# Calls that are made are counted: what is said of a program that polls is not so of one that blocks.
counting_works() {
    ! polling "$1" "$2" block && [[ -s $dir/out.$long ]]
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
