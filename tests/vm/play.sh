#!/usr/bin/env bash
# Boots a guest with the driver, to try it. A virtual SpaceFibre network outside joins its two
# devices. The guest loads the driver and runs a command or a shell.
#
#   tests/vm/play.sh [OPTION...] [COMMAND WORD...]     options: those of boot.sh, and
#
#   --devices N          default 2
#   --network "WORDS"    options of spfed, for instance "--link 4x7.5G"
#
# In the guest the devices are /dev/spfe0 and so on. The commands are spfe, iperf3, ping, strace,
# ethtool and those of busybox. The exit code is that of the command. The script deletes everything
# at the end and installs nothing on this machine.
#
#   tests/vm/play.sh spfe info /dev/spfe0
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

count=2 arch=amd64 kernel=6.1 network='' options=()
while [[ ${1:-} == --* ]]; do
    case $1 in
    --devices) count=$2 && shift ;;
    --network) network=$2 && shift ;;
    --arch) arch=$2 && options+=("$1" "$2") && shift ;;
    --kernel) kernel=$2 && options+=("$1" "$2") && shift ;;
    --swiotlb | --viommu) options+=("$1") ;;
    *) options+=("$1" "$2") && shift ;;
    esac
    shift
done

dir=$(mktemp -d) || exit
vm_model=''
finish() {
    [[ -z $vm_model ]] || kill "$vm_model" 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

sets=("kernel-$kernel-$arch" "guest-$arch" qemu)
[[ $arch != arm64 ]] || sets[2]=qemu-arm
"$vm_dir/fetch.sh" "${sets[@]}" || exit
"$vm_dir/image.sh" --arch "$arch" --kernel "$kernel" "$dir/image" || exit
read -ra words <<<"$network"
vm_network "$dir/network" "$count" "${words[@]}"
"${vm_spfed[@]}" >"$dir/spfed.log" 2>&1 &
vm_model=$!
for socket in "${vm_sockets[@]}"; do
    until [[ -S $socket ]]; do
        kill -0 "$vm_model" 2>/dev/null || vm_die "$(cat "$dir/spfed.log")"
        sleep 0.1
    done
    options+=(--device "$socket")
done
if (($#)); then
    "$vm_dir/boot.sh" --initrd "$dir/image" --timeout 3600 --live "${options[@]}" "SPFE_RUN=run $*"
else
    "$vm_dir/boot.sh" --initrd "$dir/image" --interactive "${options[@]}"
fi
