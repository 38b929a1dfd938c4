# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# One of two machines on a network over SpaceFibre.
#
#   net_two.sh server | client [SECONDS]      SECONDS: how long iperf3 runs each time

server=10.0.0.2
interface() {
    ip addr add "$1/24" dev spfe0 && ip link set spfe0 up &&
        within 60 grep -q 1 /sys/class/net/spfe0/carrier
}
# measured NAME COMMAND...: a check that prints its figures.
measured() {
    check "$@" || return
    sed -n '/^round-trip\|^rtt\|sender$\|receiver$/s/^/# /p' /tmp/check.out
}
remote() { dbclient -y -y "root@$server" "$@" 2>/dev/null; }
# shellcheck disable=SC2016 # for the shell of the server
says_hello() { [ "$(remote 'echo hello from "$(hostname)"')" = 'hello from server' ]; }
copies() {
    dd if=/dev/urandom of=/tmp/file bs=64k count=64 2>/dev/null
    remote 'cat >/tmp/file && sha256sum </tmp/file' </tmp/file >/tmp/remote.sum || return
    sha256sum </tmp/file | cmp - /tmp/remote.sum
}

load_driver 1
case $1 in
server)
    check 'interface' interface $server
    iperf3 -s -D
    mkdir -p /etc/dropbear /var/log && : >/var/log/lastlog
    dropbear -R -B
    echo '# ready'
    check 'the client has finished' within 300 test -e /tmp/done
    ;;
client)
    check 'interface' interface 10.0.0.1
    measured 'ping' ping -c 20 -i 0.05 -W 10 $server
    measured 'ping of 8000 bytes' ping -c 20 -i 0.05 -W 10 -s 8000 $server
    measured 'iperf3' iperf3 -c $server -t "${2:-2}" -f m
    measured 'iperf3 in the other direction' iperf3 -c $server -t "${2:-2}" -f m -R
    check 'a command over ssh' says_hello
    check '4 MiB over ssh' copies
    check 'the server is told to end' remote 'touch /tmp/done'
    ;;
esac
ip link set spfe0 down
unload_driver
exit "$failed"
