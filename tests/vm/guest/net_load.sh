# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Changes of the MTU and of the sizes of the rings, and resets of the device, while iperf3 sends in
# both directions. A poll that runs while the interface is stopped must not restart its queue.
#
#   net_load.sh COUNT      changes of MTU and rings; there is a reset for each ten of them
count=$1
load_driver 2

unshare -n sleep 100000 &
far=$!
there() { nsenter -t "$far" -n "$@"; }
apart() { [ "$(readlink "/proc/$far/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
reaches() { within 60 ping -c 1 -W 2 10.0.0.2; }
# load: iperf3 in both directions, unless it runs. A reset of the device may end its connections.
load() {
    pidof iperf3 >/dev/null && grep -q connected /tmp/iperf && return
    killall -q iperf3
    there iperf3 -s -D
    iperf3 -c 10.0.0.2 --bidir -P 4 -t 3600 --forceflush >/tmp/iperf 2>&1 &
    within 30 grep -q connected /tmp/iperf || { cat /tmp/iperf && return 1; }
}
# received: prints how many frames the interface has received.
received() { cat "/sys/class/net/spfe0/statistics/rx_packets"; }
more_received() { [ "$(received)" -gt "$1" ]; }

change_mtu() {
    changed=0
    while [ "$changed" -lt "$count" ]; do
        for mtu in 1500 9000 65500; do
            ip link set spfe0 mtu "$mtu" || return
            there ip link set spfe1 mtu "$mtu" || return
            # Another size: the rings are created again.
            ethtool -G spfe0 rx $((64 << changed % 3)) tx $((128 << changed % 3)) || return
            there ethtool -G spfe1 rx $((128 << changed % 2)) || return
            changed=$((changed + 1))
        done
    done
}
reset_device() {
    for try in $(seq $((count / 10))); do
        echo 1 >"/sys/bus/pci/devices/$(address 0)/reset" || return
        echo "reset $try"
        reaches && load || return
    done
}

check 'network namespace' within 20 apart
check 'interface moves to the namespace' within 10 ip link set spfe1 netns "$far"
ip addr add 10.0.0.1/24 dev spfe0
there ip addr add 10.0.0.2/24 dev spfe1
ip link set spfe0 up
there ip link set spfe1 up
check 'ping' reaches
check 'traffic in both directions' load || exit 1
check "$count changes of MTU and rings under traffic" change_mtu
check 'ping after the changes' reaches
before=$(received)
check 'traffic goes on' within 60 more_received "$before"
check 'resets under traffic' reset_device
check 'ping after the resets' reaches
killall iperf3
kill "$far"
ip link set spfe0 down
unload_driver
exit "$failed"
