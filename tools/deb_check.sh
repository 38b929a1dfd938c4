#!/usr/bin/env bash
# Checks the packages that tools/deb.sh has built; called by tools/deb.sh --check.
#
#   tools/deb_check.sh DIRECTORY     "ok NAME" or "not ok NAME" for each check
#
# Nothing is installed: the packages are unpacked, and what is in them is used where it is then.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=../tests/vm/lib.sh
source tests/vm/lib.sh
# shellcheck source=checks.sh
source tools/checks.sh

readonly packages=$1
child=''
dir=$(mktemp -d) || exit
trap '[[ -z $child ]] || kill "$child" 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
readonly unpacked=$dir/root

# silent COMMAND...: succeeds and prints nothing but what root is warned of.
silent() {
    "$@" >"$dir/words" 2>&1
    local code=$?
    grep -v '^Running lintian with root' "$dir/words" | tee "$dir/findings"
    ((code == 0)) && [[ ! -s $dir/findings ]]
}

# needs NAME COMMAND: false, and the check of this name is skipped, if there is no such command.
needs() {
    command -v "$2" >/dev/null || { printf 'ok %s # SKIP no %s\n' "$1" "$2" && return 1; }
}

unpack() {
    local file
    for file in "$packages"/*.deb; do
        dpkg-deb --extract "$file" "$unpacked" || return
    done
}

# contents: what users look for is there, in the right package.
contents() {
    local package path missing=0
    while read -r package path; do
        dpkg-deb --contents "$packages/${package}"_*.deb | awk '{ print $6 }' |
            grep -qE "^\./$path\$" || { echo "$package has no $path" && missing=1; }
    done <<'END'
spfe usr/bin/spfe
spfe usr/bin/spfed
spfe usr/share/man/man1/spfe\.1\.gz
spfe usr/share/man/man1/spfe-sim\.1\.gz
spfe usr/share/man/man1/spfed\.1\.gz
spfe usr/share/bash-completion/completions/spfe
spfe usr/share/zsh/vendor-completions/_spfe
spfe usr/share/fish/vendor_completions\.d/spfe\.fish
spfe usr/lib/[^/]*/wireshark/plugins/spfe/spfe\.lua
spfe usr/share/doc/spfe/examples/scenarios/endpoints\.toml
spfe usr/share/doc/spfe/third-party-notices\.txt\.gz
spfe lib/systemd/system/spfed@\.service
spfe usr/lib/sysusers\.d/spfe\.conf
spfe-dkms usr/src/spfe-[^/]*/dkms\.conf
spfe-dkms usr/src/spfe-[^/]*/include/spfe/spfe_hw\.h
spfe-dkms etc/modprobe\.d/spfe\.conf
spfe-dkms lib/udev/rules\.d/60-spfe\.rules
spfe-dkms usr/lib/systemd/network/70-spfe\.link
spfe-dkms usr/lib/sysusers\.d/spfe-dkms\.conf
libspfe-dev usr/include/linux/spfe\.h
libspfe-dev usr/include/spfe/spfe_hw\.h
libspfe-dev usr/src/spfe-baremetal/Makefile
END
    return "$missing"
}

