# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# What a program on the driver costs. System calls: none for a packet while it polls, one for a wake-up.
# Interrupts: one for each end of a group at most. Copies: none, the device has the pages of the program.

# calls HOW COUNT: how many calls this many packets take from the first to the last; their counts.
calls() {
    strace -f -qq -o /tmp/trace packets /dev/spfe0:0:0 /dev/spfe1:0:0 "how=$1" "count=$2" >/tmp/traced || return
    wc -l </tmp/trace
}
counted() { sed -n "s/^$1: //p" /tmp/traced; }

polls() {
    few=$(calls poll 100) && many=$(calls poll 3100) || return
    echo "100 packets: $few system calls, 3100 packets: $many"
    [ "$((many - few))" -le 8 ]
}
# A receiver that has to wait: nothing is sent before it sleeps.
waits() {
    strace -f -qq -o /tmp/trace packets - /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced &
    receiver=$!
    sleep 3
    packets /dev/spfe0:0:0 - count=1000 >/tmp/sent || return
    wait "$receiver" || return
    wc -l </tmp/trace >/tmp/all
    slept=$(grep -c 'ioctl(.*0x9' /tmp/trace)
    echo "$slept calls to wait, counted: $(counted waits); woken $(counted interrupts) times; $(cat /tmp/all) calls"
    # Every wait is one call, and what is neither a wait nor before or after the packets is none.
    [ "$(counted waits)" -gt 0 ] && [ "$(grep -c ioctl /tmp/trace)" -le $(($(counted waits) + 32)) ] &&
        [ "$(cat /tmp/all)" -le $((2 * $(counted waits) + 120)) ]
}
# The same with the library, as any program would use it: `spfe perf` for a short and for a longer time. What both
# have in common is the way there and back, the rest is the packets. Two calls are left out: reading the clock, which
# is none where the kernel trusts the clock of the processor, and giving way to others while nothing comes for 1 ms.
library() {
    strace -f -qq --seccomp-bpf -e 'trace=!clock_gettime,sched_yield' -o /tmp/trace spfe -q perf rate --wait "$1" \
        --seconds "$2" --group 1 --size-min 64 --size-max 64 --json --ends /dev/spfe0,/dev/spfe1 >/tmp/traced || return
    awk -F '[:,]' -v seconds="$2" '/"packets_per_s"/ { printf "%d ", $2 * seconds }' /tmp/traced
    # A call that another thread interrupts is on two lines.
    grep -v resumed /tmp/trace | awk '/ioctl\(.*0xbb, 0x9/ { waits++; next } { others++ } END { print waits + 0, others }'
}
# grows HOW: runs both; sets packets, waits and others to what the longer one has more. A slow machine takes longer.
grows() {
    few=$(library "$1" 0.5) || return
    for seconds in 3 12 48; do
        many=$(library "$1" "$seconds") || return
        # shellcheck disable=SC2086 # words
        set -- "$1" $many $few
        packets=$(($2 - $5)) waits=$(($3 - $6)) others=$(($4 - $7))
        echo "$packets packets more: $waits waits and $others other system calls more"
        [ "$packets" -lt 500 ] || return 0
    done
    return 1
}
# The clock of the device is read once a second and queue; the ends ask each other how it goes.
few_others() { [ "$others" -le $((32 + 8 * seconds)) ]; }
library_polls() { grows poll && few_others && [ "$waits" -le $((16 + seconds)) ]; }
library_waits() { grows block && few_others && [ "$waits" -gt 0 ] && [ "$waits" -le $((3 * packets)) ]; }
# Groups of 8 packets; who sends one waits for its end, and who receives for its first.
interrupts() {
    groups=$((1000 / 8))
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 how=wait count=1000 >/tmp/traced || return
    echo "$groups groups: woken $(counted interrupts) times, of both ends"
    [ "$(counted packets)" = 1000 ] && [ "$(counted interrupts)" -le $((2 * groups + 16)) ]
}

load_driver 2
check 'no system call for a packet while polling' polls
check 'one system call for a wake-up' waits
check 'the library: no system call for a packet while polling' library_polls && sed 's/^/# /' /tmp/check.out
check 'the library: one system call for a wake-up' library_waits && sed 's/^/# /' /tmp/check.out
check 'no more interrupts than ends of groups' interrupts && sed 's/^/# /' /tmp/check.out
check 'the device is given the pages of the program' \
    zero_copy /dev/spfe0 /sys/kernel/debug/spfe/spfe0/pages && sed 's/^/# /' /tmp/check.out
unload_driver
exit "$failed"
