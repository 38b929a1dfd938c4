#!/usr/bin/env bash
# Fetches the parts of the virtual machines by name, version and checksum: an emulator, kernels with
# their headers, and the programs inside the guest.
#
#   tests/vm/fetch.sh [SET...]     unpacks these sets below the cache (default: those for amd64)
#   tests/vm/fetch.sh --list       lists the sets and whether they are in the cache
#   tests/vm/fetch.sh --update [SET...]
#                                  resolves these sets (default: all) again in packages.lock
#
# This installs nothing and needs no root: Debian packages are unpacked below
# ${XDG_CACHE_HOME:-~/.cache}/spfe/vm (SPFE_VM_CACHE names another place). A set that still matches
# packages.lock is left alone. The mirror is that of this machine's apt; SPFE_VM_MIRROR names
# another one. If the mirror no longer has a pinned version, its current version is used with a
# message; --update then pins it.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

readonly keyring=${SPFE_VM_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
readonly sets=(qemu kernel-6.1-amd64 kernel-6.12-amd64 guest-amd64
    qemu-arm kernel-6.1-arm64 kernel-6.12-arm64 guest-arm64 kernel-6.1-i386 source-6.1
    kernel-6.1-armhf kernel-5.10-amd64 qemu-riscv kernel-6.12-riscv64 guest-riscv64)
work=''
trap '[[ -z $work ]] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# recipe SET: sets codename, architecture, wanted (packages, with /SUITE if it is not the
# codename's own) and keep (extended regular expression: the packages of the closure to unpack).
recipe() {
    local libraries
    codename=bookworm architecture=${1##*-} keep='.'
    case $1 in
    qemu | qemu-arm | qemu-riscv)
        codename=trixie architecture=amd64
        case $1 in
        qemu) wanted=(qemu-system-x86/trixie-backports) ;;
        qemu-arm) wanted=(qemu-system-arm/trixie-backports) ;;
        qemu-riscv) wanted=(qemu-system-riscv/trixie-backports opensbi) ;;
        esac
        wanted+=(qemu-system-common/trixie-backports qemu-system-data/trixie-backports
            seabios/trixie-backports)
        # Only libraries and data of the emulator; not what maintainer scripts would need.
        keep='^(lib|gcc|qemu|seabios|ipxe|openssl|opensbi|zlib)'
        ;;
    # For checkpatch, and for the kernel that debug_kernel.sh builds.
    source-6.1) architecture=amd64 wanted=(linux-source-6.1) keep='^linux-source-6' ;;
    # Headers only: the driver compiles for these kernels, but no guest boots them.
    kernel-6.1-i386) wanted=(linux-headers-686) ;;
    kernel-6.1-armhf) wanted=(linux-headers-armmp) ;;
    kernel-5.10-amd64) codename=bullseye wanted=(linux-headers-cloud-amd64) ;;
    # The first release of Debian for this architecture.
    kernel-6.12-riscv64) codename=trixie wanted=(linux-image-riscv64 linux-headers-riscv64) ;;
    kernel-6.1-*) wanted=("linux-image-cloud-$architecture" "linux-headers-cloud-$architecture") ;;
    kernel-6.12-*)
        wanted=("linux-image-cloud-$architecture/bookworm-backports"
            "linux-headers-cloud-$architecture/bookworm-backports")
        ;;
    guest-*)
        wanted=(busybox-static iperf3 dropbear-bin iputils-ping ethtool strace)
        libraries='iperf0|sctp1|ssl3|tommath1|tomcrypt1|gmp10|crypt1|cap2|idn2-0|unistring2|mnl0'
        libraries+='|unwind8|lzma5|gcc-s1|zstd1'
        [[ $architecture != riscv64 ]] || codename=trixie
        # On this machine's architecture the guest uses the C library of this machine.
        [[ $architecture == amd64 ]] || libraries+='|c6'
        keep='^(busybox-static|iperf3|dropbear-bin|iputils-ping|ethtool|strace|zlib1g'
        keep+="|lib($libraries)(t64)?)(:|$)"
        ;;
    *) vm_die "no set '$1'; there are: ${sets[*]}" ;;
    esac
    [[ $1 != kernel-* ]] || keep='^linux-(image|headers|kbuild)-[0-9]'
    # The build tools (kbuild) run on this machine, so they come from its own architecture.
    [[ $1 == *-amd64 || $1 != kernel-* ]] || keep='^linux-(image|headers)-[0-9]'
}