# module SERIES: dkms builds the module for this kernel; it has the version of the package, and the
# device that the package's metadata names.
module() {
    local source version module base=$dir/dkms-$1 alias
    local -a trees=(--dkmstree "$base" --sourcetree "$unpacked/usr/src" --installtree "$base/lib")
    vm_kernel "$1" amd64
    source=$(echo "$unpacked"/usr/src/spfe-[0-9]*)
    version=${source##*/spfe-}
    mkdir -p "$base/lib"
    mok_signing_key=$dir/mok.key mok_certificate=$dir/mok.pub \
        dkms build -m spfe -v "$version" "${trees[@]}" -k "$vm_release" --kernelsourcedir "$vm_build" ||
        { find "$base" -name make.log -exec tail -n 20 {} +; return 1; }
    module=$(find "$base/spfe" -name 'spfe.ko*')
    [[ $(modinfo -F version "$module") == "$version" ]] || { modinfo "$module" && return 1; }
    alias=$(sed -n 's/.*<modalias>\(.*\)<.*/\1/p' "$unpacked"/usr/share/metainfo/*.xml)
    modinfo -F alias "$module" | grep -Fx "$alias"
}

# headers: C and C++ programs can include what is in libspfe-dev, in any order and on its own.
headers() {
    local words=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror "-I$unpacked/usr/include") header
    for header in linux/spfe.h spfe/spfe_hw.h; do
        echo "#include <$header>" >"$dir/header.c"
        gcc -std=c11 "${words[@]}" "$dir/header.c" || return
        ! command -v g++ >/dev/null || g++ -std=c++17 "${words[@]}" -x c++ "$dir/header.c" || return
    done
}

# dissector: Wireshark finds its parts, with nothing to complain about.
dissector() {
    local home=$dir/home
    mkdir -p "$home/.local/lib/wireshark"
    cp -r "$unpacked"/usr/lib/*/wireshark/plugins "$home/.local/lib/wireshark/" || return
    HOME=$home tshark -G protocols >"$dir/protocols" 2>"$dir/errors" || return
    ! grep -i lua "$dir/errors" && grep -P '\tspfe$' "$dir/protocols"
}

# service: the command of the unit, with an example where the scenario is looked for.
service() {
    local line unit=$unpacked/lib/systemd/system/spfed@.service tries=100 code=0
    local run=$dir/run/spfe/endpoints etc=$dir/etc/spfe
    mkdir -p "$run" "$etc"
    cp "$unpacked/usr/share/doc/spfe/examples/scenarios/endpoints.toml" "$etc/"
    line=$(sed -n 's/^ExecStart=//p' "$unit")
    line=${line//%i/endpoints}
    line=${line// \/etc\// $dir/etc/} line=${line// \/run\// $dir/run/}
    # shellcheck disable=SC2086 # words of a unit
    "$unpacked"$line >"$dir/service" 2>&1 &
    child=$!
    until grep -q 'listening on' "$dir/service"; do
        if ((tries-- == 0)) || ! kill -0 "$child"; then
            cat "$dir/service" && return 1
        fi
        sleep 0.1
    done
    "$unpacked/usr/bin/spfe" info "unix:$run/socket/0" || code=1
    kill "$child"
    wait "$child" || code=1
    child=''
    return "$code"
}

# unit: systemd has nothing to say about the unit; targets, which it needs to load it, are not ours.
unit() {
    local target
    for target in sysinit basic multi-user shutdown; do
        echo '[Unit]' >"$unpacked/lib/systemd/system/$target.target"
    done
    silent systemd-analyze verify --man=no --root="$unpacked" spfed@test.service
}

# group: one group, although two packages ask for it.
group() {
    mkdir -p "$unpacked/etc"
    systemd-sysusers --root="$unpacked" spfe.conf spfe-dkms.conf
    [[ $(grep -c '^spfe:' "$unpacked/etc/group") == 1 ]]
}

completion() {
    bash -ec "source '$unpacked/usr/share/bash-completion/completions/spfe'; complete -p spfe"
}

main() {
    local series
    unpack || exit
    # Among the bytes of machine code there is always a word that looks misspelt.
    needs 'lintian has nothing to say' lintian &&
        check 'lintian has nothing to say' silent lintian --allow-root --display-info \
            --suppress-tags spelling-error-in-binary "$packages"/*.changes
    check 'what users look for is there' contents
    for series in 6.1 6.12; do
        if [[ ! -d $vm_cache/kernel-$series-amd64 ]]; then
            printf 'ok dkms builds the module for Linux %s # SKIP run: tests/vm/fetch.sh\n' "$series"
        elif needs "dkms builds the module for Linux $series" dkms; then
            check "dkms builds the module for Linux $series" module "$series"
        fi
    done
    check 'programs can include the headers' headers
    check 'the bare-metal driver passes its tests' \
        make -C "$unpacked/usr/src/spfe-baremetal" test "OUT=$dir/baremetal"
    check 'the command of the service works' service
    check 'bash completes' completion
    needs 'Wireshark loads the dissector' tshark && check 'Wireshark loads the dissector' dissector
    needs 'the unit is right' systemd-analyze && check 'the unit is right' unit
    needs 'the group is made once' systemd-sysusers && check 'the group is made once' group
    return "$failed"
}

main
