# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# `spfe ip up` on a device of the driver, in a network namespace of its own. The far end of the link
# is the driver's own network interface.
load_driver 2
check 'the kernel has TAP devices' insmod /lib/spfe/tun.ko
unshare -n sleep 100000 &
far=$!
apart() { [ "$(readlink "/proc/$far/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
there() { nsenter -t "$far" -n "$@"; }
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = 1 ]; }
queues() { grep -q "^queues $1" /sys/kernel/debug/spfe/spfe1/usage; }
answers() { within 20 ping -c 1 -W 2 "$@"; }

check 'network namespace' within 20 apart
there spfe ip up /dev/spfe1 --name tap1 --address 10.0.0.2/24 >/tmp/ip.out 2>&1 &
user=$!
check 'the interface in user space appears' within 30 there test -e /proc/sys/net/ipv4/conf/tap1
check 'it has two queues' within 20 queues 2
ip addr add 10.0.0.1/24 dev spfe0
check 'the interface of the driver comes up' ip link set spfe0 up
check 'carrier' within 20 carrier
check 'ping' answers 10.0.0.2
check 'ping of 8000 bytes' answers -s 8000 10.0.0.2
peer() { ethtool -S spfe0 | grep -q "peer_version: $1\$"; }
check 'both understand version 2' within 10 peer 2
check 'and it says so' within 10 grep -q 'understands version 2' /tmp/ip.out
check 'ping in the other direction' within 20 there ping -c 1 -W 2 -s 8000 10.0.0.1
killall -TERM spfe
check 'it ends without an error' wait "$user"
check 'its queues are released at the end' within 20 queues 0
check 'it has counted its frames' grep -q 'tap1: sent [1-9]' /tmp/ip.out
check 'its interface is removed' within 20 fails there test -e /proc/sys/net/ipv4/conf/tap1
there spfe ip up /dev/spfe1 --name tap1 --address 10.0.0.2/24 --encapsulation 1 >/tmp/ip.out 2>&1 &
user=$!
check 'version 1 in user space' within 30 there test -e /proc/sys/net/ipv4/conf/tap1
check 'ping to version 1' answers -s 8000 10.0.0.2
check 'the driver finds version 1' within 20 peer 1
check 'ping from version 1' within 20 there ping -c 1 -W 2 -s 8000 10.0.0.1
killall -TERM spfe
check 'version 1 ends without an error' wait "$user"
kill "$far"
ip link set spfe0 down
unload_driver
exit "$failed"
