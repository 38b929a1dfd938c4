# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# Devices of contract version 1.1: COUNT rises after the interrupt, and there are no link events, no
# page lists of several levels, and no lines.
load_driver 2
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = "$1" ]; }
# waited: a program with new events waits for a packet. Fails if the wait ends without an interrupt.
waits=0
waited() {
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=1 how=wait >/tmp/waited.out || return
    grep -qx 'waits: 0' /tmp/waited.out && return
    waits=$((waits + 1))
    fails grep -qx 'interrupts: 0' /tmp/waited.out
}
waited_often() {
    for run in $(seq 200); do
        waited || { cat /tmp/waited.out && return 1; }
        [ "$waits" -lt 10 ] || return 0
    done
    return 1
}
check 'the devices are of version 1.1' grep -qx '1\.1' /sys/class/spfe/spfe0/contract_version
check 'no first interrupt is lost' waited_often
for memory in user driver; do
    check "$memory memory" packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=500 "memory=$memory" how=wait
done
check 'packets across many pages' packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=100 bytes=60000
calls /dev/spfe0 || failed=1
pairs /dev/spfe0 || failed=1
check 'the interface comes up' ip link set spfe0 up
check 'carrier' within 30 carrier 1
ip link set spfe0 down
unload_driver
exit "$failed"
