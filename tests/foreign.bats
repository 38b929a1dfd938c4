#!/usr/bin/env bats
# Foreign ends: files from one endpoint of a daemon, through registers in SystemVerilog, to another.
#
# The registers run in Verilator with the C header, and in a cocotb test with the Python client.
# Verilator is that of tools/rtl.sh; cocotb is pinned in tools/packages/cocotb.txt and installed below
# ${XDG_CACHE_HOME:-~/.cache}/spfe/cocotb.

load lib/common
load lib/python

root=$PWD pins=tools/packages/cocotb.txt
spfe=$(realpath -m "$SPFE_PROGRAMS/spfe")
spfed=$(realpath -m "$SPFE_PROGRAMS/spfed")

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    built "$spfe" "$spfed"
    head -c 20000 /dev/urandom >"$dir/sent"
}

teardown() { stop_all; }

# cli ENDPOINT WORD...: spfe on an endpoint of the daemon, for a limited time.
cli() {
    local device=unix:$dir/sock/$1
    shift
    timeout --kill-after=5 120 "$spfe" --device "$device" "$@"
}

# start_daemon: a daemon whose links wait for a foreign end at a.sock and b.sock.
start_daemon() {
    start spfed env -C "$dir" "$spfed" --listen "$dir/sock" \
        --scenario "$root/examples/foreign/repeater.toml"
    wait_until listens "$dir/sock"
    [[ -S $dir/a.sock && -S $dir/b.sock ]]
}

# transfer FROM TO: sends a file between two endpoints.
transfer() {
    rm -f "$dir/copy"
    start recv timeout --kill-after=5 120 "$spfe" --device "unix:$dir/sock/$2" recv "$dir/copy"
    cli "$1" send "$dir/sent" >"$dir/send.out"
    WAIT_SECONDS=120 ends recv
    cmp "$dir/sent" "$dir/copy"
}

@test "through Verilator" {
    tools/rtl.sh run make --no-print-directory -s -C examples/foreign/verilator \
        OUT="$root/target/foreign/verilator"
    start_daemon
    start core env -C "$dir" "$root/target/foreign/verilator/Vtop" +a=unix:a.sock +b=unix:b.sock
    transfer near far
    transfer far near
    # When the daemon ends, so do its streams and with them the simulator.
    stop spfed
    ends core
    output_has core '^[0-9]+ clock cycles$'
}

@test "through a cocotb test" {
    local bin
    bin=$(environment cocotb "$pins" 2>"$dir/pip") ||
        skip "cocotb cannot be installed: $(tail -n 1 "$dir/pip")"
    start_daemon
    start core env -C "$dir" PATH="$bin:$PATH" LINE_A="unix:$dir/a.sock" LINE_B="unix:$dir/b.sock" \
        OUT="$root/target/foreign/cocotb" "$root/tools/rtl.sh" run \
        "$bin/python" "$root/examples/foreign/cocotb/test_repeater.py"
    WAIT_SECONDS=300 wait_until connected
    transfer near far
    stop spfed
    ends core
    output_has core '^1 test, 0 failed$'
}

# connected: the lanes of an endpoint are active.
connected() { cli near link | grep -q 'up'; }
