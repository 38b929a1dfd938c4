# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# Interrupt lines, which are level-sensitive: the kernel has no message-signalled interrupts.
moves() {
    check "$1: packets flow" traffic
    grep spfe /proc/interrupts >/tmp/interrupts
    killall -9 packets
    check "$1: the program ends" ends 137
    for how in poll wait; do
        check "$1: $how" packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=1000 "how=$how"
    done
    cat /tmp/check.out
    check "$1: interrupts come" fails grep -qx 'interrupts: 0' /tmp/check.out
    check "$1: they are level-sensitive" grep -q 'fasteoi.*spfe' /tmp/interrupts
    # An interrupt that nobody acknowledges would keep the machine busy from then on.
    check "$1: calls" calls /dev/spfe0
    check "$1: calls of queue pairs" pairs /dev/spfe0
}
load_driver 2
moves 'PCI'
unload_driver
platform=1
shim='lines=1'
load_driver 2
moves 'platform'
unload_driver
exit "$failed"
