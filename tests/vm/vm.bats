#!/usr/bin/env bats
# The Linux driver in virtual machines, against the device model. tests/vm/run.sh runs these tests
# and selects them by their name up to the colon. The scripts that run inside the guests are in
# guest/. No test looks at how long anything takes. Tags: short, a test of `make test`; debug, only
# for the debug kernel; plain, not for it; rtl, for simulated cores (run.sh --rtl).
# shellcheck disable=SC2154 # lib/guests sets the variables

load ../lib/common
load ../lib/guests

# compile SERIES [ARCH]: builds the modules for a kernel; only warnings and errors are printed.
compile() { "$vm_dir/module.sh" --kernel "$1" --arch "${2:-amd64}" W=1 >/dev/null; }

# bats test_tags=short,plain
@test "build: Linux 6.1, no warnings" {
    silent compile 6.1
}

# bats test_tags=short,plain
@test "build: Linux 6.12, no warnings" {
    fetch kernel-6.12-amd64
    silent compile 6.12
}

# bats test_tags=short,plain
@test "sparse: byte order, address spaces and locks" {
    silent check_sources
}
check_sources() {
    "$vm_dir/module.sh" C=2 CHECK='sparse -Wsparse-error' CF=-D__CHECK_ENDIAN__ >/dev/null
}

# bats test_tags=short,plain
@test "checkpatch" {
    fetch source-6.1
    make -s -C "$vm_source/driver/linux" checkpatch \
        CHECKPATCH="$vm_cache/source-6.1/scripts/checkpatch.pl"
}

# 64-bit divisions do not link here, and 64-bit ring words take two accesses.
# bats test_tags=short,plain
@test "build: Linux 6.1 for 32-bit processors, no warnings" {
    fetch kernel-6.1-i386
    silent compile 6.1 i386
}

# bats test_tags=short
@test "driver" {
    image amd64 6.1
    guest one --initrd "$image" SPFE_RUN=driver
}

# bats test_tags=short
@test "packets" {
    with_devices packets
}

# The conformance suite of the library on the driver's devices.
# bats test_tags=short
@test "conformance" {
    with_devices "conformance ${SPFE_CASE:-}" --memory 1024 --timeout 600
}

# bats test_tags=short
@test "strace" {
    with_devices strace
}

# bats test_tags=short
@test "life" {
    with_devices life SPFE_NET=1
}

# bats test_tags=short
@test "fuzz" {
    with_devices "fuzz $seed $(by_form 2000 50000)" --timeout 300 SPFE_NET=1
}

# The device model is killed under traffic. The emulator aborts when a model dies before it has read
# all that the emulator sent, so the guest is stopped until the model has read it.
# bats test_tags=short
@test "killed" {
    local emulator
    image amd64 6.1
    devices 2
    boot one --initrd "$image" "${model[@]}" SPFE_NET=1 SPFE_RUN=lost
    printed one 'take it away' 120
    emulator=$(<"$logs/$test-one.pid")
    kill -STOP "$emulator"
    wait_until model_has_read_all
    stop model KILL
    kill -CONT "$emulator"
    join one
}

# bats test_tags=plain,rtl
@test "rtl" {
    with_devices rtl
}

# Two machines with one device each.
# bats test_tags=short
@test "two" {
    local count
    count=$(by_form 2000 50000)
    image amd64 6.1
    devices 2
    boot receiver --initrd "$image" --device "${vm_sockets[1]}" \
        "SPFE_RUN=one_way receive $count"
    printed receiver ready 120
    guest sender --initrd "$image" --device "${vm_sockets[0]}" "SPFE_RUN=one_way send $count"
    join receiver
}

# bats test_tags=short
@test "swiotlb" {
    with_devices 'packets 500' --swiotlb
}

# bats test_tags=short
@test "viommu" {
    with_devices 'packets 500' --viommu
}

# Whatever reaches memory that the driver has not mapped is reported by the kernel.
# bats test_tags=plain
@test "viommu-life" {
    with_devices life --viommu SPFE_NET=1 --timeout 300
}

