#!/usr/bin/env bats
# The Debian packages that tools/deb.sh has built; `tools/deb.sh --check` runs this file.
#
# Nothing is installed: the packages are unpacked and their contents used in place. SPFE_DEB names
# the directory of the packages (default: target/deb), SPFE_VM_CACHE that of the kernels for which
# dkms builds the module (see tests/vm/lib.sh).

load ../lib/common
# shellcheck source=../vm/lib.sh
source "$BATS_TEST_DIRNAME/../vm/lib.sh"
# shellcheck source=../lib/python.bash
source "$BATS_TEST_DIRNAME/../lib/python.bash"

packages=${SPFE_DEB:-target/deb}

setup_file() {
    export dir=$BATS_FILE_TMPDIR unpacked=$BATS_FILE_TMPDIR/root
    local file
    for file in "$packages"/*.deb; do
        dpkg-deb --extract "$file" "$unpacked"
    done
}

teardown_file() { stop_all; }

# need PROGRAM...: skips the test if a program is missing.
need() {
    local reason
    reason=$(programs "$@")
    [[ -z $reason ]] || skip "$reason"
}

# quiet COMMAND...: succeeds and prints nothing except the warning against running lintian as root.
quiet() {
    run "$@"
    printf '%s\n' "$output"
    ((status == 0))
    fails grep -v -e '^Running lintian with root' -e '^$' <<<"$output"
}

@test "lintian finds nothing" {
    need lintian
    # In machine code some bytes always look like a misspelt word.
    quiet lintian --allow-root --display-info --suppress-tags spelling-error-in-binary \
        "$packages"/*.changes
}

@test "the packages hold the files that users look for" {
    local package path missing=0
    while read -r package path; do
        dpkg-deb --contents "$packages/${package}"_*.deb | awk '{ print $6 }' |
            grep -qE "^\./$path\$" || { echo "$package has no $path" && missing=1; }
    done <<'END'
spfe usr/bin/spfe
spfe usr/bin/spfed
spfe usr/bin/vxfabric
spfe usr/bin/vxrun
spfe usr/lib/spfe/libspfe_vxrun\.so
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
libspfe-dev usr/include/spfe/spfe\.hpp
libspfe-dev usr/lib/[^/]*/libspfe\.(a|so)
libspfe-dev usr/lib/[^/]*/pkgconfig/spfe\.pc
libspfe-dev usr/share/man/man3/libspfe\.3\.gz
libspfe-dev usr/share/man/man3/spfe_send_group\.3\.gz
libspfe-dev usr/share/doc/libspfe-dev/examples/grouped_send\.c
libspfe1 usr/lib/[^/]*/libspfe\.so\.1
libspfe1 usr/share/doc/libspfe1/third-party-notices\.txt\.gz
spfe-libfabric-provider usr/lib/[^/]*/libfabric/libspfe-fi\.so
python3-spfe usr/lib/python3/dist-packages/spfe/__init__\.py
python3-spfe usr/lib/python3/dist-packages/spfe/py\.typed
END
    ((missing == 0))
}

