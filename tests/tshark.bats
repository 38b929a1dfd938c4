#!/usr/bin/env bats
# Captures as Wireshark's tshark shows them with the dissector of this project.
#
# The examples `sample` and `sfrp` of spfe-capture write the captures, and the example `record` of
# spfe-sim records a scenario. SPFE_FUZZ_RUNS damaged captures are read (default 20).

load lib/common

examples=$SPFE_PROGRAMS/examples
sample=$examples/sample sfrp=$examples/sfrp record=$examples/record
runs=${SPFE_FUZZ_RUNS:-20}

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    unavailable "$(programs tshark capinfos editcap)"
    [[ -z $TEST_UNAVAILABLE ]] || return 0
    [[ $SPFE_PROGRAMS != */release ]] || cargo build --quiet --release -p spfe-capture -p spfe-sim \
        --example sample --example sfrp --example record
    "$sample" "$dir/all.pcapng" >"$dir/counts"
    "$sfrp" vectors/sfrp.txt "$dir/sfrp.pcapng"
    "$sfrp" vectors/netdev.txt "$dir/netdev.pcapng"
    "$sample" "$dir/short.pcapng" 64 >"$dir/counts.short"
    "$sample" "$dir/dated.pcapng" 262144 1800000000 >/dev/null
}

setup() {
    skip_if_unavailable
    # None of the user's own settings, plugins or recent files.
    export HOME=$dir XDG_CONFIG_HOME=$dir LC_ALL=C.UTF-8
}

teardown_file() { stop_all; }

# shark FILE WORD...: tshark with the dissector.
shark() {
    local file=$1
    shift
    timeout --kill-after=5 120 tshark -X lua_script:wireshark/spfe.lua -r "$file" "$@" \
        2>"$dir/tshark.err"
}

# fields FILE FILTER FIELD...: values of fields, a line for each record, tabs between them.
fields() {
    local file=$1 filter=$2 field
    local -a options=()
    shift 2
    for field in "$@"; do options+=(-e "$field"); done
    shark "$file" -2 -Y "$filter" -T fields "${options[@]}"
}

# record NUMBER FIELDS VALUE...: the fields of a record (a text with blanks) have these values.
record() {
    local -a names
    read -ra names <<<"$2"
    same "$(tab "${@:3}")" "$(fields "$dir/all.pcapng" "frame.number==$1" "${names[@]}")"
}

# rdma FILTER FIELDS VALUE...: the same for the first packet of SFRP that a filter finds.
rdma() {
    local -a names
    read -ra names <<<"$2"
    same "$(tab "${@:3}")" "$(fields "$dir/sfrp.pcapng" "$1" "${names[@]}" | head -n 1)"
}

# tab WORD...: the words with tabs between them.
tab() { (IFS=$'\t' && printf '%s' "$*"); }

# clean FILE: nothing in the capture is malformed, and the dissector reports no error.
clean() {
    shark "$1" -V >"$dir/verbose"
    fails grep -iE 'malformed|Lua Error' "$dir/verbose"
    fails grep -i 'lua' "$dir/tshark.err"
}

# control_words FILE LAST COUNTS: every control word of the lanes has its name, as often as the
# encoder counted. The records after number LAST are those of lanes.
control_words() {
    local file=$1 last=$2 counts=$3 found
    found=$(
        fields "$file" "frame.number > $last && spfe.kind != 1" spacefibre.name | tr ',' '\n' | sort | uniq -c |
            awk '$2 == toupper($2) || $2 ~ /^iINIT/ { print $2, $1 }' | sort
    )
    same "$(sort "$counts")" "$found"
}

@test "an encoder that cuts records counts the same words" {
    cmp "$dir/counts" "$dir/counts.short"
}

