# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# What ends a user, a device or the driver while packets are under way.

refuse_unload() {
    (exec 5<>/dev/spfe0 && ! rmmod spfe)
}

load_driver 2
check 'unload is refused while a file is open' refuse_unload

check 'packets flow' traffic
killall -9 packets
check 'killed: it ends' ends 137
check 'killed: no page stays pinned' no_pins
check 'killed: the next one works' works

check 'packets flow' traffic
bus=$(address 0)
echo 1 >"/sys/bus/pci/devices/$bus/remove"
check 'removed: its user is told' ends 3
check 'removed: no device' fails test -e /dev/spfe0
echo 1 >/sys/bus/pci/rescan
check 'found again' within 60 test -c /dev/spfe0
check 'found again: packets' works

check 'packets flow' traffic
echo "$bus" >/sys/bus/pci/drivers/spfe/unbind
check 'unbound: its user is told' ends 3
echo "$bus" >/sys/bus/pci/drivers/spfe/bind
check 'bound again: packets' within 60 works

check 'packets flow' traffic
echo 1 >"/sys/bus/pci/devices/$bus/reset"
check 'reset: its user is told' ends 3
check 'reset: packets' within 60 works

unload_driver
load_driver 2
check 'loaded again: packets' works
unload_driver
exit "$failed"
