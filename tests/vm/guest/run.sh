# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# A command on a machine with the driver; its output is the result.
insmod /lib/spfe/spfe.ko && within 60 test -c /dev/spfe0 && "$@"
