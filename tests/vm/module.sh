#!/usr/bin/env bash
# Builds the Linux driver (and the test modules beside it) against a fetched kernel.
#
#   tests/vm/module.sh [--arch ARCH] [--kernel SERIES] [--source DIR] [MAKE_WORD...]
#
# Prints the path of the module. DIR (default: driver/linux) is copied below the build directory,
# SPFE_VM_BUILD (default: target/vm), because kernels build where the source is; only what changed is
# compiled again. MAKE_WORDs go to make: W=1, C=1.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

arch=amd64 kernel=6.1 source=$vm_root/driver/linux
while (($#)); do
    case $1 in
    --arch) arch=$2 && shift ;;
    --kernel) kernel=$2 && shift ;;
    --source) source=$(realpath "$2") && shift ;;
    *) break ;;
    esac
    shift
done
readonly arch kernel source
vm_kernel "$kernel" "$arch"
readonly copy=$vm_work/module-$kernel-$arch
readonly place=$copy/${source#"$vm_root/"}

# The headers that are generated from the contract are where they are in the project.
mkdir -p "$place" "$copy/include"
cp -au "$vm_root/include/." "$copy/include/"
cp -au "$source/." "$place/"

words=(-C "$vm_build" "M=$place" CONFIG_DEBUG_INFO_BTF_MODULES= "$@")
case $arch in
arm64) words+=(ARCH=arm64 "CROSS_COMPILE=${CROSS_COMPILE:-aarch64-linux-gnu-}") ;;
esac
make -s -j"$(nproc)" "${words[@]}" modules >&2
find "$place" -name '*.ko'
