# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Costs of the driver. System calls: none per packet while a program polls, one per wake-up.
# Interrupts: at most one for each end of a group. Copies: none, because the device uses the pages
# of the program.

# calls HOW COUNT: prints the system calls of a run with this many packets.
calls() {
    strace -f -qq -o /tmp/trace packets /dev/spfe0:0:0 /dev/spfe1:0:0 \
        "how=$1" "count=$2" >/tmp/traced || return
    wc -l </tmp/trace
}
counted() { sed -n "s/^$1: //p" /tmp/traced; }

polls() {
    few=$(calls poll 100) && many=$(calls poll 3100) || return
    echo "100 packets: $few system calls, 3100 packets: $many"
    [ "$((many - few))" -le 8 ]
}
# blocked PROCESS: it sleeps in the WAIT call of the driver.
blocked() { grep -qs spfe_event_wait "/proc/$1/stack"; }
# A receiver that has to wait: the sender starts when the receiver sleeps.
waits() {
    strace -f -qq -o /tmp/trace packets - /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced &
    receiver=$!
    within 60 receiver_blocks || return
    packets /dev/spfe0:0:0 - count=1000 >/tmp/sent || return
    wait "$receiver" || return
    wc -l </tmp/trace >/tmp/all
    slept=$(grep -c 'ioctl(.*0x9' /tmp/trace)
    waits=$(counted waits) all=$(cat /tmp/all)
    echo "$slept WAIT calls, $waits counted, woken $(counted interrupts) times, $all calls in all"
    # Each wait is one call. Only starting and stopping may make further calls.
    [ "$waits" -gt 0 ] && [ "$(grep -c ioctl /tmp/trace)" -le $((waits + 32)) ] &&
        [ "$all" -le $((2 * waits + 120)) ]
}
receiver_blocks() {
    for process in $(pidof packets); do
        if blocked "$process"; then return 0; fi
    done
    return 1
}
# The same with the library: `spfe perf` for a short and for a longer time. The difference is the
# cost of the packets. Two calls do not count: reading the clock, which is no call where the kernel
# trusts the processor's clock, and yielding the processor while nothing arrives for 1 ms.
library() {
    strace -f -qq --seccomp-bpf -e 'trace=!clock_gettime,sched_yield' -o /tmp/trace \
        spfe -q perf rate --wait "$1" --seconds "$2" --group 1 --size-min 64 --size-max 64 --json \
        --ends /dev/spfe0,/dev/spfe1 >/tmp/traced || return
    # One object on one line, with one result.
    sed -n 's/.*"packets_per_s":\([0-9.]*\).*/\1/p' /tmp/traced |
        awk -v seconds="$2" '{ printf "%d ", $1 * seconds }'
    # strace splits a call into two lines when another thread interrupts it.
    grep -v resumed /tmp/trace |
        awk '/ioctl\(.*0xbb, 0x9/ { waits++; next } { others++ } END { print waits + 0, others }'
}
# grows HOW: runs both and sets packets, waits and others to the difference. If few packets pass, on
# a slow machine, it repeats the longer run with more time.
grows() {
    few=$(library "$1" 0.5) || return
    for seconds in 3 12 48; do
        many=$(library "$1" "$seconds") || return
        # shellcheck disable=SC2086 # words
        set -- "$1" $many $few
        packets=$(($2 - $5)) waits=$(($3 - $6)) others=$(($4 - $7))
        echo "$packets more packets: $waits more waits, $others more other system calls"
        [ "$packets" -lt 500 ] || return 0
    done
    return 1
}
# Each queue reads the device's clock once a second, and the two ends exchange their progress.
few_others() { [ "$others" -le $((32 + 8 * seconds)) ]; }
library_polls() { grows poll && few_others && [ "$waits" -le $((16 + seconds)) ]; }
library_waits() {
    grows block && few_others && [ "$waits" -gt 0 ] && [ "$waits" -le $((3 * packets)) ]
}
# Groups of 8 packets. The sender waits for the last packet of a group, the receiver for the first.
interrupts() {
    groups=$((1000 / 8))
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced || return
    echo "$groups groups: $(counted interrupts) wake-ups on both ends"
    [ "$(counted packets)" = 1000 ] && [ "$(counted interrupts)" -le $((2 * groups + 16)) ]
}

load_driver 2
# checked NAME COMMAND...: a check that prints its figures.
checked() { check "$@" && sed 's/^/# /' /tmp/check.out; }
check 'no system call per packet while polling' polls
check 'one system call per wake-up' waits
checked 'library: no system call per packet while polling' library_polls
checked 'library: one system call per wake-up' library_waits
checked 'at most one interrupt per end of a group' interrupts
checked 'the device uses the pages of the program' \
    zero_copy /dev/spfe0 /sys/kernel/debug/spfe/spfe0/pages
unload_driver
exit "$failed"
