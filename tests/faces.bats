#!/usr/bin/env bats
# One suite for every face: C, Python and libfabric behind the same cases, also two of them at the ends of
# one network. What a face lacks is a skip, and this file says which those are.

load lib/common
load lib/python

spfed=$SPFE_PROGRAMS/spfed
suite=$SPFE_PROGRAMS/spfe-conformance
capi=$SPFE_PROGRAMS/libspfe_capi.a

setup_file() {
    export dir=$BATS_FILE_TMPDIR SPFE_SITE=$BATS_FILE_TMPDIR/site
    built "$spfed"
    built "$suite"
    gcc -std=gnu11 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror \
        -Iinclude -o "$dir/agent" tests/faces/agent.c "$capi" -pthread -lgcc_s -lm
    if environment pyface tools/packages/pyface.txt >"$dir/pip" 2>&1; then
        tools/python.sh install
        touch "$dir/python"
    fi
}

teardown_file() { stop_all; }

# faces AGENT AGENT [DEVICE DEVICE]: runs the suite; the result is in $dir/suite.tap.
faces() {
    "$suite" --faces "$1" "$2" "${3:-unix:$dir/sock/0}" "${4:-unix:$dir/sock/1}" \
        >"$dir/suite.tap" 2>"$dir/suite.err" || {
        cat "$dir/suite.tap" "$dir/suite.err"
        return 1
    }
    grep -qx '1..30' "$dir/suite.tap"
}

# skipped: names of the cases that were skipped.
skipped() { sed -n 's/^ok [0-9]* - \(.*\) # SKIP .*/\1/p' "$dir/suite.tap" | sort; }

# network OPTION...: starts the daemon.
network() {
    start spfed "$spfed" --listen "$dir/sock" "$@"
    wait_until listens "$dir/sock"
}

# python: the command of the agent in Python.
python() {
    printf 'env PYTHONPATH=%s %s/python tests/faces/agent.py' "$SPFE_SITE" \
        "$(environment pyface tools/packages/pyface.txt)"
}

# needs_python: skips the test if the tools of the package cannot be installed.
needs_python() { [[ -e $dir/python ]] || skip "$(tail -n 1 "$dir/pip")"; }

python_lacks='a_packet_is_gathered_from_parts
a_path_goes_in_front
slots_are_filled_and_released'

@test "C" {
    network
    faces "$dir/agent" "$dir/agent"
    same '' "$(skipped)"
}

@test "Python" {
    needs_python
    faces "$(python)" "$(python)"
    same "$python_lacks" "$(skipped)"
}

@test "Python sends, C receives" {
    needs_python
    faces "$(python)" "$dir/agent"
    same "$python_lacks" "$(skipped)"
}

@test "C sends, Python receives" {
    needs_python
    faces "$dir/agent" "$(python)"
    same "$(grep -v 'gathered\|path' <<<"$python_lacks")" "$(skipped)"
}

@test "an agent that dies fails its case, and the suite ends" {
    SPFE_CASE=every_size run -1 timeout 60 "$suite" --faces /bin/true "$dir/agent" a b
    [[ $output == *'not ok 1 - packets_of_every_size_arrive_whole'*'# a: '*'1..1' ]]
}

@test "libfabric" {
    pkg-config --exists libfabric || skip 'libfabric-dev is not installed'
    stop spfed
    network --topology loop --mode inline
    tools/libfabric.sh "$dir/provider"
    # shellcheck disable=SC2046 # several options
    gcc -std=gnu11 -g -Wall -Wextra -Werror -Iinclude -o "$dir/agent_fi" tests/faces/agent_fi.c \
        "$capi" $(pkg-config --cflags --libs libfabric) -pthread -lgcc_s -lm
    FI_PROVIDER_PATH=$dir/provider faces "$dir/agent_fi" "$dir/agent_fi" \
        "unix:$dir/sock" "unix:$dir/sock"
    same 'a_burst_is_as_many_packets
a_channel_has_one_owner
a_path_goes_in_front
a_reset_ends_queues
a_space_packet_is_as_written
a_wait_is_for_a_number_of_packets
an_empty_packet_is_refused
an_error_end_arrives_as_one
an_rmap_target_refuses_a_wrong_key
broadcast_messages_arrive
interrupts_arrive
packed_records_are_packets
pieces_make_one_packet
rmap_reads_writes_and_modifies
slots_are_filled_and_released
the_information_base_has_priorities
time_codes_arrive
what_does_not_exist_is_refused' "$(skipped)"
}
