# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Ends a program, a device or the driver under traffic.

refuse_unload() {
    (exec 5<>/dev/spfe0 && ! rmmod spfe)
}

load_driver 2
check 'unload is refused while a file is open' refuse_unload

check 'packets flow' traffic
killall -9 packets
check 'killed: the program ends' ends 137
check 'killed: no page stays pinned' no_pins
check 'killed: the next program works' works

check 'packets flow' traffic
bus=$(address 0)
echo 1 >"/sys/bus/pci/devices/$bus/remove"
check 'removed: the client gets an error' ends 3
check 'removed: the device node is gone' fails test -e /dev/spfe0
echo 1 >/sys/bus/pci/rescan
check 'found again: the device node returns' within 60 test -c /dev/spfe0
check 'found again: packets flow' works

check 'packets flow' traffic
echo "$bus" >/sys/bus/pci/drivers/spfe/unbind
check 'unbound: the client gets an error' ends 3
echo "$bus" >/sys/bus/pci/drivers/spfe/bind
check 'bound again: packets flow' within 60 works

exec 5<>/dev/spfe0
echo "$bus" >/sys/bus/pci/drivers/spfe/unbind
echo "$bus" >/sys/bus/pci/drivers/spfe/bind
check 'bound again with an open file: the device has its name' within 60 test -c /dev/spfe0
exec 5>&-
check 'bound again with an open file: packets flow' within 60 works

check 'packets flow' traffic
echo 1 >"/sys/bus/pci/devices/$bus/reset"
check 'reset: the client gets an error' ends 3
check 'reset: packets flow again' within 60 works

unload_driver
load_driver 2
check 'loaded again: packets flow' works
unload_driver
exit "$failed"
