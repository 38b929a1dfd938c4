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
