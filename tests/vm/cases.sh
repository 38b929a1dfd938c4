# shellcheck shell=bash disable=SC2034,SC2154 # shared with run.sh
# The tests of run.sh: for each a function that boots guests and reports. What runs inside a guest is
# in guest/.

short_tests=(build driver packets conformance strace life fuzz killed two swiotlb viommu)
long_tests=(boot boot-6.12 boot-arm64 driver-6.12 driver-arm64 packets-6.12 packets-arm64
    stride pulled platform platform-arm64 net net-two net-host calls cycles
    perf reset-swiotlb devlink devlink-6.12 ip-up baremetal)

# plain_image ARCH: a root file system without the driver.
plain_image() {
    image=$dir/plain-$1
    [[ -e $image ]] || "$vm_dir/initramfs.sh" --arch "$1" "$image"
}

test_boot() {
    plain_image amd64 && guest one --initrd "$image" SPFE_RUN=boot
}

test_boot_6_12() {
    check 'kernel fetched' need kernel-6.12-amd64 || return
    plain_image amd64 && guest one --kernel 6.12 --initrd "$image" SPFE_RUN=boot
}

test_boot_arm64() {
    check 'emulator and kernel fetched' need qemu-arm kernel-6.1-arm64 guest-arm64 || return
    plain_image arm64 && guest one --arch arm64 --initrd "$image" SPFE_RUN=boot
}

# builds ARCH SERIES: the driver compiles for a kernel, and the compiler has nothing to say.
builds() {
    check "headers of Linux $2, $1" need "kernel-$2-$1" &&
        check "driver for Linux $2, $1" silent "$vm_dir/module.sh" --arch "$1" --kernel "$2" W=1
}

# silent COMMAND...: succeeds and has nothing to say on standard error.
silent() {
    local said
    said=$("$@" 2>&1 >/dev/null) || { printf '%s\n' "$said" && return 1; }
    printf '%s' "$said"
    [[ -z $said ]]
}

test_build() {
    builds amd64 6.1
    builds amd64 6.12
}

test_driver() {
    image amd64 6.1 && guest one --initrd "$image" SPFE_RUN=driver
}

# with_devices SCRIPT BOOT_WORD...: a guest with two devices that are joined runs a script.
with_devices() {
    local script=$1
    shift
    image amd64 6.1 && devices 2 && guest one --initrd "$image" "${model[@]}" "$@" SPFE_RUN="$script"
}

test_packets() { with_devices packets; }
test_life() { with_devices life; }
test_fuzz() { with_devices "fuzz $seed $([[ $form == short ]] && echo 2000 || echo 50000)" --timeout 300; }

# The device model is killed under traffic. The emulator ends itself when a model dies that has not
# read all it was sent, so the model gets time for that while the guest stands still.
test_killed() {
    image amd64 6.1 && devices 2 && start one --initrd "$image" "${model[@]}" SPFE_RUN=lost &&
        said one 'take it away' 120 && kill_model one
    join one
}
kill_model() {
    local emulator
    emulator=$(cat "$logs/$test-$1.pid") && kill -STOP "$emulator" || return
    sleep 1
    kill -KILL "$vm_model"
    wait "$vm_model" 2>/dev/null
    kill -CONT "$emulator"
}

# The devices are pulled out under traffic and put in again.
test_pulled() {
    image amd64 6.1 && devices 2 && start one --initrd "$image" "${model[@]}" 'SPFE_RUN=lost back' &&
        said one 'take it away' 120 && kill -USR1 "$vm_model" &&
        said one 'bring it back' 120 && kill -USR2 "$vm_model"
    join one
}

# Two machines, a device each.
test_two() {
    local count
    count=$([[ $form == short ]] && echo 2000 || echo 50000)
    image amd64 6.1 && devices 2 &&
        start receiver --initrd "$image" --device "${vm_sockets[1]}" "SPFE_RUN=one_way receive $count" &&
        said receiver ready 120 &&
        guest sender --initrd "$image" --device "${vm_sockets[0]}" "SPFE_RUN=one_way send $count"
    join receiver
}

# Two machines with a network over SpaceFibre between them: ping, iperf3, ssh.
test_net_two() {
    image amd64 6.1 && devices 2 &&
        start server --initrd "$image" --device "${vm_sockets[1]}" 'SPFE_RUN=net_two server' \
            SPFE_NAME=server --timeout 400 &&
        said server ready 120 &&
        guest client --initrd "$image" --device "${vm_sockets[0]}" 'SPFE_RUN=net_two client' --timeout 300
    join server
}

