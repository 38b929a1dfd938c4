# shellcheck shell=sh disable=SC2034,SC2154 # sourced after lib.sh
# Each allocation of the kernel fails in turn, while a program uses the driver and while a device is
# bound to it. Neither memory nor a region, queue or event may be lost.
for kind in failslab fail_page_alloc; do
    echo N >"/sys/kernel/debug/$kind/ignore-gfp-wait"
    echo 0 >"/sys/kernel/debug/$kind/verbose"
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
# Platform devices: where an allocation fails in ACPI's interpreter, which assigns the interrupt of a
# PCI device that is bound, Linux 6.1 goes on with memory that it has freed.
platform=1
load_driver 2
usage=/sys/kernel/debug/spfe/spfe0/usage
check 'a program whose allocations fail' fail_nth client /dev/spfe0 && sed 's/^/# /' /tmp/check.out
check 'it leaves nothing behind' fails grep -qv ' 0$' "$usage"
check 'packets flow afterwards' works
bus=$(address 0)
driver=/sys/bus/platform/drivers/spfe
echo "$bus" >$driver/unbind
check 'a device is bound while allocations fail' fail_nth bind $driver "$bus" 13 &&
    sed 's/^/# /' /tmp/check.out
echo "$bus" >$driver/bind
check 'the device is bound again' within 60 test -c /dev/spfe0
check 'packets flow again' within 60 works
unload_driver
exit "$failed"
