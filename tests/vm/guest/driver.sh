# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The driver on a machine that has no device.
load_driver 0
check 'the module is loaded' grep -q '^spfe ' /proc/modules
check 'there is no device' fails test -e /dev/spfe0
unload_driver
exit "$failed"
