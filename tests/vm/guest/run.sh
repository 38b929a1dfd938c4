# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# Runs a command on a machine with the driver and prints its output.
insmod /lib/spfe/spfe.ko && within 60 test -c /dev/spfe0 && "$@"
