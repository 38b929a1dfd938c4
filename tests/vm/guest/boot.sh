# shellcheck shell=sh disable=SC2016,SC2154 # awk; sourced after lib.sh
# The machine without the driver.
check 'two processors' test "$(nproc)" -ge 2
check 'memory' awk '/MemTotal/ { exit $2 < 200000 }' /proc/meminfo
for program in iperf3 ethtool strace dropbearkey; do
    check "$program runs" sh -c "
        $program --version || $program -V || [ $program = dropbearkey ] && dropbearkey -h
        [ \$? -lt 126 ]"
done
ping -c 1 -W 5 127.0.0.1 >/dev/null
check 'ping to the loopback address' ping -c 1 -W 5 127.0.0.1
exit "$failed"
