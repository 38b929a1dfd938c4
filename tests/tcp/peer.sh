#!/usr/bin/env bash
# The Verilated TCP core against the TCP of Linux, behind a TAP device in a network namespace of its own:
# ping, transfers in both roles, curl, iperf3, many sessions, closed windows, bad lines, captures.
#
#   tests/tcp/peer.sh          "ok NAME" or "not ok NAME" for each check
#
# SPFE_SOAK=1 runs the long form. TCP_ENDPOINT names a build of rtl/bench/model/builds.toml (full), or
# `reference`, the model in software. Rates are printed and never judged. Where namespaces or TAP
# devices may not be made everything is skipped, with the reason. Captures of checks that fail, and the
# record peers.json, are left below target/rtl/report.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly endpoint=${TCP_ENDPOINT:-full} limit=${SPFE_SOAK:+7200}

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

main() {
    local why options=(--endpoint "$endpoint")
    why=$(what_is_missing)
    if [[ -n $why ]]; then
        printf 'ok TCP of Linux # SKIP %s\n' "$why"
        return
    fi
    [[ -z ${SPFE_SOAK:-} ]] || options+=(--long)
    cargo build --release --quiet --manifest-path rtl/bench/Cargo.toml --bin tcp-bench
    timeout --kill-after=10 "${limit:-600}" \
        "${CARGO_TARGET_DIR:-rtl/bench/target}/release/tcp-bench" peers "${options[@]}"
}

main
