#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/fabric sets the variables
# A star of twelve nodes, each a process in a network namespace: status, IP between any two nodes,
# and what happens when one part goes away.

load lib/common
load lib/fabric

@test "twelve nodes start and are READY" {
    start up "$spfe" --json fabric up star12-x2 --nodes --net 192.168.20.0/24
    wait_until all_ready
    comment "$(tail -n 1 "$dir/up.out")"
}

@test "vxfabric prints the table" {
    local line
    "$dir/vxfabric" | tee "$dir/table"
    same 13 "$(wc -l <"$dir/table")"
    read -r line <"$dir/table"
    [[ $line =~ ^Node\ +Slot\ +State\ +CPU\ +Memory\ window\ +Control\ window\ +MAC\ +IP$ ]]
    grep -E '^ +1 +\* +1 +READY +A +\* +0x400000000000\(0x4000000\) +NONE\(NONE\) +02:56:58:00:01:01 +192\.168\.20\.1$' "$dir/table"
    grep -E '^ +12 +6 +READY +B +0x40002c000000\(0x4000000\) +0x300001600000\(0x101000\) +02:56:58:00:06:0c +192\.168\.20\.12$' "$dir/table"
}

@test "hosts fragment" {
    fabric hosts >"$dir/hosts"
    same 12 "$(wc -l <"$dir/hosts")"
    same $'192.168.20.12\tnode12' "$(tail -n 1 "$dir/hosts")"
}

@test "132 pairs reach each other" {
    local from
    for from in {1..12}; do
        # shellcheck disable=SC2016 # the inner shell expands these
        on "$from" bash -c 'for to in {1..12}; do
            (("$to" == "$0")) || ping -q -c 1 -W 5 "192.168.20.$to" >/dev/null || exit 1
        done' "$from"
    done
}

@test "132 pairs active at once" {
    start_pairs
    signal_pairs TERM {1..12}
    pairs_end {1..12} | tee "$dir/summary"
    comment "$(<"$dir/summary")"
    grep '^132 pairs, ' "$dir/summary"
}

@test "interface has the MTU and the flags of an Ethernet interface" {
    on 3 ip link show vxeth0 | tee "$dir/link"
    grep 'BROADCAST,MULTICAST,UP,LOWER_UP.*mtu 65500' "$dir/link"
}

@test "the longest packet passes whole, a longer one in fragments" {
    pings 1 2 65472 -M 'do'
    fails pings 1 2 65473 -M 'do'
    pings 2 12 65507
}

@test "IPv6 and multicast" {
    on 1 ping -q -c 2 -i 0.01 -W 5 'fe80::56:58ff:fe00:60c%vxeth0'
    # All nodes answer the group of all nodes.
    on 1 ping -c 1 -W 1 'ff02::1%vxeth0' >"$dir/group" || true
    wait_until group_answers
}
group_answers() {
    on 1 ping -c 2 -i 1 -W 1 'ff02::1%vxeth0' | tee "$dir/group"
    (($(grep -c 'bytes from fe80' "$dir/group") >= 12))
}

@test "20 MiB over TCP arrive whole" {
    tcp_file 1 12
    tcp_file 7 4
}

@test "UDP datagrams of all sizes" {
    listen 5 udp
    peer 6 5 udp
    ends listener
}

@test "TCP rate" {
    rate 3 9 'TCP, 65500'
}

@test "traffic between slots 4 and 5 leaves the port of slot 1 alone" {
    local before
    before=$(carried 1A switch1)
    rate 7 9 'TCP, slot 4 to 5'
    (($(carried 4A switch1) > 20000000))
    # Only frames to groups go everywhere.
    (($(carried 1A switch1) - before < $(carried 4A switch1) / 100))
}

@test "a killed node returns and the others notice nothing" {
    local socket=(python3 -I tests/lib/sockets.py) there=(udp 192.168.20.2 5301)
    start echo "$spfe" fabric exec 2 "${socket[@]}" listen "${there[@]}"
    wait_until output_has echo '^ready'
    # ping would not do: it gives up on its last packet after 10 ms.
    start flow "$spfe" fabric exec 1 "${socket[@]}" count "${there[@]}" 200
    kill -KILL "$(field 5 process)"
    start_node 5
    # Until the fabric has seen the end of the old node, the status still shows that one.
    wait_until second_life 5
    wait_until all_ready
    wait_until pings 1 5 56
    tcp_file 5 8
    ends flow
    output_has flow '^200 of 200 returned$'
    ends echo
}
second_life() { (($(field "$1" epoch) == 2)); }