# The driver's network interface, joined to one in user space on this machine, in a namespace of its own.
test_net_host() {
    local space server interface
    if ! unshare -n true 2>/dev/null || ! command -v iperf3 >/dev/null; then
        printf 'ok network namespace # SKIP not allowed here, or no iperf3\n' | report ''
        return
    fi
    image amd64 6.1 && devices 1 || return
    unshare -n sleep 1000 &
    space=$!
    children+=("$space")
    check 'a namespace' apart "$space" || return
    nsenter -t "$space" -n iperf3 -s >"$logs/$test-iperf3" 2>&1 &
    server=$!
    nsenter -t "$space" -n "${SPFE_BIN:-$vm_bin/spfe}" --device "unix:$dir/$test/spfed/1" ip up \
        --name spfe0 --address 10.0.0.2/24 >"$logs/$test-spfe" 2>&1 &
    interface=$!
    children+=("$server" "$interface")
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=net_host
}
# apart PROCESS: it has another network namespace than this one, soon.
apart() {
    local tries=100
    while [[ $(readlink "/proc/$1/ns/net") == "$(readlink /proc/self/ns/net)" ]]; do
        ((tries-- > 0)) || return
        sleep 0.1
    done
}

test_platform() { with_devices platform; }

test_platform_arm64() {
    check 'emulator and kernel fetched' need qemu-arm kernel-6.1-arm64 guest-arm64 &&
        image arm64 6.1 && devices 2 &&
        guest one --arch arm64 --initrd "$image" "${model[@]}" --dts "$vm_dir/guest/platform.dts" \
            'SPFE_RUN=platform'
}

# Doorbell pages 64 KiB apart, as machines with large pages need them.
test_stride() {
    image amd64 6.1 && devices 2 --doorbell-stride 65536 &&
        guest one --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

test_packets_6_12() {
    image amd64 6.12 && devices 2 &&
        guest one --kernel 6.12 --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

test_packets_arm64() {
    check 'emulator and kernel fetched' need qemu-arm kernel-6.1-arm64 guest-arm64 &&
        image arm64 6.1 && devices 2 &&
        guest one --arch arm64 --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

# Users, devices and the driver end at random; neither the guest nor the device model loses anything.
test_cycles() {
    local before
    image amd64 6.1 && devices 2 &&
        start one --initrd "$image" "${model[@]}" --timeout 1800 \
            "SPFE_RUN=cycles $seed $([[ $form == short ]] && echo 50 || echo 1000)" &&
        said one '^# seed' 120 && before=$(model_files)
    join one
    check 'the device model has no more files open' few_files "${before:-0}"
}
model_files() { find "/proc/$vm_model/fd" -mindepth 1 | wc -l; }
few_files() {
    local now
    now=$(model_files)
    echo "before $1, now $now"
    ((now > 0 && now <= $1))
}
test_strace() { with_devices strace; }
test_swiotlb() { with_devices 'packets 500' --swiotlb; }
test_viommu() { with_devices 'packets 500' --viommu; }

test_driver_6_12() {
    check 'kernel fetched' need kernel-6.12-amd64 &&
        image amd64 6.12 && guest one --kernel 6.12 --initrd "$image" SPFE_RUN=driver
}

test_driver_arm64() {
    check 'emulator and kernel fetched' need qemu-arm kernel-6.1-arm64 guest-arm64 &&
        image arm64 6.1 && guest one --arch arm64 --initrd "$image" SPFE_RUN=driver
}

# The suite of the library, on the driver's devices.
test_conformance() {
    image amd64 6.1 && devices 2 &&
        guest one --initrd "$image" "${model[@]}" --memory 1024 --timeout 600 \
            "SPFE_RUN=conformance ${SPFE_CASE:-}"
}

# The same where DMA is bounced, so that all memory is the driver's: what a reset leaves of it.
test_reset_swiotlb() {
    with_devices 'conformance reset' --swiotlb --memory 1024 --timeout 600
}

# `spfe perf` between two devices.
test_perf() { with_devices perf --memory 1024 --timeout 600; }

# The driver without an operating system.
test_baremetal() {
    check 'it compiles for Cortex-M, RISC-V and 64-bit ARM' \
        make -s -C "$vm_source/driver/baremetal" check OUT="$dir/baremetal"
    check 'emulator fetched' need qemu-arm && devices 2 &&
        check 'an image moves packets and messages' "$vm_dir/baremetal.sh" "$dir" "${vm_sockets[@]}"
}

test_net() { with_devices net --timeout 150; }
test_calls() { with_devices calls; }
test_devlink() { with_devices devlink; }
test_devlink_6_12() {
    check 'kernel fetched' need kernel-6.12-amd64 &&
        image amd64 6.12 && devices 2 &&
        guest one --kernel 6.12 --initrd "$image" "${model[@]}" SPFE_RUN=devlink
}
# An interface in user space, on a device of the driver.
test_ip_up() { with_devices ip_up --timeout 300; }