# dkms_builds SERIES: dkms builds the module for this kernel. The module has the version of the
# package and matches the device that the package's metadata names.
dkms_builds() {
    local source version module base=$dir/dkms-$1 alias trees
    [[ -d $vm_cache/kernel-$1-amd64 ]] || skip "Linux $1 is not fetched; run tests/vm/fetch.sh"
    need dkms
    vm_kernel "$1" amd64
    trees=(--dkmstree "$base" --sourcetree "$unpacked/usr/src" --installtree "$base/lib")
    source=$(echo "$unpacked"/usr/src/spfe-[0-9]*)
    version=${source##*/spfe-}
    mkdir -p "$base/lib"
    mok_signing_key=$dir/mok.key mok_certificate=$dir/mok.pub \
        dkms build -m spfe -v "$version" "${trees[@]}" -k "$vm_release" \
        --kernelsourcedir "$vm_build" || {
        find "$base" -name make.log -exec tail -n 20 {} +
        return 1
    }
    module=$(find "$base/spfe" -name 'spfe.ko*')
    same "$version" "$(modinfo -F version "$module")"
    alias=$(sed -n 's/.*<modalias>\(.*\)<.*/\1/p' "$unpacked"/usr/share/metainfo/*.xml)
    modinfo -F alias "$module" | grep -Fx "$alias"
}

@test "dkms builds the module for Linux 6.1" {
    dkms_builds 6.1
}

@test "dkms builds the module for Linux 6.12" {
    dkms_builds 6.12
}

# Each header compiles alone, in C and in C++.
@test "programs can include the headers" {
    local words=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror "-I$unpacked/usr/include") header
    for header in linux/spfe.h spfe/spfe_hw.h; do
        echo "#include <$header>" >"$dir/header.c"
        gcc -std=c11 "${words[@]}" "$dir/header.c"
        if command -v g++ >/dev/null; then
            g++ -std=c++17 "${words[@]}" -x c++ "$dir/header.c"
        fi
    done
}

# With pkg-config, shared and static; the run-time package is enough to run.
@test "an example in C is compiled and runs" {
    local lib example=$unpacked/usr/share/doc/libspfe-dev/examples/hello.c
    lib=$(dirname "$(echo "$unpacked"/usr/lib/*/libspfe.so.1)")
    local -x PKG_CONFIG_SYSROOT_DIR=$unpacked PKG_CONFIG_PATH=$lib/pkgconfig
    # shellcheck disable=SC2046 # several options
    gcc -std=c11 -o "$dir/shared" "$example" $(pkg-config --cflags --libs spfe)
    LD_LIBRARY_PATH=$lib "$dir/shared"
    # shellcheck disable=SC2046
    gcc -std=c11 -o "$dir/static" "$example" $(pkg-config --cflags spfe) "$lib/libspfe.a" -lgcc_s -lm
    "$dir/static"
}

@test "man reads the pages of section 3" {
    need man
    man --warnings -E UTF-8 -l "$unpacked/usr/share/man/man3/spfe_queue_wait.3.gz" \
        >"$dir/page" 2>"$dir/warnings"
    [[ ! -s $dir/warnings ]]
    grep -q 'Waits for a threshold' "$dir/page"
    MANPATH=$unpacked/usr/share/man man 3 spfe_rx_open | grep -q 'int spfe_tx_open'
}

@test "libfabric finds the provider" {
    need fi_info
    FI_PROVIDER_PATH=$(echo "$unpacked"/usr/lib/*/libfabric) fi_info -l | grep -x 'spfe:'
}

@test "Python imports the package" {
    local bin
    # NumPy comes with what tests the package.
    bin=$(environment pyface tools/packages/pyface.txt)
    PYTHONPATH=$unpacked/usr/lib/python3/dist-packages "$bin/python" -c \
        'import spfe; print(spfe.open("virtual:"), spfe.__file__)' | tee /dev/stderr |
        grep -F "$unpacked/"
}

@test "the bare-metal driver passes its tests" {
    subtests make -C "$unpacked/usr/src/spfe-baremetal" test "OUT=$dir/baremetal"
}

# The command line of the unit, with its folders moved below the unpacked packages.
@test "the command of the service runs" {
    local line unit=$unpacked/lib/systemd/system/spfed@.service
    local runtime=$dir/run/spfe/endpoints etc=$dir/etc/spfe
    mkdir -p "$runtime" "$etc"
    cp "$unpacked/usr/share/doc/spfe/examples/scenarios/endpoints.toml" "$etc/"
    line=$(sed -n 's/^ExecStart=//p' "$unit")
    line=${line//%i/endpoints}
    line=${line// \/etc\// $dir/etc/} line=${line// \/run\// $dir/run/}
    # shellcheck disable=SC2086 # words of a unit
    start service "$unpacked"$line
    wait_until grep -q 'listening on' "$dir/service.out" "$dir/service.err"
    "$unpacked/usr/bin/spfe" info "unix:$runtime/socket/0"
    signal service
    ends service
}

@test "vxrun finds its library" {
    same hello "$("$unpacked/usr/bin/vxrun" --pass-through echo hello)"
}

@test "bash completes" {
    bash -ec "source '$unpacked/usr/share/bash-completion/completions/spfe'; complete -p spfe"
}

@test "Wireshark loads the dissector" {
    need tshark
    local home=$dir/home
    mkdir -p "$home/.local/lib/wireshark"
    cp -r "$unpacked"/usr/lib/*/wireshark/plugins "$home/.local/lib/wireshark/"
    HOME=$home tshark -G protocols >"$dir/protocols" 2>"$dir/errors"
    fails grep -i lua "$dir/errors"
    grep -P '\tspfe$' "$dir/protocols"
}

# systemd-analyze needs the targets that the unit names, which are not part of the packages.
@test "systemd accepts the unit" {
    need systemd-analyze
    local target
    for target in sysinit basic multi-user shutdown; do
        echo '[Unit]' >"$unpacked/lib/systemd/system/$target.target"
    done
    quiet systemd-analyze verify --man=no --root="$unpacked" spfed@test.service
}

@test "two packages ask for one group" {
    need systemd-sysusers
    mkdir -p "$unpacked/etc"
    systemd-sysusers --root="$unpacked" spfe.conf spfe-dkms.conf
    (($(grep -c '^spfe:' "$unpacked/etc/group") == 1))
}
