# shellcheck shell=sh disable=SC2034 # for those who source it
# What the scripts in the guest share; sourced by /init. Results are "ok NAME" and "not ok NAME".
failed=0

# check NAME COMMAND...: reports whether a command succeeds; else what it has said.
check() {
    check_name=$1
    shift
    if "$@" >/tmp/check.out 2>&1; then
        echo "ok $check_name"
    else
        echo "# exit code $?: $*"
        tail -n 25 /tmp/check.out | sed 's/^/# /'
        echo "not ok $check_name"
        failed=1
        return 1
    fi
}

# skip NAME REASON
skip() { echo "ok $1 # SKIP $2"; }

# fails COMMAND...: succeeds if the command does not.
fails() { ! "$@"; }

# within SECONDS COMMAND...: tries a command until it succeeds.
within() {
    within_left=$(($1 * 10))
    shift
    until "$@"; do
        within_left=$((within_left - 1))
        [ $within_left -gt 0 ] || return 1
        usleep 100000
    done
}

# load_driver DEVICES: loads the module, and there are this many devices. With platform=1 they are platform
# devices.
load_driver() {
    [ -z "${platform:-}" ] || insmod /lib/spfe/spfe_shim.ko || exit 1
    check 'the driver loads' insmod /lib/spfe/spfe.ko || exit 1
    load_driver_last=$(($1 - 1))
    [ "$1" = 0 ] || check "$1 devices" within 60 test -c "/dev/spfe$load_driver_last" || exit 1
}

# unload_driver: unloads it; nothing of it is left.
unload_driver() {
    check 'the driver is unloaded' rmmod spfe || return
    [ -z "${platform:-}" ] || check 'the platform devices are taken away' rmmod spfe_shim
    check 'no device is left' fails test -e /dev/spfe0
    check 'no interrupt is left' fails grep -w spfe /proc/interrupts
    check 'nothing is left in debugfs' fails test -e /sys/kernel/debug/spfe
    check 'no page is pinned' no_pins
}

# no_pins: as many pages were released as were pinned. The counters are summed up now and then.
no_pins() { within 10 no_pins_now; }
no_pins_now() {
    awk '/^nr_foll_pin_acquired/ { n += $2 } /^nr_foll_pin_released/ { n -= $2 } END { exit n != 0 }' /proc/vmstat
}

# address N: where device N is on the PCI bus.
address() { basename "$(readlink -f "/sys/class/spfe/spfe$1/device" || readlink -f "/sys/class/misc/spfe$1/device")"; }

# traffic: packets in the background, without end; they are flowing when it returns.
traffic() {
    rm -f /tmp/traffic.code
    {
        packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=0 >/tmp/traffic.out 2>&1
        echo $? >/tmp/traffic.code
    } &
    within 60 grep -q sending /tmp/traffic.out
}

# works: some packets come through.
works() { packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=200; }

# ends CODE: the traffic ends by itself, with this exit code.
ends() {
    within 60 test -s /tmp/traffic.code
    cat /tmp/traffic.out /tmp/traffic.code
    [ "$(cat /tmp/traffic.code)" = "$1" ]
}

# slot N: device N is taken off the bus and looked for again, as if it had been put in anew.
slot() {
    echo 1 >"/sys/bus/pci/devices/$(address "$1")/remove"
    fails test -e "/dev/spfe$1"
    echo 1 >/sys/bus/pci/rescan
    within 60 test -c "/dev/spfe$1"
}
