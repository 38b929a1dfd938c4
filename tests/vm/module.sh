#!/usr/bin/env bash
# Builds the Linux driver against a fetched kernel.
#
#   tests/vm/module.sh [--arch ARCH] [--kernel SERIES] [MAKE_WORD...]
#
# Prints the path of the module. The source, driver/linux, is copied below the build directory,
# SPFE_VM_BUILD (default: target/vm), because kernels build where the source is; only what changed is
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
readonly arch kernel source=$vm_source/driver/linux
vm_kernel "$kernel" "$arch"
readonly copy=$vm_work/module-$kernel-$arch
readonly place=$copy/driver/linux

# The headers that are generated from the contract are where they are in the project. What somebody
# has built in the source is not copied.
[[ $(cat "$copy/.source" 2>/dev/null) == "$vm_source" ]] || rm -rf "$copy"
mkdir -p "$place" "$copy/include"
printf '%s\n' "$vm_source" >"$copy/.source"
cp -au "$vm_source/include/." "$copy/include/"
(cd "$source" && find . -name '.?*' -prune -o -type f \
    \( -name '*.[ch]' ! -name '*.mod.c' -o -name 'K*' -o -name Makefile \) -print0 |
    xargs -0 cp -u --preserve=timestamps --parents -t "$place")
unset MAKEFLAGS MFLAGS MAKELEVEL

words=(-C "$vm_build" "M=$place" CONFIG_SPFE=m CONFIG_DEBUG_INFO_BTF_MODULES= "$@")
case $arch in
arm64) words+=(ARCH=arm64 "CROSS_COMPILE=${CROSS_COMPILE:-aarch64-linux-gnu-}") ;;
esac
make -s -j"$(nproc)" "${words[@]}" modules >&2
find "$place" -name '*.ko'
