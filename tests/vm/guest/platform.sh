# shellcheck shell=sh disable=SC2034,SC2154 # sourced after lib.sh
# The devices as platform devices: packets, killed programs, unloading the driver.
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
check 'packets flow' traffic
killall -9 packets
check 'killed: the program ends' ends 137
check 'killed: the next program works' works
unload_driver
exit "$failed"
