# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Queues that the device does not stop. The driver keeps their memory, and only that; the rest of the
# device goes on. spfe_busy.ko decides which queues these are: contexts 0 and 1 are virtual channel 0.
stuck() { echo "$1" >/sys/module/spfe_busy/parameters/queues; }
usage() { sed -n "s/^$2 //p" "/sys/kernel/debug/spfe/spfe$1/usage"; }
kept() { [ "$(usage 0 kept_clients)" = "$1" ] && [ "$(usage 1 kept_clients)" = "$1" ]; }
holds_memory() { [ "$(usage 0 pinned_pages)" -gt 0 ] && [ "$(usage 0 queues)" = 1 ]; }
state() { grep -qx "$1" /sys/class/spfe/spfe*/state; }
resets() { devlink_ask "pci/$(address 0)" diagnose | sed -n 's/^resets: //p'; }
reset_both() { devlink_ask "pci/$(address 0)" reload && devlink_ask "pci/$(address 1)" reload; }
other_channel() { packets /dev/spfe0:0:1 /dev/spfe1:0:1 count=200; }
# killed: a program ends while its queues do not stop.
killed() {
    traffic && stuck 3 && killall -9 packets && ends 137
}

load_driver 2
check 'the test module loads' insmod /lib/spfe/spfe_busy.ko || exit 1
before=$(resets)
check 'a program with stuck queues ends' killed
check 'its memory is kept' kept 1
check 'its pages stay pinned' holds_memory
check 'the device works' state working
check 'another channel works' other_channel
check 'only the stuck one is kept' kept 1
check 'its channel stays taken' fails works
check 'the kept memory is listed' grep -q ' kept$' /sys/kernel/debug/spfe/spfe0/regions
stuck 0
check 'the driver tries again' within 60 kept 0
check 'the channel is free again' works
check 'this took no reset' test "$(resets)" = "$before"

check 'another program with stuck queues ends' killed
check 'its memory is kept, too' kept 1
check 'a reset succeeds' reset_both
check 'a reset releases kept memory' kept 0
check 'no page is pinned after the reset' no_pins
stuck 0
check 'the channel is free after the reset' works

stuck 3
calls /dev/spfe0 busy || failed=1
check 'nothing is kept of a queue that stopped in time' kept 0

# The interface has the last virtual channel of port 0.
vcs=$(spfe -q info /dev/spfe0 --json | grep -o '"vcs":[0-9]*' | head -n 1)
vcs=${vcs#*:}
check 'the network interface starts' ip link set spfe0 up
stuck $((3 << 2 * (vcs - 1)))
check 'the network interface stops' ip link set spfe0 down
check 'its memory stays allocated' test "$(usage 0 kept_clients)" = 1
stuck 0
check 'it is released' within 60 kept 0
check 'the network interface starts again' ip link set spfe0 up
ip link set spfe0 down

check 'a third program with stuck queues ends' killed
bus=$(address 0)
echo "$bus" >/sys/bus/pci/drivers/spfe/unbind
echo "$bus" >/sys/bus/pci/drivers/spfe/bind
stuck 0
check 'bound again: packets flow' within 60 works

# A failed device that goes on with its DMA although it was told not to: the driver must look.
beats() { echo "$1" >/sys/module/spfe/parameters/heartbeat_ms; }
fails_now() { beats 1 && within 60 grep -q failed /sys/class/spfe/spfe*/state; }
keeps() { cat /sys/kernel/debug/spfe/spfe*/usage | grep -qx "$1"; }
# disobeys 0|1: without resets, the driver cannot repair the device by itself.
disobeys() {
    for what in masters resets; do echo "$1" >"/sys/module/spfe_busy/parameters/$what"; done
}
check 'packets flow' traffic
disobeys 1
check 'the device fails and stays bus master' fails_now
check 'the program gets an error' ends 3
check 'the memory is kept' keeps 'kept_clients 1'
check 'its pages stay pinned' keeps 'pinned_pages [1-9].*'
beats 3000
disobeys 0
check 'a reset brings it back' within 60 reset_both
check 'a reset releases the memory' fails keeps 'kept_clients 1'
check 'packets flow after that' within 60 works
check 'the test module unloads' rmmod spfe_busy
unload_driver
exit "$failed"
