#!/usr/bin/env bash
# Builds the Linux driver and the test modules against a fetched kernel.
#
#   tests/vm/module.sh [--arch ARCH] [--kernel SERIES] [MAKE_WORD...]
#
# Prints the paths of the modules. Kernels build modules next to their sources, so driver/linux and
# tests/vm/modules are copied below SPFE_VM_BUILD (default: target/vm). Only changed files are
# compiled again. MAKE_WORDs go to make, for instance W=1.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

arch=amd64 kernel=6.1
while (($#)); do
    case $1 in
    --arch) arch=$2 && shift ;;
    --kernel) kernel=$2 && shift ;;
    *) break ;;
    esac
    shift
done
readonly arch kernel
vm_kernel "$kernel" "$arch"
readonly copy=$vm_work/module-$kernel-$arch
readonly places=(driver/linux tests/vm/modules)

# The copy has the layout of the project, so that the generated headers are found. Build products in
# the source tree are not copied.
[[ $(cat "$copy/.source" 2>/dev/null) == "$vm_source" ]] || rm -rf "$copy"
mkdir -p "$copy/include"
printf '%s\n' "$vm_source" >"$copy/.source"
cp -au "$vm_source/include/." "$copy/include/"
for place in "${places[@]}"; do
    if [[ -d $vm_source/$place ]]; then cd "$vm_source"; else cd "$vm_root"; fi
    find "$place" -name '.?*' -prune -o -type f \
        \( -name '*.[ch]' ! -name '*.mod.c' -o -name 'K*' -o -name Makefile \) -print0 |
        xargs -0 cp -u --preserve=timestamps --parents -t "$copy"
done
unset MAKEFLAGS MFLAGS MAKELEVEL

# The kernel's own compiler may be of another version.
# shellcheck disable=SC2016 # for make
words=(-C "$vm_build" CC='$(CROSS_COMPILE)gcc' CONFIG_SPFE=m CONFIG_DEBUG_INFO_BTF_MODULES= "$@")
# The debug kernel instruments only the modules; its own code is not in question.
[[ -z ${SPFE_VM_DEBUG:-} ]] || words+=(UBSAN_SANITIZE=y)
case $arch in
arm64) words+=(ARCH=arm64 "CROSS_COMPILE=${CROSS_COMPILE:-aarch64-linux-gnu-}") ;;
armhf) words+=(ARCH=arm "CROSS_COMPILE=${CROSS_COMPILE:-arm-linux-gnueabihf-}") ;;
i386) words+=(ARCH=i386) ;;
riscv64) words+=(ARCH=riscv "CROSS_COMPILE=${CROSS_COMPILE:-riscv64-linux-gnu-}") ;;
esac

# object: the driver for a 32-bit kernel, as one object. The build tools of this machine know only
# 64-bit modules, so the check that the kernel has every symbol takes the place of modpost.
object() {
    local object=$copy/driver/linux/spfe.o missing
    make -s -j"$(nproc)" "${words[@]}" "M=${object%/*}" "${object##*/}" >&2
    missing=$(comm -23 <(nm -u "$object" | awk '{ print $2 }' | LC_ALL=C sort) \
        <(awk '{ print $2 }' "$vm_build/Module.symvers" | LC_ALL=C sort) | grep -vx __this_module) ||
        return 0
    vm_die "the kernel does not have: $missing"
}

if [[ $arch == i386 || $arch == armhf ]]; then
    object
    exit
fi
for place in "${places[@]}"; do
    make -s -j"$(nproc)" "${words[@]}" "M=$copy/$place" modules >&2
    find "$copy/$place" -name '*.ko'
done
