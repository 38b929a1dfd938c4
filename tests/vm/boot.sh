#!/usr/bin/env bash
# Boots one guest, waits for its end and returns its exit code.
#
#   tests/vm/boot.sh --initrd IMAGE [OPTION...] [NAME=VALUE...]
#
#   --initrd IMAGE     root file system, see initramfs.sh
#   --log PREFIX       PREFIX.console (kernel), PREFIX.result (script), PREFIX.emulator, PREFIX.pid
#                      (while it runs); default: a temporary directory, deleted at the end
#   --arch ARCH        amd64 (default), arm64 or riscv64
#   --kernel SERIES    6.1 (default) or 6.12
#   --device SOCKET    a PCIe device behind a root port, served on this vfio-user socket; repeatable
#   --option WORDS     options of the emulator, separated by spaces; repeatable
#   --append WORDS     more words for the kernel's command line; repeatable
#   --dts FILE         arm64: device-tree source to add to the tree of the machine
#   --swiotlb          the kernel copies all DMA through bounce buffers
#   --viommu           a virtual IOMMU in strict mode: the device reaches only mapped memory
#   --memory MIB       default 512
#   --smp N            default 2
#   --timeout SECONDS  default 120; ends the guest after that with exit code 124
#   --interactive      a shell on this terminal in place of a script (no --log, no time-out)
#   --live             prints the result while it comes, and nothing else
#   --quiet            does not print the result
#
# NAME=VALUE go into the environment of the guest's init, which runs SPFE_RUN="SCRIPT WORD...".
# Without --live the result is printed at the end. Several guests may run at once. SPFE_VM_ACCEL=kvm
# is faster if the machine has KVM; the default, tcg, works everywhere. Device models must be
# listening before the guest boots. With SPFE_VM_DEBUG=1 a guest with Linux 6.1 for amd64 runs the
# debug kernel, which gets more memory and time.
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

arch=amd64 kernel=6.1 initrd='' log='' memory=512 smp=2 limit=120 interactive='' quiet='' live=''
viommu='' dts='' accel=${SPFE_VM_ACCEL:-tcg}
devices=() options=() append=() variables=()
emulator_pid='' temporary=''

while (($#)); do
    case $1 in
    --initrd) initrd=$2 && shift ;;
    --log) log=$2 && shift ;;
    --arch) arch=$2 && shift ;;
    --kernel) kernel=$2 && shift ;;
    --device) devices+=("$2") && shift ;;
    --option) read -ra words <<<"$2" && options+=("${words[@]}") && shift ;;
    --append) append+=("$2") && shift ;;
    --dts) dts=$2 && shift ;;
    --swiotlb) append+=(swiotlb=force) ;;
    --viommu) viommu=1 ;;
    --memory) memory=$2 && shift ;;
    --smp) smp=$2 && shift ;;
    --timeout) limit=$2 && shift ;;
    --interactive) interactive=1 ;;
    --live) live=1 ;;
    --quiet) quiet=1 ;;
    [A-Z]*=*) variables+=("${1%%=*}=\"${1#*=}\"") ;;
    *) vm_die "unknown option '$1'; see the top of $0" ;;
    esac
    shift
done

if [[ -n ${SPFE_VM_DEBUG:-} && $arch-$kernel == amd64-6.1 ]]; then
    # An eighth is for KASAN's shadow, and it holds back what is freed.
    memory=$((2 * memory + 512)) limit=$((8 * limit))
    # Every report counts, not only the first one. A loaded machine is no stall.
    append+=(kasan_multi_shot rcupdate.rcu_cpu_stall_timeout=300)
    variables+=('SPFE_PATIENCE="8"')
fi

# A simulated core is a thousand times slower than a device.
if [[ -n ${SPFE_VM_DEVICE:-} ]]; then
    limit=$((10 * limit))
    append+=(rcupdate.rcu_cpu_stall_timeout=300)
    variables+=('SPFE_PATIENCE="10"' "SPFE_DEVICE=\"$SPFE_VM_DEVICE\"")
fi

# finish: ends the guest if it still runs, and removes temporary files.
finish() {
    [[ -z $emulator_pid ]] || kill "$emulator_pid" 2>/dev/null
    [[ -z $temporary ]] || rm -rf "$temporary"
}
trap finish EXIT
trap 'exit 130' INT TERM

# device_tree: adds a device tree to words: the one that the emulator would use, plus $dts.
device_tree() {
    local tree
    "$vm_emulator" "${words[@]}" -M "dumpdtb=$log.dtb" >"$log.emulator" 2>&1
    tree=$(dtc -q -I dtb -O dts "$log.dtb") || vm_die "no device tree; see $log.emulator"
    dtc -q -I dts -O dtb -o "$log.dtb" <<<"$tree"$'\n'"$(cat "$dts")" || vm_die "error in $dts"
    words+=(-dtb "$log.dtb")
}