@test "capinfos reads the file" {
    local line
    capinfos "$dir/all.pcapng" >"$dir/capinfos"
    for line in 'Number of packets:   49' 'Number of interfaces in file: 3' \
        'Name = camera.1>router.3' 'Description = camera port 1 to router port 3' \
        'Speed = 6250000000' 'Time resolution = 0x09' 'Capture comment:     sample: seed 1'; do
        grep -qF "$line" "$dir/capinfos" || {
            printf 'capinfos does not print "%s"\n' "$line"
            return 1
        }
    done
}

@test "nothing is malformed" {
    clean "$dir/all.pcapng"
}

@test "nothing is malformed in short records" {
    clean "$dir/short.pcapng"
}

# The comment of an event is one of the texts.
@test "expert infos: exactly these records have one of a note or more" {
    local expected words dropped='Packet dropped: InvalidAddress, address 64 (router port 3)'
    words=$(
        printf '%s,' 'The lane starts again after an error' 'iLANES is not the inverse of LANES' \
            'Frame error: word not allowed here' 'Word lost or damaged (RXERR)' \
            'Invalid K character in a data word' && printf 'A fault was injected into this word'
    )
    expected=$(
        tab 7 'Data CRC is bad' && echo
        tab 8 'The target refused or failed' && echo
        tab 9 'Header CRC is bad: nothing in the packet can be trusted' && echo
        tab 12 'Error end of packet: the network cut it,Packet ends before its data does' && echo
        tab 13 'The target refused or failed,Reply without a command in this capture' && echo
        tab 14 'Invalid command code' && echo
        tab 16 'Length of the space packet differs from its header' && echo
        tab 18 'Packet without a data character' && echo
        tab 19 'Broadcast message was late' && echo
        tab 24 'Fault: bit error: seed 1, word 77,Fault: bit error (seed 1, word 77)' && echo
        tab 25 "Packet dropped: router port 3,$dropped" && echo
        tab 26 'Misaligned,Misaligned: FifoOverflow' && echo
        tab 28 'CRC-16 of data frame is bad' && echo
        tab 31 'CRC-8 is bad' && echo
        tab 32 'Unknown control word: ignored by receivers' && echo
        tab 33 'Parity error,Error end of packet: the network cut it' && echo
        tab 34 "$words" && echo
        tab 43 'CRC-16 of data frame is bad,The following data is sent again' && echo
        tab 44 'NACK requests error recovery' && echo
    )
    same "$expected" "$(fields "$dir/all.pcapng" '_ws.expert.severity >= 0x200000' frame.number \
        _ws.expert.message)"
}

@test "RMAP write: path, address, data" {
    record 1 \
        'spacewire.path rmap.command rmap.address rmap.data rmap.data_crc_good rmap.reply_in' \
        03 'Verified write' 0x0000000140000010 deadbeef 1 2
}

@test "RMAP reply: status, command, response time to the ps" {
    record 2 \
        'rmap.status rmap.reply_to rmap.time_ps rmap.header_crc_good' 0 1 1000001 1
}

@test "RMAP read" {
    record 3 'rmap.command rmap.length rmap.key rmap.transaction rmap.reply_in' \
        Read 4 0x20 0x0011 4
}

@test "RMAP reply to a read" {
    record 4 'rmap.data rmap.data_crc_good rmap.reply_to' deadbeef 1 3
}

@test "RMAP read-modify-write: data and mask" {
    record 5 'rmap.command rmap.data rmap.mask' \
        Read-modify-write 000000ff 0000000f
}

@test "RMAP: bad data CRC" {
    record 7 'rmap.header_crc_good rmap.data_crc_good' 1 0
}

@test "RMAP reply with a status" {
    record 8 'rmap.status rmap.reply_to' 4 7
}

@test "RMAP: bad header CRC" {
    record 9 'rmap.header_crc_good rmap.reply_in' 0 ''
}

@test "RMAP reply address" {
    record 10 'spacewire.path rmap.reply_address rmap.reply_in' \
        0507 00000409 11
}

@test "RMAP reply with a path" {
    record 11 'spacewire.path rmap.reply_to rmap.data' 0409 10 dead
}

