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
check 'no more interrupts than ends of groups' interrupts && sed 's/^/# /' /tmp/check.out
check 'the device is given the pages of the program' \
    zero_copy /dev/spfe0 /sys/kernel/debug/spfe/spfe0/pages && sed 's/^/# /' /tmp/check.out
unload_driver
exit "$failed"