# bats test_tags=plain
@test "viommu-net" {
    with_devices 'net_load 120' --viommu --timeout 900
}

# bats test_tags=plain
@test "viommu-fuzz" {
    with_devices "fuzz $seed 4000" --viommu --timeout 600 SPFE_NET=1
}

# bats test_tags=plain
@test "viommu-conformance" {
    with_devices conformance --viommu --memory 1024 --timeout 900
}

# bats test_tags=plain
@test "viommu-rdma" {
    with_devices rdma --viommu SPFE_NET=1 --timeout 900
}

# bats test_tags=plain
@test "boot" {
    plain_image amd64
    guest one --initrd "$image" SPFE_RUN=boot
}

# bats test_tags=plain
@test "boot-6.12" {
    fetch kernel-6.12-amd64
    plain_image amd64
    guest one --kernel 6.12 --initrd "$image" SPFE_RUN=boot
}

# bats test_tags=plain
@test "boot-arm64" {
    fetch qemu-arm kernel-6.1-arm64 guest-arm64
    plain_image arm64
    guest one --arch arm64 --initrd "$image" SPFE_RUN=boot
}

# bats test_tags=plain
@test "driver-6.12" {
    fetch kernel-6.12-amd64
    image amd64 6.12
    guest one --kernel 6.12 --initrd "$image" SPFE_RUN=driver
}

# bats test_tags=plain
@test "driver-arm64" {
    fetch qemu-arm kernel-6.1-arm64 guest-arm64
    image arm64 6.1
    guest one --arch arm64 --initrd "$image" SPFE_RUN=driver
}

