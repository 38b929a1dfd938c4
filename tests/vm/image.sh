#!/usr/bin/env bash
# Builds the driver and the programs of the guest, and packs them into a root file system.
#
#   tests/vm/image.sh [--arch ARCH] [--kernel SERIES] IMAGE
#
# The driver and the test modules are built with W=1 and go to /lib/spfe. The C programs
# tests/vm/guest/*.c are linked statically. On amd64 calls32 and pairs32 are added, for 32-bit
# processors, and the files of SPFE_VM_PROGRAMS, separated by spaces. spfe, spfed and
# spfe-conformance come from SPFE_PROGRAMS (default: target/release) on amd64, from cross.sh on
# riscv64. All programs go to /usr/local/bin.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

arch=amd64 kernel=6.1
while (($# > 1)); do
    case $1 in
    --arch) arch=$2 ;;
    --kernel) kernel=$2 ;;
    *) vm_die "unknown option '$1'; see the top of $0" ;;
    esac
    shift 2
done
(($# == 1)) || vm_die 'usage: tests/vm/image.sh [--arch ARCH] [--kernel SERIES] IMAGE'

compiler=gcc
[[ $arch != arm64 ]] || compiler=aarch64-linux-gnu-gcc
[[ $arch != riscv64 ]] || compiler=riscv64-linux-gnu-gcc
readonly programs=$vm_work/programs-$arch
mkdir -p "$programs"

modules=$("$vm_dir/module.sh" --arch "$arch" --kernel "$kernel" W=1)
files=()
for module in $modules; do
    files+=("$module=/lib/spfe/")
done
# Interfaces in user space, and errors of the bus. Some kernels have them built in.
vm_kernel "$kernel" "$arch"
for module in net/tun.ko pci/pcie/aer_inject.ko; do
    [[ ! -e $vm_modules/kernel/drivers/$module ]] ||
        files+=("$vm_modules/kernel/drivers/$module=/lib/spfe/")
done

# compile COMPILER PROGRAM SOURCE: makes a program of the guest, unless it is there.
compile() {
    [[ $2 -nt $3 && $2 -nt $vm_dir/guest/calls.h &&
        $2 -nt $vm_source/driver/linux/uapi/linux/spfe.h ]] ||
        "$1" -O2 -std=gnu11 -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror -static -pthread \
            -I "$vm_source/driver/linux/uapi" -I "$vm_source/include" -o "$2" "$3"
    files+=("$2=/usr/local/bin/")
}
for source in "$vm_dir"/guest/*.c; do
    compile "$compiler" "$programs/$(basename "$source" .c)" "$source"
done
bin='' more=''
case $arch in
amd64)
    for source in calls pairs; do
        compile i686-linux-gnu-gcc "$programs/${source}32" "$vm_dir/guest/$source.c"
    done
    bin=$vm_bin more=${SPFE_VM_PROGRAMS:-}
    ;;
riscv64) bin=$("$vm_dir/cross.sh" "$arch") ;;
esac
if [[ -n $bin ]]; then
    # shellcheck disable=SC2086 # words
    for program in "$bin"/{spfe,spfed,spfe-conformance} $more; do
        # Debug information would make the image several times as large.
        "${compiler%gcc}strip" -o "$programs/$(basename "$program")" "$program"
        files+=("$programs/$(basename "$program")=/usr/local/bin/")
    done
fi
"$vm_dir/initramfs.sh" --arch "$arch" "$1" "${files[@]}"
