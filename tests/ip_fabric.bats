#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/ip sets the variables
# The interfaces of four nodes of a fabric (`spfe ip up` on ports of `spfed --topology fabric:4`): any
# node to any node, and what happens when one goes, stops or speaks version 1 only.
# variants: thread inline

load lib/common
load lib/ip
# shellcheck disable=SC2034 # lib/ip makes a namespace for each
addresses=(10.83.0.1 10.83.0.2 10.83.0.3 10.83.0.4)

# node NUMBER OPTION...: starts the interface of a node. Programs before it are in $under.
under=()
node() {
    local side=$(($1 - 1))
    start "ip$side" nsenter --target "$(pid "space$side")" "${enter[@]}" "${under[@]}" \
        "$spfe" --json ip up "unix:$dir/sock/$side" --address "10.83.0.$1/24" "${@:2}"
    wait_until output_has "ip$side" '"interface":"vxeth0"'
}
# on NODE WORD...: runs a command on a node.
on() { within "$(($1 - 1))" "${@:2}"; }
# reaches FROM TO [OPTION...]
reaches() { on "$1" ping -q -c 1 -W 1 "${@:3}" "10.83.0.$2"; }
# all_reach: each node reaches each other one.
all_reach() {
    local from to
    for from in 1 2 3 4; do
        for to in 1 2 3 4; do
            ((from == to)) || wait_until reaches "$from" "$to"
        done
    done
}
# of_node NODE OTHER NAME: what a node counts or knows about another one.
of_node() {
    counter "$(($1 - 1))" sleeps >/dev/null
    grep '"sleeps"' "$dir/ip$(($1 - 1)).out" | tail -n 1 |
        python3 -c 'import json, sys
nodes = json.load(sys.stdin)["nodes"]
node = next(node for node in nodes if node["node"] == int(sys.argv[1]))
print(json.dumps({**node, **node["dropped"]}[sys.argv[2]]))' "$2" "$3"
}
sees() { [[ $(of_node "$1" "$2" "$3") == "$4" ]]; }
listen_on() {
    start listener nsenter --target "$(pid "space$(($1 - 1))")" "${enter[@]}" \
        python3 -I tests/lib/sockets.py listen "$2" "10.83.0.$1" "$port"
    wait_until output_has listener '^ready'
}
# file_to FROM TO: a file arrives whole over TCP.
file_to() {
    listen_on "$2" tcp
    on "$1" python3 -I tests/lib/sockets.py send tcp "10.83.0.$2" "$port" "$dir/file"
    ends listener
    same "$(digest "$dir/file")" "$(tail -n 1 "$dir/listener.out")"
}
# flow_begins, flow_is_whole: two hundred datagrams from node 1 to node 2 and back, of which none may
# be missing.
flow_begins() {
    listen_on 2 udp
    start flow nsenter --target "$(pid space0)" "${enter[@]}" \
        python3 -I tests/lib/sockets.py count udp 10.83.0.2 "$port" 200
}
flow_is_whole() {
    ends flow
    output_has flow '^200 of 200 returned$'
    ends listener
}

@test "daemon and interfaces start" {
    local number
    start_daemon --mode "$TEST_VARIANT" --topology fabric:4
    for number in 1 2 3 4; do
        node "$number"
        output_has "ip$((number - 1))" "\"node\":$number,\"nodes\":4"
    done
}

@test "addresses name slot and node, the MTU is 65500" {
    output_has ip0 '"mac":"02:56:58:00:01:01","mtu":65500'
    output_has ip3 '"mac":"02:56:58:00:02:04","mtu":65500'
}

@test "any node reaches any node" {
    all_reach
    on 1 ping -q -c 20 -i 0.01 -W 5 10.83.0.4 | tee "$dir/ping"
    comment "$TEST_VARIANT: ping: $(tail -n 1 "$dir/ping")"
}

@test "the longest packet passes whole, a longer one in fragments" {
    reaches 2 3 -s 65472 -M 'do'
    fails reaches 2 3 -s 65473 -M 'do'
    wait_until reaches 4 1 -s 65507
}

