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

@test "between nodes, in rings" {
    local options="--after 0 --spin 50 --report $dir/rings.report"
    traces rings "$(node 1 "$options")" "$(node 3 "$options")" 192.168.20.1
    comment "through rings: $(moved "$dir/rings.report") bytes"
    # Most of what the program sends: 24 MiB three times and smaller transfers.
    (($(moved "$dir/rings.report") > 70000000))
    fabric --json counters --node 1 | grep stream_sent_bytes
}

@test "between nodes, in rings, sleeping at once" {
    local options="--after 0 --spin 0 --report $dir/sleeping.report"
    traces sleeping "$(node 1 "$options")" "$(node 3 "$options")" 192.168.20.1
    (($(moved "$dir/sleeping.report") > 70000000))
}

@test "connections that move in the middle of a stream" {
    local scenario server client
    for scenario in sendfile 'short reads'; do
        rm -f "$dir/middle.report"
        read -ra server <<<"$(node 1 --report "$dir/middle.report")"
        read -ra client <<<"$(node 3 --report "$dir/middle.report")"
        start server "${server[@]}" "$dir/trace" server 192.168.20.1 5301 "$scenario"
        wait_until error_has server '^ready'
        timeout --kill-after=5 60 "${client[@]}" "$dir/trace" client 192.168.20.1 5301 \
            "$scenario" >"$dir/client.middle"
        ends server
        diff <(grep "^$scenario:" "$dir/server.kernel") "$dir/server.out"
        diff <(grep "^$scenario:" "$dir/client.kernel") "$dir/client.middle"
        (($(moved "$dir/middle.report") > 300000))
    done
}

@test "a program without vxrun at the other end" {
    local options="--after 0 --report $dir/half.report"
    traces half "$(node 1 "$options")" "$spfe fabric exec 3" 192.168.20.1
    same 0 "$(moved "$dir/half.report")"
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
    (($(moved "$dir/iperf.report") > 10000000))
}

@test "a program that breaks the rules of its ring loses its connection" {
    local victim breaker
    read -ra victim <<<"$(node 1 --after 0)"
    read -ra breaker <<<"$(node 3 --after 0)"
    start victim "${victim[@]}" python3 -I tests/lib/hostile.py victim 192.168.20.1 5302
    wait_until output_has victim '^ready'
    timeout --kill-after=5 60 "${breaker[@]}" python3 -I tests/lib/hostile.py breaker \
        192.168.20.1 5302
    ends victim
    output_has victim '^ConnectionResetError$'
}

@test "a program that is stopped for a while" {
    local server client pid
    read -ra server <<<"$(node 1 --after 0)"
    read -ra client <<<"$(node 3 --after 0)"
    start server "${server[@]}" "$dir/trace" server 192.168.20.1 5301 'both ways'
    wait_until error_has server '^ready'
    # `fabric exec` and `vxrun` become the program, so its number is that of the command.
    pid=$(pid server)
    start client "${client[@]}" "$dir/trace" client 192.168.20.1 5301 'both ways'
    for _ in {1..5}; do
        kill -STOP "$pid" 2>/dev/null || break
        sleep 0.02
        kill -CONT "$pid" 2>/dev/null || break
        sleep 0.01
    done
    ends client
    ends server
    output_has server 'received 25165824 bytes, all right'
    output_has client 'received 25165824 bytes, all right'
}

@test "the backplane dies while programs talk" {
    start_backplane "$dir/second"
    local node options="--socket $dir/second --after 0 --report $dir/orphans.report"
    for node in 1 3; do
        start "node$node" "$spfe" --json fabric node "$node" --namespace --socket "$dir/second" \
            --address "192.168.21.$node/24"
    done
    wait_until "$spfe" fabric status --socket "$dir/second" --wait 20
    local server client
    read -ra server <<<"$spfe fabric exec --socket $dir/second 1 $dir/vxrun $options"
    read -ra client <<<"$spfe fabric exec --socket $dir/second 3 $dir/vxrun $options"
    start server "${server[@]}" "$dir/trace" server 192.168.21.1 5301
    wait_until error_has server '^ready'
    start client "${client[@]}" "$dir/trace" client 192.168.21.1 5301
    wait_until output_has client '^both ways'
    stop backplane KILL
    ends client
    ends server
    diff "$dir/server.kernel" "$dir/server.out"
    diff "$dir/client.kernel" "$dir/client.out"
    # The connections before the death moved, those after it could not.
    (($(moved "$dir/orphans.report") > 1000000))
    stop node1
    stop node3
}
