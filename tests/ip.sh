#!/usr/bin/env bash
# Two network interfaces over SpaceFibre (`spfe ip up`), each in a network namespace of its own,
# joined by spfed: ping, TCP, UDP, what happens when something goes away.
#
#   tests/ip.sh          "ok NAME" or "not ok NAME" for each check
#
# SPFE_BIN and SPFED_BIN name the programs (default: those in target/release). Rates and round trips
# are printed and never judged. All traffic stays in the namespaces, which end with this script. Where
# they may not be made everything is skipped, with the reason. Everything has a timeout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=../tools/checks.sh
source tools/checks.sh

readonly spfe=${SPFE_BIN:-target/release/spfe} spfed=${SPFED_BIN:-target/release/spfed}
readonly limit=60 bytes=$((20 << 20)) port=5300
readonly addresses=(10.83.0.1 10.83.0.2) macs=(02:00:00:00:53:01 02:00:00:00:53:02)
daemon=''
spaces=()
sides=('' '')
dir=$(mktemp -d) || exit

# finish: ends what is still running and removes all files.
finish() {
    local pid
    for pid in "${sides[@]}" $daemon "${spaces[@]}"; do
        [[ -z $pid ]] || kill "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# within SIDE WORD...: a command in the namespace of side 0 or 1, for a limited time.
within() {
    local space=${spaces[$1]}
    shift
    timeout --kill-after=5 "$limit" nsenter --target "$space" --net "$@"
}

# until COMMAND...: waits up to 10 s until a command succeeds.
until_true() {
    local turn
    for ((turn = 0; turn < 200; turn++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    return 1
}

# up SIDE OPTION...: starts an interface and waits until frames go.
up() {
    local side=$1
    shift
    : >"$dir/$side.out"
    nsenter --target "${spaces[$side]}" --net "$spfe" --json --device "unix:$dir/sock/$side" \
        ip up --name spfe0 --address "${addresses[$side]}/24" --mac "${macs[$side]}" "$@" \
        >"$dir/$side.out" 2>"$dir/$side.err" &
    sides[side]=$!
    until_true grep -q '"interface":"spfe0"' "$dir/$side.out"
}

# ended SIDE CODE: the interface's command has ended with that exit code.
ended() {
    local code=0 pid=${sides[$1]}
    sides[$1]=''
    wait "$pid" || code=$?
    [[ $code == "$2" ]] || {
        printf 'exit code %d, not %d\n' "$code" "$2"
        return 1
    }
}

# down SIDE: ends an interface in good order.
down() {
    [[ -n ${sides[$1]} ]] || return 0
    kill "${sides[$1]}"
    ended "$1" 0
}

# counter SIDE NAME: a counter now, from the line that SIGUSR1 asks for.
counter() {
    local lines
    lines=$(grep -c '"sleeps"' "$dir/$1.out")
    kill -USR1 "${sides[$1]}"
    until_true more_lines "$1" "$lines" || return
    tail -n 1 "$dir/$1.out" | grep -o "\"$2\":[0-9]*" | head -n 1 | cut -d : -f 2
}

more_lines() { (($(grep -c '"sleeps"' "$dir/$1.out") > $2)); }

# rises SIDE NAME BEFORE: the counter is more than it was.
rises() {
    local now
    now=$(counter "$1" "$2") && ((now > $3))
}

# pings SIZE [OPTION...]: round trips from side 0 to side 1; none is lost for good.
pings() {
    local size=$1
    shift
    within 0 ping -q -c 5 -i 0.2 -W 5 -s "$size" "$@" "${addresses[1]}" >"$dir/ping" || return
    printf '# %sping of %d bytes: %s\n' "$prefix" "$size" "$(tail -n 1 "$dir/ping")" >&3
}

reachable() { within 0 ping -q -c 1 -W 1 "${addresses[1]}"; }

has_carrier() { within "$1" ip link show spfe0 | grep -q 'LOWER_UP'; }
has_no_carrier() { within "$1" ip link show spfe0 | grep -q 'NO-CARRIER'; }

both_up() { up 0 "$@" && up 1 "$@" && until_true reachable; }
both_down() { down 0 && down 1; }

# peer SIDE WORD...: a small program for sockets.
peer() {
    local side=$1
    shift
    within "$side" python3 -IS "$dir/peer.py" "$@"
}

write_peer() {
    cat >"$dir/peer.py" <<'PYTHON'
"""listen KIND ADDRESS PORT: prints the SHA-256 of what comes, or echoes datagrams; or the other side."""
import hashlib
import socket
import sys

what, kind, address, port = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
tcp = kind == "tcp"
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
s.settimeout(20)
if what == "listen":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    if tcp:
        s.listen()
        print("ready", flush=True)
        c, _ = s.accept()
        c.settimeout(20)
        digest = hashlib.sha256()
        while data := c.recv(1 << 20):
            digest.update(data)
        print(digest.hexdigest(), flush=True)
        c.sendall(b"done")
    else:
        print("ready", flush=True)
        while True:
            data, sender = s.recvfrom(1 << 16)
            if not data:
                break
            s.sendto(data[::-1], sender)
elif tcp:
    s.connect((address, port))
    with open(sys.argv[5], "rb") as file:
        s.sendfile(file)
    s.shutdown(socket.SHUT_WR)
    assert s.recv(4) == b"done"
else:
    # Datagrams may be lost: each is asked for until it has come back.
    s.settimeout(1)
    for size in [1, 100, 1400, 8000, 60000, 65507]:
        data = bytes(i * 7 % 251 for i in range(size))
        for _ in range(10):
            s.sendto(data, (address, port))
            try:
                back = s.recvfrom(1 << 16)[0]
            except TimeoutError:
                continue
            if len(back) == size:
                break
        assert back == data[::-1], f"{size} bytes"
    s.sendto(b"", (address, port))
PYTHON
}

# listen KIND: a listener on side 1, when it is ready.
listen() {
    rm -f "$dir/listen.out"
    peer 1 listen "$1" "${addresses[1]}" "$port" >"$dir/listen.out" 2>"$dir/listen.err" &
    listener=$!
    until_true grep -q ready "$dir/listen.out"
}

tcp_file() {
    listen tcp && peer 0 send tcp "${addresses[1]}" "$port" "$dir/file" || return
    wait "$listener" && [[ $(tail -n 1 "$dir/listen.out") == "$(sha256sum <"$dir/file" | cut -d ' ' -f 1)" ]]
}

udp_echo() {
    listen udp && peer 0 send udp "${addresses[1]}" "$port" && wait "$listener"
}

# rate WHAT OPTION...: iperf3 from side 0 to side 1, printed only.
rate() {
    local what=$1 server
    shift
    rm -f "$dir/server"
    within 1 iperf3 --server --one-off --forceflush >"$dir/server" 2>&1 &
    server=$!
    until_true grep -q listening "$dir/server" || return
    within 0 iperf3 --client "${addresses[1]}" --time 1 --format m "$@" >"$dir/iperf" || return
    printf '# %s%s: %s\n' "$prefix" "$what" "$(grep -E 'receiver' "$dir/iperf" | tail -n 1)" >&3
    wait "$server"
}

# A thread that sleeps is woken by what happens and four times a second, not more.
sleeps_when_idle() {
    local before after
    before=$(counter 0 sleeps) && sleep 1 && after=$(counter 0 sleeps) || return
    printf 'slept %d times\n' $((after - before))
    ((after - before > 0 && after - before < 200))
}

mtu_changes() {
    within 0 ip link set spfe0 mtu 20000 && within 1 ip link set spfe0 mtu 20000 || return
    until_true within 0 ping -q -c 1 -W 1 -M 'do' -s 19972 "${addresses[1]}"
}

# The far end is killed: this one goes on, and works again with the next one.
far_end_returns() {
    kill -KILL "${sides[1]}"
    wait "${sides[1]}" 2>/dev/null
    sides[1]=''
    ! reachable && kill -0 "${sides[0]}" && up 1 && until_true reachable
}

# Packets that are no frames are dropped, each counted for its reason.
strangers_are_counted() {
    local name
    local -A before=()
    down 1 || return
    for name in wrong_header short long; do
        before[$name]=$(counter 0 "$name") || return
    done
    head -c 64 /dev/zero | send_raw 64 && head -c 19 /dev/zero | send_raw 19 \
        && head -c 100000 /dev/zero | send_raw 100000 || return
    for name in wrong_header short long; do
        until_true rises 0 "$name" "${before[$name]}" || return
    done
    up 1 && until_true reachable
}

send_raw() {
    timeout --kill-after=5 "$limit" "$spfe" --quiet --device "unix:$dir/sock/1" \
        send - --raw --packet "$1" --vc 7 --deadline 20
}

removed() {
    within 0 ip link delete spfe0 && ended 0 0 && grep -q 'was removed' "$dir/0.err"
}

in_use() {
    local code=0
    timeout "$limit" nsenter --target "${spaces[1]}" --net "$spfe" --device "unix:$dir/sock/0" \
        ip up 2>"$dir/busy" || code=$?
    [[ $code != 0 ]] && grep -q '^spfe: .*BUSY' "$dir/busy"
}

daemon_dies() {
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null
    daemon=''
    ended 0 5 && ended 1 5 && grep -q '^spfe: interface spfe0: .*DEVICE_GONE' "$dir/0.err" \
        && within 0 bash -c '! ip link show spfe0'
}

# The carrier follows the link's state.
carrier_follows() {
    local device=unix:$dir/sock/0
    until_true has_carrier 0 || return
    "$spfe" link "$device" set lane-start.0=0 auto-start.0=0 || return
    until_true has_no_carrier 0 && until_true has_no_carrier 1 || return
    "$spfe" link "$device" set lane-start.0=1 || return
    until_true has_carrier 0 && until_true has_carrier 1 && until_true reachable
}

start_daemon() {
    rm -f "$dir/sock"
    "$spfed" --listen "$dir/sock" "$@" >/dev/null 2>"$dir/spfed.err" &
    daemon=$!
    until_true "$spfe" --device "unix:$dir/sock/0" info
}

stop_daemon() {
    kill "$daemon"
    wait "$daemon" 2>/dev/null
    daemon=''
}

# space: a network namespace that lasts as long as a process in it.
space() {
    unshare --net sleep 3600 &
    spaces+=("$!")
    until_true differs "${spaces[-1]}"
}

differs() { [[ $(readlink "/proc/$1/ns/net") != $(readlink "/proc/$$/ns/net") ]]; }

# what_is_missing: prints why nothing can be tested here, if so.
what_is_missing() {
    local tool
    for tool in ip ping iperf3 unshare nsenter python3; do
        command -v "$tool" >/dev/null || {
            printf '%s is not there' "$tool"
            return
        }
    done
    unshare --net true 2>/dev/null || {
        printf 'network namespaces may not be made here'
        return
    }
    unshare --net ip tuntap add dev probe mode tap 2>/dev/null ||
        printf 'TAP devices may not be made here'
}

main() {
    local why program
    # One without privilege is root in a user namespace.
    if ((EUID != 0)) && [[ -z ${SPFE_IP_INSIDE:-} ]] && unshare --user --map-root-user true 2>/dev/null; then
        SPFE_IP_INSIDE=1 unshare --user --map-root-user tests/ip.sh
        return
    fi
    why=$(what_is_missing)
    if [[ -n $why ]]; then
        printf 'ok interfaces over SpaceFibre # SKIP %s\n' "$why"
        return
    fi
    for program in "$spfe" "$spfed"; do
        [[ -x $program ]] || {
            printf 'not ok %s is there: build it with "make build"\n' "$program"
            return 1
        }
    done
    exec 3>&1
    write_peer
    head -c "$bytes" /dev/urandom >"$dir/file"
    check 'namespaces' space
    check 'another namespace' space

    for prefix in 'thread: ' 'inline: '; do
        check 'daemon starts' start_daemon --mode "${prefix%: }"
        check 'interfaces with the default MTU' both_up
        check 'ping' pings 56
        check 'ping, fragmented' pings 30000
        check 'many pings' pings 56 -c 200 -i 0.002
        check 'sleeps when idle' sleeps_when_idle
        check '20 MiB over TCP arrive whole' tcp_file
        check 'UDP datagrams of all sizes' udp_echo
        check 'TCP rate, MTU 9000' rate 'TCP, MTU 9000'
        check 'UDP rate, MTU 9000' rate 'UDP, MTU 9000' --udp --bitrate 200M
        check 'MTU changes while it is up' mtu_changes
        check 'virtual channel in use' in_use
        check 'far end is killed and returns' far_end_returns
        check 'packets that are no frames' strangers_are_counted
        check 'ends in good order' both_down
        check 'interfaces with the greatest MTU' both_up --mtu 65500
        check 'ping of the greatest MTU' pings 65472 -M 'do'
        check '20 MiB over TCP, MTU 65500' tcp_file
        check 'TCP rate, MTU 65500' rate 'TCP, MTU 65500'
        check 'interface is removed' removed
        check 'far end ends' down 1
        check 'interfaces with the least MTU of Ethernet' both_up --mtu 1500
        check '20 MiB over TCP, MTU 1500' tcp_file
        check 'TCP rate, MTU 1500' rate 'TCP, MTU 1500'
        check 'daemon is killed' daemon_dies
    done
    prefix='exact: '
    check 'daemon starts' start_daemon --link exact:1x6.25G
    check 'interfaces' both_up
    check 'ping' pings 56
    check 'carrier follows the link' carrier_follows
    check 'ends in good order' both_down
    stop_daemon
    return "$failed"
}

main
