# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# What a user does first with a new core: information, ping, a file, a reset. Short, for a device
# that is simulated cycle by cycle.

describe() { spfe info /dev/spfe0 && spfe link /dev/spfe0 | grep -i up; }

ping_through() {
    spfe ping /dev/spfe1 --respond --count 3 >/tmp/respond.out 2>&1 &
    responder=$!
    spfe ping /dev/spfe0 --count 3 --deadline 60 && wait "$responder" && return
    cat /tmp/respond.out
    return 1
}

# A file from one device to the other, with equal checksums.
move_file() {
    head -c 20000 /dev/urandom >/tmp/from
    rm -f /tmp/to
    spfe recv /dev/spfe1 /tmp/to >/tmp/recv.out 2>&1 &
    receiver=$!
    spfe send /dev/spfe0 /tmp/from && wait "$receiver" || return
    sha256sum /tmp/from /tmp/to
    cmp /tmp/from /tmp/to
}

some_packets() { packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=20 how=wait; }

load_driver 2
check 'information, and a link that is up' within 60 describe
check 'packets' some_packets
check 'ping' ping_through
check 'a file arrives whole' move_file
echo 1 >"/sys/bus/pci/devices/$(address 0)/reset"
check 'packets after a reset' within 60 some_packets
unload_driver
exit "$failed"
