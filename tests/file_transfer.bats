#!/usr/bin/env bats
# Files from one process to another through spfed, in each mode of its network.
# variants: thread inline coop
#
# The file has 64 MiB; with SPFE_SOAK=1 it has 1 GiB.

load lib/common

spfe=$SPFE_PROGRAMS/spfe spfed=$SPFE_PROGRAMS/spfed
limit=$((${SPFE_SOAK:-0} == 1 ? 300 : 60))
bytes=$((${SPFE_SOAK:-0} == 1 ? 1 << 30 : 64 << 20))

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    built "$spfe" "$spfed"
    head -c "$bytes" /dev/urandom >"$dir/large"
    head -c 1234567 /dev/urandom >"$dir/small"
    : >"$dir/empty"
}

setup() { rm -f "$dir/copy"; }

# Ends what a failed test left behind, except the daemon.
teardown() {
    local file name
    for file in "$dir"/*.pid; do
        name=$(basename "$file" .pid)
        [[ ! -e $file || $name == spfed ]] || stop "$name"
    done
}

teardown_file() { stop_all; }

# cli ENDPOINT WORD...: spfe on an endpoint of the daemon, for a limited time.
cli() {
    local device=unix:$dir/sock/$1
    shift
    timeout --kill-after=5 "$limit" "$spfe" --device "$device" "$@"
}

# background NAME ENDPOINT WORD...: the same in the background.
background() {
    local name=$1 device=unix:$dir/sock/$2
    shift 2
    start "$name" timeout --kill-after=5 "$limit" "$spfe" --device "$device" "$@"
}

# holds ENDPOINT END: a client has the queue of this end (tx or rx) of a virtual channel.
holds() { cli "$1" --json stats | grep -qE "\"client\":[1-9][0-9]*,\"end\":\"$2\""; }

# transfer FILE OPTION...: sends a file from endpoint 0 to endpoint 1. Both sides must print the
# digest of the file.
transfer() {
    local file=$1 expected
    shift
    background recv 1 recv "$dir/copy" "$@"
    cli 0 send "$file" "$@" >"$dir/send.out"
    ends recv
    expected=$(digest "$file")
    cmp "$file" "$dir/copy"
    grep "^$expected " "$dir/send.out"
    output_has recv "^$expected "
}

# Whether bytes of an incomplete copy have been written. The name has a random part.
part_has_bytes() {
    local part
    part=$(compgen -G "$dir/copy.*.part") && [[ -s $part ]]
}

@test "daemon starts" {
    start spfed "$spfed" --listen "$dir/sock" --mode "$TEST_VARIANT"
    wait_until cli 0 info
}

@test "large file" {
    transfer "$dir/large"
}

@test "counters count the packets of the large file" {
    local packets
    packets=$(cli 1 --json stats | grep -o '"end":"rx","errors":0,"packets":[0-9]*' | head -n 1)
    ((${packets##*:} >= bytes / 65536))
}

@test "packets of 777 bytes in groups of 5 on virtual channel 5" {
    transfer "$dir/small" --packet 777 --group 5 --vc 5
}

@test "empty file" {
    transfer "$dir/empty"
}

@test "sender starts before the receiver" {
    background send 0 send "$dir/small"
    wait_until holds 0 tx
    cli 1 recv "$dir/copy"
    ends send
    cmp "$dir/small" "$dir/copy"
}

@test "standard input and output" {
    background recv 1 recv -
    cli 0 send - <"$dir/small"
    ends recv
    cmp "$dir/small" "$dir/recv.out"
    error_has recv "^$(digest "$dir/small") "
}

@test "raw packets longer than the receiver's buffers" {
    background recv 1 recv "$dir/copy" --raw --bytes "$(stat -c %s "$dir/small")" --packet 1000
    cli 0 send "$dir/small" --raw --packet 3000
    ends recv
    cmp "$dir/small" "$dir/copy"
}

# The receiver exits with 4 and keeps no part of the file.
@test "sender is interrupted halfway" {
    mkfifo "$dir/fifo"
    # Open for reading and writing, so that the sender never sees the end of its input.
    exec 9<>"$dir/fifo"
    background recv 1 recv "$dir/copy"
    # `start` gives its command no standard input, so the shell opens the pipe.
    # shellcheck disable=SC2016 # for the inner shell
    start send bash -c 'exec "$0" --device "$1" send - --packet 1000 <"$2"' \
        "$spfe" "unix:$dir/sock/0" "$dir/fifo"
    head -c 65536 "$dir/small" >&9
    wait_until part_has_bytes
    signal send
    ends send 130
    exec 9>&-
    ends recv 4
    [[ ! -e $dir/copy ]]
    run ! compgen -G "$dir/copy.*.part"
}

@test "ping to another process" {
    background echo 1 ping --respond --count 100
    cli 0 ping --count 100 --interval 0 --size 4K | tee "$dir/ping.out"
    ends echo
    grep 'round trip' "$dir/ping.out"
}

@test "broadcast message to another process" {
    background listen 1 broadcast listen --type 7 --count 1
    wait_until error_has listen '^listening on port'
    cli 0 broadcast send --type 7 --data hello
    ends listen
    output_has listen "'hello'"
}

@test "daemon is killed while a client waits" {
    background recv 1 recv "$dir/copy"
    wait_until holds 1 rx
    stop spfed KILL
    ends recv 5
    error_has recv '^spfe: '
}
