# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# A device that serves memory without queues (capability TARGET, device 1): its own regions, memory
# that a program adds, and the notifications that the program reads. The region "memory" of 1 MiB
# notifies, "constants" can only be read (vm.bats).
#
#   rdma_block.sh pci|platform
bus=$1
[ "$bus" = pci ] || platform=1
ask() {
    asked=$1
    shift
    spfe rdma "$asked" /dev/spfe0 --timeout 20 "$@"
}
# counter NAME: a counter of the target as the driver tells it.
counter() { target /dev/spfe1 query | sed -n "s/^$1 //p"; }
# refused STATUS WORD...: the target refuses a command with this status, and counts it.
refused() {
    status=$1
    shift
    before=$(counter refused)
    fails ask "$@" >/tmp/refused.out 2>&1 && cat /tmp/refused.out &&
        grep -q "status $status" /tmp/refused.out && [ "$(counter refused)" -gt "$before" ]
}
whole() {
    head -c 524288 /dev/urandom >/tmp/from
    ask write -k 0xabc --data @/tmp/from && ask read -k 0xabc -l 512K --output /tmp/to || return
    cmp /tmp/from /tmp/to
}
# rises NAME COMMAND...: the command is refused, and this counter of the target is one more.
rises() {
    was=$(counter "$1")
    name=$1
    shift
    "$@" || return
    now=$(counter "$name")
    echo "$name: $was, then $now"
    [ "$now" -eq $((was + 1)) ]
}
# keeps: the target has executed, refused and discarded as much as before.
keeps() {
    counted >/tmp/counted.now
    diff /tmp/counted /tmp/counted.now
}
counted() { target /dev/spfe1 query | grep '^executed\|^refused\|^discarded'; }
waits() { [ "$(counter notes)" -gt 0 ] && [ "$(counter executed)" -gt 0 ]; }
# serves NOTES: a program shares a page in the background; sets server and key.
serves() {
    rm -f /tmp/serve.out
    target /dev/spfe1 serve "$1" >/tmp/serve.out 2>&1 &
    server=$!
    within 60 grep -q '^key' /tmp/serve.out || { cat /tmp/serve.out && return 1; }
    key=$(sed -n 's/^key //p' /tmp/serve.out)
}
# told PATTERN: the program has printed this.
told() { within 60 grep -q "$1" /tmp/serve.out || { cat /tmp/serve.out && return 1; }; }
drained() { [ "$(counter notes)" = 0 ]; }
reset_device() {
    case $bus in
    pci) echo 1 >"/sys/bus/pci/devices/$(address "$1")/reset" ;;
    platform) devlink_ask "platform/$(address "$1")" reload ;;
    esac
}
# calls: tests of the calls; results are checks of their own.
calls() {
    target /dev/spfe1 calls || failed=1
}

load_driver 2
check 'the device has a target' sh -c 'target /dev/spfe1 query | grep "port 0 VC 0 entries 32 fixed 2"'
check 'no queue gets its virtual channel' fails packets - /dev/spfe1:0:0 count=1
check 'another device has none' fails target /dev/spfe0 query
calls
check 'its regions need no software' whole
check 'notifications wait' waits
check 'a wrong key' refused 3 read -k 0xabd -a 0 -l 4
check 'beyond the end' refused 4 read -k 0xabc -a 0xffffe -l 4
check 'a missing right' refused 5 write -k 0x1def -a 0 --data 01

# The program first reads what waits already. Writes of the file have one notification for each part.
check 'a program shares a page, and listens' serves 1000
check 'it reads the notifications that waited' within 60 drained
check 'others write to its page' ask write -k "$key" -a 0x10000 --data 0102030405060708
check 'and it is told' told 'note opcode 1 from 0xfe, entry 2, address 0x10000, 8 bytes'
check 'others read it' sh -c "spfe rdma read /dev/spfe0 -k $key -a 0x10000 -l 8 | grep -i '0102030405060708\|01 02 03 04'"
check 'an atomic operation' ask atomic -k "$key" -a 0x10008 --add 5
check 'and it is told of that' told 'note opcode 4 from 0xfe, entry 2, address 0x10008, 8 bytes'
check 'a message' ask send --queue 0 --data 48656c6c6f
check 'is a notification with its bytes' told 'note opcode 3 .* 5 bytes, data Hello'
check 'beyond its page' refused 4 read -k "$key" -a 0x10ffe -l 4
counted >/tmp/counted
kill -9 "$server"
wait "$server"
check 'killed: the counters are kept' keeps
check 'killed: its key is refused' rises refused refused 3 read -k "$key" -a 0x10000 -l 8
check 'killed: the regions of the device are still there' whole
check 'killed: another program shares a page' serves 1000
old=$key
counted >/tmp/counted
check 'reset: the device is reset' reset_device 1
check 'reset: the program ends' fails wait "$server"
check 'reset: the counters are kept' within 60 keeps
check 'reset: its key is refused' within 60 refused 3 read -k "$old" -a 0x10000 -l 8
check 'reset: the regions of the device are still there' within 60 whole
check 'reset: a program shares a page' within 60 serves 1000
check 'reset: others write to it' ask write -k "$key" -a 0x10000 --data 01
kill -9 "$server"
wait "$server"
fuzz() {
    fuzz_ioctl /dev/spfe1 1 3000 2 >/tmp/fuzz.out
    fuzz_code=$?
    cat /tmp/fuzz.out
    [ "$fuzz_code" = 0 ]
}
check 'random calls' fuzz
check 'others use the regions of the device afterwards' whole
unload_driver
exit "$failed"
