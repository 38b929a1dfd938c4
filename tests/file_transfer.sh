#!/usr/bin/env bash
# Files from one process to another through spfed, in each mode of its network.
#
#   tests/file_transfer.sh          "ok NAME" or "not ok NAME" for each check
#
# The file has 64 MiB; with SPFE_SOAK=1 it has 1 GiB. SPFE_BIN and SPFED_BIN name the programs
# (default: those in target/release). Only what it started is ended; everything has a timeout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly spfe=${SPFE_BIN:-target/release/spfe} spfed=${SPFED_BIN:-target/release/spfed}
readonly limit=$((${SPFE_SOAK:-0} == 1 ? 300 : 60))
readonly bytes=$((${SPFE_SOAK:-0} == 1 ? 1 << 30 : 64 << 20))
failed=0
daemon=''
children=()
dir=$(mktemp -d) || exit

# finish: ends what is still running and removes all files.
finish() {
    local pid
    for pid in "${children[@]}" $daemon; do
        kill "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# check NAME COMMAND...: reports whether a command succeeds; else what was said on stderr.
check() {
    local name="$mode: $1" pid
    shift
    if "$@"; then
        printf 'ok %s\n' "$name"
    else
        printf 'not ok %s\n' "$name"
        tail -n 5 "$dir"/*.err | sed 's/^/# /'
        failed=1
    fi
    for pid in "${children[@]}"; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    children=()
}

# cli ENDPOINT WORD...: spfe at an endpoint of the daemon, for a limited time.
cli() {
    local device=unix:$dir/sock/$1
    shift
    timeout --kill-after=5 "$limit" "$spfe" --device "$device" "$@"
}

# background NAME ENDPOINT WORD...: the same without waiting for it; see join.
background() {
    local name=$1 device=unix:$dir/sock/$2
    shift 2
    timeout --kill-after=5 "$limit" "$spfe" --device "$device" "$@" \
        >"$dir/$name.out" 2>"$dir/$name.err" &
    children+=($!)
}

# join: the exit code of the last command in the background.
join() {
    local pid=${children[-1]}
    unset 'children[-1]'
    wait "$pid"
}

digest() { sha256sum <"$1" | cut -d ' ' -f 1; }

# transfer FILE OPTION...: a file from endpoint 0 to endpoint 1; three digests must agree.
transfer() {
    local file=$1
    shift
    rm -f "$dir/copy"
    background recv 1 recv "$dir/copy" "$@"
    cli 0 send "$file" "$@" >"$dir/send.out" 2>"$dir/send.err" || return
    join || return
    local digest
    digest=$(digest "$file")
    cmp -s "$file" "$dir/copy" && grep -q "^$digest " "$dir/send.out" \
        && grep -q "^$digest " "$dir/recv.out"
}

sender_first() {
    rm -f "$dir/copy"
    background send 0 send "$dir/small"
    sleep 0.3
    cli 1 recv "$dir/copy" >"$dir/recv.out" 2>"$dir/recv.err" || return
    join && cmp -s "$dir/small" "$dir/copy"
}

through_pipes() {
    background recv 1 recv -
    cli 0 send - <"$dir/small" >"$dir/send.out" 2>"$dir/send.err" || return
    join && cmp -s "$dir/small" "$dir/recv.out" && grep -q "^$(digest "$dir/small") " "$dir/recv.err"
}

raw_packets() {
    rm -f "$dir/copy"
    background recv 1 recv "$dir/copy" --raw --bytes "$(stat -c %s "$dir/small")" --packet 1000
    cli 0 send "$dir/small" --raw --packet 3000 >"$dir/send.out" 2>"$dir/send.err" || return
    join && cmp -s "$dir/small" "$dir/copy"
}

# A sender that is interrupted half-way: the receiver must exit with 4 and keep nothing.
sender_gives_up() {
    local code=0 sender
    rm -f "$dir/copy"
    rm -f "$dir/fifo"
    mkfifo "$dir/fifo"
    # Opened for reading and writing: the end of the file never comes.
    exec 9<>"$dir/fifo"
    background recv 1 recv "$dir/copy"
    "$spfe" --device "unix:$dir/sock/0" send - <&9 >"$dir/send.out" 2>"$dir/send.err" 9>&- &
    sender=$!
    children+=("$sender")
    head -c 65536 "$dir/small" >&9
    sleep 0.3
    kill "$sender"
    join || code=$?
    exec 9>&-
    [[ $code == 130 ]] || return
    code=0
    join || code=$?
    [[ $code == 4 && ! -e $dir/copy && ! -e $dir/copy.part ]]
}

# Counters of the daemon, as another client sees them.
counters() {
    local packets
    packets=$(cli 1 --json stats 2>"$dir/stats.err" \
        | grep -o '"end":"rx","errors":0,"packets":[0-9]*' | head -n 1)
    [[ -n $packets ]] && ((${packets##*:} >= bytes / 65536))
}

ping_across() {
    background echo 1 ping --respond --count 100
    cli 0 ping --count 100 --interval 0 --size 4K >"$dir/ping.out" 2>"$dir/ping.err" || return
    join && grep -q 'round trip' "$dir/ping.out"
}

broadcast_across() {
    background listen 1 broadcast listen --type 7 --count 1
    # Nobody hears what is sent before there is a listener: send until it has ended.
    cli 0 broadcast send --type 7 --data hello --count 40 --interval 0.05 >"$dir/send.out" \
        2>"$dir/send.err" || return
    join && grep -q "'hello'" "$dir/listen.out"
}

# The daemon is killed while somebody waits: exit code 5, at once.
daemon_dies() {
    local code=0
    background recv 1 recv "$dir/copy"
    sleep 0.3
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null
    daemon=''
    join || code=$?
    [[ $code == 5 ]] && grep -q '^spfe: ' "$dir/recv.err"
}

start_daemon() {
    rm -f "$dir"/*.err "$dir/sock"
    "$spfed" --listen "$dir/sock" --mode "$mode" >/dev/null 2>"$dir/spfed.err" &
    daemon=$!
    local turn
    for ((turn = 0; turn < 100; turn++)); do
        [[ -S $dir/sock ]] && cli 0 info >/dev/null 2>"$dir/info.err" && return
        sleep 0.05
    done
    return 1
}

main() {
    local size program
    for program in "$spfe" "$spfed"; do
        [[ -x $program ]] || {
            printf 'not ok %s is there: build it with "make build"\n' "$program"
            return 1
        }
    done
    head -c "$bytes" /dev/urandom >"$dir/large"
    head -c 1234567 /dev/urandom >"$dir/small"
    : >"$dir/empty"
    size="$((bytes >> 20)) MiB"
    for mode in thread inline coop; do
        check 'daemon starts' start_daemon
        check "file of $size" transfer "$dir/large"
        check 'counters add up' counters
        check 'odd packets, virtual channel 5' transfer "$dir/small" --packet 777 --group 5 --vc 5
        check 'empty file' transfer "$dir/empty"
        check 'sender first' sender_first
        check 'standard input and output' through_pipes
        check 'raw packets longer than buffers' raw_packets
        check 'sender gives up' sender_gives_up
        check 'ping to another process' ping_across
        check 'broadcast message to another process' broadcast_across
        check 'daemon is killed' daemon_dies
    done
    return "$failed"
}

main
