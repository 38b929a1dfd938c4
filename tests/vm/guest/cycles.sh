# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Ends programs, devices and the driver at random, many times. No resource may leak.
#
#   cycles.sh SEED COUNT
seed=$1 count=$2

# files: prints the number of open files.
files() { cut -f 1 /proc/sys/fs/file-nr; }
# few_files: as many as before, plus a margin for files that the kernel itself holds at times.
few_files() {
    echo "before $files_before, now $(files)"
    [ "$(files)" -le $((files_before + 32)) ]
}
# memory: prints the KiB of kernel memory that shrinks only when it is freed.
memory() {
    awk '/^(SUnreclaim|PageTables|KernelStack|VmallocUsed|Percpu):/ { n += $2 }
        END { print n }' /proc/meminfo
}
# kept: prints the KiB of freed memory that the kernel may keep. KASAN keeps a 32nd of all.
kept() {
    case $(uname -r) in
    *-debug) awk '/^MemTotal:/ { print int($2 / 32) }' /proc/meminfo ;;
    *) echo 0 ;;
    esac
}
# little_memory: as much as before, plus a margin of 4 MiB and a page for each ten cycles.
little_memory() {
    echo "before $memory_before KiB, now $(memory) KiB, of them $(kept) KiB may be freed memory"
    [ "$(memory)" -le $((memory_before + 4096 + count * 4 / 10 + $(kept))) ]
}
sees_devices() { within 60 test -c /dev/spfe0 && within 60 test -c /dev/spfe1; }
stop() {
    killall -9 packets
    within 60 test -s /tmp/traffic.code
}

# one ACTION MICROSECONDS: starts traffic and ends it by an action after a random delay. The devices
# must return.
one() {
    traffic || return
    usleep "$2"
    case $1 in
    kill) stop ;;
    reset) echo 1 >"/sys/bus/pci/devices/$bus/reset" ;;
    unbind)
        echo "$bus" >/sys/bus/pci/drivers/spfe/unbind
        echo "$bus" >/sys/bus/pci/drivers/spfe/bind
        ;;
    remove)
        echo 1 >"/sys/bus/pci/devices/$bus/remove"
        echo 1 >/sys/bus/pci/rescan
        ;;
    reload) stop && within 60 rmmod spfe && insmod /lib/spfe/spfe.ko ;;
    esac
    within 60 test -s /tmp/traffic.code && sees_devices
}

load_driver 2
echo "# seed $seed, $count cycles"
bus=$(address 0)
check 'packets before the cycles' works
memory_before=$(memory)
files_before=$(files)
awk -v seed="$seed" -v count="$count" 'BEGIN {
    srand(seed)
    split("kill kill reset unbind remove reload", action, " ")
    for (i = 0; i < count; i++) print action[1 + int(rand() * 6)], int(rand() * 50000)
}' >/tmp/cycles
done_cycles=0
while read -r action microseconds; do
    if ! one "$action" "$microseconds" >/tmp/one.out 2>&1; then
        cat /tmp/one.out /tmp/traffic.out
        break
    fi
    done_cycles=$((done_cycles + 1))
    [ $((done_cycles % 100)) != 0 ] || echo "# $done_cycles cycles, $(memory) KiB"
done </tmp/cycles
check "$count cycles" test "$done_cycles" = "$count"
check 'packets after the cycles' works
check 'no page is pinned' no_pins
check 'no file leaks' few_files
check 'no memory leaks' little_memory
unload_driver
exit "$failed"
