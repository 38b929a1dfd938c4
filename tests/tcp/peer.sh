#!/usr/bin/env bash
# The Verilated TCP core against the TCP of Linux, behind a TAP device in a network namespace of its own.
#
#   tests/tcp/peer.sh [PART...]    "ok NAME" or "not ok NAME" for each check
#
# Parts, all if none is named: network (ARP, ping), transfers, sessions (all at a time, aborts), cycles
# (openings and closings), windows (of zero), lines (bad ones), captures (tshark), curl, iperf3, and
# tap (the command `tcp-bench tap`).
#
# SPFE_SOAK=1 runs the long form, in which each part may take PEER_LIMIT seconds (7200). PEER_ONLY
# selects checks whose name, as it is printed, contains it: "both ways (client)". TCP_ENDPOINT names a
# build of rtl/bench/model/builds.toml (full), or `reference`, the model in software. Rates are printed
# and never judged. Where namespaces or TAP devices may not be made everything is skipped, with the
# reason. Captures of checks that fail are left in target/rtl/report/peers, all runs in
# target/rtl/report/data/peers.json.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=../../tools/checks.sh
source tools/checks.sh

readonly endpoint=${TCP_ENDPOINT:-full} limit=${PEER_LIMIT:-7200}
readonly bench=${CARGO_TARGET_DIR:-rtl/bench/target}/release/tcp-bench
readonly all=(network transfers sessions cycles windows lines captures curl iperf3)
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT

# what_is_missing: prints why nothing can be tested here, if so.
what_is_missing() {
    local tool enter=(unshare --net)
    for tool in ip ping unshare timeout; do
        command -v "$tool" >/dev/null || {
            printf '%s is not there' "$tool"
            return
        }
    done
    ((EUID == 0)) || enter=(unshare --user --map-root-user --net)
    "${enter[@]}" true 2>/dev/null || {
        printf 'network namespaces may not be made here'
        return
    }
    "${enter[@]}" ip tuntap add dev probe mode tap 2>/dev/null ||
        printf 'TAP devices may not be made here'
}

# tap ARGUMENT...: the command within a time.
tap() { timeout --kill-after=10 300 "$bench" tap --endpoint "$endpoint" "$@"; }

# ends CODE COMMAND...: whether a command ends with an exit code.
ends() {
    local code=$1
    shift
    "$@"
    local got=$?
    ((got == code)) || printf 'exit code %s, not %s\n' "$got" "$code"
    ((got == code))
}

# told COMMAND...: keeps what a command says beside its output, in $dir/told.
told() {
    "$@" 2>"$dir/told"
    local got=$?
    cat "$dir/told"
    return "$got"
}

# Runs in the namespace: a page through the core, which is the server, and the client.
pages() {
    local server
    for server in 127.0.0.1:8080 10.0.0.2:8082; do
        python3 -m http.server --directory "$dir/www" --bind "${server%:*}" "${server#*:}" >/dev/null 2>&1 &
        # Until it listens; this does not go through the core.
        curl -s -o "$dir/ready" --retry 100 --retry-delay 1 --retry-connrefused "http://$server/" || return
    done
    curl -sS -f -m 120 -o "$dir/from-core" http://10.0.0.1:8080/file &&
        curl -sS -f -m 120 -o "$dir/by-core" http://127.0.0.1:8081/file
    local got=$? running
    mapfile -t running < <(jobs -p)
    kill "${running[@]}"
    return "$got"
}

# without_rights COMMAND...: runs it where no namespace may be made.
without_rights() {
    # shellcheck disable=SC2016
    unshare --user --map-root-user bash -c \
        'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"' \
        - "$@"
}

# says TEXT COMMAND...: whether a command fails with a text.
says() {
    local text=$1
    shift
    if "$@" >"$dir/text" 2>&1; then
        printf 'it does not fail\n'
        return 1
    fi
    cat "$dir/text"
    grep -qF -- "$text" "$dir/text"
}

by_hand() {
    prefix='tap: '
    local tool
    for tool in curl python3; do
        command -v "$tool" >/dev/null || {
            printf 'ok tap # SKIP %s is not there\n' "$tool"
            return
        }
    done
    mkdir "$dir/www"
    head -c 300000 /dev/urandom >"$dir/www/file"
    export dir
    export -f pages
    check 'curl through the core' told tap --capture "$dir/capture" bash -c pages
    check 'it says what can be done' grep -F 'curl http://10.0.0.1:8080' "$dir/told"
    check 'a page, the core is the server' cmp "$dir/www/file" "$dir/from-core"
    check 'a page, the core is the client' cmp "$dir/www/file" "$dir/by-core"
    check 'frames are kept' test "$(stat -c %s "$dir/capture")" -gt 600000
    check 'its exit code is that of the program' ends 7 tap --quiet -- sh -c 'exit 7'
    check 'a program that is not there' ends 127 tap --quiet -- "$dir/none"
    check 'a build that is not there' says 'none: no such build' "$bench" tap --endpoint none -- true
    check 'ports that cannot be' says '80=0: is not PORT=' "$bench" tap --serve 80=0 -- true
    check 'a user without rights' \
        says 'run this as root' without_rights "$(realpath "$bench")" tap --endpoint "$endpoint" -- true
}

# peers OPTION...: checks of the bench, with the record of what it did.
peers() { timeout --kill-after=10 "$limit" "$bench" peers --endpoint "$endpoint" --only "${PEER_ONLY:-}" "$@" || failed=1; }

main() {
    local why part parts=() tap=0
    why=$(what_is_missing)
    if [[ -n $why ]]; then
        printf 'ok TCP of Linux # SKIP %s\n' "$why"
        return
    fi
    cargo build --locked --release --quiet --manifest-path rtl/bench/Cargo.toml --bin tcp-bench || exit
    for part in "${@:-${all[@]}}"; do
        if [[ $part == tap ]]; then tap=1; else parts+=("$part"); fi
    done
    if [[ -n ${SPFE_SOAK:-} ]]; then
        for part in "${parts[@]}"; do peers --long --part "$part"; done
    elif ((${#parts[@]})); then
        peers "${parts[@]/#/--part=}"
    fi
    if ((tap || $# == 0)); then by_hand; fi
    return "$failed"
}

main "$@"
