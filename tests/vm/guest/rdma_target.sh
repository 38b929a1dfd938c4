# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# RDMA from a device of the driver to a target-only endpoint, which no software serves. It has a
# region of 8 MiB, and one of 64 bytes that can only be read (vm.bats).
ask() {
    asked=$1
    shift
    spfe rdma "$asked" /dev/spfe0 --timeout 20 "$@"
}
regions() { ask regions | tee /tmp/regions | grep -c '0x' | grep -qx 2; }
whole() {
    head -c 4194304 /dev/urandom >/tmp/from
    ask write --data @/tmp/from && ask read -l 4M --output /tmp/to || return
    cmp /tmp/from /tmp/to
}
# refused STATUS WORD...: the target refuses a command with this status of its protocol.
refused() {
    status=$1
    shift
    fails ask "$@" >/tmp/refused.out 2>&1 && cat /tmp/refused.out &&
        grep -q "status $status" /tmp/refused.out
}
reads() {
    spfe rdma ping /dev/spfe0 --size 64K --count 0 --interval 1ms --timeout 5 \
        >/tmp/reads.out 2>&1 &
    reader=$!
    within 60 grep -q bytes /tmp/reads.out
}
# adds VALUE: the old value of an atomic operation.
adds() { ask atomic -k 0xabc -a 64 --add 5 --json | grep -q "\"old\":\"$1\""; }
ended() {
    wait "$1"
    code=$?
    tail -n 5 /tmp/reads.out
    [ "$code" -gt 0 ] && [ "$code" -lt 128 ]
}

load_driver 1
check 'two regions' regions
check 'a file goes there and back' whole
ask write -k 0xabc -a 64 --data 0000000000000000 >/tmp/zero
check 'an atomic operation' adds 0x0
check 'and the next one' adds 0x5
check 'a wrong key' refused 3 read -k 0xabd -a 0 -l 4
check 'beyond the end' refused 4 read -k 0xabc -a 0x7ffffe -l 4
check 'a missing right' refused 5 write -k 0x1def -a 0 --data 01
check 'an atomic operation that is not aligned' fails ask atomic -k 0xabc -a 65 --add 1
check 'reads' reads
kill -9 "$reader"
check 'killed: a file goes there and back' whole
check 'reads' reads
echo 1 >"/sys/bus/pci/devices/$(address 0)/reset"
check 'reset: the reads end with an error' ended "$reader"
check 'reset: a file goes there and back' within 60 whole
unload_driver
exit "$failed"
