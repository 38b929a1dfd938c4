# shellcheck shell=sh disable=SC2034 # the scripts use the variables
# Helpers of the scripts in the guest; /init sources it. Results are "ok NAME" and "not ok NAME".
failed=0

# check NAME COMMAND...: reports whether a command succeeds; prints its output if it fails.
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

# within SECONDS COMMAND...: repeats a command until it succeeds, at most for about that long, or
# SPFE_PATIENCE times as long.
within() {
    within_left=$(($1 * 10 * ${SPFE_PATIENCE:-1}))
    shift
    until "$@"; do
        within_left=$((within_left - 1))
        [ $within_left -gt 0 ] || return 1
        usleep 100000
    done
}

# load_driver DEVICES: loads the module and waits for this many devices. With platform=1 they are
# platform devices, which the parameter in shim changes.
load_driver() {
    [ -z "${platform:-}" ] || insmod /lib/spfe/spfe_shim.ko ${shim:+"$shim"} || exit 1
    check 'the driver loads' insmod /lib/spfe/spfe.ko || exit 1
    load_driver_last=$(($1 - 1))
    [ "$1" = 0 ] || check "$1 devices" within 60 test -c "/dev/spfe$load_driver_last" || exit 1
    [ -z "${SPFE_NET:-}" ] || { net_up && check 'the network interfaces send frames' net_sent; }
}

# net_up: keeps the network interfaces of all devices up from now on, with frames on their way, also
# after a device was away. Only the ping of iputils sends to all.
net_up() {
    [ -z "${net_keeper:-}" ] || return 0
    while :; do
        for keep in 0 1; do
            [ -e /sys/class/net/spfe$keep ] || continue
            ip addr add "10.99.$keep.1/24" broadcast "10.99.$keep.255" dev spfe$keep
            ip link set spfe$keep up
            /bin/ping -q -b -c 20 -i 0.05 -w 2 -s 1400 -I spfe$keep "10.99.$keep.255"
        done
        usleep 10000
    done >/dev/null 2>&1 &
    net_keeper=$!
}

# unload_driver: unloads the module and checks that nothing of it is left.
unload_driver() {
    check 'the driver unloads' rmmod spfe || return
    # Without an interface it would only take time from what follows.
    [ -z "${net_keeper:-}" ] || { kill "$net_keeper" && net_keeper=; }
    [ -z "${platform:-}" ] || check 'the platform devices are removed' rmmod spfe_shim
    check 'no device is left' fails test -e /dev/spfe0
    check 'no interrupt is left' fails grep -w spfe /proc/interrupts
    check 'nothing is left in debugfs' fails test -e /sys/kernel/debug/spfe
    check 'no page is pinned' no_pins
    # The debug kernel releases objects up to 4 s late. None may need the module then.
    case $(uname -r) in *-debug) usleep 5000000 ;; esac
}

# net_sent: an interface has sent frames.
# shellcheck disable=SC2016 # for awk
net_sent() { within 30 awk '/spfe/ && $10 > 0 { sent = 1 } END { exit !sent }' /proc/net/dev; }

# no_pins: all pinned pages have been released. The kernel adds up its counters with a delay.
no_pins() { within 10 no_pins_now; }
no_pins_now() {
    awk '/^nr_foll_pin_acquired/ { n += $2 }
        /^nr_foll_pin_released/ { n -= $2 }
        END { exit n != 0 }' /proc/vmstat
}

# address N: prints the PCI address of device N.
address() { basename "$(readlink -f "/sys/class/spfe/spfe$1/device")"; }

# traffic: sends packets in the background without end. Returns once they flow.
traffic() {
    # Of earlier traffic.
    rm -f /tmp/traffic.code /tmp/traffic.out
    {
        packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=0 >/tmp/traffic.out 2>&1
        echo $? >/tmp/traffic.code
    } &
    within 60 grep -q sending /tmp/traffic.out
}

# works: sends some packets and checks that they arrive.
works() { packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=200; }

# ends CODE: waits for the end of the traffic and checks its exit code.
ends() {
    within 60 test -s /tmp/traffic.code
    cat /tmp/traffic.out /tmp/traffic.code
    [ "$(cat /tmp/traffic.code)" = "$1" ]
}

# slot N: removes device N from the bus and scans again, as if it had been plugged in.
slot() {
    echo 1 >"/sys/bus/pci/devices/$(address "$1")/remove"
    fails test -e "/dev/spfe$1"
    echo 1 >/sys/bus/pci/rescan
    within 60 test -c "/dev/spfe$1"
}
