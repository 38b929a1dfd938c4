# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# Packets between two devices of this machine, in both kinds of memory, with polling and interrupts.
#
#   packets.sh [COUNT]
count=${1:-2000}
load_driver 2
for memory in user driver; do
    for how in poll wait; do
        check "$memory memory, $how" packets /dev/spfe0:0:0 /dev/spfe1:0:0 \
            "count=$count" "memory=$memory" "how=$how"
    done
done
check 'buffers registered for reading before their first use' \
    packets /dev/spfe0:0:0 /dev/spfe1:0:0 "count=$count" memory=readonly
check 'other direction, other channel' packets /dev/spfe1:0:1 /dev/spfe0:0:1 "count=$count"
check 'packets across many pages' packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=100 bytes=60000
echo 8 >/proc/sys/vm/nr_hugepages
check 'huge pages' packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=100 bytes=30000 huge=1
unload_driver
exit "$failed"
