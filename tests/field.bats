#!/usr/bin/env bats
# Host software of the field: CCSDS links of ground systems over UDP and TCP, and the module for the
# Software Bus Network of cFS.
#
# tools/field.sh runs OpenC3 and Yamcs.

load lib/common
load lib/python

spfe=$SPFE_PROGRAMS/spfe
spfed=$SPFE_PROGRAMS/spfed

setup_file() {
    export dir=$BATS_FILE_TMPDIR SPFE_SITE=$BATS_FILE_TMPDIR/site
    built "$spfe"
    built "$spfed"
    environment pyface tools/packages/pyface.txt >"$dir/pip" 2>&1 || return 0
    tools/python.sh install
    touch "$dir/python"
}

teardown_file() { stop_all; }

@test "space packets over UDP and TCP, one for one" {
    [[ -e $dir/python ]] || skip "$(tail -n 1 "$dir/pip")"
    start spfed "$spfed" --listen "$dir/sock"
    wait_until listens "$dir/sock"
    run -0 timeout --kill-after=5 120 tools/python.sh run \
        python tests/field/ccsds_peer.py "$spfe" "unix:$dir/sock/0" "unix:$dir/sock/1"
    [[ $output == ok ]]
}

@test "a place that is neither UDP nor TCP is refused" {
    run -2 "$spfe" bridge ccsds virtual: --tm 127.0.0.1:1
    [[ $output == *'examples are udp:'* ]]
    run -2 "$spfe" bridge ccsds virtual:
}

@test "the module for the Software Bus Network" {
    local lib=$SPFE_PROGRAMS/libspfe_capi.a
    [[ -f $lib ]]
    gcc -std=c11 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Wpedantic \
        -Werror -Iinclude -Itests/field/cfs -o "$dir/sbn" tests/field/cfs/peer.c \
        examples/cfs/sbn_spfe_if.c "$lib" -pthread -lgcc_s -lm
    start bus "$spfed" --listen "$dir/bus" --mode thread
    wait_until listens "$dir/bus"
    timeout --kill-after=5 120 "$dir/sbn" "unix:$dir/bus/0" "unix:$dir/bus/1" "$dir/other" "$spfed" \
        >"$dir/sbn.tap"
    forward "$dir/sbn.tap"
    grep -qx '1..6' "$dir/sbn.tap"
}
