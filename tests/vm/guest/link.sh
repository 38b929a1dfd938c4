# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# Link events: user space and the network interface are told that a link went down or came up.
# A failure takes this long.
seconds=${SPFE_LINK_SECONDS:-600}
load_driver 2
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = "$1" ]; }
fired() { awk '$4 == "events" && $5 == 1 && $7 > 0' /sys/kernel/debug/spfe/spfe0/vectors; }
check 'the link is up' within 60 grep -q up /sys/class/spfe/spfe0/port0/state
check 'the interface comes up' ip link set spfe0 up
check 'carrier' within 30 carrier 1
for turn in 1 2 3; do
    check "turn $turn: the driver tells of a link that goes down" link_event spfe0 down "$seconds"
    check "turn $turn: no carrier" within 30 carrier 0
    check "turn $turn: the driver tells of a link that comes up" link_event spfe0 up "$seconds"
    check "turn $turn: carrier" within 30 carrier 1
done
check 'interrupts came' test -n "$(fired)"
ip link set spfe0 down
check 'packets flow' works
unload_driver
exit "$failed"
