# shellcheck shell=bash
# Network interfaces of `spfe ip up`, each in a network namespace of its own and joined by spfed.
# Loaded by ip.bats, ip_link.bats and ip_fabric.bats after lib/common. There are as many as addresses:
# two at the ends of a link, unless the file sets more.
#
# Rates and round trips are printed and never judged. All traffic stays inside the namespaces, which
# end with the test.

spfe=$SPFE_PROGRAMS/spfe spfed=$SPFE_PROGRAMS/spfed
limit=60 bytes=$((20 << 20)) port=5300
addresses=(10.83.0.1 10.83.0.2) macs=(02:00:00:00:53:01 02:00:00:00:53:02)
# A user without privilege is root in a user namespace of each network namespace.
user=()
enter=(--net)
if ((EUID != 0)); then
    user=(--user --map-root-user)
    enter+=(--user --preserve-credentials)
fi

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    local side
    unavailable "$(missing)"
    [[ -z $TEST_UNAVAILABLE ]] || return 0
    built "$spfe" "$spfed"
    head -c "$bytes" /dev/urandom >"$dir/file"
    # A namespace lasts as long as a process in it.
    for side in "${!addresses[@]}"; do
        start "space$side" unshare "${user[@]}" --net sleep infinity
        wait_until separate "$side"
    done
}

setup() { skip_if_unavailable; }
teardown_file() { stop_all; }

# missing: prints why nothing can be tested here, if so.
missing() {
    local reason
    reason=$(programs ip ping iperf3 unshare nsenter python3)
    if [[ -n $reason ]]; then
        printf '%s' "$reason"
    elif ! unshare "${user[@]}" --net true 2>/dev/null; then
        printf 'this machine does not allow network namespaces'
    elif ! unshare "${user[@]}" --net ip tuntap add dev probe mode tap 2>/dev/null; then
        printf 'this machine does not allow TAP devices'
    fi
}

# separate SIDE: the process that holds the namespace has entered it.
separate() { [[ $(readlink "/proc/$(pid "space$1")/ns/net") != $(readlink "/proc/$$/ns/net") ]]; }

start_daemon() {
    rm -f "$dir/sock"
    start spfed "$spfed" --listen "$dir/sock" "$@"
    wait_until "$spfe" info "unix:$dir/sock/0"
}

# within SIDE WORD...: a command in the namespace of a side, for a limited time.
within() {
    local space
    space=$(pid "space$1")
    shift
    timeout --kill-after=5 "$limit" nsenter --target "$space" "${enter[@]}" "$@"
}

# up SIDE OPTION...: starts an interface and waits until it moves frames.
up() {
    local side=$1
    shift
    start "ip$side" nsenter --target "$(pid "space$side")" "${enter[@]}" \
        "$spfe" --json ip up "unix:$dir/sock/$side" --name spfe0 \
        --address "${addresses[$side]}/24" --mac "${macs[$side]}" "$@"
    wait_until output_has "ip$side" '"interface":"spfe0"'
}

# down SIDE: ends an interface in good order, if it is up.
down() {
    [[ -e $dir/ip$1.pid ]] || return 0
    signal "ip$1"
    ends "ip$1"
}

both_up() { up 0 "$@" && up 1 "$@" && wait_until reachable; }
both_down() { down 0 && down 1; }
reachable() { within 0 ping -q -c 1 -W 1 "${addresses[1]}"; }
has_carrier() { within "$1" ip link show spfe0 | grep -q 'LOWER_UP'; }
has_no_carrier() { within "$1" ip link show spfe0 | grep -q 'NO-CARRIER'; }

# reports SIDE: how many reports of its counters an interface has printed.
reports() { grep -c '"sleeps"' "$dir/ip$1.out" || true; }
more_reports() { (($(reports "$1") > $2)); }

# knows SIDE VERSION: the version that an interface believes its far end to understand.
knows() { [[ $(counter "$1" peer_version) == "$2" ]]; }

# counter SIDE NAME: a counter now, from the report that SIGUSR1 asks for.
counter() {
    local before
    before=$(reports "$1")
    signal "ip$1" USR1
    wait_until more_reports "$1" "$before" || return
    grep '"sleeps"' "$dir/ip$1.out" | tail -n 1 | grep -o "\"$2\":[0-9]*" | head -n 1 | cut -d : -f 2
}

# rises SIDE NAME BEFORE: the counter is higher than before.
rises() {
    local now
    now=$(counter "$1" "$2") && ((now > $3))
}

# pings SIZE [OPTION...]: round trips from side 0 to side 1; every packet returns.
pings() {
    local size=$1
    shift
    within 0 ping -q -c 5 -i 0.2 -W 5 -s "$size" "$@" "${addresses[1]}" | tee "$dir/ping"
    comment "${TEST_VARIANT:+$TEST_VARIANT: }ping of $size bytes: $(tail -n 1 "$dir/ping")"
}

# listen KIND: starts a listener on side 1.
listen() {
    start listener nsenter --target "$(pid space1)" "${enter[@]}" \
        python3 -I tests/lib/sockets.py listen "$1" "${addresses[1]}" "$port"
    wait_until output_has listener '^ready'
}

peer() { within 0 python3 -I tests/lib/sockets.py send "$1" "${addresses[1]}" "$port" "${@:2}"; }

tcp_file() {
    listen tcp
    peer tcp "$dir/file"
    ends listener
    same "$(digest "$dir/file")" "$(tail -n 1 "$dir/listener.out")"
}

# rate NAME OPTION...: iperf3 from side 0 to side 1; the rate is printed only.
rate() {
    local name=$1
    shift
    start server nsenter --target "$(pid space1)" "${enter[@]}" \
        iperf3 --server --one-off --forceflush
    wait_until output_has server listening
    within 0 iperf3 --client "${addresses[1]}" --time 1 --format m "$@" >"$dir/iperf"
    ends server
    comment "${TEST_VARIANT:+$TEST_VARIANT: }$name: $(grep -E 'receiver' "$dir/iperf" | tail -n 1)"
}

send_raw() {
    timeout --kill-after=5 "$limit" "$spfe" --quiet --device "unix:$dir/sock/1" \
        send - --raw --packet "$1" --vc 7 --deadline 20
}
