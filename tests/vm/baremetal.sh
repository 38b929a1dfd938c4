#!/usr/bin/env bash
# Runs the bare-metal driver on an emulated 64-bit ARM machine with two devices.
#
#   tests/vm/baremetal.sh DIRECTORY SOCKET SOCKET    prints the output of the image
#
# DIRECTORY takes files; the sockets belong to two devices on one network. The exit code is 1 if the
# image reports a failure.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

(($# == 3)) || vm_die 'usage: tests/vm/baremetal.sh DIRECTORY SOCKET SOCKET'
readonly directory=$1
shift
vm_qemu arm64
make --no-print-directory -s -C "$vm_source/driver/baremetal" image OUT="$directory" >&2
words=(-nodefaults -no-reboot -display none -m 256 -cpu cortex-a57 -accel tcg
    -object 'memory-backend-memfd,id=ram,size=256M,share=on'
    -M 'virt,gic-version=3,highmem=off,memory-backend=ram'
    -serial "file:$directory/console" -kernel "$directory/spfe-virt.elf")
for socket in "$@"; do
    words+=(-device "{\"driver\":\"vfio-user-pci\",\"bus\":\"pcie.0\",
        \"socket\":{\"type\":\"unix\",\"path\":\"$socket\"},\"x-no-posted-writes\":true}")
done
timeout --kill-after=5 120 "$vm_emulator" "${words[@]}" </dev/null >"$directory/emulator" 2>&1 ||
    tail -n 5 "$directory/emulator"
tr -d '\r' <"$directory/console" | grep -v '^1\.\.'
grep -q '^passed' "$directory/console"
