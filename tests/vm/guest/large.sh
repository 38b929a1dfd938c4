# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# A region of more than 2 GiB in pages of 4 KiB. A page list in one piece would need 8 MiB of
# contiguous memory, which this kernel never has.
load_driver 2
check 'a region of 2 GiB: packets from its end' \
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=100 far=2147483648
check 'nothing is left' fails grep -qv ' 0$' /sys/kernel/debug/spfe/spfe0/usage
unload_driver
exit "$failed"
