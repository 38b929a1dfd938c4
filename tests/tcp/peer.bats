#!/usr/bin/env bats
# The Verilated TCP core against the TCP of Linux, behind a TAP device in a network namespace of its
# own.
# variants: full ct64 ct64_mac64
#
# TEST_VARIANTS names builds of rtl/bench/model/builds.toml (default: store-and-forward with all
# options, cut-through, and cut-through with 64 bits to and from the MAC), or `reference`, the model
# in software.
#
# PEER_PARTS names the parts to run, default all: network (ARP, ping), transfers, sessions (all at
# once, aborts), cycles (openings and closings), windows (of zero), lines (with faults), captures
# (tshark), curl, iperf3 and tap. PEER_ONLY selects the checks whose printed name contains it, for
# example "both ways (client)". SPFE_SOAK=1 runs the long form, in which each part may take
# PEER_LIMIT seconds (7200).
#
# Rates are printed and never judged. Captures of failed checks stay in target/rtl/report/peers, the
# records of all runs in target/rtl/report/data/peers.json.

load ../lib/common

endpoint=${TEST_VARIANT:-full} limit=${PEER_LIMIT:-7200}
bench=${CARGO_TARGET_DIR:-rtl/bench/target}/release/tcp-bench

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    unavailable "$(missing)"
    [[ -z $TEST_UNAVAILABLE ]] || return 0
    cargo build --locked --release --quiet --manifest-path rtl/bench/Cargo.toml --bin tcp-bench
    mkdir "$dir/www"
    head -c 300000 /dev/urandom >"$dir/www/file"
}

# The name of a test begins with its part.
setup() {
    local part=${BATS_TEST_DESCRIPTION%%:*}
    skip_if_unavailable
    [[ " ${PEER_PARTS:-$part} " == *" $part "* ]] || skip "set PEER_PARTS to a list that has $part"
}

# missing: prints why nothing can be tested here, if so.
missing() {
    local reason enter=(unshare --net)
    reason=$(programs ip ping unshare timeout)
    ((EUID == 0)) || enter=(unshare --user --map-root-user --net)
    if [[ -n $reason ]]; then
        printf '%s' "$reason"
    elif ! "${enter[@]}" true 2>/dev/null; then
        printf 'this machine does not allow network namespaces'
    elif ! "${enter[@]}" ip tuntap add dev probe mode tap 2>/dev/null; then
        printf 'this machine does not allow TAP devices'
    fi
}

# part NAME: the checks of one part, each a subtest.
part() {
    local -a long=()
    [[ -z ${SPFE_SOAK:-} ]] || long=(--long)
    subtests timeout --kill-after=10 "$limit" "$bench" peers --endpoint "$endpoint" \
        --only "${PEER_ONLY:-}" "${long[@]}" --part "$1"
}

# tap WORD...: the command `tcp-bench tap` within a time limit.
tap() {
    timeout --kill-after=10 300 "$bench" tap --endpoint "$endpoint" "$@"
}

# pages: runs in the namespace. Fetches a page through the core, once as the server and once as the
# client.
pages() {
    local server
    for server in 127.0.0.1:8080 10.0.0.2:8082; do
        python3 -m http.server --directory "$dir/www" --bind "${server%:*}" "${server#*:}" \
            >/dev/null 2>&1 &
        # Until the server listens; this does not go through the core.
        curl -s -o "$dir/ready" --retry 100 --retry-delay 1 --retry-connrefused \
            "http://$server/" || return
    done
    curl -sS -f -m 120 -o "$dir/from-core" http://10.0.0.1:8080/file &&
        curl -sS -f -m 120 -o "$dir/by-core" http://127.0.0.1:8081/file
    local code=$? running
    mapfile -t running < <(jobs -p)
    kill "${running[@]}"
    return "$code"
}

# without_rights COMMAND...: runs it where no namespace may be made.
without_rights() {
    # shellcheck disable=SC2016
    unshare --user --map-root-user bash -c '
        echo 0 >/proc/sys/user/max_user_namespaces
        exec setpriv --bounding-set=-all --inh-caps=-all "$@"' - "$@"
}

@test "network" {
    part network
}

@test "transfers" {
    part transfers
}

@test "sessions" {
    part sessions
}

@test "cycles" {
    part cycles
}

@test "windows" {
    part windows
}

@test "lines" {
    part lines
}

@test "captures" {
    part captures
}

@test "curl" {
    part curl
}

@test "iperf3" {
    part iperf3
}

@test "tap: curl through the core, as server and as client" {
    local reason
    reason=$(programs curl python3)
    [[ -z $reason ]] || skip "$reason"
    export -f pages
    tap --capture "$dir/capture" bash -c pages 2>"$dir/messages"
    cmp "$dir/www/file" "$dir/from-core"
    cmp "$dir/www/file" "$dir/by-core"
}

@test "tap: the messages say what can be done" {
    [[ -e $dir/messages ]] || skip 'the test before was skipped'
    grep -F 'curl http://10.0.0.1:8080' "$dir/messages"
}

@test "tap: the capture holds the frames" {
    [[ -e $dir/capture ]] || skip 'the test before was skipped'
    (($(stat -c %s "$dir/capture") > 600000))
}

@test "tap: the exit code is that of the program" {
    run -7 tap --quiet -- sh -c 'exit 7'
}

@test "tap: a program that does not exist" {
    run -127 tap --quiet -- "$dir/none"
}

@test "tap: a build that does not exist" {
    run "$bench" tap --endpoint none -- true
    ((status != 0))
    grep -F 'none: no such build' <<<"$output"
}

@test "tap: a port that cannot be served" {
    run "$bench" tap --serve 80=0 -- true
    ((status != 0))
    grep -F '80=0: is not PORT=' <<<"$output"
}

@test "tap: a user without rights" {
    run without_rights "$(realpath "$bench")" tap --endpoint "$endpoint" -- true
    ((status != 0))
    grep -F 'run this as root' <<<"$output"
}
