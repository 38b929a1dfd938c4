# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Each detector of the debug kernel reports the error that it is for. Without this, a run without a
# report would prove nothing.

# reports FAULT PATTERN: the kernel prints such a line when the module makes this error.
reports() {
    dmesg -c >/dev/null
    # The error may end the shell's write, so its exit code says nothing.
    echo "$1" >/sys/module/spfe_faulty/parameters/fault
    within 5 printed "$2"
}
printed() { dmesg | tee /tmp/dmesg | grep -E "$1" || { tail -n 20 /tmp/dmesg && return 1; }; }
leaked() {
    echo clear >/sys/kernel/debug/kmemleak
    # A copy of an address may be left on a stack, so one block might not be missed.
    yes leak | head -n 8 | while read -r fault; do
        echo "$fault" >/sys/module/spfe_faulty/parameters/fault || return
    done
    leaks | tee /tmp/leaks | grep -q 'unreferenced object'
}

check 'the module with errors loads' insmod /lib/spfe/spfe_faulty.ko || exit 1
check 'lockdep works at first' lockdep_works
# The first, because lockdep stops at any report that taints the kernel.
check 'lockdep: order of locks' reports lock-order 'possible circular locking dependency'
check 'lockdep has stopped, and the test of that sees it' fails lockdep_works
check 'sleep with a spin lock held' reports sleep-in-atomic 'BUG: (sleeping function|scheduling)'
check 'KASAN: use after free' reports use-after-free 'BUG: KASAN: (slab-)?use-after-free'
check 'KASAN: out of bounds' reports out-of-bounds 'BUG: KASAN: slab-out-of-bounds'
check 'KASAN: out of bounds of vmalloc' reports vmalloc-out-of-bounds \
    'BUG: KASAN: vmalloc-out-of-bounds'
check 'DMA-API: wrong size' reports dma-size 'DMA-API: .*different size'
check 'DEBUG_OBJECTS: active work is freed' reports free-active 'ODEBUG: free active'
check 'UBSAN: shift' reports shift 'UBSAN: shift-out-of-bounds'
check 'kmemleak' leaked
dmesg -c >/dev/null
check 'the search for bad messages finds none' test -z "$(faults)"
echo 'WARNING: made by a test' >/dev/kmsg
check 'the search for bad messages finds one' test -n "$(faults)"
exit "$failed"