@test "IPv6 and groups reach all nodes" {
    wait_until on 2 ping -q -c 1 -W 1 'fe80::56:58ff:fe00:204%vxeth0'
    wait_until group_answers
}
group_answers() {
    # All others answer the group of all nodes.
    on 1 ping -c 2 -W 1 'ff02::1%vxeth0' | tee "$dir/group"
    (($(grep -o 'from fe80[^ ]*' "$dir/group" | sort -u | wc -l) == 3))
}

@test "both ends of each pair understand version 2" {
    local from to
    for from in 1 2 3 4; do
        for to in 1 2 3 4; do
            ((from == to)) || wait_until sees "$from" "$to" peer_version 2
        done
    done
}

@test "20 MiB over TCP arrive whole, in large segments" {
    # Small segments, which the interface joins whatever the window is.
    on 3 ip route add 10.83.0.1/32 dev vxeth0 advmss 1448
    file_to 1 3
    on 3 ip route del 10.83.0.1/32 dev vxeth0
    file_to 3 2
    file_to 4 1
    (($(of_node 1 3 large | grep -o '"sent": [0-9]*' | cut -d : -f 2) > 0))
}

@test "UDP datagrams of all sizes" {
    listen_on 4 udp
    on 2 python3 -I tests/lib/sockets.py send udp 10.83.0.4 "$port"
    ends listener
}

@test "TCP rate" {
    start server nsenter --target "$(pid space2)" "${enter[@]}" iperf3 --server --one-off --forceflush
    wait_until output_has server listening
    on 1 iperf3 --client 10.83.0.3 --time 1 --format m >"$dir/iperf"
    ends server
    comment "$TEST_VARIANT: TCP: $(grep -E 'receiver' "$dir/iperf" | tail -n 1)"
}

@test "a killed node returns and the others notice nothing" {
    flow_begins
    stop ip2 KILL
    wait_until sees 1 3 ready false
    fails reaches 1 3
    node 3
    wait_until reaches 1 3
    wait_until reaches 3 4
    flow_is_whole
    wait_until sees 1 3 peer_version 2
    file_to 3 1
}

@test "frames for a node that is away are dropped and counted" {
    stop ip2 KILL
    wait_until sees 1 3 ready false
    # The kernel knows the address of the node for a while.
    on 1 ip neigh replace 10.83.0.3 lladdr 02:56:58:00:02:03 dev vxeth0 nud permanent
    fails reaches 1 3
    (($(of_node 1 3 not_sent_absent) > 0))
    on 1 ip neigh del 10.83.0.3 dev vxeth0
    node 3
    wait_until reaches 1 3
}

@test "a stopped node delays nobody" {
    signal ip3 STOP
    # More than its buffers and queue hold.
    on 1 ping -q -c 3000 -l 3000 -s 40000 -W 1 10.83.0.4 || true
    sees 1 4 ready true
    flow_begins
    file_to_other_port 1 3
    flow_is_whole
    reaches 2 3 -s 60000
    signal ip3 CONT
    wait_until reaches 1 4
    wait_until reaches 4 2
}
file_to_other_port() {
    start other nsenter --target "$(pid "space$(($2 - 1))")" "${enter[@]}" \
        python3 -I tests/lib/sockets.py listen tcp "10.83.0.$2" $((port + 1))
    wait_until output_has other '^ready'
    on "$1" python3 -I tests/lib/sockets.py send tcp "10.83.0.$2" $((port + 1)) "$dir/file"
    ends other
    same "$(digest "$dir/file")" "$(tail -n 1 "$dir/other.out")"
}

@test "a node that speaks version 1 only" {
    down 1
    node 2 --encapsulation 1
    wait_until sees 1 2 peer_version 1
    all_reach
    file_to 1 2
    file_to 2 3
    file_to 3 1
    sees 1 3 peer_version 2
    down 1
    node 2
    wait_until sees 1 2 peer_version 2
    file_to 1 2
}