@test "RMAP: packet cut by the network" {
    record 12 'spacewire.end rmap.data' 2 dead
}

@test "SFRP: nothing is malformed" {
    clean "$dir/sfrp.pcapng"
}

@test "SFRP: exactly the damaged packets have errors" {
    local expected
    expected=$(
        echo 'Header CRC is bad: nothing in the packet can be trusted'
        echo 'Payload CRC is bad'
        echo 'Error end of packet: the network cut it,Packet ends before its payload does'
    )
    same "$expected" "$(fields "$dir/sfrp.pcapng" '_ws.expert.severity == 0x800000' \
        _ws.expert.message)"
}

@test "SFRP WRITE and its response" {
    rdma 'frame.number == 1' \
        'sfrp.opcode sfrp.key sfrp.address sfrp.payload sfrp.payload_crc_good sfrp.response_in' \
        1 0x00012abc 0x0000000000001000 1011121314151617 1 2
    rdma 'frame.number == 2' 'sfrp.response sfrp.status sfrp.executed sfrp.response_to sfrp.time_ps' \
        1 0 8 1 1000001
}

@test "SFRP READ and its response" {
    rdma 'frame.number == 3' 'sfrp.length sfrp.payload sfrp.response_in' 8 '' 4
    rdma 'frame.number == 4' 'sfrp.offset sfrp.payload sfrp.response_to' 0 1011121314151617 3
}

@test "SFRP SEND: reply path, immediate data, length of the message" {
    rdma 'sfrp.opcode == 3' \
        'sfrp.reply_path sfrp.immediate sfrp.flags.solicited sfrp.message_length sfrp.message_offset' \
        0305 0xcafef00d 1 5 0
}

@test "SFRP: credit, time to wait, expected message" {
    rdma 'sfrp.opcode == 9' sfrp.credit 64
    rdma 'sfrp.status == 7' sfrp.wait 100
    rdma 'sfrp.status == 16' sfrp.expected 7
}

@test "SFRP: both segments of a WRITE have the same request" {
    same $'0x00000008\t1\t0\n0x00000008\t0\t1' "$(fields "$dir/sfrp.pcapng" \
        'sfrp.request == 8 && sfrp.sequence == 65535' sfrp.request sfrp.flags.first sfrp.flags.last)"
}

@test "SFRP: every packet of the vectors has intact CRCs" {
    local good
    good=$(fields "$dir/sfrp.pcapng" 'sfrp.header_crc_good == 1' frame.number | wc -l)
    same "$(grep -vc '^#' vectors/sfrp.txt)" "$((good - 2))"
    same '' "$(fields "$dir/sfrp.pcapng" \
        "sfrp.payload_crc_good == 0 && frame.number <= $((good - 2))" frame.number)"
}

@test "SFRP: columns" {
    same "$(tab SFRP 'SFRP READ response, the access reaches beyond the region, 0 bytes, queue pairs 7 to 5, message 3')" \
        "$(fields "$dir/sfrp.pcapng" frame.number==5 _ws.col.Protocol _ws.col.Info)"
}

# netdev NUMBER FIELDS VALUE...: as record, of the packets with Ethernet frames.
netdev() {
    local -a names
    read -ra names <<<"$2"
    same "$(tab "${@:3}")" "$(fields "$dir/netdev.pcapng" "frame.number==$1" "${names[@]}")"
}

@test "Ethernet over SpaceFibre: both versions" {
    clean "$dir/netdev.pcapng"
    netdev 1 'spfe_netdev.version ip.dst tcp.dstport tcp.payload' 1 10.0.0.2 80 77686f6c65
    netdev 2 'spfe_netdev.version spfe_netdev.kind spfe_netdev.flags tcp.payload' \
        2 0 0x00 77686f6c65
    netdev 4 'spfe_netdev.flags.needs_checksum spfe_netdev.checksum_start' 1 34
    netdev 5 'spfe_netdev.segment_kind spfe_netdev.segment_bytes tcp.len' 0x01 100 250
}

