#!/usr/bin/env bats
# System calls of the data path, counted with strace. A program that polls makes none per packet. A
# program whose waits spin makes none while packets arrive; it yields its core when nothing has
# arrived for 2 us, or sooner while the other end needs that core. A program that blocks makes one call to
# sleep, one fence before it and one to wake the other side.
#
# The counts do not depend on speed. Only the calls between the first two lines that the program
# prints count: opening and closing queues may wait for the device, and before the first line the
# program sends the packets for which the engine maps memory. Where the count must be zero, a few
# calls are allowed, for example when the C library allocates memory. How often threads sleep differs
# between runs, so a blocking run is compared with what the library itself counted in that run: sleeps,
# wake-ups and doorbells. From its other calls the test subtracts those of a run a tenth as long, which
# are the cost of the threads.
#
# The program is crates/spfe/examples/round_trip.rs.

load lib/common

spfed=$SPFE_PROGRAMS/spfed
program=$SPFE_PROGRAMS/examples/round_trip
short=300 long=3000
# Calls that are no cost of the packets: in a run, or by which two equal runs differ.
slack=12
# Calls of one kind that starting and stopping may take.
overhead=60
# A doorbell of the daemon's device: a write to the client's eventfd.
ring='write\([0-9]+(<[^>]*>)?, "\\1\\0'

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    if ! strace -qq -o "$dir/probe" true 2>/dev/null; then
        unavailable 'strace is not installed or may not trace'
        return
    fi
    built "$spfed"
    [[ $SPFE_PROGRAMS != */release ]] || cargo build --quiet --release -p spfe --example round_trip
}

setup() { skip_if_unavailable; }
teardown_file() { stop_all; }

# trace FROM TO MODE ROUND_TRIPS STRACE_OPTION...: runs the program. Its system calls go to
# trace.ROUND_TRIPS, what the library counted to out.ROUND_TRIPS.
trace() {
    local from=$1 to=$2 mode=$3 count=$4
    shift 4
    timeout --kill-after=5 120 strace -qq "$@" -o "$dir/trace.$count" \
        "$program" "$from" "$to" "$mode" "$count" >"$dir/out.$count"
}

# counted NAME RUN: a figure that the library counted.
counted() { sed -n "s/^$1: //p" "$dir/out.$2"; }

# calls RUN PATTERN [-v]: how many calls of the program's own threads match (-v: do not match), of
# those between the first two lines that it prints. The threads of a device in the same process do
# not count. A call that strace shows in two parts counts once.
calls() {
    awk '/write\(1(<[^>]*>)?, / { lines++; next } lines == 1' "$dir/trace.$1" |
        grep -v -e 'resumed>' -e '<spfe-device>' | grep -c ${3:+"$3"} -E -- "$2" || true
}

# at_most NAME COUNT LIMIT SLACK
at_most() {
    printf '%s: %d, at most %d and %d\n' "$1" "$2" "$3" "$4"
    (($2 <= $3 + $4))
}

# polling FROM TO [MODE]: one thread, which strace follows. A device that sleeps needs a doorbell,
# so doorbells do not count.
polling() {
    trace "$1" "$2" "${3:-poll}" "$long"
    at_most 'system calls except doorbells' \
        $(($(calls "$long" '') - $(counted doorbells "$long"))) 0 "$slack"
}

# spinning FROM TO: one thread, whose waits spin. The library counts when it yields. Everything else
# is as for polling.
spinning() {
    trace "$1" "$2" spin "$long"
    at_most 'calls except doorbells and yields' \
        $(($(calls "$long" '') - $(counted doorbells "$long") - $(counted yields "$long"))) 0 "$slack"
}