# A packet that names another node is none of the channel. It comes while node 1 learns that node 2 has
# ended or begun a new life, or before.
@test "frames in the name of another node are dropped" {
    local pause turn=0
    # The start of a frame of version 2 from node 2 to node 3: 18 bytes of header, 42 of frame.
    printf '\xfe\xf5\x02\x00\x03\x00\x02\x00%052x' 0 >"$dir/astray"
    for pause in 0 0.02 0.05 2; do
        down 1
        signal ip0 STOP
        start astray timeout --kill-after=5 "$limit" "$spfe" --quiet \
            --device "unix:$dir/sock/1" send "$dir/astray" --packet 60 --vc 0 --deadline 20 --raw
        sleep "$pause"
        signal ip0 CONT
        ends astray
        wait_until wrong_headers $((++turn))
        node 2
        wait_until reaches 1 2
    done
}
# wrong_headers NUMBER: node 1 has counted so many from node 2.
wrong_headers() { (($(of_node 1 2 wrong_header) == $1)); }

@test "the MTU changes while the interface is up" {
    on 1 ip link set vxeth0 mtu 1500
    on 4 ip link set vxeth0 mtu 1500
    file_to 1 4
    wait_until fails reaches 1 4 -s 1473 -M 'do'
    wait_until reaches 1 4 -s 1472 -M 'do'
    on 1 ip link set vxeth0 mtu 65500
    on 4 ip link set vxeth0 mtu 65500
}

@test "without the program in the kernel, the process sorts frames" {
    local number
    # Without these two capabilities the kernel loads no program, unless anybody may.
    under=(setpriv --bounding-set '-bpf,-sys_admin')
    command -v setpriv >/dev/null || skip 'setpriv is not installed'
    [[ $(cat /proc/sys/kernel/unprivileged_bpf_disabled) != 0 ]] || skip 'anybody may load programs'
    down 0
    node 1
    error_has ip0 'frames are sorted by this process'
    for number in 2 3 4; do
        wait_until reaches 1 "$number"
        wait_until sees 1 "$number" peer_version 2
        file_to 1 "$number"
        file_to "$number" 1
    done
    signal ip3 STOP
    on 1 ping -q -c 3000 -l 3000 -s 40000 -W 1 10.83.0.4 || true
    (($(of_node 1 4 not_sent_full) > 0))
    flow_begins
    flow_is_whole
    signal ip3 CONT
    wait_until reaches 1 4
}

@test "options that have no meaning on a fabric are refused" {
    run within 0 "$spfe" ip up "unix:$dir/sock/0" --vc 2
    same 2 "$status"
    grep 'virtual channel to each node: leave it out' <<<"$output"
    run within 0 "$spfe" ip up "unix:$dir/sock/0" --mac 02:00:00:00:00:01
    same 2 "$status"
    grep 'fixed addresses: leave it out' <<<"$output"
}

@test "an interface that is removed ends, and leaves the others" {
    on 4 ip link delete vxeth0
    ends ip3
    error_has ip3 'was removed'
    wait_until sees 1 4 ready false
    reaches 1 2
}

@test "interfaces end in good order, and with the daemon" {
    down 0
    stop spfed KILL
    ends ip1 5
    error_has ip1 '^spfe: interface vxeth0: .*DEVICE_GONE'
    ends ip2 5
}

@test "nodes 1, 33 and 64 of 64 reach each other" {
    local number from to
    local -A at=([1]=0 [33]=1 [64]=2)
    # An interface has two queues to each of 63 nodes, with an event each: nearly all that a client may
    # have.
    start_daemon --mode "$TEST_VARIANT" --topology fabric:64 --max-regions 256
    for number in "${!at[@]}"; do
        start "ip$number" nsenter --target "$(pid "space${at[$number]}")" "${enter[@]}" \
            "$spfe" --json ip up "unix:$dir/sock/$((number - 1))" --address "10.83.0.$number/24"
        wait_until output_has "ip$number" "\"node\":$number,\"nodes\":64"
    done
    for from in "${!at[@]}"; do
        for to in "${!at[@]}"; do
            ((from == to)) ||
                wait_until within "${at[$from]}" ping -q -c 1 -W 1 -s 30000 "10.83.0.$to"
        done
    done
    stop spfed KILL
    for number in "${!at[@]}"; do ends "ip$number" 5; done
}