# mirror: prints the address of the Debian mirror that this machine's apt uses.
mirror() {
    local address
    # shellcheck disable=SC2016 # for apt
    address=${SPFE_VM_MIRROR:-$(
        apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
            'Created-By: Packages' 2>/dev/null |
            awk '$2 ~ /^(bookworm|trixie|forky|sid|stable)$/ && $3 == "main" { print $1; exit }'
    )}
    [[ -n $address ]] || vm_die 'this machine'\''s apt knows no mirror of Debian' \
        'set SPFE_VM_MIRROR to the address of one (the directory that holds dists/ and pool/)'
    printf '%s' "${address%/}"
}

# private_apt CODENAME ARCHITECTURE: makes an apt that has its own package lists and believes that
# nothing is installed; $APT_CONFIG names its configuration.
private_apt() {
    local base=$work/apt-$1-$2 suite part
    export APT_CONFIG=$base/apt.conf
    [[ ! -d $base ]] || return 0
    mkdir -p "$base"/{parts,state/lists/partial,cache/archives/partial}
    : >"$base/status"
    local -a suites=("$1" "$1-backports")
    # Its backports have ended.
    [[ $1 != bullseye ]] || suites=("$1")
    for suite in "${suites[@]}"; do
        printf 'deb [arch=%s signed-by=%s] %s %s main\n' \
            "$2" "$keyring" "$(unset APT_CONFIG && mirror)" "$suite"
    done >"$base/sources.list"
    # Keep the machine's settings for proxies and time-outs, but no hooks that run commands.
    for part in /etc/apt/apt.conf.d/*; do
        grep -qsE 'Invoke|Pre-Install' "$part" || ln -s "$part" "$base/parts/"
    done
    cat >"$APT_CONFIG" <<-END
	APT::Architecture "$2";
	APT::Architectures { "$2"; };
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Acquire::ForceHash "SHA256";
	Acquire::Languages "none";
	Acquire::Retries "3";
	Dir::Cache "$base/cache";
	Dir::Etc::parts "$base/parts";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::Etc::sourcelist "$base/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::State "$base/state";
	Dir::State::status "$base/status";
	END
    apt-get -qq update
}

# resolve SET: prints the lines of packages.lock for this set with the current versions.
resolve() {
    local codename architecture keep address
    local -a wanted
    recipe "$1"
    private_apt "$codename" "$architecture"
    address=$(unset APT_CONFIG && mirror)
    apt-get install -qq -y --print-uris "${wanted[@]}" >"$work/uris"
    # 'ADDRESS' FILE SIZE SHA256:CHECKSUM
    awk -v set="$1" -v address="$address/" -v keep="$keep" '
        { sub(/^\047/, "", $1); sub(/\047$/, "", $1); sub(/^SHA256:/, "", $4) }
        index($1, address) == 1 && substr($2, 1, index($2, "_") - 1) ~ keep {
            print set, substr($1, length(address) + 1), $4
        }' "$work/uris" | LC_ALL=C sort
}

# download LOCK SET: downloads the packages of a set to $work/debs and checks them.
download() {
    local path sum address
    local -a triplets=()
    address=$(mirror)
    rm -rf "$work/debs" && mkdir "$work/debs"
    while read -r _ path sum; do
        triplets+=("$address/$path" "$work/debs/${path##*/}" "SHA256:$sum")
    done < <(grep "^$2 " "$1")
    ((${#triplets[@]})) || return
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Acquire::Retries=3 \
        download-file "${triplets[@]}" >"$work/download.log" 2>&1
}

# finish_qemu TREE: writes a wrapper for each emulator that runs it with the fetched libraries.
finish_qemu() {
    local program
    for program in "$1"/usr/bin/qemu-system-{x86_64,aarch64,riscv64}; do
        [[ -e $program ]] || continue
        cat >"$1/${program##*/}" <<-'END'
		#!/bin/sh
		# The emulator with its own C library and data, wherever this directory is.
		here=$(dirname "$(readlink -f "$0")")
		lib=$here/usr/lib/x86_64-linux-gnu
		export QEMU_MODULE_DIR="$lib/qemu"
		exec "$lib/ld-linux-x86-64.so.2" --argv0 "${0##*/}" --library-path "$lib" \
		    "$here/usr/bin/${0##*/}" -L "$here/usr/share/qemu" -L "$here/usr/share/seabios" \
		    -L "$here/usr/lib/ipxe/qemu" "$@"
		END
        chmod +x "$1/${program##*/}"
    done
}

# finish_kernel TREE FINAL SET: makes the headers usable in the place where they will be.
finish_kernel() {
    local file tools host=$vm_cache/${3%-*}-amd64
    while read -r file; do
        sed -i "s#/usr/src/#$2/usr/src/#g" "$file"
    done < <(grep -lsF /usr/src/ "$1"/usr/src/linux-headers-*/Makefile)
    # With vmlinux, building a module would need pahole to add BTF type information.
    rm -f "$1"/usr/src/linux-headers-*/vmlinux
    if [[ $3 != *-amd64 ]]; then
        mkdir -p "$1/usr/lib"
        # Their version may differ in the last number.
        tools=$(readlink "$1"/usr/src/linux-headers-*-common/scripts)
        ln -s "$host"/usr/lib/linux-kbuild-* "$1/usr/lib/$(basename "${tools%/scripts}")"
    fi
}

# finish_source TREE: takes checkpatch out of the kernel's source, which stays packed.
finish_source() {
    tar -xJf "$1"/usr/src/linux-source-*.tar.xz -C "$1" --strip-components=1 --wildcards \
        '*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
}

# unpack LOCK SET: unpacks the downloaded packages of a set into the cache.
unpack() {
    local deb tree=$vm_cache/$2
    rm -rf "$tree.new" && mkdir -p "$tree.new"
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$tree.new"
    done
    rm -rf "$work/debs" "$tree.new"/usr/share/{doc,man,locale,icons,lintian}
    case $2 in
    qemu*) finish_qemu "$tree.new" ;;
    kernel-*) finish_kernel "$tree.new" "$tree" "$2" ;;
    source-*) finish_source "$tree.new" ;;
    esac
    grep "^$2 " "$vm_lock" >"$tree.new/.lock"
    grep "^$2 " "$1" >"$tree.new/.have"
    rm -rf "$tree"
    mv "$tree.new" "$tree"
}

