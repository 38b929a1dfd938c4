#!/usr/bin/env bash
# Builds the kernel that looks for errors of the driver: KASAN, lockdep, DMA_API_DEBUG, kmemleak and
# others, see debug/config. About ten minutes on two processors, once.
#
#   tests/vm/debug_kernel.sh
#
# The source is Debian's, by version and checksum (fetch.sh, set source-6.1). The result is
# kernel-debug-amd64 in the cache. It is built again when source, debug/config or compiler
# changes. Needs the packages of group vm in tools/packages/debian.txt.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

readonly config=$vm_dir/debug/config final=$vm_cache/kernel-debug-amd64
readonly new=$final.new

# key: what the result depends on.
key() {
    {
        grep '^source-6.1 ' "$vm_lock"
        gcc --version | head -n 1
        grep '^CONFIG_' "$config"
    } | sha256sum | cut -d ' ' -f 1
}

# configure: writes the configuration, and checks that the kernel knows and accepts all of it.
configure() {
    local line lost=()
    KCONFIG_ALLCONFIG=$config make -s "${words[@]}" allnoconfig
    while read -r line; do
        grep -qxF -- "$line" "$new/build/.config" || lost+=("$line")
    done < <(grep '^CONFIG_' "$config")
    ((${#lost[@]} == 0)) || vm_die "these lines of $config have no effect:" "${lost[@]}"
}

[[ $(cat "$final/.key" 2>/dev/null) != "$(key)" ]] || exit 0
"$vm_dir/fetch.sh" source-6.1
# One build at a time. What another run builds meanwhile is found complete.
exec 9>"$vm_cache/.busy-debug"
flock 9
[[ $(cat "$final/.key" 2>/dev/null) != "$(key)" ]] || exit 0
for tool in flex bison bc xz; do
    command -v "$tool" >/dev/null || vm_die "no $tool; run: tools/setup.sh vm"
done
[[ -e /usr/include/libelf.h ]] || vm_die 'no libelf.h; run: tools/setup.sh vm'

start=$SECONDS
vm_say 'building the debug kernel; this takes about ten minutes, once'
rm -rf "$new" && mkdir -p "$new/build" "$new/source"
# Documentation and the other architectures are half of the files.
tar -xJf "$vm_cache"/source-6.1/usr/src/linux-source-6.1.tar.xz -C "$new/source" --strip-components=1 \
    --exclude='*/Documentation/*/*' --exclude='*/tools/testing/*'
unset MAKEFLAGS MFLAGS MAKELEVEL
# Without a fixed date and name, two builds would differ.
words=(-C "$new/source" "O=$new/build" KBUILD_BUILD_TIMESTAMP='1 Jan 2026' KBUILD_BUILD_USER=spfe
    KBUILD_BUILD_HOST=spfe LOCALVERSION=-debug)
configure
make -s -j"$(nproc)" "${words[@]}" bzImage modules >"$new/build.log" 2>&1 ||
    vm_die "the kernel does not compile: $new/build.log" "$(tail -n 5 "$new/build.log")"
make -s "${words[@]}" INSTALL_MOD_PATH="$new" modules_install >>"$new/build.log" 2>&1
# What building a module and booting need stays.
find "$new/build" -path "$new/build/scripts" -prune -o -path "$new/build/tools" -prune -o \
    \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name 'vmlinux*' \) -type f -exec rm {} +
find "$new/source" \( -path '*/drivers/*' -o -path '*/sound/*' -o -path '*/fs/*' \) -name '*.c' \
    -delete
key >"$new/.key"
rm -rf "$final"
mv "$new" "$final"
# The build directory names the place of the source.
sed -i "s#$new/#$final/#g" "$final/build/Makefile"
ln -sfn "$final/source" "$final/build/source"
rm -f "$final"/lib/modules/*/{build,source}
vm_say "debug kernel: $(du -sm "$final" | cut -f 1) MiB, $((SECONDS - start)) s"
