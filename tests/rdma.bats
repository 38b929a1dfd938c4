#!/usr/bin/env bats
# Files to the memory of a target-only endpoint and back, from process to process through spfed.
#
# The file has 16 MiB; with SPFE_SOAK=1 it has 1 GiB.

load lib/common

spfe=$SPFE_PROGRAMS/spfe spfed=$SPFE_PROGRAMS/spfed
limit=$((${SPFE_SOAK:-0} == 1 ? 600 : 120))
bytes=$((${SPFE_SOAK:-0} == 1 ? 1 << 30 : 16 << 20))

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    built "$spfe" "$spfed"
    head -c "$bytes" /dev/urandom >"$dir/large"
    cat >"$dir/node.toml" <<'END'
logical_address = 0x42
[[region]]
name = "image"
size = "2G"
[[region]]
name = "table"
size = "4K"
base = 0x100000000
rights = "r"
END
}

teardown_file() { stop_all; }

# rdma WORD...: spfe rdma on the daemon's endpoint, for a limited time.
rdma() {
    timeout --kill-after=5 "$limit" "$spfe" -q rdma "$@" "unix:$dir/sock" --target-logical 0x42
}

begin() {
    start spfed "$spfed" --listen "$dir/sock" --topology "target:$dir/node.toml"
    wait_until rdma regions
}

@test "daemon starts with a target-only endpoint" {
    begin
    rdma regions >"$dir/regions"
    grep -E '^0 .* rwa +0x0 +2147483648$' "$dir/regions"
    grep -E '^1 .* r-- +0x100000000 +4096$' "$dir/regions"
}

@test "a large file goes there and back" {
    local sum
    sum=$(sha256sum "$dir/large" | cut -d ' ' -f 1)
    # At an odd address, so that no packet of the file is aligned.
    same "$sum" "$(rdma write --address 0x3 --data "@$dir/large" --json | grep -oE '[0-9a-f]{64}')"
    same "$sum" "$(rdma read --address 0x3 --length "$bytes" --output "$dir/copy" --json |
        grep -oE '[0-9a-f]{64}')"
    cmp "$dir/large" "$dir/copy"
    rm "$dir/copy"
}

@test "memory stays when its client ends" {
    rdma write --address 0x70000000 --data 68656c6c6f
    rdma read --address 0x70000000 --length 5 | grep -F '|hello|'
}

@test "a region that may only be read" {
    run -1 rdma write --region 1 --data 00
    rdma read --region 1 --length 16 | grep -F '0100000000  00 00 00 00'
}

@test "several clients, one after the other" {
    for _ in 1 2 3 4 5; do
        rdma atomic --address 0x78000000 --add 10
    done
    same 0x32 "$(rdma --json atomic --address 0x78000000 --add 0 | grep -oE '0x32')"
}

@test "a file survives a daemon whose links are hostile" {
    local sum
    head -c 65536 "$dir/large" >"$dir/part"
    sum=$(sha256sum "$dir/part" | cut -d ' ' -f 1)
    start hostile "$spfed" --listen "$dir/hostile.sock" --topology "target:$dir/node.toml" \
        --hostile drop=0.001,duplicate=0.05,reorder=0.001,damage=0.001,cut=0.001
    hostile() { timeout --kill-after=5 60 "$spfe" -q rdma "$@" "unix:$dir/hostile.sock" \
        --target-logical 0x42; }
    wait_until hostile regions
    same "$sum" "$(hostile write --data "@$dir/part" --json | grep -oE '[0-9a-f]{64}')"
    hostile read --length 65536 --output "$dir/copy"
    cmp "$dir/part" "$dir/copy"
    stop hostile
    start hostile "$spfed" --listen "$dir/hostile.sock" --topology "target:$dir/node.toml" \
        --hostile drop=1
    wait_until listens "$dir/hostile.sock"
    run ! hostile regions
    stop hostile
    run -2 "$spfed" --listen "$dir/x.sock" --mode inline --hostile drop=0.1
    run -2 "$spfed" --listen "$dir/x.sock" --hostile drop=2
}

@test "the daemon is killed while a client writes, and starts again" {
    mkfifo "$dir/fifo"
    # Open for reading and writing, so that the client never sees the end of its input.
    exec 9<>"$dir/fifo"
    # shellcheck disable=SC2016 # for the inner shell
    start client bash -c 'exec "$0" -q rdma write "unix:$1" --target-logical 0x42 --data @- <"$2"' \
        "$spfe" "$dir/sock" "$dir/fifo"
    head -c $((9 << 20)) "$dir/large" >&9
    stop spfed KILL
    # Now it has two whole pieces of 8 MiB.
    timeout 60 head -c $((7 << 20)) "$dir/large" >&9
    exec 9>&-
    ends client 5
    error_has client '^spfe: '
    begin
    rdma read --address 0x70000000 --length 5 --json | grep -F '"data":"0000000000"'
}
