#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/ip sets the variables
# Network interfaces over an exact SpaceFibre link, whose state they show as their carrier.

load lib/common
load lib/ip

@test "daemon and interfaces start" {
    start_daemon --link exact:1x6.25G
    both_up
}

@test "ping" {
    pings 56
}

@test "carrier follows the state of the link" {
    local device=unix:$dir/sock/0
    wait_until has_carrier 0
    "$spfe" link "$device" set lane-start.0=0 auto-start.0=0
    wait_until has_no_carrier 0
    wait_until has_no_carrier 1
    "$spfe" link "$device" set lane-start.0=1
    wait_until has_carrier 0
    wait_until has_carrier 1
    wait_until reachable
}

@test "interfaces end in good order" {
    both_down
}

# Each end is the channel for frames to the other node.
@test "two nodes of a fabric" {
    stop spfed
    start_daemon --topology fabric:3
    up 0 --vc 2
    up 1 --vc 0
    wait_until reachable
    pings 56
    wait_until knows 0 2
    wait_until knows 1 2
    [[ $(counter 1 wrong_header) == 0 ]]
    both_down
}

# A packet that names another node is none of the channel.
@test "frames for another node are dropped" {
    up 0 --vc 2
    # The start of a frame of version 2 from node 2 to node 3: 18 bytes of header, 42 of frame.
    printf '\xfe\xf5\x02\x00\x03\x00\x02\x00%052x' 0 >"$dir/astray"
    timeout --kill-after=5 "$limit" "$spfe" --quiet --device "unix:$dir/sock/1" \
        send "$dir/astray" --packet 60 --vc 0 --deadline 20 --raw
    wait_until rises 0 wrong_header 0
    both_down
}
