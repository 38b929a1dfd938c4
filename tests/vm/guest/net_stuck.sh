# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# A far end that does not read: frames fill the transmit ring of spfe0 and wait. An interface that
# does not ask its far end (version-1-only) cannot tell this from a broken queue. Then the kernel
# finds that the queue is stuck and calls ndo_tx_timeout, which creates the queue again.
unshare -n sleep 100000 &
far=$!
there() { nsenter -t "$far" -n "$@"; }
apart() { [ "$(readlink "/proc/$far/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
forced() { ethtool --set-priv-flags spfe0 version-1-only "$1"; }
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = 1 ]; }
stat_of() { ethtool -S spfe0 | awk -v name="$1:" '$1 == name { print $2 }'; }
timed_out() { [ "$(stat_of tx_timeouts)" -gt "$1" ]; }
renewed() { [ "$(stat_of ring_errors)" -gt 0 ]; }
# waits: the device has not sent what the stack gave it.
waits() { [ "$(cat /sys/class/net/spfe0/queues/tx-0/byte_queue_limits/inflight)" -gt 0 ]; }
fill() {
    /bin/ping -q -b -c 400 -i 0.002 -w 20 -s 8000 -I spfe0 10.0.0.255 >/tmp/ping.out 2>&1
    waits
}
reaches() { within 60 ping -c 1 -W 2 10.0.0.2; }

load_driver 2
check 'network namespace' within 20 apart
check 'interface moves to the namespace' within 10 ip link set spfe1 netns "$far"
check 'a small ring' ethtool -G spfe0 tx 64
ip addr add 10.0.0.1/24 broadcast 10.0.0.255 dev spfe0
there ip addr add 10.0.0.2/24 dev spfe1
check 'the interface asks nobody' forced on
check 'the interface comes up' ip link set spfe0 up
check 'carrier' within 30 carrier
check 'frames fill the ring' fill
check 'the kernel finds that the queue is stuck' within 60 timed_out 0
check 'the queue is created again' within 30 renewed
there ip link set spfe1 up
check 'ping as soon as the far end reads' reaches

# With hellos the driver knows that a far end does not read.
check 'the interface asks again' forced off
there ip link set spfe1 down
before=$(stat_of tx_timeouts)
check 'frames fill the ring again' fill
sleep 15
check 'now this is no fault' fails timed_out "$before"
there ip link set spfe1 up
check 'ping afterwards' reaches
kill "$far"
ip link set spfe0 down
unload_driver
exit "$failed"