@test "Ethernet over SpaceFibre: hello" {
    netdev 7 'spfe_netdev.hello.ask spfe_netdev.hello.features.udp spfe_netdev.hello.packet_max' \
        1 0 65571
    netdev 8 'spfe_netdev.hello.seen spfe_netdev.hello.features.udp _ws.col.Info' \
        1 1 'Hello, has heard, version 2, packets up to 65571 bytes'
}

@test "space packet" {
    record 15 \
        "$(printf 'ccsds_ptp.%s ' target user_application type apid sequence_count \
            secondary_header)" \
        0x30 5 1 291 77 1
}

@test "protocol of a project" {
    record 17 'spacewire.pid spacewire.cargo' 240 010203
}

@test "pseudo-header" {
    record 17 'spfe.vc spfe.vn spfe.id spfe.sub_ns spfe.length spfe.end' \
        1 1 103 3 5 1
}

@test "broadcast message" {
    record 19 \
        'spfe.broadcast.channel spfe.broadcast.type spfe.broadcast.late spfe.broadcast.data' \
        32 0x81 1 0102030405060708
}

@test "time-code" {
    record 20 'spacewire.time_code' 63
}

@test "interrupt" {
    record 21 'spacewire.interrupt' 5
}

@test "interrupt acknowledge" {
    record 22 'spacewire.interrupt_acknowledge' 5
}

@test "event" {
    record 23 'spfe.event.code spfe.event.meaning spfe.lane frame.comment' \
        0x0101 'Connected -> Active' 2 'Lane state'
}

@test "injected fault" {
    record 24 'spfe.flags.fault spfe.event.value spfe.event.text' \
        1 3 'seed 1, word 77'
}

@test "scrambled data frame and the packet in it" {
    record 27 \
        'spacefibre.name spacefibre.vc spacefibre.seq spacefibre.crc16_good rmap.transaction' \
        SDF,Data,Data,Data,Data,Data,EDF 3,3 0x05 1 0x0031
}

@test "damaged data frame" {
    record 28 'spacefibre.seq.count spacefibre.seq.negative spacefibre.crc16_good' \
        6 1 0
}

@test "broadcast frame" {
    record 29 \
        'spacefibre.channel spacefibre.b_type spacefibre.broadcast_data spacefibre.crc8_good' \
        32 0x01 0707070707070707 1
}

@test "FCT" {
    record 30 'spacefibre.name spacefibre.vc spacefibre.multiplier spacefibre.seq spacefibre.crc8' \
        FCT 3 4 0x2a 0xaf
}

@test "characters" {
    record 33 'spacewire_characters.kind spacewire.time_code spacewire.length' \
        4,4,3,3,0,0,5,0,1,0,2,6 21 3,1
}

@test "words of every other kind" {
    record 34 \
        "$(printf 'spacefibre.%s ' reason cause active_lanes align.lanes crc8_good crc16_good \
            frame_words)" \
        7 1 0x0003 0x12,0x12 1 1 3
}

@test "columns" {
    same "$(tab camera.1 router.3 RMAP 'RMAP Read 0x0140000010, 4 bytes, transaction 17')" \
        "$(fields "$dir/all.pcapng" frame.number==3 _ws.col.Source _ws.col.Destination \
            _ws.col.Protocol _ws.col.Info)"
}

@test "capability of INIT3" {
    same "$(tab 1 8)" "$(
        fields "$dir/all.pcapng" 'spfe.kind == 5' spacefibre.capability.data_scrambled |
            tr ',' '\n' | sed '/^$/d' | sort | uniq -c | awk '{ printf "%d\t%d", $2, $1 }'
    )"
}

@test "time of day" {
    same "$(tab 1800000000.000002000 1000001)" \
        "$(fields "$dir/dated.pcapng" frame.number==2 frame.time_epoch rmap.time_ps)"
}

