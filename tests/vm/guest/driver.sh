# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The driver on a machine that has no device.
load_driver 0
check 'it is there' grep -q '^spfe ' /proc/modules
check 'it has no device' fails test -e /dev/spfe0
unload_driver
exit "$failed"