# machine: sets words to the options that describe the machine.
machine() {
    local socket number=0 console
    words=(-nodefaults -no-reboot -display none -smp "$smp" -m "$memory"
        -object "memory-backend-memfd,id=ram,size=${memory}M,share=on")
    case $arch in
    amd64)
        console=ttyS0
        # On a busy machine an emulated timer is late, and the kernel would call it broken.
        append+=(no_timer_check)
        words+=(-M "q35,memory-backend=ram${viommu:+,kernel-irqchip=split}" -cpu max)
        ;;
    arm64)
        console=ttyAMA0
        words+=(-M "virt,gic-version=3,memory-backend=ram${viommu:+,iommu=smmuv3}" -cpu cortex-a57)
        ;;
    riscv64)
        console=ttyS0
        # Without this interrupt controller there are no message-signalled interrupts.
        words+=(-M 'virt,aia=aplic-imsic,memory-backend=ram' -cpu rv64
            -bios "${vm_emulator%/*}/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")
        ;;
    esac
    case $accel in
    tcg) words+=(-accel 'tcg,thread=multi') ;;
    *) words+=(-accel "$accel") ;;
    esac
    if [[ -n $viommu && $arch == amd64 ]]; then
        words+=(-device 'intel-iommu,caching-mode=on,intremap=on')
        append+=(intel_iommu=on iommu.strict=1)
    fi
    if [[ -n $interactive ]]; then
        words+=(-serial mon:stdio)
    else
        words+=(-chardev "file,id=console,path=$log.console")
        # The machine has one serial port of its own. The kernel finds one on the PCI bus first.
        if [[ $arch == riscv64 ]]; then
            words+=(-device 'pci-serial,chardev=console')
        else
            words+=(-serial chardev:console)
        fi
        if [[ -n $live ]]; then
            words+=(-chardev "stdio,id=result,signal=off,logfile=$log.result")
        else
            words+=(-chardev "file,id=result,path=$log.result")
        fi
        words+=(-serial chardev:result)
    fi
    # Before the devices are added: a device model serves only one emulator, and the emulator
    # runs once just to dump the tree.
    [[ -z $dts ]] || device_tree
    for socket in "${devices[@]}"; do
        number=$((number + 1))
        # With posted writes the emulator aborts when a device model dies.
        words+=(-device "pcie-root-port,id=port$number,chassis=$number,slot=$number"
            -device "{\"driver\":\"vfio-user-pci\",\"id\":\"spfe$number\",\"bus\":\"port$number\",
                \"socket\":{\"type\":\"unix\",\"path\":\"$socket\"},\"x-no-posted-writes\":true}")
    done
    words+=(-pidfile "$log.pid" -kernel "$vm_image" -initrd "$initrd"
        -append "console=$console quiet log_buf_len=4M oops=panic panic=-1 ${append[*]} \
${variables[*]}" "${options[@]}")
}

main() {
    local code=0 said
    [[ -r $initrd ]] || vm_die 'no --initrd IMAGE; see initramfs.sh'
    vm_kernel "$kernel" "$arch"
    vm_qemu "$arch"
    if [[ -z $log ]]; then
        temporary=$(mktemp -d) || exit
        log=$temporary/guest
    fi
    machine
    if [[ -n $interactive ]]; then
        "$vm_emulator" "${words[@]}" 2>"$log.emulator" || { code=$? && cat "$log.emulator" >&2; }
        return "$code"
    fi
    : >"$log.console" && : >"$log.result" || return
    if [[ -n $live ]]; then
        timeout --kill-after=5 "$limit" "$vm_emulator" "${words[@]}" </dev/null 2>"$log.emulator" &
    else
        timeout --kill-after=5 "$limit" "$vm_emulator" "${words[@]}" \
            </dev/null >"$log.emulator" 2>&1 &
    fi
    emulator_pid=$!
    wait "$emulator_pid"
    code=$?
    emulator_pid=''
    [[ -n $quiet$live ]] || tr -d '\r' <"$log.result"
    said=$(tr -d '\r' <"$log.result" | sed -n 's/^# exit \([0-9]*\) after .*/\1/p' | tail -n 1)
    if [[ -z $said ]]; then
        if ((code == 124 || code == 137)); then
            printf 'not ok guest: ended after %s s\n' "$limit"
            said=124
        else
            printf 'not ok guest: no result; exit code of the emulator: %d\n' "$code"
            said=125
        fi
        tail -n 5 "$log.emulator" | sed 's/^/# emulator: /'
        tr -d '\r' <"$log.console" | tail -n 250 | awk '
            { lines[NR] = $0 }
            !first && /BUG|Oops|WARNING|Kernel panic|Call Trace/ { first = NR }
            END {
                from = first ? first : NR > 40 ? NR - 40 : 1
                for (i = from; i <= NR && i < from + 60; i++) print "# console: " lines[i]
            }'
    fi
    return "$said"
}

main
