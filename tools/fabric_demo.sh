#!/usr/bin/env bash
# A star of twelve nodes, each in a network namespace: their table, a ping, a transfer, the counters
# of the links, and then the rates of limited links beside the published ones.
#
#   tools/fabric_demo.sh      needs no privilege where user namespaces are allowed
set -euo pipefail
cd "$(dirname "$0")/.."

spfe=${SPFE_PROGRAMS:-target/release}/spfe
folder=$(mktemp -d)
export SPFE_FABRIC=$folder/sock

finish() {
    "$spfe" --quiet fabric down 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap finish EXIT

say() { printf '\n== %s\n' "$*"; }

say 'twelve CPUs on six boards, one switch'
"$spfe" fabric up star12-x2 --nodes --net 192.168.20.0/24 &
for _ in {1..100}; do
    [[ ! -S $SPFE_FABRIC ]] || break
    sleep 0.1
done
"$spfe" fabric status --wait 30

say 'node 1 to node 12'
"$spfe" fabric exec 1 ping -c 3 -i 0.2 192.168.20.12

say 'TCP from node 7 (slot 4) to node 9 (slot 5); the port of slot 1 stays idle'
"$spfe" fabric exec 9 iperf3 --server --one-off >/dev/null &
sleep 1
"$spfe" fabric exec 7 iperf3 --client 192.168.20.9 --time 2 | tail -n 4
"$spfe" fabric counters

say 'links with limits, beside published figures of boards'
"$spfe" fabric perf --seconds 2