@test "a node that dies makes no other two send a segment again" {
    local others=({1..7} {9..12})
    start_pairs 8
    kill -KILL "$(field 8 process)"
    stop pairs8 KILL
    start_node 8
    wait_until second_life 8
    wait_until all_ready
    fabric status | grep -E '^ +8 +4 +READY'
    # Traffic goes on after all of that.
    signal_pairs USR1 "${others[@]}"
    wait_until pairs_active 2 11
    signal_pairs TERM "${others[@]}"
    pairs_end "${others[@]}" | tee "$dir/summary"
    comment "$(<"$dir/summary")"
    grep '^110 pairs, .* 0 segments sent again$' "$dir/summary"
    wait_until pings 1 8 56
}

@test "a stopped node holds up nobody" {
    local process
    process=$(field 10 process)
    kill -STOP "$process"
    on 1 ping -q -c 1 -W 1 192.168.20.10 || true
    pings 1 2 30000
    tcp_file 1 3
    kill -CONT "$process"
    wait_until pings 1 10 56
}

@test "partitions and links while the fabric runs" {
    fabric change partition 6 red
    fails on 1 ping -q -c 1 -W 1 192.168.20.6
    fabric status --node 1 | grep -E '^ +6 +3 +NOLINK'
    fabric change partition 6
    wait_until pings 1 6 56
    fabric change link-down 3B switch1
    fails on 1 ping -q -c 1 -W 1 192.168.20.6
    fabric change link-up 3B switch1
    wait_until pings 1 6 56
}

@test "limits of links" {
    fabric change rate pcie
    rate 1 2 'TCP, limited to 1.0 GB/s'
    fabric change rate unlimited
}

@test "raw mode: a window, refusals, doorbells" {
    local key
    start owner "$spfe" fabric raw --node 4 expose 64K --to 9 --save "$dir/saved"
    wait_until output_has owner '^0x'
    key=$(head -n 1 "$dir/owner.out")
    head -c 60000 "$dir/file" >"$dir/part"
    fabric raw --node 9 put "$key" "$dir/part" --offset 100
    fabric raw --node 9 get "$key" "$dir/back" --offset 100 --bytes 60000
    same "$(digest "$dir/part")" "$(digest "$dir/back")"
    same "$(fabric raw --node 4 windows)" "$(fabric raw --node 9 windows)"
    run fabric raw --node 9 put "$key" "$dir/file"
    same 1 "$status"
    grep 'OUT_OF_BOUNDS' <<<"$output"
    run fabric raw --node 8 get "$key" -
    same 1 "$status"
    grep 'does not show .*ACCESS_DENIED' <<<"$output"
    stop owner
    tail -c +101 "$dir/saved" | head -c 60000 | cmp - "$dir/part"
    run fabric raw --node 9 get "$key" -
    grep 'BAD_REGION' <<<"$output"
    fabric raw --node 4 scratchpad 9 3 77
    same 77 "$(fabric raw --node 9 scratchpad 4 3)"
    start waiter "$spfe" fabric raw --node 9 wait 4 5
    fabric raw --node 4 ring 9 5
    ends waiter
    fabric --json counters --node 9 | grep '"refused"'
}

@test "raw mode in C" {
    local libs
    tools/capi.sh "$dir/c"
    libs=("$dir/c/lib/libspfe.a" -lgcc_s -lm -pthread)
    gcc -std=c11 -g -Wall -Wextra -Wpedantic -Werror -fsanitize=address,undefined \
        -fno-sanitize-recover=all -I"$dir/c/include" -o "$dir/fabric" tests/c/fabric.c "${libs[@]}"
    run -0 timeout 60 "$dir/fabric" "$dir/sock" 2 11
    same 0 "$(grep -c '^not ok' <<<"$output")"
    same 1..7 "${lines[-1]}"
}

@test "drawing" {
    fabric status --svg "$dir/fabric.svg"
    grep -q 'node 12 READY' "$dir/fabric.svg"
}

@test "the end of the fabric ends its nodes" {
    fabric down
    ends up
    ends node5
    ends node8
}

@test "64 nodes start and reach each other" {
    start many "$spfe" --json fabric up star64-x1 --nodes --net 192.168.20.0/24
    wait_until all_ready
    comment "$(tail -n 1 "$dir/many.out")"
    pings 1 64 65472 -M 'do'
    tcp_file 33 2
    start far "$spfe" fabric raw --node 64 expose 64K --to 1
    wait_until output_has far '^0x'
    head -c 60000 "$dir/file" >"$dir/part"
    fabric raw --node 1 put "$(head -n 1 "$dir/far.out")" "$dir/part"
    fabric raw --node 1 get "$(head -n 1 "$dir/far.out")" "$dir/back" --bytes 60000
    same "$(digest "$dir/part")" "$(digest "$dir/back")"
    stop far
    fabric down
    ends many
}

