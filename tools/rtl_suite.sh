#!/usr/bin/env bash
# Holds the simulated core (`rtl:`, docs/devices.md) to the conformance suite.
#
#   tools/rtl_suite.sh          all cases that the core can pass, about half an hour; ping, over
#                               SpaceWire as well, memory behind another core, and a file between
#                               two cores in two processes
#   tools/rtl_suite.sh --ci     some cases that take about a second each
#
# Prints TAP. The model is built by tools/rtl_model.sh. With SPFE_RTL_REPORT=1 the cycles of each case
# are printed.
set -euo pipefail
cd "$(dirname "$0")/.."

# What the core lacks: it stores words between both ends, and does not report its users. A build
# has no queue pairs, or one without remote keys, which these cases do not need.
readonly without=end-to-end,owners
readonly pairs=bytes_of_every_size_go_to_remote_memory_and_back,a_group_of_requests_has_one_completion,messages_and_immediate_data_arrive_in_order,atomic_operations_return_the_old_value,a_request_gathers_and_scatters_four_elements,a_refused_request_ends_the_queue_pair,a_target_that_does_not_answer_ends_the_request,two_queue_pairs_exchange_messages,refusals_end_a_request_or_repeat_it,damaged_answers_are_discarded
# The core looks at the host line after each completion, and simulated time is slow: a program that
# polls has taken the packet and withdrawn its wish by then, and the event comes late.
readonly late=a_descriptor_is_readable_exactly_when_due,descriptors_of_pooled_queues_signal_packets_and_completions
# A buffer that is full is told when the next symbol is known. These cases send no more before that.
readonly full=a_cut_waits_for_a_buffer,pieces_without_their_receiver_are_no_packet
# Megabytes, or 65,535 packets at once: millions of cycles.
readonly large=a_packet_of_more_than_16_mib_arrives_whole,a_burst_is_as_many_packets
readonly short=a_full_ring_drops_messages_and_reports_it,a_group_is_one_completion,a_group_is_partial_when_the_queue_is_full,a_burst_beyond_its_buffer_is_refused,parts_that_never_fit_are_refused,an_error_end_arrives_as_one,bytes_end_a_wait,time_codes_have_flags,interrupts_are_sent_and_acknowledged,a_descriptor_of_a_packed_queue_counts_bytes,unknown_ports_and_channels_are_named

readonly spfe=${CARGO_TARGET_DIR:-target}/debug/spfe

# suite SHAPE WITHOUT OPTION...
suite() {
    cargo run --quiet --package spfe-conformance --features rtl -- \
        "rtl:lab/0?$1" "rtl:lab/1?$1" --without "$2" "${@:3}"
}

# Writes the memory behind another core, and reads it. Each command has cores of its own, whose memory
# begins with zeroes.
memory() {
    timeout 300 "$spfe" rdma write 'rtl:?peer=target' --data 00010203ff >&2 &&
        timeout 300 "$spfe" rdma read 'rtl:?peer=target' --address 0x2000 --length 9000 --output - |
        cmp - <(head -c 9000 /dev/zero) >&2
}

# A file goes from one core to another, which run in two processes.
file() {
    local dir receiver
    dir=$(mktemp -d)
    head -c 20000 /dev/urandom >"$dir/from"
    timeout 300 "$spfe" recv "rtl:?peer=foreign:unix-listen:$dir/words" "$dir/to" >&2 &
    receiver=$!
    for _ in {1..200}; do
        [[ ! -S $dir/words ]] || break
        sleep 0.1
    done
    timeout 300 "$spfe" send "rtl:?peer=foreign:unix:$dir/words" "$dir/from" >&2
    wait "$receiver"
    cmp "$dir/from" "$dir/to" >&2
    rm -r "$dir"
}

# report NAME COMMAND...: a line of TAP.
report() {
    local name=$1
    shift
    if "$@" >&2; then echo "ok - $name"; else echo "not ok - $name" && failed=1; fi
}

failed=0
case ${1:-} in
--ci)
    tools/rtl_model.sh 2 1 4 wires=1 pair >&2
    suite 'ports=1&spwports=1&pairs=1' "$without,pairs" --only "$short"
    ;;
'')
    # One case uses eight channels.
    tools/rtl_model.sh 2 1 4 2 1 8 wires=1 2 1 4 wires=2 2 1 4 wires=1 pair 1 1 4 target >&2
    suite 'ports=1&spwports=1&vcs=8' "$without,pairs" --patience 20 --skip "$late,$full,$large" ||
        failed=1
    suite 'ports=1&spwports=1&pairs=1' "$without" --patience 20 --only "$pairs" || failed=1
    cargo build --quiet --package spfe-cli --features rtl
    report 'ping of a core' timeout 300 "$spfe" ping rtl: --count 3
    report 'ping over SpaceWire' timeout 300 "$spfe" ping 'rtl:?ports=0&spwports=2' --count 3
    report 'memory behind another core' memory
    report 'a file between two cores' file
    exit "$failed"
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