present() { cmp -s "$vm_cache/$1/.lock" <(grep "^$1 " "$vm_lock"); }

# fetch SET
fetch() {
    local start=$SECONDS lock=$vm_lock
    ! present "$1" || return 0
    work=${work:-$(mktemp -d "$vm_cache/work.XXXXXX")}
    vm_say "fetching $1"
    if ! download "$lock" "$1"; then
        grep -h '^E:' "$work/download.log" | head -n 3 >&2 || true
        vm_say "$1: the mirror lacks packages of packages.lock; trying its current versions"
        lock=$work/lock
        resolve "$1" >"$lock" 2>"$work/resolve.log" || true
        [[ -s $lock ]] || vm_die "$1: cannot be resolved either; is there a network?" \
            "$(tail -n 2 "$work/resolve.log")"
        (unset APT_CONFIG && download "$lock" "$1") || vm_die "$1: cannot be downloaded" \
            "$(tail -n 3 "$work/download.log")"
        grep -vxFf "$vm_lock" "$lock" | sed 's/^/vm: instead: /' >&2 || true
        vm_say "to pin these versions, run: tests/vm/fetch.sh --update"
    fi
    unpack "$lock" "$1"
    vm_say "$1: $(du -sm "$vm_cache/$1" | cut -f 1) MiB, $((SECONDS - start)) s"
}

# update [SET...]: pins the current versions of these sets, or of all.
update() {
    local set
    work=$(mktemp -d "$vm_cache/work.XXXXXX")
    (($#)) || set -- "${sets[@]}"
    {
        printf '# Packages of the virtual machines: set, path on a Debian mirror, SHA-256.\n'
        printf '# Written by tests/vm/fetch.sh --update, read by tests/vm/fetch.sh.\n'
        for set in "${sets[@]}"; do
            if [[ " $* " == *" $set "* ]]; then resolve "$set"; else grep "^$set " "$vm_lock"; fi
        done
    } >"$work/new"
    cp "$work/new" "$vm_lock"
}

main() {
    local set
    mkdir -p "$vm_cache"
    case ${1:-} in
    --list)
        for set in "${sets[@]}"; do
            printf '%-20s %s\n' "$set" "$(present "$set" && echo fetched || echo 'not fetched')"
        done
        return
        ;;
    --update) update "${@:2}" && return ;;
    esac
    (($#)) || set -- "${sets[@]:0:4}"
    # One fetch at a time. A set that another run fetches meanwhile is found complete.
    exec 9>"$vm_cache/.busy"
    flock 9
    for set in "$@"; do
        [[ " ${sets[*]} " == *" $set "* ]] || vm_die "no set '$set'; there are: ${sets[*]}"
        [[ $set != kernel-* ]] || fetch "${set%-*}-amd64"
        fetch "$set"
    done
}

main "$@"
