# shellcheck shell=sh disable=SC2016,SC2034,SC2154,SC2317 # sourced; check runs functions
# The network interfaces of two joined devices, each in a network namespace of its own.
#
#   net.sh [SECONDS]      how long iperf3 runs each time
seconds=${1:-1}
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

# stat DEVICE NAME: a counter of `ethtool -S`.
stat_of() {
    if [ "$1" = spfe0 ]; then ethtool -S spfe0; else there ethtool -S "$1"; fi |
        awk -v name="$2:" '$1 == name { print $2 }'
}
# peer DEVICE VERSION: what an interface knows about its far end.
peer() { [ "$(stat_of "$1" peer_version)" = "$2" ]; }
rises() { [ "$(stat_of "$1" "$2")" -gt "$3" ]; }
# bad: how many segments and datagrams either stack has found damaged.
bad() {
    { cat /proc/net/snmp && there cat /proc/net/snmp; } |
        awk '$1 == "Tcp:" && $14 ~ /^[0-9]/ { n += $14 + $16 }
            $1 == "Udp:" && $4 ~ /^[0-9]/ { n += $8 } END { print n + 0 }'
}
# whole: 4 MiB over TCP arrive as they are, and no checksum was wrong.
whole() {
    there sh -c 'nc -l -p 5001 <>/tmp/quiet | sha256sum >/tmp/file.sum' &
    until there netstat -ltn | grep -q :5001; do usleep 100000; done
    nc 10.0.0.2 5001 </tmp/file
    wait $!
    sha256sum </tmp/file | cmp - /tmp/file.sum && [ "$(bad)" = 0 ]
}
# wrong: how many packets with a wrong header the far end has seen.
wrong() { there awk '/spfe1/ { print $7 }' /proc/net/dev; }
# forced WORD: whether the far end understands version 1 only.
forced() { there ethtool --set-priv-flags spfe1 version-1-only "$1"; }

# Input that neither ends nor comes: at its end nc would close the connection.
mkfifo /tmp/quiet
head -c 4194304 /dev/urandom >/tmp/file
check 'network namespace' within 20 apart
check 'interface moves to the namespace' within 10 ip link set spfe1 netns "$far"
ip addr add 10.0.0.1/24 dev spfe0
there ip addr add 10.0.0.2/24 dev spfe1
check 'interface comes up' ip link set spfe0 up
there ip link set spfe1 up
check 'carrier' within 10 carrier 1
check 'ping' reaches
check 'ping of 8000 bytes' reaches -s 8000
check 'both ends find version 2' within 10 peer spfe0 2
check 'and the far end, too' within 10 peer spfe1 2
large=$(stat_of spfe1 rx_large)
check '4 MiB with segmentation by the receiver' whole
check 'in large segments' rises spfe1 rx_large "$large"
check 'mapped, not copied' rises spfe0 tx_mapped 0
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
forced on
check 'a far end of version 1 is found' within 10 peer spfe0 1
seen=$(wrong)
check 'ping of 8000 bytes to version 1' reaches -s 8000
check '4 MiB to version 1' whole
check 'from version 1' rate -R && cat /tmp/check.out
check 'it sees nothing but version 1' [ "$(wrong)" = "$seen" ]
forced off
check 'version 2 returns' within 10 peer spfe0 2
check 'to the far end, too' within 10 peer spfe1 2
check 'other sizes of the rings' ethtool -G spfe0 rx 64 tx 1024
check 'fewer interrupts' ethtool -C spfe0 rx-usecs 50 rx-frames 8
check 'they are shown' sh -c 'ethtool -g spfe0 | grep -q "^TX:.*1024" &&
    ethtool -c spfe0 | grep -q "^rx-frames:.*8"'
check 'wrong sizes are refused' fails ethtool -G spfe0 rx 100
check 'carrier returns' within 10 carrier 1
check 'iperf3, small rings' within 5 rate -R && cat /tmp/check.out
check 'largest MTU' mtu 65500
check 'ping of 60000 bytes' reaches -s 60000
check 'iperf3, largest MTU' within 5 rate && cat /tmp/check.out
check 'MTU of 1500' mtu 1500
check 'iperf3, MTU of 1500' within 5 rate && cat /tmp/check.out
check 'the virtual channel of the interface is busy' \
    fails packets /dev/spfe0:0:7 /dev/spfe1:0:7 count=1
echo 1 >"/sys/bus/pci/devices/$(address 0)/reset"
check 'ping after a reset' reaches
check 'version 2 after a reset' within 10 peer spfe0 2
check '4 MiB after a reset' whole
ethtool -S spfe0 | sed -n 's/^ */# /p'
killall iperf3
check 'counters' awk '/spfe0/ { print "# " $0 }
    /spfe0/ && $2 > 0 && $10 > 0 { found = 1 }
    END { exit !found }' /proc/net/dev
cat /tmp/check.out
check 'no queue was stuck' [ "$(stat_of spfe0 tx_timeouts)$(stat_of spfe0 ring_errors)" = 00 ]
kill "$far"
check 'interface goes down' ip link set spfe0 down
check 'its queues are released' within 10 grep -q '^queues 0' /sys/kernel/debug/spfe/spfe0/usage
unload_driver
exit "$failed"