# blocking FROM TO: a thread for each side. Each waits once for each packet, and a round trip is two
# packets.
blocking() {
    local packets=$((2 * long)) sleeps wakes doorbells run
    local -a rest=()
    for run in "$short" "$long"; do
        trace "$1" "$2" block "$run" -f --decode-pids=comm
        rest+=("$(calls "$run" "FUTEX_WAIT|FUTEX_WAKE|membarrier\\(|$ring" -v)")
    done
    sleeps=$(counted sleeps "$long")
    wakes=$(counted wake-ups "$long")
    doorbells=$(counted doorbells "$long")
    at_most 'wake-ups' "$wakes" "$packets" 0
    # The library may count the last wake-ups after the program has read the counter.
    at_most 'sleeps' "$sleeps" "$wakes" "$slack"
    at_most 'calls that sleep' "$(calls "$long" 'FUTEX_WAIT')" "$sleeps" "$overhead"
    at_most 'calls that wake' "$(calls "$long" "FUTEX_WAKE|$ring")" $((wakes + doorbells)) \
        "$overhead"
    # Each wait polls once more after a fence before it sleeps, and once after each sleep.
    at_most 'fences' "$(calls "$long" 'membarrier\(')" $((packets + sleeps)) "$overhead"
    at_most 'other calls' "${rest[1]}" "${rest[0]}" "$slack"
}

# daemon MODE: starts spfed.
daemon() {
    [[ ! -e $dir/spfed.pid ]] || stop spfed
    start spfed "$spfed" --listen "$dir/sock" --mode "$1"
    wait_until listens "$dir/sock"
}

# The method works: applied to a program that blocks, it finds calls.
@test "a blocking program fails the polling check" {
    fails polling virtual:lab/0 virtual:lab/1 block
    [[ -s $dir/out.$long ]]
}

@test "embedded, inline: no system call per polled packet" {
    polling 'virtual:lab/0?mode=inline' 'virtual:lab/1?mode=inline'
}

# The thread itself moves the packets, so it never waits for another one.
@test "embedded, inline: no system call per packet of waits that spin" {
    spinning 'virtual:lab/0?mode=inline' 'virtual:lab/1?mode=inline'
    [[ $(counted yields "$long") -eq 0 ]]
}

@test "embedded, inline: at most one wake-up per awaited packet" {
    blocking 'virtual:lab/0?mode=inline' 'virtual:lab/1?mode=inline'
}

@test "embedded, coop: no system call per polled packet" {
    polling 'virtual:lab/0?mode=coop' 'virtual:lab/1?mode=coop'
}

@test "embedded, coop: at most one wake-up per awaited packet" {
    blocking 'virtual:lab/0?mode=coop' 'virtual:lab/1?mode=coop'
}

@test "embedded, thread: no system call per polled packet" {
    polling 'virtual:lab/0?mode=thread' 'virtual:lab/1?mode=thread'
}

@test "embedded, thread: waits that spin only yield" {
    spinning 'virtual:lab/0?mode=thread' 'virtual:lab/1?mode=thread'
}

# The device's thread has no other core: a wait that goes on spinning keeps every packet waiting.
@test "embedded, thread: waits on the device's core yield for every packet" {
    local core
    core=$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')
    taskset -c "$core" "$program" 'virtual:lab/0?mode=thread' 'virtual:lab/1?mode=thread' \
        spin "$long" >"$dir/out.$long"
    (($(counted yields "$long") >= long))
}

@test "embedded, thread: at most one wake-up per awaited packet" {
    blocking 'virtual:lab/0?mode=thread' 'virtual:lab/1?mode=thread'
}

@test "daemon, thread: no system call per polled packet" {
    daemon thread
    polling "unix:$dir/sock/0" "unix:$dir/sock/1"
}

@test "daemon, thread: waits that spin only yield" {
    spinning "unix:$dir/sock/0" "unix:$dir/sock/1"
}

@test "daemon, thread: at most one wake-up per awaited packet" {
    blocking "unix:$dir/sock/0" "unix:$dir/sock/1"
}

@test "daemon, inline: no system call per polled packet" {
    daemon inline
    polling "unix:$dir/sock/0" "unix:$dir/sock/1"
}

@test "daemon, inline: at most one wake-up per awaited packet" {
    blocking "unix:$dir/sock/0" "unix:$dir/sock/1"
}
