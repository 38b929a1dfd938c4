# shellcheck shell=bash
# A fabric of real processes, each node in a network namespace of its own. Loaded by fabric.bats
# after lib/common.

spfe=$SPFE_PROGRAMS/spfe
limit=60 bytes=$((20 << 20)) port=5300

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    export SPFE_FABRIC=$dir/sock
    unavailable "$(missing)"
    [[ -z $TEST_UNAVAILABLE ]] || return 0
    built "$spfe"
    ln -s "$(realpath "$spfe")" "$dir/vxfabric"
    head -c "$bytes" /dev/urandom >"$dir/file"
}

setup() { skip_if_unavailable; }
teardown_file() { stop_all; }

# missing: prints why nothing can be tested here, if so.
missing() {
    local reason user=()
    ((EUID == 0)) || user=(--user --map-root-user)
    reason=$(programs ip ping iperf3 unshare python3)
    if [[ -n $reason ]]; then
        printf '%s' "$reason"
    elif ! unshare "${user[@]}" --net ip tuntap add dev probe mode tap 2>/dev/null; then
        printf 'this machine does not allow TAP devices in network namespaces'
    fi
}

fabric() { timeout --kill-after=5 "$limit" "$spfe" --quiet fabric "$@"; }

# on NODE WORD...: runs a command on a node.
on() { fabric exec "$@"; }

# start_backplane [SOCKET]: a fabric of two nodes, which the test starts. A node looks for it once.
start_backplane() {
    start backplane "$spfe" --json fabric up dist2-x8 --socket "${1:-$SPFE_FABRIC}"
    wait_until listens "${1:-$SPFE_FABRIC}"
}

# start_node NUMBER [OPTION...]: starts a node with its address.
start_node() {
    start "node$1" "$spfe" --json fabric node "$1" --namespace --address "192.168.20.$1/24" \
        "${@:2}"
}

# field NODE NAME: a field of a node in the status.
field() {
    fabric --json status |
        python3 -c 'import json, sys
nodes = json.load(sys.stdin)["nodes"]
print(next(n[sys.argv[2]] for n in nodes if n["node"] == int(sys.argv[1])))' "$1" "$2"
}

# counter_of A B: bytes that have gone over a link, in both directions.
carried() {
    fabric --json counters |
        python3 -c 'import json, sys
links = json.load(sys.stdin)["links"]
print(sum(next(l["bytes"] for l in links if l["ends"] == sys.argv[1:3])))' "$1" "$2"
}

all_ready() { fabric status --wait 20 >/dev/null; }

# moved REPORT: bytes that the processes with this report of vxrun have sent through rings.
moved() {
    python3 -c 'import json, sys
print(sum(json.loads(line)["ring_sent_bytes"] for line in open(sys.argv[1])))' "$1"
}

# pings FROM TO SIZE [OPTION...]: round trips; every packet returns.
pings() {
    on "$1" ping -q -c 3 -i 0.01 -W 5 -s "$3" "${@:4}" "192.168.20.$2"
}

# listen NODE KIND: starts a listener on a node.
listen() {
    start listener "$spfe" fabric exec "$1" \
        python3 -I tests/lib/sockets.py listen "$2" "192.168.20.$1" "$port"
    wait_until output_has listener '^ready'
}

# peer FROM TO KIND [FILE]
peer() { on "$1" python3 -I tests/lib/sockets.py send "$3" "192.168.20.$2" "$port" "${@:4}"; }

# tcp_file FROM TO: a file arrives whole over TCP.
tcp_file() {
    listen "$2" tcp
    peer "$1" "$2" tcp "$dir/file"
    ends listener
    same "$(digest "$dir/file")" "$(tail -n 1 "$dir/listener.out")"
}

# start_pairs [MORTAL]: traffic between all pairs of twelve nodes; returns once all are active.
start_pairs() {
    local node
    for node in {1..12}; do
        start "pairs$node" "$spfe" fabric exec "$node" \
            python3 -I tests/lib/pairs.py run "$node" 12 "$@"
    done
    wait_until pairs_active 1 12 || {
        tail -n 3 "$dir"/pairs*.err
        return 1
    }
}

# pairs_active TIMES NODES: so many processes of pairs have said so often that they are active.
pairs_active() {
    local counts
    counts=$(grep -ch '^active$' "$dir"/pairs*.out)
    same "$2" "$(grep -cx "$1" <<<"$counts")"
}

# signal_pairs SIGNAL NODE...
signal_pairs() {
    local node
    for node in "${@:2}"; do signal "pairs$node" "$1"; done
}

# pairs_end NODE...: the traffic ends; prints a summary.
pairs_end() {
    local node reports=()
    for node; do
        ends "pairs$node"
        reports+=("$dir/pairs$node.out")
    done
    python3 -I tests/lib/pairs.py check "${reports[@]}"
}

# rate FROM TO NAME OPTION...: iperf3; the rate is printed only.
rate() {
    start server "$spfe" fabric exec "$2" iperf3 --server --one-off --forceflush
    wait_until output_has server listening
    on "$1" iperf3 --client "192.168.20.$2" --time 1 --format m "${@:4}" >"$dir/iperf"
    ends server
    comment "$3: $(grep -E 'receiver' "$dir/iperf" | tail -n 1)"
}
