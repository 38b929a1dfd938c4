# shellcheck shell=sh disable=SC2034,SC2154 # sourced after lib.sh
# Devices that reach only the first 256 MiB. The kernel's own memory lies there (kernelcore=), so one
# page of it tells nothing about the memory of programs.
platform=1
shim='limit=28'
load_driver 2
check 'the driver says that it cannot register memory' \
    test "$(dmesg | grep -c 'no user memory (DMA is bounced)')" = 2
for how in poll wait; do
    check "packets in memory of the driver, $how" \
        packets /dev/spfe0:0:0 /dev/spfe1:0:0 count=500 "how=$how"
done
unload_driver
exit "$failed"
