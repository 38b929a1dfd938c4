#!/usr/bin/env bash
# Packs the root file system of a guest.
#
#   tests/vm/initramfs.sh [--arch ARCH] IMAGE [FILE=PATH]...
#
# It holds the programs of the set guest-ARCH, the scripts of tests/vm/guest (in /test, and init),
# and each FILE as PATH in the guest; a PATH that ends in / is a directory. The libraries of
# dynamically linked programs are copied from this machine.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

arch=amd64
[[ ${1:-} != --arch ]] || { arch=$2 && shift 2; }
(($#)) || vm_die 'usage: tests/vm/initramfs.sh [--arch ARCH] IMAGE [FILE=PATH]...'
readonly arch image=$1
shift
readonly fetched=$vm_cache/guest-$arch busybox=$vm_cache/guest-amd64/bin/busybox
[[ -d $fetched ]] || vm_die "no $fetched; run: tests/vm/fetch.sh guest-$arch"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# put FILE PATH: copies a file and the libraries that it is linked with.
put() {
    local path=$2
    [[ -f $1 ]] || vm_die "no file $1"
    [[ $path != */ ]] || path+=${1##*/}
    mkdir -p "$tree/${path%/*}"
    case $path in
    *.ko) cp -L "$1" "$tree/$path" ;;
    *)
        strip -o "$tree/$path" "$1" 2>/dev/null || cp -L "$1" "$tree/$path"
        put_libraries "$1"
        ;;
    esac
}

# put_libraries FILE...: copies the libraries that programs need and that were not fetched. For
# another architecture all libraries are fetched.
put_libraries() {
    local library
    [[ $arch == amd64 ]] || return 0
    while read -r library; do
        [[ ! -e $tree/$library ]] || continue
        mkdir -p "$tree/${library%/*}"
        cp -L "$library" "$tree/$library"
    done < <(
        LD_LIBRARY_PATH=$fetched/lib/x86_64-linux-gnu:$fetched/usr/lib/x86_64-linux-gnu \
            ldd "$@" 2>/dev/null |
            sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p; s/^\t\(\/[^ ]*\) (.*/\1/p' |
            grep -v "^$fetched" | sort -u
    )
}

# pack: writes the files of the current directory to standard output as an archive owned by root.
pack() { find . | LC_ALL=C sort | "$busybox" cpio -o -H newc -R 0:0 2>/dev/null; }

base() {
    local program place
    # The root directory must be accessible for all users.
    chmod 755 "$tree"
    mkdir -p "$tree"/{dev,proc,sys,tmp,root,run,etc,var/log,var/run,usr/local/bin}
    cp -a "$fetched"/{bin,lib,sbin,usr} "$tree/" 2>/dev/null || true
    # Newer releases have them in /usr only.
    for place in bin lib sbin; do
        [[ -e $tree/$place ]] || ln -s "usr/$place" "$tree/$place"
    done
    rm -rf "${tree:?}"/usr/share "$tree"/{usr/lib,lib}/systemd
    ln -s busybox "$tree/bin/sh"
    "$busybox" --list | while read -r program; do
        [[ -e $tree/bin/$program || -e $tree/usr/bin/$program || -e $tree/sbin/$program ]] ||
            ln -s busybox "$tree/bin/$program"
    done
    printf '%s\n' root::0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/sh \
        >"$tree/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
    printf '/bin/sh\n' >"$tree/etc/shells"
    printf '127.0.0.1 localhost\n' >"$tree/etc/hosts"
    printf 'passwd: files\nhosts: files\n' >"$tree/etc/nsswitch.conf"
    put_libraries "$tree"/{bin,sbin,usr/bin,usr/sbin}/*
}

base
cp "$vm_dir/guest/init" "$tree/init"
chmod +x "$tree/init"
mkdir -p "$tree/test"
cp "$vm_dir"/guest/*.sh "$tree/test/"
for pair in "$@"; do
    [[ $pair == *=/* ]] || vm_die "'$pair' is not FILE=/PATH"
    put "${pair%%=*}" "${pair#*=/}"
done
(cd "$tree" && pack) >"$image.new"
mv "$image.new" "$image"
