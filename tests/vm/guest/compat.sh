# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# Every call of the driver from a program for 32-bit processors.
load_driver 2
calls32 /dev/spfe0 || failed=1
pairs32 /dev/spfe0 || failed=1
unload_driver
exit "$failed"
