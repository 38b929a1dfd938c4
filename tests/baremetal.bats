#!/usr/bin/env bats
# The driver without an operating system: its unit tests, compiled for this machine.

load lib/common

@test "unit tests" {
    subtests make --no-print-directory -s -C driver/baremetal test OUT="$PWD/target/baremetal"
}
