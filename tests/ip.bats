#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/ip sets the variables
# Network interfaces over SpaceFibre: ping, TCP, UDP, and what happens when one part goes away.
# variants: thread inline

load lib/common
load lib/ip

@test "daemon starts" {
    start_daemon --mode "$TEST_VARIANT"
}

@test "interfaces with the default MTU" {
    both_up
}

@test "ping" {
    pings 56
}

@test "ping with fragments" {
    pings 30000
}

@test "200 pings" {
    pings 56 -c 200 -i 0.002
}

# The thread of an idle interface waits in poll until its next look at the link, so most polls end
# by their timeout. A thread that spins, or that an event wakes without reason, has no such polls.
@test "an idle interface sleeps" {
    strace -qq -o "$dir/probe" true 2>/dev/null || skip 'strace is not installed or may not trace'
    start strace strace -qq -p "$(pid ip0)" -e trace=poll,ppoll -o "$dir/polls"
    wait_until polled 12
    stop strace INT
    cat "$dir/polls"
    # Neighbour discovery and the like may end some of them.
    (($(head -n 12 "$dir/polls" | grep -c 'Timeout') >= 6))
}
polled() { (($(wc -l <"$dir/polls") >= $1)); }

@test "20 MiB over TCP arrive whole" {
    tcp_file
}

@test "both ends understand version 2, and leave segments to each other" {
    knows 0 2 && knows 1 2
    (($(large 0 sent) > 0 && $(large 1 received) > 0))
}
# large SIDE WORD: frames with segments in its last report.
large() {
    counter "$1" sleeps >/dev/null
    grep '"sleeps"' "$dir/ip$1.out" | tail -n 1 | grep -o "\"large\":{[^}]*}" |
        grep -o "\"$2\":[0-9]*" | cut -d : -f 2
}

@test "UDP datagrams of all sizes" {
    listen udp
    peer udp
    ends listener
}

@test "TCP rate, MTU 9000" {
    rate 'TCP, MTU 9000'
}

@test "UDP rate, MTU 9000" {
    rate 'UDP, MTU 9000' --udp --bitrate 200M
}

@test "MTU changes while the interface is up" {
    within 0 ip link set spfe0 mtu 20000
    within 1 ip link set spfe0 mtu 20000
    wait_until within 0 ping -q -c 1 -W 1 -M 'do' -s 19972 "${addresses[1]}"
}

@test "virtual channel in use" {
    run within 1 "$spfe" ip up "unix:$dir/sock/0"
    printf '%s\n' "$output"
    ((status != 0))
    grep '^spfe: .*BUSY' <<<"$output"
}

# One end is killed. The other goes on, and works again with the next interface.
@test "far end is killed and returns" {
    stop ip1 KILL
    fails reachable
    kill -0 "$(pid ip0)"
    up 1
    wait_until reachable
}

# The end that remains finds out what the other one has become.
@test "version 1 and back" {
    down 1
    up 1 --encapsulation 1
    wait_until reachable
    wait_until knows 0 1
    tcp_file
    rate 'TCP, version 1, MTU 9000'
    down 1
    up 1
    wait_until reachable
    wait_until knows 0 2
    wait_until knows 1 2
}

# Packets that are not frames are dropped, each counted for its reason.
@test "packets that are not frames" {
    local name
    local -A before=()
    down 1
    for name in wrong_header short long; do
        before[$name]=$(counter 0 "$name")
    done
    head -c 64 /dev/zero | send_raw 64
    head -c 19 /dev/zero | send_raw 19
    head -c 100000 /dev/zero | send_raw 100000
    for name in wrong_header short long; do
        wait_until rises 0 "$name" "${before[$name]}"
    done
    up 1
    wait_until reachable
}

@test "interfaces end in good order" {
    both_down
}

@test "interfaces with the greatest MTU" {
    both_up --mtu 65500
}

@test "ping of the greatest MTU" {
    pings 65472 -M 'do'
}

@test "20 MiB over TCP, MTU 65500" {
    tcp_file
}

@test "TCP rate, MTU 65500" {
    rate 'TCP, MTU 65500'
}

@test "interface is removed" {
    within 0 ip link delete spfe0
    ends ip0
    error_has ip0 'was removed'
}

@test "far end of the removed interface ends" {
    down 1
}

@test "interfaces with the least MTU of Ethernet" {
    both_up --mtu 1500
}

@test "20 MiB over TCP, MTU 1500" {
    tcp_file
}

@test "TCP rate, MTU 1500" {
    rate 'TCP, MTU 1500'
}

@test "daemon is killed" {
    local side
    stop spfed KILL
    for side in 0 1; do
        ends "ip$side" 5
    done
    error_has ip0 '^spfe: interface spfe0: .*DEVICE_GONE'
    fails within 0 ip link show spfe0
}
