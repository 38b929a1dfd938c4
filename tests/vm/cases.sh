# shellcheck shell=bash disable=SC2034,SC2154 # shared with run.sh
# The tests of run.sh: for each a function that boots guests and reports. What runs inside a guest is
# in guest/.

short_tests=(boot build)
long_tests=(boot-6.12 boot-arm64)

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
    check "$1: headers of Linux $2" need "kernel-$2-$1" || return
    check "$1: driver for Linux $2" make_module "$1" "$2" || {
        tail -n 20 "$logs/module-$2-$1.log" | sed 's/^/# /'
        return
    }
    check "$1: no warning for Linux $2" empty "$logs/module-$2-$1.log"
}

# empty FILE: true if it is; else prints it.
empty() { ! grep . "$1"; }

test_build() {
    builds amd64 6.1
    builds amd64 6.12
}

test_driver() {
    image amd64 6.1 && guest one --initrd "$image" SPFE_RUN=driver
}
