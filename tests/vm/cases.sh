# shellcheck shell=bash disable=SC2034,SC2154 # shared with run.sh
# The tests of run.sh: for each a function that boots guests and reports. What runs inside a guest is
# in guest/.

short_tests=(boot build)
long_tests=(boot-6.12 boot-arm64 driver packets life fuzz swiotlb viommu net)

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
test_fuzz() { with_devices "fuzz $seed $([[ $form == short ]] && echo 2000 || echo 50000)" --timeout 150; }
test_swiotlb() { with_devices 'packets 500' --swiotlb; }
test_viommu() { with_devices 'packets 500' --viommu; }
test_net() { with_devices net --timeout 150; }
