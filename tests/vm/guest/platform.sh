# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# The devices as platform devices: packets, killed programs, failures, unloading the driver.
platform=1
load_driver 2
device=/sys/class/spfe/spfe0/device
check 'they are platform devices' sh -c "readlink -f $device | grep -q '/spfe\.[0-9]'"
[ ! -d /proc/device-tree ] ||
    check 'they come from the device tree' \
        grep -q '^OF_COMPATIBLE_0=spfe,endpoint' "$device/uevent"
for memory in user driver; do
    for how in poll wait; do
        check "$memory memory, $how" packets /dev/spfe0:0:0 /dev/spfe1:0:0 \
            count=500 "memory=$memory" "how=$how"
    done
done
# With few interrupts, more calls meet their limits.
calls /dev/spfe0 || failed=1
pairs /dev/spfe0 || failed=1
check 'packets flow' traffic
killall -9 packets
check 'killed: the program ends' ends 137
check 'killed: the next program works' works

# Nothing can block the DMA of such a device, so its memory must outlive the program.
beats() { echo "$1" >/sys/module/spfe/parameters/heartbeat_ms; }
fails_now() { beats 1 && within 60 grep -q failed /sys/class/spfe/spfe*/state; }
# The program ends when the first of its two devices fails, so the other one may let go in time.
usage() { grep -qhx "$1" /sys/kernel/debug/spfe/spfe*/usage; }
reset_both() {
    devlink_ask "platform/$(address 0)" reload && devlink_ask "platform/$(address 1)" reload
}
check 'the test module loads' insmod /lib/spfe/spfe_busy.ko resets=1
check 'packets flow' traffic
check 'the device fails' fails_now
check 'failed: the client gets an error' ends 3
check 'failed: the memory is kept' usage 'kept_clients 1'
check 'failed: its pages stay pinned' usage 'pinned_pages [1-9].*'
beats 3000
rmmod spfe_busy
check 'a reset succeeds' within 60 reset_both
check 'a reset releases the memory' fails usage 'kept_clients 1'
check 'reset: packets flow' works
unload_driver
exit "$failed"
