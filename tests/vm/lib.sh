# shellcheck shell=bash disable=SC2034 # for those who source it
# What the scripts of tests/vm share: where things are. Sourced, never run.

# The cache: everything below it can be deleted at any time.
vm_cache=${SPFE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/spfe/vm}
vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_root=$(cd "$vm_dir/../.." && pwd)
# The tree whose driver is tested: another one than this for who works on both.
vm_source=${SPFE_VM_SOURCE:-$vm_root}
# What is built for the guests.
vm_work=${SPFE_VM_BUILD:-$vm_root/target/vm}
vm_lock=$vm_dir/packages.lock
# Rust programs, where cargo leaves them.
vm_bin=${CARGO_TARGET_DIR:-$vm_root/target}/release

vm_say() { printf 'vm: %s\n' "$*" >&2; }
vm_die() {
    printf 'vm: %s\n' "$@" >&2
    exit 1
}

# vm_kernel SERIES ARCH: sets vm_image (file of the kernel), vm_release (as uname -r says it) and
# vm_build (the directory for `make -C` of modules) of the fetched kernel.
vm_kernel() {
    local root=$vm_cache/kernel-$1-$2
    local -a images=("$root"/boot/vmlinuz-*)
    vm_image=${images[0]}
    [[ -e $vm_image ]] || vm_die "no kernel $1 for $2; run: tests/vm/fetch.sh kernel-$1-$2"
    vm_release=${vm_image##*/vmlinuz-}
    vm_build=$root/usr/src/linux-headers-$vm_release
    vm_modules=$root/lib/modules/$vm_release
    [[ -d $vm_modules ]] || vm_modules=$root/usr/lib/modules/$vm_release
}

# vm_devices DIRECTORY COUNT WORD...: starts a network (spfed with these options) whose endpoints are
# devices for guests; sets vm_sockets, and vm_model to its process. Its log is DIRECTORY/spfed.log.
vm_devices() {
    local directory=$1 count=$2 i tries=600
    local -a words=(--endpoints "$((count + count % 2))")
    shift 2
    vm_sockets=()
    mkdir -p "$directory"
    for ((i = 0; i < count; i++)); do
        vm_sockets+=("$directory/device$i")
        words+=(--vfio-user "$directory/device$i")
    done
    "${SPFED_BIN:-$vm_bin/spfed}" --listen "$directory/spfed" "${words[@]}" "$@" \
        >"$directory/spfed.log" 2>&1 &
    vm_model=$!
    for ((i = 0; i < count; i++)); do
        until [[ -S ${vm_sockets[i]} ]]; do
            if ((tries-- == 0)) || ! kill -0 "$vm_model" 2>/dev/null; then
                cat "$directory/spfed.log" >&2
                return 1
            fi
            sleep 0.1
        done
    done
}

# vm_qemu ARCH: sets vm_emulator to the program that emulates this architecture.
vm_qemu() {
    case $1 in
    amd64) vm_emulator=$vm_cache/qemu/qemu-system-x86_64 ;;
    arm64) vm_emulator=$vm_cache/qemu-arm/qemu-system-aarch64 ;;
    *) vm_die "no emulator for architecture '$1'; there are: amd64 arm64" ;;
    esac
    [[ -x $vm_emulator ]] || vm_die "no $vm_emulator; run: tests/vm/fetch.sh"
}
