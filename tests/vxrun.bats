#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/fabric sets the variables
# Programs under vxrun: the same socket program prints the same trace over the kernel's TCP and over
# rings in memory, and nothing is lost when a part goes away.

load lib/common
load lib/fabric

# traces NAME SERVER CLIENT ADDRESS: runs both sides behind the words in SERVER and CLIENT, and
# checks that they print what they print over loopback.
traces() {
    local -a server client
    read -ra server <<<"$2"
    read -ra client <<<"$3"
    start server "${server[@]}" "$dir/trace" server "$4" 5301
    wait_until error_has server '^ready'
    timeout --kill-after=5 100 "${client[@]}" "$dir/trace" client "$4" 5301 >"$dir/client.$1"
    ends server
    cp "$dir/server.out" "$dir/server.$1"
    diff "$dir/server.kernel" "$dir/server.$1"
    diff "$dir/client.kernel" "$dir/client.$1"
}

# node NUMBER [OPTION...]: the words that run a program under vxrun on a node.
node() { printf '%s' "$spfe fabric exec $1 $dir/vxrun ${*:2}"; }

@test "what the kernel does, over loopback" {
    gcc -std=c11 -g -O1 -Wall -Wextra -Wpedantic -Werror -pthread -o "$dir/trace" \
        tests/sockets/trace.c
    ln -s "$(realpath "$spfe")" "$dir/vxrun"
    start server "$dir/trace" server 127.0.0.1 5301
    wait_until error_has server '^ready'
    timeout --kill-after=5 100 "$dir/trace" client 127.0.0.1 5301 >"$dir/client.kernel"
    ends server
    cp "$dir/server.out" "$dir/server.kernel"
    (($(wc -l <"$dir/server.kernel") > 80))
    (($(wc -l <"$dir/client.kernel") > 25))
}

@test "passed through, over loopback" {
    traces loopback "$dir/vxrun --pass-through" "$dir/vxrun --pass-through" 127.0.0.1
}

@test "two nodes start" {
    start up "$spfe" --json fabric up dist2-x8 --nodes --net 192.168.20.0/24
    wait_until all_ready
}

@test "between nodes without vxrun" {
    traces plain "$spfe fabric exec 1" "$spfe fabric exec 3" 192.168.20.1
}

@test "between nodes, passed through" {
    traces passed "$(node 1 --pass-through)" "$(node 3 --pass-through)" 192.168.20.1
}

# moved NAME: bytes that the processes with this report have sent through rings.
moved() {
    python3 -c 'import json, sys
print(sum(json.loads(line)["ring_sent_bytes"] for line in open(sys.argv[1])))' "$dir/$1.report"
}

@test "between nodes, in rings" {
    local options="--after 0 --report $dir/rings.report"
    traces rings "$(node 1 "$options")" "$(node 3 "$options")" 192.168.20.1
    comment "through rings: $(moved rings) bytes"
    # Most of what the program sends: 24 MiB three times and smaller transfers.
    (($(moved rings) > 70000000))
    fabric --json counters --node 1 | grep stream_sent_bytes
}

@test "between nodes, in rings, sleeping at once" {
    local options="--after 0 --spin 0 --report $dir/sleeping.report"
    traces sleeping "$(node 1 "$options")" "$(node 3 "$options")" 192.168.20.1
    (($(moved sleeping) > 70000000))
}

@test "a program without vxrun at the other end" {
    local options="--after 0 --report $dir/half.report"
    traces half "$(node 1 "$options")" "$spfe fabric exec 3" 192.168.20.1
    same 0 "$(moved half)"
}

@test "iperf3 as it is" {
    local server client
    read -ra server <<<"$(node 1 --report "$dir/iperf.report")"
    read -ra client <<<"$(node 3 --report "$dir/iperf.report")"
    start server "${server[@]}" iperf3 --server --one-off --forceflush
    wait_until output_has server listening
    "${client[@]}" iperf3 --client 192.168.20.1 --time 1 --format m >"$dir/iperf"
    ends server
    comment "$(grep receiver "$dir/iperf")"
    (($(moved iperf) > 10000000))
}
