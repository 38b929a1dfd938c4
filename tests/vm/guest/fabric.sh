# shellcheck shell=sh disable=SC2016,SC2034,SC2154,SC2317 # sourced; check runs functions
# The network interfaces of three nodes of a fabric, each in a network namespace of its own.
#
#   fabric.sh [SECONDS]      how long iperf3 runs
load_driver 3

node1=$$
for node in 2 3; do
    unshare -n sleep 100000 &
    eval "node$node=$!"
done
# on NODE WORD...: runs a command on a node.
on() {
    eval "on_space=\$node$1"
    shift
    nsenter -t "$on_space" -n "$@"
}
apart() {
    [ "$(readlink "/proc/$node3/ns/net")" != "$(readlink /proc/self/ns/net)" ] &&
        [ "$(readlink "/proc/$node2/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}
# reaches NODE OTHER WORD...: one of ten pings gets a reply.
reaches() {
    reaches_from=$1 reaches_to=$2
    shift 2
    for try in 1 2 3 4 5 6 7 8 9 10; do
        on "$reaches_from" ping -c 1 -W 2 "$@" "10.0.0.$reaches_to" && return
    done
    return 1
}
# mac DEVICE: the address of an interface, wherever it is.
mac() { cat "/sys/class/net/$1/address"; }
stat_of() {
    on "$1" ethtool -S "vxeth$(($1 - 1))" | awk -v name="$2:" '$1 == name { print $2 }'
}
version() { [ "$(stat_of "$1" peer_version)" = 2 ]; }
carrier() { on "$1" ip link show "vxeth$(($1 - 1))" | grep -q LOWER_UP; }
rate() {
    on 1 iperf3 -J -c 10.0.0.3 -t "${seconds:-1}" "$@" >/tmp/iperf.out || return
    awk '/"sum_received"/ { found = 1 }
        found && /bits_per_second/ { printf "# tcp: %.0f Mbit/s\n", $2 / 1e6; exit }' /tmp/iperf.out
}
# whole: 4 MiB over TCP arrive as they are.
whole() {
    on 2 sh -c 'nc -l -p 5001 <>/tmp/quiet | sha256sum >/tmp/file.sum' &
    until on 2 netstat -ltn | grep -q :5001; do usleep 100000; done
    on 3 nc 10.0.0.2 5001 </tmp/file
    wait $!
    sha256sum </tmp/file | cmp - /tmp/file.sum
}

seconds=${1:-1}
mkfifo /tmp/quiet
head -c 4194304 /dev/urandom >/tmp/file
check 'addresses name slot and node' [ "$(mac vxeth0) $(mac vxeth1) $(mac vxeth2)" = \
    '02:56:58:00:01:01 02:56:58:00:01:02 02:56:58:00:02:03' ]
check 'the address of a node stays' fails ip link set vxeth0 address 02:00:00:00:00:01
check 'MTU of 65500' [ "$(cat /sys/class/net/vxeth0/mtu)" = 65500 ]
check 'network namespaces' within 20 apart
check 'node 2 moves' ip link set vxeth1 netns "$node2"
check 'node 3 moves' ip link set vxeth2 netns "$node3"
for node in 1 2 3; do
    on "$node" ip addr add "10.0.0.$node/24" broadcast 10.0.0.255 dev "vxeth$((node - 1))"
    check "node $node comes up" on "$node" ip link set "vxeth$((node - 1))" up
done
for node in 1 2 3; do
    check "carrier of node $node" within 10 carrier "$node"
done
for one in 1 2 3; do
    for other in 1 2 3; do
        [ $one = $other ] || check "ping from $one to $other" reaches $one $other
    done
done
check 'ping of 60000 bytes' reaches 1 3 -s 60000
for node in 1 2 3; do
    check "node $node finds version 2" within 10 version $node
done
# Each node is in the answer to a ping of all.
for node in 2 3; do on $node sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts'; done
check 'broadcast reaches all' within 5 sh -c '/bin/ping -b -c 2 -W 2 10.0.0.255 >/tmp/all 2>&1
    grep -q "from 10.0.0.2" /tmp/all && grep -q "from 10.0.0.3" /tmp/all'
check '4 MiB from 3 to 2' whole
on 3 iperf3 -s -D
check 'iperf3 from 1 to 3' within 5 rate && cat /tmp/check.out
check 'and back' rate -R && cat /tmp/check.out
for node in 1 3; do on $node ip link set "vxeth$((node - 1))" mtu 9000; done
check 'iperf3, MTU of 9000' rate -R && cat /tmp/check.out
check 'in large segments' [ "$(stat_of 1 rx_large)" -gt 0 ]
# A node that goes and comes back disturbs nobody.
on 2 ip link set vxeth1 down
check 'ping from 1 to 3 without node 2' reaches 1 3
check 'node 2 does not answer' fails on 1 ping -c 1 -W 1 10.0.0.2
on 2 ip link set vxeth1 up
check 'node 2 is back' reaches 1 2
echo 1 >"/sys/bus/pci/devices/$(address 1)/reset"
check 'ping from 1 to 3 after a reset of node 2' reaches 1 3
check 'ping from 1 to 2 after it' reaches 1 2
check 'ping from 2 to 3 after it' reaches 2 3
check 'version 2 after it' within 10 version 2
# The interface of node 2 in user space, on the device of the driver.
on 2 ip link set vxeth1 down
check 'the kernel has TAP devices' insmod /lib/spfe/tun.ko
on 2 spfe ip up /dev/spfe1 --name tap1 --address 10.0.0.2/24 >/tmp/ip.out 2>&1 &
user=$!
check 'node 2 in user space knows who it is' within 30 \
    grep -q 'node 2 of 3, MTU 65500, Ethernet address 02:56:58:00:01:02' /tmp/ip.out
for other in 1 3; do
    check "ping from it to $other" reaches 2 $other -s 8000
    check "ping from $other to it" reaches $other 2
    check "both understand version 2" within 10 grep -q "node $other understands version 2" /tmp/ip.out
done
check '4 MiB to it from 3' whole
killall -TERM spfe
check 'it ends without an error' wait "$user"
on 2 ip link set vxeth1 up
check 'node 2 is back in the driver' reaches 1 2
killall iperf3
for node in 1 2 3; do
    check "no queue of node $node was stuck" \
        [ "$(stat_of $node tx_timeouts)$(stat_of $node ring_errors)" = 00 ]
done
kill "$node2" "$node3"
check 'interface goes down' ip link set vxeth0 down
check 'its queues are released' within 10 grep -q '^queues 0' /sys/kernel/debug/spfe/spfe0/usage
unload_driver
exit "$failed"
