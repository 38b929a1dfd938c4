# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The driver's network interface; the far end of the link is `spfe ip up` outside of this machine.
#
#   net_host.sh [SECONDS]      how long iperf3 runs
host=10.0.0.2
measured() {
    check "$@" || return
    sed -n '/^round-trip\|^rtt\|sender$\|receiver$/s/^/# /p' /tmp/check.out
}
load_driver 1
check 'interface takes an address' ip addr add 10.0.0.1/24 dev spfe0
check 'interface comes up' ip link set spfe0 up
check 'carrier' within 60 grep -q 1 /sys/class/net/spfe0/carrier
check 'first reply' within 60 ping -c 1 -W 2 $host
measured 'ping' ping -c 20 -i 0.05 -W 10 $host
measured 'ping of 8000 bytes' ping -c 20 -i 0.05 -W 10 -s 8000 $host
measured 'iperf3' iperf3 -c $host -t "${1:-2}" -f m
measured 'iperf3 in the other direction' iperf3 -c $host -t "${1:-2}" -f m -R
unload_driver
exit "$failed"
