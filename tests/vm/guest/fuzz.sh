# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# Random calls to the driver, which must not harm it.
#
#   fuzz.sh SEED ROUNDS
load_driver 2
fuzz_ioctl /dev/spfe0 "$1" "$2" 2 >/tmp/fuzz.out
code=$?
cat /tmp/fuzz.out
check "random calls of seed $1" test "$code" = 0
check 'packets flow afterwards' packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=200
unload_driver
exit "$failed"
