# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# RDMA between two devices of the driver: memory that a program shares under a remote key, messages,
# and the ends of programs and devices under traffic. The network interfaces run beside it.

# share: shares memory of device 1 in the background; sets sharer and key.
share() {
    rm -f /tmp/share.out
    spfe rdma share /dev/spfe1 --size 1M >/tmp/share.out 2>&1 &
    sharer=$!
    within 60 grep -q '^key' /tmp/share.out || { cat /tmp/share.out && return 1; }
    key=$(sed -n 's/^key \(0x[0-9a-f]*\):.*/\1/p' /tmp/share.out)
}
ask() {
    asked=$1
    shift
    spfe rdma "$asked" /dev/spfe0 --timeout 20 "$@"
}
# whole: the shared memory takes a file, which comes back with the same bytes.
whole() {
    head -c 1048576 /dev/urandom >/tmp/from
    ask write -k "$key" --data @/tmp/from && ask read -k "$key" -l 1M --output /tmp/to || return
    cmp /tmp/from /tmp/to
}
# reads: reads in the background without end; sets reader. Returns once they succeed.
reads() {
    spfe rdma ping /dev/spfe0 -k "$key" --size 64K --count 0 --interval 1ms --timeout 5 \
        >/tmp/reads.out 2>&1 &
    reader=$!
    within 60 grep -q bytes /tmp/reads.out
}
# ended PROCESS: it has ended with an error, and not by a signal.
ended() {
    wait "$1"
    code=$?
    cat /tmp/reads.out /tmp/share.out | tail -n 5
    echo "exit code $code"
    [ "$code" -gt 0 ] && [ "$code" -lt 128 ]
}
killed() { kill -9 "$1" && ! wait "$1"; }
# refused STATUS WORD...: the target refuses a read with this status of its protocol.
refused() {
    status=$1
    shift
    fails ask read "$@" >/tmp/refused.out 2>&1 && cat /tmp/refused.out &&
        grep -q "status $status" /tmp/refused.out
}
# unused N: no program has a queue of device N.
unused() { ! grep -vE " domain 0 " "/sys/kernel/debug/spfe/spfe$1/queues"; }
message() {
    rm -f /tmp/message
    spfe rdma receive /dev/spfe1 --queue 7 --message 10K --bytes 100K --output /tmp/message \
        >/tmp/receive.out 2>&1 &
    receiver=$!
    within 60 grep -q 'queue pair 7' /tmp/receive.out || return
    head -c 102400 /dev/urandom >/tmp/from
    ask send --queue 7 --message 10K --data @/tmp/from && wait "$receiver" || return
    cmp /tmp/from /tmp/message
}
sent() { cat /sys/class/net/spfe0/statistics/tx_packets; }
sends_more() { [ "$(sent)" -gt "$1" ]; }
reset_device() { echo 1 >"/sys/bus/pci/devices/$(address "$1")/reset"; }

# errors N END: requests (tx) or buffers (rx) of device N that ended with an error, on VC 0 of port 0.
errors() {
    spfe stats "/dev/spfe$1" --port 0 --all |
        awk -v end="$2" '$1 == 0 && $2 == 0 && $3 == end { print $7 }'
}
# more N END COUNT: there are more of these than before.
more() { [ "$(errors "$1" "$2")" -gt "$3" ]; }
# counted N NAME: a queue pair of device N has counted something under this name.
counted() { spfe stats "/dev/spfe$1" --port 0 | grep -E "^queue pair +$2 +0 +0 +[1-9]"; }
# bad_input: raw packets of every wrong kind, each with its status and counter, at both ends.
bad_input() {
    spfe-conformance /dev/spfe0 /dev/spfe1 --without owners,fresh --only "$(tr -d ' \n' <<END
wrong_requests_have_their_status_and_counter, damaged_requests_are_refused_or_discarded,
messages_without_room_are_refused, a_gap_is_reported_once, too_many_reads_find_the_target_busy,
refusals_end_a_request_or_repeat_it, damaged_answers_are_discarded
END
    )" >/tmp/suite 2>&1
    bad_input_code=$?
    cat /tmp/suite
    [ "$bad_input_code" = 0 ] && [ "$(grep -c '^ok' /tmp/suite)" = 7 ] && ! grep SKIP /tmp/suite
}

load_driver 2
check 'bad input: each kind has its status and its counter' bad_input
check 'memory is shared' share
check 'a file goes there and back' whole
check 'beyond the end' refused 4 -k "$key" -a 0xffffe -l 4
check 'a wrong key' refused 3 -k $((key ^ 1)) -a 0 -l 4
check 'another program does not get the virtual channel' \
    fails spfe rdma share /dev/spfe1 --size 4K
check 'nor its receive queue' fails packets - /dev/spfe1:0:0 count=1
check 'the memory is still there' whole

wrong=$(errors 0 tx)
check 'a wrong key' refused 3 -k $((key ^ 1)) -a 0 -l 4
check 'is counted at the initiator' more 0 tx "$wrong"
check 'is counted by name at the target' counted 1 'target bad key'
check 'a kind that did not come is not listed' fails counted 1 'target bad length'

check 'reads' reads
check 'killed: the initiator' killed "$reader"
check 'killed: its queue pair is gone' within 10 unused 0
check 'killed: the target serves the next one' whole
old=$key
check 'reads' reads
check 'killed: the target' killed "$sharer"
check 'killed: the initiator gets an error' ended "$reader"
check 'killed: no queue pair is left' within 10 unused 1
check 'killed: memory is shared again' share
check 'killed: the old key is refused' refused 3 -k "$old" -a 0 -l 4
check 'killed: a file goes there and back' whole

check 'reads' reads
reset_device 0
check 'reset: the initiator gets an error' ended "$reader"
check 'reset: the target serves the next one' within 60 whole
check 'reads' reads
reset_device 1
check 'reset: the target gets an error' ended "$sharer"
check 'reset: the initiator gets an error, too' ended "$reader"
check 'reset: memory is shared again' within 60 share
check 'reset: the old key is refused' refused 3 -k "$old" -a 0 -l 4
check 'reset: a file goes there and back' whole

kill -INT "$sharer"
check 'the program ends' wait "$sharer"
check 'it had the last bytes' grep -q "$(sha256sum </tmp/from | cut -d ' ' -f 1)" /tmp/share.out
check 'messages' message
check 'no queue pair is left' within 10 unused 0
check 'no queue pair is left at the other end' within 10 unused 1
[ -z "${SPFE_NET:-}" ] || check 'the network interface still sends' within 60 sends_more "$(sent)"
unload_driver
exit "$failed"
