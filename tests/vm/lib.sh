# shellcheck shell=bash disable=SC2034 # the sourcing scripts use the variables
# Shared by the scripts of tests/vm, which source it: where things are.

# The cache. Everything below it can be deleted at any time.
vm_cache=${SPFE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spfe/vm}
vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_root=$(cd "$vm_dir/../.." && pwd)
# The tree whose driver is tested, if it is not this one.
vm_source=${SPFE_VM_SOURCE:-$vm_root}
# Build directory of drivers, programs and images for the guests.
vm_work=${SPFE_VM_BUILD:-$vm_root/target/vm${SPFE_VM_DEBUG:+-debug}}
vm_lock=$vm_dir/packages.lock
# Rust programs, where cargo leaves them.
vm_bin=$(realpath -m "${SPFE_PROGRAMS:-${CARGO_TARGET_DIR:-$vm_root/target}/release}")

vm_say() { printf 'vm: %s\n' "$*" >&2; }
vm_die() {
    printf 'vm: %s\n' "$@" >&2
    exit 1
}

# vm_kernel SERIES ARCH: describes a fetched kernel. Sets vm_image (its file), vm_release (as uname
# -r prints it), vm_build (the directory for `make -C` of modules) and vm_modules (its modules). For
# i386 there are headers only, so vm_image does not exist. With SPFE_VM_DEBUG=1 the debug kernel
# takes the place of Linux 6.1 for amd64.
vm_kernel() {
    local root=$vm_cache/kernel-$1-$2
    if [[ -n ${SPFE_VM_DEBUG:-} && $1-$2 == 6.1-amd64 ]]; then
        root=$vm_cache/kernel-debug-amd64
        debug=("$root"/lib/modules/*)
        [[ -d ${debug[0]} ]] || vm_die 'no debug kernel; run: tests/vm/debug_kernel.sh'
        vm_modules=${debug[0]} vm_release=${debug[0]##*/}
        vm_build=$root/build vm_image=$root/build/arch/x86/boot/bzImage
        return
    fi
    local -a headers=("$root"/usr/src/linux-headers-*-{cloud-*,686,armmp,riscv64}) debug
    while ((${#headers[@]})) && [[ ! -e ${headers[0]} ]]; do headers=("${headers[@]:1}"); done
    ((${#headers[@]})) || vm_die "no kernel $1 for $2; run: tests/vm/fetch.sh kernel-$1-$2"
    vm_build=${headers[0]}
    vm_release=${vm_build##*/linux-headers-}
    vm_image=$root/boot/vmlinuz-$vm_release
    [[ -e $vm_image ]] || vm_image=$root/boot/vmlinux-$vm_release
    vm_modules=$root/lib/modules/$vm_release
    [[ -d $vm_modules ]] || vm_modules=$root/usr/lib/modules/$vm_release
}

# vm_network DIRECTORY COUNT WORD...: describes a network (spfed with these options) whose endpoints
# are devices for guests; with SPFE_VM_DEVICE=rtl simulated cores are the devices. Sets vm_spfed (the
# command that runs it) and vm_sockets (the sockets of its devices).
vm_network() {
    local directory=$1 count=$2 i
    shift 2
    vm_spfed=("$vm_bin/spfed" --device "${SPFE_VM_DEVICE:-soft}")
    # Simulated cores have no network, so there is nothing to listen on.
    [[ -n ${SPFE_VM_DEVICE:-} ]] || vm_spfed+=(--listen "$directory/spfed")
    # Other topologies have their own number of endpoints.
    [[ -n ${SPFE_VM_DEVICE:-} || " $* " == *' --topology '* ]] ||
        vm_spfed+=(--endpoints "$((count + count % 2))")
    vm_sockets=()
    mkdir -p "$directory"
    for ((i = 0; i < count; i++)); do
        vm_sockets+=("$directory/device$i")
        vm_spfed+=(--vfio-user "$directory/device$i")
    done
    vm_spfed+=("$@")
}

# vm_qemu ARCH: sets vm_emulator to the program that emulates this architecture.
vm_qemu() {
    case $1 in
    amd64) vm_emulator=$vm_cache/qemu/qemu-system-x86_64 ;;
    arm64) vm_emulator=$vm_cache/qemu-arm/qemu-system-aarch64 ;;
    riscv64) vm_emulator=$vm_cache/qemu-riscv/qemu-system-riscv64 ;;
    *) vm_die "no emulator for architecture '$1'; there are: amd64 arm64 riscv64" ;;
    esac
    [[ -x $vm_emulator ]] || vm_die "no $vm_emulator; run: tests/vm/fetch.sh"
}