@test "nodes survive the death of the backplane" {
    start_backplane
    start_node 1
    start_node 3
    wait_until all_ready
    # The kernel has these addresses from now on.
    pings 1 3 56
    start flow nsenter_ping 1 3
    stop backplane KILL
    start_backplane
    wait_until all_ready
    pings 1 3 56
    stop node1
    stop node3
    stop backplane
}
nsenter_ping() { "$spfe" fabric exec "$1" ping -q -i 0.01 -c 100 "192.168.20.$2"; }

@test "ordinary users: frames are sorted by the node" {
    ((EUID == 0)) || skip 'the tests before have done this'
    start_backplane
    for node in 1 3; do
        start "node$node" unshare --user --map-root-user \
            "$spfe" fabric node "$node" --namespace --address "192.168.20.$node/24"
    done
    wait_until all_ready
    error_has node1 'frames are sorted by this process'
    pings 1 3 65472 -M 'do'
    tcp_file 1 3
    stop node1
    stop node3
    stop backplane
}

@test "perf prints all its rows" {
    local link number='[0-9.]+' rate tcp
    # The same iperf3 moves 8 MB instead of all that a second allows: no rate is judged here.
    mkdir "$dir/short"
    cat >"$dir/short/iperf3" <<END
#!/usr/bin/env bash
[[ \$1 == --server ]] || set -- "\${@:1:3}" --bytes 8M "\${@:6}"
exec $(command -v iperf3) "\$@"
END
    chmod +x "$dir/short/iperf3"
    local PATH=$dir/short:$PATH
    fabric perf --seconds 1 | tee "$dir/perf"
    for link in 'x8 gen3' 'x4 gen3' 'x4 gen2' 'x4 gen1'; do
        rate=" +$number +[0-9]+ % +$number \\([0-9]+ %\\)"
        grep -E "^$link +$number +sockets$rate( +$number){3}$" "$dir/perf"
        grep -E "^$link +$number +IP$rate( +$number){3}$" "$dir/perf"
        grep -E "^$link +$number +raw$rate( +-){3}$" "$dir/perf"
    done
    tcp="$number GB/s \\($number CPU s/GB\\)"
    grep -E "^unlimited, .*: sockets $tcp; IP $tcp; TCP over loopback .* $tcp$" "$dir/perf"
    grep -E "^raw $number GB/s, memcpy .* $number GB/s, .*; ping $number us " "$dir/perf"
    grep -E "^a node that is killed .* READY after $number ms" "$dir/perf"
    fabric --json perf --seconds 1 --report "$dir/report" >"$dir/perf.json"
    same "$(<"$dir/perf.json")" "$(<"$dir/report/results.json")"
    grep -E 'class="facts">.* CPUs · turbo [a-z]+ · SMT [a-z]+ · load ' "$dir/report/report.html"
    python3 - "$dir/perf.json" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    perf = json.load(file)
links, unlimited = perf["links"], perf["unlimited"]
assert [(l["lanes"], l["generation"]) for l in links] == [(8, 3), (4, 3), (4, 2), (4, 1)]
for part in [*links, unlimited]:
    paths = ["sockets", "ip"] + ["loopback"] * (part is unlimited)
    assert all(part[path]["gbytes_s"] > 0 for path in paths), part
    assert all(len(part[path]["cpu_s_per_gbyte"]) == 2 for path in paths), part
    assert part["raw_gbytes_s"] > 0, part
assert all(min(l["link_gbytes_s"], *l["published"].values()) > 0 for l in links)
assert min(unlimited[key] for key in ("memcpy_gbytes_s", "ping_us", "restart_ms")) > 0
assert set(perf["machine"]) == {"cpu", "load", "turbo", "smt"}
END
}

@test "wrong topologies and names are refused" {
    run "$spfe" fabric up nonsense
    same 2 "$status"
    grep 'star12-x2' <<<"$output"
    printf '[fabric]\nname = "t"\n[[node]]\nslot = 40\n' >"$dir/bad.toml"
    run "$spfe" fabric topo "$dir/bad.toml"
    same 2 "$status"
    grep 'slot = 40: 1 to 32' <<<"$output"
    run "$spfe" fabric status
    same 5 "$status"
    grep 'spfe fabric up' <<<"$output"
}
