#!/usr/bin/env bash
# The driver without an operating system, on this machine: unit tests against a register file.
set -euo pipefail
cd "$(dirname "$0")/.."
exec make --no-print-directory -s -C driver/baremetal test OUT="$PWD/target/baremetal"