# bats test_tags=short,plain
@test "packets-6.12" {
    fetch kernel-6.12-amd64
    image amd64 6.12
    devices 2
    guest one --kernel 6.12 --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

# bats test_tags=plain
@test "packets-arm64" {
    fetch qemu-arm kernel-6.1-arm64 guest-arm64
    image arm64 6.1
    devices 2
    guest one --arch arm64 --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

# bats test_tags=plain
@test "build: Linux 6.1 for ARMv7, no warnings" {
    fetch kernel-6.1-armhf
    silent compile 6.1 armhf
}

# Debian has no 5.15, which is the oldest kernel that the driver is for. 5.10 and 6.1 are the nearest.
# bats test_tags=plain
@test "build: Linux 5.10, no warnings" {
    fetch kernel-5.10-amd64
    silent compile 5.10
}

# The short tests, as far as they can run here. Missing are those that reset a device, because this
# emulator then ends with a memory error (life, net-load, rdma-block, busy), lines, with which the guest
# does not boot, and aer, compat and viommu, which it does not have.
# bats test_tags=plain
@test "driver-riscv64" {
    riscv_image
    riscv_guest SPFE_RUN=driver
}

# bats test_tags=plain
@test "packets-riscv64" {
    riscv_devices 'packets 500'
}

# bats test_tags=plain
@test "calls-riscv64" {
    riscv_devices calls
}

# bats test_tags=plain
@test "conformance-riscv64" {
    riscv_devices conformance --memory 1024 --timeout 1800
}

# bats test_tags=plain
@test "strace-riscv64" {
    riscv_devices strace --timeout 600
}

# bats test_tags=plain
@test "fuzz-riscv64" {
    riscv_devices "fuzz $seed 2000" --timeout 900
}

# bats test_tags=plain
@test "swiotlb-riscv64" {
    riscv_devices 'packets 500' --swiotlb
}

# bats test_tags=plain
@test "net-riscv64" {
    riscv_devices net --timeout 1200
}

# bats test_tags=plain
@test "link-riscv64" {
    riscv_image
    devices 2 --link exact:1x6.25G
    riscv_guest "${model[@]}" SPFE_RUN=link --timeout 600
}

# bats test_tags=plain
@test "older-riscv64" {
    riscv_image
    devices 2 --contract-minor 1
    riscv_guest "${model[@]}" SPFE_RUN=older --timeout 300
}
riscv_image() {
    fetch qemu-riscv kernel-6.12-riscv64 guest-riscv64
    image riscv64 6.12
}
# riscv_devices SCRIPT BOOT_WORD...: as with_devices.
riscv_devices() {
    local script=$1
    shift
    riscv_image
    devices 2
    riscv_guest "${model[@]}" "$@" SPFE_RUN="$script"
}
riscv_guest() { guest one --kernel 6.12 --arch riscv64 --initrd "$image" "$@"; }

# Devices one minor version older than the driver.
# bats test_tags=short
@test "older" {
    image amd64 6.1
    devices 2 --contract-minor 1
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=older
}

# bats test_tags=short
@test "link" {
    image amd64 6.1
    devices 2 --link exact:1x6.25G
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=link
}

# Level-sensitive interrupts.
# bats test_tags=short
@test "lines" {
    with_devices lines --append pci=nomsi
}

# A machine that goes down must leave devices that do not touch its memory.
# bats test_tags=short
@test "shutdown" {
    with_devices shutdown --append loglevel=7 SPFE_NET=1
    (($(grep -c 'spfe[01]: stopped: shutdown' "$logs/$test-one.console") == 2))
    run grep -h 'in use' "$dir"/model.{out,err}
    printf '%s\n' "$output"
    ((status == 1))
}

# Devices that do not reach all of the memory.
# bats test_tags=short
@test "limited" {
    with_devices limited --append kernelcore=200M
}

# bats test_tags=plain
@test "reset-line-riscv64" {
    riscv_devices reset_line
}

# bats test_tags=plain
@test "large" {
    with_devices large --memory 2816 --timeout 300
}

# Doorbell pages 64 KiB apart, as machines with large pages need them.
@test "stride" {
    image amd64 6.1
    devices 2 --doorbell-stride 65536
    guest one --initrd "$image" "${model[@]}" 'SPFE_RUN=packets 500'
}

# The devices are pulled out under traffic and put in again.
@test "pulled" {
    image amd64 6.1
    devices 2
    boot one --initrd "$image" "${model[@]}" SPFE_NET=1 'SPFE_RUN=lost back'
    printed one 'take it away' 120
    signal model USR1
    printed one 'bring it back' 120
    signal model USR2
    join one
}

# bats test_tags=short
@test "platform" {
    with_devices platform
}

# bats test_tags=plain
@test "platform-arm64" {
    fetch qemu-arm kernel-6.1-arm64 guest-arm64
    image arm64 6.1
    devices 2
    guest one --arch arm64 --initrd "$image" "${model[@]}" --dts "$vm_dir/guest/platform.dts" \
        'SPFE_RUN=platform'
}

# bats test_tags=short
@test "net" {
    with_devices net --timeout 400
}

# Changes of the MTU and resets of the device under traffic in both directions.
# bats test_tags=short
@test "net-load" {
    with_devices "net_load $(by_form 120 600)" --timeout 900
}

# A queue that is stuck: the kernel warns, and the driver creates it again.
@test "net-stuck" {
    with_devices net_stuck SPFE_DMESG='dev_watchdog|Call.Trace' --timeout 300
}

# Three nodes of a PCIe fabric in one machine: any node to any node.
# bats test_tags=short
@test "fabric" {
    image amd64 6.1
    devices 3 --topology fabric:3
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=fabric --timeout 300
}

# Two machines with a network over SpaceFibre between them: ping, iperf3, ssh.
@test "net-two" {
    image amd64 6.1
    devices 2
    boot server --initrd "$image" --device "${vm_sockets[1]}" 'SPFE_RUN=net_two server' \
        SPFE_NAME=server --timeout 400
    printed server ready 120
    guest client --initrd "$image" --device "${vm_sockets[0]}" 'SPFE_RUN=net_two client' \
        --timeout 300
    join server
}

# The driver's network interface, joined to one in user space on this machine, in a namespace.
@test "net-host" {
    local space
    unshare -n true 2>/dev/null || skip 'this machine does not allow network namespaces'
    command -v iperf3 >/dev/null || skip 'iperf3 is not installed; run tools/setup.sh test'
    image amd64 6.1
    devices 1
    start space unshare -n sleep infinity
    space=$(pid space)
    wait_until separate "$space"
    start iperf3 nsenter -t "$space" -n iperf3 -s
    start interface nsenter -t "$space" -n "$vm_bin/spfe" \
        ip up "unix:$network/spfed/1" --name spfe0 --address 10.0.0.2/24
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=net_host
}
separate() { [[ $(readlink "/proc/$1/ns/net") != $(readlink /proc/self/ns/net) ]]; }

# Remote memory and messages between two devices.
@test "rdma" {
    with_devices rdma SPFE_NET=1 --timeout 900
}

# A device and a target-only endpoint.
@test "rdma-target" {
    cat >"$BATS_TEST_TMPDIR/target.toml" <<'END'
[[region]]
name = "memory"
size = "8M"
generation = 0xabc
[[region]]
name = "constants"
size = 64
rights = "r"
generation = 0xdef
END
    image amd64 6.1
    devices 1 --topology "target:$BATS_TEST_TMPDIR/target.toml"
    guest one --initrd "$image" "${model[@]}" SPFE_RUN=rdma_target --timeout 600
}

# A device that serves memory without queues, and a program that reads its notifications.
# bats test_tags=short
@test "rdma-block" {
    rdma_block pci
}

@test "rdma-block-platform" {
    rdma_block platform
}
rdma_block() {
    cat >"$BATS_TEST_TMPDIR/target.toml" <<'END'
notifications = 256
[[region]]
name = "memory"
size = "1M"
generation = 0xabc
notify = true
[[region]]
name = "constants"
size = 64
rights = "r"
generation = 0xdef
END
    image amd64 6.1
    devices 2 --target "1=$BATS_TEST_TMPDIR/target.toml"
    guest one --initrd "$image" "${model[@]}" --timeout 600 "SPFE_RUN=rdma_block $1"
}

# bats test_tags=short
@test "calls" {
    with_devices calls
}

# The same calls of a program for 32-bit processors, on a kernel for 64-bit ones.
# bats test_tags=short
@test "compat" {
    with_devices compat
}

# Queues that the device does not stop.
# bats test_tags=short
@test "busy" {
    with_devices busy
}

# Users, devices and the driver end at random. Neither the guest nor the device model may lose a
# resource.
@test "cycles" {
    local before
    image amd64 6.1
    devices 2
    boot one --initrd "$image" "${model[@]}" --timeout 1800 SPFE_NET=1 \
        "SPFE_RUN=cycles $seed $(by_form 50 1000)"
    printed one '^# seed' 120
    before=$(model_files)
    join one
    printf 'files of the device model: %s before, %s now\n' "$before" "$(model_files)"
    (($(model_files) > 0 && $(model_files) <= before))
}
model_files() { find "/proc/$(pid model)/fd" -mindepth 1 | wc -l; }

# bats test_tags=plain
@test "perf" {
    with_devices perf --memory 1024 --timeout 600
}

# DMA is bounced, so all memory belongs to the driver: a reset must leave it usable.
@test "reset-swiotlb" {
    with_devices 'conformance reset' --swiotlb --memory 1024 --timeout 600
}

@test "devlink" {
    with_devices devlink
}

# bats test_tags=plain
@test "devlink-6.12" {
    fetch kernel-6.12-amd64
    image amd64 6.12
    devices 2
    guest one --kernel 6.12 --initrd "$image" "${model[@]}" SPFE_RUN=devlink
}

# An interface in user space, on a device of the driver.
@test "ip-up" {
    with_devices ip_up --timeout 300
}

# Every detector of the debug kernel reports the error that it is for.
# bats test_tags=debug
@test "detectors" {
    image amd64 6.1
    guest one --initrd "$image" SPFE_PROVES=1 SPFE_RUN=detectors
}

# Each allocation of the kernel fails in turn. That of the checks of DMA can fail too: they then end,
# with the message that is ignored. register_netdevice() drops the objects of its queues when it
# fails, and free_netdev() frees the memory that they are in. CONFIG_DEBUG_KOBJECT_RELEASE, which
# only the debug kernel has, releases them seconds later: DEBUG_OBJECTS finds their timers in freed
# memory and stops them, and their names are lost. IPv6 shows a stack when there is no memory for the
# settings of an interface. These reports are ignored; a driver can neither wait for that release nor
# see it.
# bats test_tags=debug
@test "failslab" {
    local timer='kobject_delayed_cleanup.*free_netdev'
    local name='kobject_set_name_vargs.*netdev_register_kobject'
    local settings='sysctl could not get directory'
    local told='cacheline tracking ENOMEM|new suspected memory leaks'
    with_devices failslab SPFE_DMESG="$told" SPFE_REPORTS="$timer|$name|$settings" --timeout 900
}

# Errors of the bus, injected in the kernel.
# bats test_tags=short
@test "aer" {
    with_devices aer
}

# bats test_tags=debug
@test "suspend" {
    with_devices suspend
}

# bats test_tags=plain
@test "baremetal: compiles for Cortex-M, RISC-V and 64-bit ARM" {
    make -s -C "$vm_source/driver/baremetal" check OUT="$dir/baremetal"
}

# bats test_tags=plain
@test "baremetal: an image moves packets and messages" {
    fetch qemu-arm
    devices 2
    subtests "$vm_dir/baremetal.sh" "$dir" "${vm_sockets[@]}"
}

# Errors planted in the driver: the tests must find them.
# bats test_tags=plain
@test "planted: a fragment of a frame is sent from its second byte on" {
    plant netdev_tx.c 's/skb_frag_dma_map(dev, frag, 0, bytes/skb_frag_dma_map(dev, frag, 1, bytes/'
    devices 2
    finds '4 MiB with segmentation by the receiver' --timeout 400 SPFE_RUN=net
}

# Which result fails first depends on the times at which the ends ask.
# bats test_tags=plain
@test "planted: hellos are not answered" {
    plant netdev_peer.c 's/return fresh || body\[0\] & SPFE_NET_ASK ? SPFE_NET_SEEN : 0;/return 0;/'
    devices 2
    finds '@(both ends find version 2|and the far end, too|a far end of version 1 is found)' \
        --timeout 400 SPFE_RUN=net
}

# bats test_tags=plain
@test "planted: link events are not passed on" {
    plant port.c 's/queue_work(system_freezable_wq, &spfe->links);/return;/'
    devices 2 --link exact:1x6.25G
    finds 'turn 1: the driver tells of a link that goes down' --timeout 300 SPFE_LINK_SECONDS=30 \
        SPFE_RUN=link
}

# bats test_tags=plain
@test "planted: a device that goes on with its DMA is believed to have stopped" {
    plant pci.c 's/if (command & PCI_COMMAND_MASTER) {/if (0) {/'
    devices 2
    finds 'the memory is kept' --timeout 300 SPFE_RUN=busy
}

# plant FILE EDIT: an image whose driver has this error, from a copy of its sources; sets image.
plant() {
    local file=$BATS_TEST_TMPDIR/source/driver/linux/$1
    mkdir -p "$BATS_TEST_TMPDIR/source"
    (cd "$vm_source" && cp -a --parents driver/linux include "$BATS_TEST_TMPDIR/source")
    sed -i "$2" "$file"
    if cmp -s "$vm_source/driver/linux/$1" "$file"; then
        printf 'driver/linux/%s does not have the line that is to be replaced: %s\n' "$1" "$2"
        return 1
    fi
    image=$BATS_TEST_TMPDIR/image
    SPFE_VM_SOURCE=$BATS_TEST_TMPDIR/source SPFE_VM_BUILD=$BATS_TEST_TMPDIR/build \
        "$vm_dir/image.sh" "$image"
}

# finds PATTERN BOOT_WORD...: in a guest with the devices, the first result to fail is one like this.
finds() {
    local pattern=$1 first
    shift
    boot one --initrd "$image" "${model[@]}" "$@"
    WAIT_SECONDS=14400 wait_until ended one
    cat "$dir/one.out"
    first=$(tr -d '\r' <"$logs/$test-one.result" | sed -n 's/^not ok //p' | head -n 1)
    # shellcheck disable=SC2053 # a pattern
    [[ $first == $pattern ]]
}