# Wireshark 4.0 multiplies a time stamp with 10^9 before it divides by the unit, in 64 bits.
@test "times after 18 ms, an hour and a week, to the ps" {
    same "$(
        tab 0.018500000 123 && echo
        tab 3600.000000000 456 && echo
        tab 604800.000000000 789
    )" "$(fields "$dir/all.pcapng" 'spfe.kind == 1 && frame.number > 40' frame.time_epoch \
        spfe.sub_ns)"
    LC_ALL=C capinfos -Tm -u "$dir/all.pcapng" | grep -F ',604799.99'
}

@test "the times of a long simulation never go back" {
    local bin=$SPFE_PROGRAMS
    built "$bin/spfe"
    "$bin/spfe" -q sim - --capture "$dir/long.pcapng" >"$dir/long.out" <<'END'
title = "a packet every 500 us"
duration = "21ms"
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "l", ends = ["a", "b"], rate = "10M", spacewire = {} }]
flow = [{ name = "f", from = "a", to = "b", size = 12, period = "500us" }]
END
    shark "$dir/long.pcapng" -T fields -e frame.time_epoch >"$dir/times"
    sort --check --numeric-sort "$dir/times"
    tail -n 1 "$dir/times" | grep -E '^0\.020[5-9]'
}

@test "every control word of a lane has its name" {
    control_words "$dir/all.pcapng" 33 "$dir/counts"
}

@test "every control word has its name in short records" {
    local first
    first=$(fields "$dir/short.pcapng" 'spfe.kind == 5' frame.number | head -n 1)
    ((first > 1))
    control_words "$dir/short.pcapng" $((first - 1)) "$dir/counts.short"
}

# The state of a lane carries over from one record to the next, so the same errors are found.
@test "errors in words are found in records cut to 64 bytes" {
    local filter='frame.number > 33 && _ws.expert.severity >= 0x200000'
    same "$(fields "$dir/all.pcapng" "$filter" _ws.expert.message | tr ',' '\n' | sort)" \
        "$(fields "$dir/short.pcapng" "$filter" _ws.expert.message | tr ',' '\n' | sort)"
}

@test "every fault of a simulation has its name" {
    local expected
    "$record" examples/scenarios/every-fault.toml "$dir/faults.pcapng" >"$dir/done"
    # Each line is a count of how often a fault took place, and its name.
    fails grep -v $'^1\t' "$dir/done"
    clean "$dir/faults.pcapng"
    expected=$(
        printf '%s\n' 'bit error' 'control word damaged (ACK)' 'control word damaged (FCT)' \
            'control word damaged (EDF)' 'control word damaged (NACK)' \
            'control word damaged (SDF)' 'control word damaged (RETRY)' 'burst' 'word dropped' \
            'word duplicated' 'words reordered' 'bit error rate (2e-6, begins)' \
            'bit error rate (2e-6, ends)' 'skew' 'polarity swapped' 'lane cut' \
            'far end reset (LaneReset of lane 1)' 'far end reset (Link Reset)' \
            'far end reset (Interface Reset)' 'babbling virtual channel (begins)' \
            'babbling virtual channel (ends)' 'receiver blocked (begins)' \
            'receiver blocked (ends)' 'time-code lost' | sed 's/^/Fault: /' | sort
    )
    same "$expected" "$(fields "$dir/faults.pcapng" 'spfe.flags.fault == 1' _ws.col.Info | sort -u)"
    same "$(tab 2 1 && echo && tab 2 0)" \
        "$(fields "$dir/faults.pcapng" 'spfe.event.code == 0x060c' spfe.vc spfe.event.value)"
}

