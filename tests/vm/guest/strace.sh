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
    [ "$((many - few))" -le 300 ]
}
# blocked PROCESS: it sleeps in the WAIT call of the driver.
blocked() { grep -qs spfe_event_wait "/proc/$1/stack"; }
# A receiver that has to wait: the sender starts when the receiver sleeps.
waits() {
    strace -f -qq -o /tmp/trace packets - /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced &
    receiver=$!
    within 60 blocks packets || return
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
# blocks NAME: a thread of a program with this name does.
blocks() {
    for process in $(pidof "$1"); do
        for thread in "/proc/$process/task"/*; do
            if blocked "${thread##*/}"; then return 0; fi
        done
    done
    return 1
}
# The same with the library: `spfe perf` for few and for many packets. The difference is the cost of
# the packets. Some calls depend on how long a run takes, which on a busy machine is any time, and do
# not count: reading a clock (of the processor, where the kernel does not trust it, and of the device,
# once a second), yielding the processor while nothing arrives for 1 ms, and the relative sleeps in
# which perf waits for the end of its far end. The library itself sleeps until a time.
library() {
    # shellcheck disable=SC2086 # words
    strace -f -qq --seccomp-bpf -e 'trace=!clock_gettime,sched_yield' -o /tmp/trace \
        spfe -q perf $1 "$2" --size-min 64 --size-max 64 --ends /dev/spfe0,/dev/spfe1 \
        >/tmp/traced || return
    # strace splits a call into two lines when another thread interrupts it.
    grep -v resumed /tmp/trace |
        awk '/ioctl\(.*0xbb, 0x1,/ || /clock_nanosleep\(CLOCK_REALTIME, 0,/ { next }
            /ioctl\(.*0xbb, 0x9,/ { waits++; next }
            { others++ }
            END { print waits + 0, others }'
}
# grows "WORD...": sets waits and others to what 1000 more packets cost in this measurement.
grows() {
    few=$(library "$1" 100) && many=$(library "$1" 1100) || return
    # shellcheck disable=SC2086 # words
    set -- $many $few
    waits=$(($1 - $3)) others=$(($2 - $4))
    echo "1000 more packets: $waits more waits, $others more other system calls"
    # Threads, memory and what depends on time differ from run to run, on a slow machine by dozens.
    [ "$others" -le 250 ] && return
    echo "calls of the run with 1100 packets:"
    sed -E 's/^[0-9]+ +//; s/\(.*//' /tmp/trace | sort | uniq -c | sort -rn | head -n 12
    return 1
}
library_polls() { grows 'rate --wait poll --group 1 --packets' && [ "$waits" -le 250 ]; }
# How often the ends of a stream have to wait is up to the scheduler; it may be never. A receiver to
# which nobody has sent anything must wait.
library_waits() {
    grows 'rate --wait block --group 1 --packets' && [ "$waits" -le 3000 ] && library_sleeps
}
library_sleeps() {
    strace -f -qq --seccomp-bpf -e trace=ioctl -o /tmp/trace \
        spfe -q recv /dev/spfe1 /tmp/received >/tmp/traced 2>&1 &
    receiver=$!
    within 60 blocks spfe || return
    # On a kernel with all detectors an answer may take longer than the 30 s that are the default.
    spfe -q send --deadline 600s /dev/spfe0 /etc/passwd && wait "$receiver" || return
    cmp /etc/passwd /tmp/received && grep -q 'ioctl(.*0xbb, 0x9,' /tmp/trace
}
# Groups of 8 packets. The sender waits for the last packet of a group, the receiver for the first.
interrupts() {
    groups=$((1000 / 8))
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced || return
    echo "$groups groups: $(counted interrupts) wake-ups on both ends"
    most=$((2 * groups + 16))
    # A simulated core is slower than the program, which waits for each packet of a group then.
    [ "${SPFE_DEVICE:-}" != rtl ] || most=2000
    [ "$(counted packets)" = 1000 ] && [ "$(counted interrupts)" -le "$most" ]
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
