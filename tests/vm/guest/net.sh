# shellcheck shell=sh disable=SC2016,SC2034,SC2154,SC2317 # sourced; check runs functions
# The network interfaces of two joined devices, each in a network namespace of its own.
#
#   net.sh [SECONDS]      how long iperf3 runs each time
seconds=${1:-2}
load_driver 2

unshare -n sleep 100000 &
far=$!
apart() { [ "$(readlink "/proc/$far/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
# reaches WORD...: one of ten pings gets a reply.
reaches() {
    for try in 1 2 3 4 5 6 7 8 9 10; do
        ping -c 1 -W 2 "$@" 10.0.0.2 && return
    done
    return 1
}
there() { nsenter -t "$far" -n "$@"; }
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = "$1" ]; }
rate() {
    iperf3 -J -c 10.0.0.2 -t "$seconds" "$@" >/tmp/iperf.out || return
    awk '/"sum_received"/ { found = 1 }
        found && /bits_per_second/ { printf "# tcp: %.0f Mbit/s\n", $2 / 1e6; exit }' /tmp/iperf.out
}
mtu() {
    ip link set spfe0 mtu "$1" && there ip link set spfe1 mtu "$1" && within 10 carrier 1
}

check 'network namespace' within 20 apart
check 'interface moves to the namespace' within 10 ip link set spfe1 netns "$far"
ip addr add 10.0.0.1/24 dev spfe0
there ip addr add 10.0.0.2/24 dev spfe1
check 'interface comes up' ip link set spfe0 up
there ip link set spfe1 up
check 'carrier' within 10 carrier 1
check 'ping' reaches
check 'ping of 8000 bytes' reaches -s 8000
# Without the search for duplicates, the addresses can be used at once.
echo 0 >/proc/sys/net/ipv6/conf/spfe0/accept_dad
there sh -c 'echo 0 >/proc/sys/net/ipv6/conf/spfe1/accept_dad'
ip addr add fd00::1/64 dev spfe0
there ip addr add fd00::2/64 dev spfe1
{
    there udp_zero receive
    echo $? >/tmp/udp.code
} &
udp_arrived() {
    udp_zero send fd00::1 fd00::2
    [ "$(cat /tmp/udp.code)" = 0 ]
}
check 'a datagram whose checksum is 0' within 3 udp_arrived
there iperf3 -s -D
check 'iperf3' within 5 rate && cat /tmp/check.out
check 'iperf3 in the other direction' rate -R && cat /tmp/check.out
check 'largest MTU' mtu 65500
check 'ping of 60000 bytes' reaches -s 60000
check 'iperf3, largest MTU' within 5 rate && cat /tmp/check.out
check 'MTU of 1500' mtu 1500
check 'iperf3, MTU of 1500' within 5 rate && cat /tmp/check.out
check 'the virtual channel of the interface is busy' \
    fails packets /dev/spfe0:0:7 /dev/spfe1:0:7 count=1
echo 1 >"/sys/bus/pci/devices/$(address 0)/reset"
check 'ping after a reset' reaches
killall iperf3
kill "$far"
check 'counters' awk '/spfe0/ { print "# " $0 }
    /spfe0/ && $2 > 0 && $10 > 0 { found = 1 }
    END { exit !found }' /proc/net/dev
cat /tmp/check.out
check 'interface goes down' ip link set spfe0 down
check 'its queues are released' within 10 grep -q '^queues 0' /sys/kernel/debug/spfe/spfe0/usage
unload_driver
exit "$failed"