@test "damaged captures do not make the dissector fail" {
    local run file=$dir/damaged.pcapng
    for ((run = 1; run <= runs; run++)); do
        rm -f "$file"
        if ! editcap -F pcapng -E "0.0$((run % 4 + 1))" --seed "$run" -o $((run % 3 * 16)) \
            "$dir/all.pcapng" "$file" >/dev/null 2>&1 ||
            ! shark "$file" -2 -V >"$dir/verbose" ||
            grep -E 'Lua Error|Malformed Packet' "$dir/verbose"; then
            printf 'editcap seed %d\n' "$run"
            return 1
        fi
    done
}

# As docs/capture.md says: the files in a folder of the user's plugins, and nothing else.
@test "the dissector works as an installed plugin" {
    local plugins=$dir/.local/lib/wireshark/plugins/spfe found
    mkdir -p "$plugins"
    cp -r wireshark/. "$plugins"
    found=$(tshark -r "$dir/all.pcapng" -Y 'rmap.transaction == 0x11' -T fields -e frame.number \
        2>"$dir/tshark.err" | tr '\n' ' ')
    rm -rf "$dir/.local"
    same '3 4 ' "$found"
    fails grep -i 'lua' "$dir/tshark.err"
}

# What `spfe rdma` sends to a target-only endpoint, and its answers.
@test "a live capture of RDMA" {
    local bin=$SPFE_PROGRAMS socket=$dir/rdma.sock
    built "$bin/spfe" "$bin/spfed"
    start rdmad "$bin/spfed" --listen "$socket" --topology target:64K
    wait_until listens "$socket"
    # shellcheck disable=SC2016 # for the inner shell
    start rdma bash -c 'timeout 60 "$0" -q capture "unix:$1" -w "$2" --packets 8' \
        "$bin/spfe" "$socket" "$dir/rdma.pcapng"
    wait_until test -s "$dir/rdma.pcapng"
    "$bin/spfe" rdma write "unix:$socket" -a 0x10 --data deadbeef
    ends rdma
    signal rdmad
    ends rdmad
    clean "$dir/rdma.pcapng"
    # A queue pair of a device is connected when a FLUSH is answered.
    same $'REGIONS\nREGIONS\nCONNECT\nCONNECT\nFLUSH\nFLUSH\nWRITE\nWRITE' \
        "$(shark "$dir/rdma.pcapng" -T fields \
        -e _ws.col.Info | awk '{ sub(",", "", $2); print $2 }')"
    same "$(tab deadbeef 0x0000000000000010 8)" "$(fields "$dir/rdma.pcapng" \
        'sfrp.opcode == 1 && sfrp.response == 0' sfrp.payload sfrp.address sfrp.response_in)"
}

# A live capture through a pipe: commands to the daemon's RMAP target and the replies, by name.
@test "a live capture of a daemon" {
    local bin=$SPFE_PROGRAMS socket=$dir/spfe.sock
    built "$bin/spfe" "$bin/spfed"
    start spfed "$bin/spfed" --listen "$socket" --topology rmap:64K
    wait_until listens "$socket"
    mkfifo "$dir/live"
    # shellcheck disable=SC2016 # for the inner shell
    start tshark bash -c 'timeout 60 tshark -l -X lua_script:wireshark/spfe.lua -i - -T fields \
        -e rmap.command -e rmap.status -e rmap.data <"$1"' - "$dir/live"
    # shellcheck disable=SC2016
    start capture bash -c 'timeout 60 "$0" -q capture "unix:$1" -w - --packets 4 |
        tee "$2.pcapng" >"$2"' "$bin/spfe" "$socket" "$dir/live"
    # The first bytes show that the capture is running.
    wait_until test -s "$dir/live.pcapng"
    "$bin/spfe" rmap write "unix:$socket" -a 0x10 --data deadbeef
    "$bin/spfe" rmap read "unix:$socket" -a 0x10 -l 4
    ends tshark
    signal spfed
    ends spfed
    same "$(
        tab 'Verified write' '' deadbeef && echo
        tab 'Verified write' 0 '' && echo
        tab Read '' '' && echo
        tab Read 0 deadbeef
    )" "$(cat "$dir/tshark.out")"
}
