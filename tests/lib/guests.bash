# shellcheck shell=bash disable=SC2034 # the tests use the variables
# Helpers of tests/vm/vm.bats, loaded after lib/common: images, device models and guests.
#
#   SPFE_PROGRAMS         directory of the programs (default: target/release); see also image.sh
#   SPFE_VM_LOGS          directory for the logs of the guests (default: target/vm/logs)
#   SPFE_VM_FORM          short (default) or long: how much the random tests do
#   SPFE_SEED             seed of random tests (default: from the clock; it is printed)

# shellcheck source=../vm/lib.sh
source "$BATS_TEST_DIRNAME/lib.sh"
cd "$vm_root" || exit
logs=${SPFE_VM_LOGS:-$vm_work/logs}

setup_file() {
    export dir=$BATS_FILE_TMPDIR seed=${SPFE_SEED:-$(date +%s)}
    mkdir -p "$logs"
    if ! fetch qemu kernel-6.1-amd64 guest-amd64; then
        unavailable "emulator, kernel or programs not fetched: $(tail -n 1 "$logs/fetch.log")"
        return
    fi
    comment "seed $seed"
}

setup() {
    skip_if_unavailable
    test=${BATS_TEST_DESCRIPTION%%:*}
}

teardown() { stop_all; }

# by_form SHORT LONG: prints one of the two numbers, or less on the debug kernel, which is slow.
by_form() {
    if [[ -n ${SPFE_VM_DEBUG:-} ]]; then
        echo "$((($1 + 3) / 4))"
    elif [[ ${SPFE_VM_FORM:-short} == short ]]; then
        echo "$1"
    else
        echo "$2"
    fi
}

# fetch SET...: these sets are in the cache.
fetch() {
    "$vm_dir/fetch.sh" "$@" >"$logs/fetch.log" 2>&1 && return
    tail -n 5 "$logs/fetch.log"
    return 1
}

# image ARCH SERIES: packs a root file system with the driver and all programs; sets image.
image() {
    image=$dir/image-$1-$2
    [[ -e $image ]] || "$vm_dir/image.sh" --arch "$1" --kernel "$2" "$image"
}

# plain_image ARCH: the same without the driver.
plain_image() {
    image=$dir/plain-$1
    [[ -e $image ]] || "$vm_dir/initramfs.sh" --arch "$1" "$image"
}

# devices COUNT SPFED_WORD...: starts a network whose endpoints are devices for guests. Sets
# vm_sockets, network (its directory) and model (the options of boot.sh for all of its devices).
devices() {
    local socket
    network=$BATS_TEST_TMPDIR/network
    vm_network "$network" "$@"
    start model "${vm_spfed[@]}"
    model=()
    for socket in "${vm_sockets[@]}"; do
        wait_until test -S "$socket" || {
            show model
            return 1
        }
        model+=(--device "$socket")
    done
}

# model_has_read_all: nothing that an emulator has sent waits in a socket of the device model.
model_has_read_all() {
    ss -Hxn | awk -v path="$network/" 'index($5, path) && $3 > 0 { n++ } END { exit n > 0 }'
}

# boot NAME BOOT_WORD...: boots a guest in the background; the words are those of boot.sh.
boot() {
    local name=$1
    shift
    rm -f "$logs/$test-$name".*
    # Preemption, and memory with marks and poison around it, make errors of the driver likely to
    # show. Figures are taken without them.
    [[ $test == perf || -n ${SPFE_VM_DEBUG:-} ]] || set -- --append 'preempt=full slub_debug=FZPU' "$@"
    start "$name" "$vm_dir/boot.sh" --log "$logs/$test-$name" "$@"
}

# join NAME: waits for the end of a guest, which has a time limit of its own, and passes on its
# results. Fails if one of them failed.
join() {
    local prefix="$test: " code=0
    [[ $1 == one ]] || prefix="$test, $1: "
    WAIT_SECONDS=14400 wait_until ended "$1"
    code=$(<"$dir/$1.code")
    rm -f "$dir/$1".{pid,code}
    forward "$dir/$1.out" "$prefix"
    printf 'exit code of guest %s: %s\n' "$1" "$code"
    [[ $code == 0 ]]
}

# guest NAME BOOT_WORD...: boots a guest, waits for its end and passes on its results.
guest() { boot "$@" && join "$1"; }

# with_devices SCRIPT BOOT_WORD...: a guest with two joined devices runs a script of guest/.
with_devices() {
    local script=$1
    shift
    image amd64 6.1
    devices 2
    guest one --initrd "$image" "${model[@]}" "$@" SPFE_RUN="$script"
}

# printed NAME PATTERN SECONDS: waits until a running guest has printed such a line.
printed() {
    WAIT_SECONDS=$(($3 * (${SPFE_VM_DEBUG:+7} + 1))) wait_until has_printed "$1" "$2"
    grep -qsE "$2" "$logs/$test-$1.result" || join "$1"
}
has_printed() { grep -qsE "$2" "$logs/$test-$1.result" || ended "$1"; }
