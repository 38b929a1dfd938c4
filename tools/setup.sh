#!/usr/bin/env bash
# Installs the packages that the project needs and that are missing.
#
#   tools/setup.sh [GROUP...]      groups of tools/packages/debian.txt; without one: build
#
# Debian packages are installed with apt (through sudo when not root); services that they bring are
# neither started nor enabled. A Rust toolchain is never
# downloaded behind the user's back: if it is missing or too old, this script says what to do.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly list=tools/packages/debian.txt
readonly cargo_fuzz_version=0.13.2
readonly python_min=3.11

as_root=()
if ((EUID != 0)); then
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)
fi

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# at_least HAVE WANT: true when version HAVE is WANT or newer (numbers and dots only).
at_least() {
    local -a have want
    local i
    IFS=. read -ra have <<<"$1"
    IFS=. read -ra want <<<"$2"
    for i in "${!want[@]}"; do
        if ((10#${have[i]:-0} != 10#${want[i]})); then
            ((10#${have[i]:-0} > 10#${want[i]}))
            return
        fi
    done
}

# groups: prints the group names of the package list.
groups() { sed -n 's/^\[\(.*\)\]$/\1/p' "$list"; }

# missing GROUP...: prints the packages of these groups whose proof does not exist.
missing() {
    local group='' package proof
    while read -r package proof _; do
        case $package in
        '' | '#'*) continue ;;
        '['*']') group=${package:1:-1} && continue ;;
        esac
        [[ " $* " == *" $group "* ]] || continue
        case $proof in
        /*) [[ -e $proof ]] || echo "$package" ;;
        *) command -v "$proof" >/dev/null || echo "$package" ;;
        esac
    done <"$list"
}

# apt COMMAND...: runs apt-get as root without questions.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# services: the names of all services that packages have brought.
services() {
    find /lib/systemd/system -maxdepth 1 \( -name '*.service' -o -name '*.socket' \) -printf '%f\n' |
        sort
}

# forbid_services: packages ask this file whether they may start a service. It goes at the end of
# the script. A file that is there already is the decision of whoever runs this machine.
forbid_services() {
    local policy=/usr/sbin/policy-rc.d
    [[ ! -e $policy ]] || return 0
    # shellcheck disable=SC2064 # the values of now
    trap "${as_root[*]} rm -f $policy" EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
}

# disable_services BEFORE: services that are new since BEFORE do not start with the machine either.
# Tests start the programs themselves.
disable_services() {
    local -a new
    mapfile -t new < <(comm -13 <(printf '%s\n' "$1") <(services))
    ((${#new[@]} > 0)) && command -v systemctl >/dev/null || return 0
    # It complains about services that nothing enables.
    "${as_root[@]}" systemctl --quiet disable "${new[@]}" 2>/dev/null || true
}

# install_packages PACKAGE...
install_packages() {
    local before
    local -a advice=("install these packages, then try again: $*"
        "or continue without them: make -o setup TARGET")
    command -v apt-get >/dev/null || die "this machine has no apt-get" "${advice[@]}"
    ((EUID == 0)) || command -v sudo >/dev/null || die "not root, and no sudo" "${advice[@]}"
    say "installing with apt: $*"
    apt update || say "apt-get update failed; trying with the old package lists"
    before=$(services)
    forbid_services
    apt install --no-install-recommends "$@" || die "apt-get could not install them" "${advice[@]}"
    disable_services "$before"
}

# check_python: fails if the first python3 on the PATH is too old.
check_python() {
    local have
    have=$(python3 -ISc 'import sys; print("%d.%d" % sys.version_info[:2])') ||
        die "python3 does not run; $python_min or newer is needed"
    at_least "$have" "$python_min" ||
        die "python3 is $have, too old: $python_min or newer is needed" \
            "put a newer python3 first on the PATH"
}

# check_rust: fails if rustc, cargo, rustfmt or clippy is missing or too old for the workspace.
check_rust() {
    local want have sysroot tool
    want=$(sed -n 's/^rust-version *= *"\(.*\)".*/\1/p' Cargo.toml)
    [[ -n $want ]] || die "Cargo.toml names no rust-version"
    if ! command -v rustc >/dev/null || ! command -v cargo >/dev/null; then
        rust_advice "$want" "no Rust toolchain on the PATH"
    fi
    sysroot=$(rustc --print sysroot) || rust_advice "$want" "rustc does not run"
    have=$("$sysroot/bin/rustc" --version) || rust_advice "$want" "rustc does not run"
    have=${have#rustc } && have=${have%% *}
    at_least "${have%%-*}" "$want" || rust_advice "$want" "rustc is $have, too old"
    for tool in rustfmt cargo-clippy; do
        [[ -x $sysroot/bin/$tool ]] || rust_advice "$want" "the toolchain has no $tool"
    done
}

# rust_advice WANT PROBLEM: prints a problem with the Rust toolchain and its remedy, and exits.
rust_advice() {
    local apt_has=''
    if command -v rustup >/dev/null; then
        die "$2; Rust $1 or newer with rustfmt and clippy is needed" \
            "run: rustup toolchain install stable --profile default"
    fi
    if command -v apt-cache >/dev/null; then
        apt_has=$(apt-cache policy rustc 2>/dev/null |
            sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
    fi
    if [[ -n $apt_has ]] && at_least "$apt_has" "$1"; then
        die "$2; Rust $1 or newer is needed, and apt has $apt_has" \
            "run: apt-get install rustc cargo rustfmt rust-clippy"
    fi
    die "$2; Rust $1 or newer is needed (apt has ${apt_has:-none})" \
        "install rustup (a package from Debian 13 on; else use the Rust project's installer)," \
        "then run: rustup toolchain install stable --profile default"
}

# check_fuzz: installs the pinned version of cargo-fuzz, and recommends a nightly compiler.
check_fuzz() {
    local have
    if ! command -v rustup >/dev/null || ! grep -q '^nightly' <<<"$(rustup toolchain list)"; then
        say "no nightly compiler: targets are fuzzed without AddressSanitizer" \
            "(rustup toolchain install nightly --profile minimal)"
    fi
    PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
    have=$(cargo-fuzz --version 2>/dev/null || true)
    if [[ $have != "cargo-fuzz $cargo_fuzz_version" ]]; then
        say "installing cargo-fuzz $cargo_fuzz_version (was: ${have:-none})"
        cargo install --quiet --locked --force cargo-fuzz --version "$cargo_fuzz_version"
    fi
}

# offer_hooks: names the target that makes git check commit messages, once, in a clone without it.
offer_hooks() {
    local asked
    asked=$(git rev-parse --git-path spfe-hooks-offered 2>/dev/null) || return 0
    [[ ! -e $asked && -z $(git config core.hooksPath || true) && -z ${CI:-} ]] || return 0
    say 'to have commit messages checked before each commit, run: make hooks'
    : >"$asked" 2>/dev/null || true
}

main() {
    local known group packages
    (($#)) || set -- build
    known=" $(groups | tr '\n' ' ')"
    for group in "$@"; do
        [[ $known == *" $group "* ]] || die "no group '$group'; the groups are:${known% }"
    done

    packages=$(missing "$@")
    if [[ -n $packages ]]; then
        # shellcheck disable=SC2086 # one word per package
        install_packages $packages
        hash -r
        packages=$(missing "$@")
        [[ -z $packages ]] ||
            die "installed, but their proof does not exist: ${packages//$'\n'/ }"
    fi
    if [[ " $* " == *" build "* ]]; then
        check_python
        check_rust
        offer_hooks
    fi
    if [[ " $* " == *" fuzz "* ]]; then
        check_fuzz
    fi
}

main "$@"
