#!/usr/bin/env bash
# Captures as Wireshark's tshark shows them, with the dissector of this project.
#
#   tests/tshark.sh          "ok NAME" or "not ok NAME" for each check
#
# SPFE_SAMPLE names the program that writes the capture (default: the example `sample` of
# spfe-capture, built when needed), SPFE_RECORD the one that writes what a scenario does (default:
# the example `record` of spfe-sim), SPFE_BIN the directory of spfe and spfed (default: the release
# build; without them the live capture is left out). SPFE_FUZZ_RUNS damaged captures are looked at (default 20).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=../tools/checks.sh
source tools/checks.sh

readonly runs=${SPFE_FUZZ_RUNS:-20} home=$HOME
sample=${SPFE_SAMPLE:-}
record=${SPFE_RECORD:-}
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
# No settings, plugins or recent files of the user's own.
export HOME=$dir XDG_CONFIG_HOME=$dir LC_ALL=C.UTF-8

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

# same WANTED FOUND: equal, or both are shown.
same() {
    [[ $1 == "$2" ]] || {
        printf 'wanted:\n%s\nfound:\n%s\n' "$1" "$2"
        return 1
    }
}

# record NUMBER FIELDS VALUES: the fields (blanks between them) of a record have these values
# (tabs between them).
record() {
    local -a names
    read -ra names <<<"$2"
    same "$3" "$(fields "$dir/all.pcapng" "frame.number==$1" "${names[@]}")"
}

tab() { (IFS=$'\t' && printf '%s' "$*"); }

write_captures() {
    "$sample" "$dir/all.pcapng" >"$dir/counts" &&
        "$sample" "$dir/short.pcapng" 64 >"$dir/counts.short" &&
        "$sample" "$dir/dated.pcapng" 262144 1800000000 >/dev/null &&
        cmp "$dir/counts" "$dir/counts.short"
}

file_is_read() {
    capinfos "$dir/all.pcapng" >"$dir/capinfos" || return
    local line
    for line in 'Number of packets:   46' 'Number of interfaces in file: 3' \
        'Name = camera.1>router.3' 'Description = camera port 1 to router port 3' \
        'Speed = 6250000000' 'Time resolution = 0x0c' 'Capture comment:     sample: seed 1'; do
        grep -qF "$line" "$dir/capinfos" || {
            printf 'capinfos does not say "%s"\n' "$line"
            return 1
        }
    done
}

# Nothing is malformed, and the dissector does not fail.
clean() {
    shark "$1" -V >"$dir/verbose" || return
    ! grep -iE 'malformed|Lua Error' "$dir/verbose" && ! grep -i 'lua' "$dir/tshark.err"
}

# Exactly the records with expert infos of a note or more have them, and which (the comment of an
# event is one of the texts).
expert_infos() {
    local wanted words
    words=$(
        printf '%s,' 'The lane starts again after an error' 'iLANES is not the inverse of LANES' \
            'Frame error: this word cannot stand here' 'Word lost or damaged (RXERR)' \
            'K character that no data word has' && printf 'A fault was injected into this word'
    )
    wanted=$(
        tab 7 'Data CRC is bad' && echo
        tab 8 'The target refused or failed' && echo
        tab 9 'Header CRC is bad: nothing in the packet can be trusted' && echo
        tab 12 'Error end of packet: the network cut it,Packet ends before its data does' && echo
        tab 13 'The target refused or failed,Reply without a command in this capture' && echo
        tab 14 'Command code of no meaning' && echo
        tab 16 'Space packet has another length than it declares' && echo
        tab 18 'Packet without a data character' && echo
        tab 19 'Broadcast message was late' && echo
        tab 24 'Fault: bit error: seed 1, word 77,Fault: bit error (seed 1, word 77)' && echo
        tab 25 'Packet dropped: router port 3,Packet dropped: InvalidAddress, address 64 (router port 3)' && echo
        tab 26 'Misaligned,Misaligned: FifoOverflow' && echo
        tab 28 'CRC-16 of data frame is bad' && echo
        tab 31 'CRC-8 is bad' && echo
        tab 32 'Unknown control word: ignored by receivers' && echo
        tab 33 'Parity error,Error end of packet: the network cut it' && echo
        tab 34 "$words" && echo
        tab 43 'CRC-16 of data frame is bad,What follows is sent again' && echo
        tab 44 'Error recovery is asked for,Error recovery is asked for' && echo
    )
    same "$wanted" "$(fields "$dir/all.pcapng" '_ws.expert.severity >= 0x200000' frame.number \
        _ws.expert.message)"
}

# Every control word of the lanes has its name, as the encoder counted them. Records of lanes are
# those behind the given one.
control_words() {
    local file=$1 last=$2 counts=$3 found
    found=$(
        fields "$file" "frame.number > $last" spacefibre.name | tr ',' '\n' | sort | uniq -c |
            awk '$2 == toupper($2) || $2 ~ /^iINIT/ { print $2, $1 }' | sort
    )
    same "$(sort "$counts")" "$found"
}

# The first record with words of a lane.
first_of_lanes() {
    fields "$1" 'spfe.kind == 5' frame.number | head -n 1
}

short_records() {
    local last
    last=$(($(first_of_lanes "$dir/short.pcapng") - 1)) && ((last > 0)) &&
        control_words "$dir/short.pcapng" "$last" "$dir/counts.short"
}

# With every record cut to 64 bytes the same is found in the words: state goes from one to the next.
short_errors() {
    local filter='frame.number > 33 && _ws.expert.severity >= 0x200000'
    same "$(fields "$dir/all.pcapng" "$filter" _ws.expert.message | tr ',' '\n' | sort)" \
        "$(fields "$dir/short.pcapng" "$filter" _ws.expert.message | tr ',' '\n' | sort)"
}

# Bytes changed anywhere: whatever comes, the dissector itself does not fail.
damaged() {
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
installed() {
    local plugins=$dir/.local/lib/wireshark/plugins/spfe
    mkdir -p "$plugins" && cp -r wireshark/. "$plugins" || return
    local found
    found=$(tshark -r "$dir/all.pcapng" -Y 'rmap.transaction == 0x11' -T fields -e frame.number \
        2>"$dir/tshark.err" | tr '\n' ' ')
    rm -rf "$dir/.local"
    same '3 4 ' "$found" && ! grep -i 'lua' "$dir/tshark.err"
}

# A simulation in which everything goes wrong once: each fault that was brought about has its name.
every_fault() {
    "$record" examples/scenarios/every-fault.toml "$dir/faults.pcapng" >"$dir/done" || return
    ! grep -v '^1	' "$dir/done" && clean "$dir/faults.pcapng" || return
    local wanted
    wanted=$(
        printf '%s\n' 'bit error' 'control word damaged (ACK)' 'control word damaged (FCT)' \
            'control word damaged (EDF)' 'control word damaged (NACK)' 'control word damaged (SDF)' \
            'control word damaged (RETRY)' 'burst' 'word dropped' 'word duplicated' 'words reordered' \
            'bit error rate (2e-6, begins)' 'bit error rate (2e-6, ends)' 'skew' 'polarity swapped' \
            'lane cut' 'far end reset (LaneReset of lane 1)' 'far end reset (Link Reset)' \
            'far end reset (Interface Reset)' 'babbling virtual channel (begins)' \
            'babbling virtual channel (ends)' 'receiver blocked (begins)' 'receiver blocked (ends)' \
            'time-code lost' | sed 's/^/Fault: /' | sort
    )
    same "$wanted" "$(fields "$dir/faults.pcapng" 'spfe.flags.fault == 1' _ws.col.Info | sort -u)" &&
        same "$(tab 2 1 && echo && tab 2 0)" \
            "$(fields "$dir/faults.pcapng" 'spfe.event.code == 0x060c' spfe.vc spfe.event.value)"
}

# A live capture of a daemon, through a pipe: commands to its RMAP target and the replies, by name.
live() {
    local socket=$dir/spfe.sock daemon shark_pid run found
    "$1/spfed" --listen "$socket" --topology rmap:64K >"$dir/spfed.log" 2>&1 &
    daemon=$!
    for ((run = 0; run < 200; run++)); do
        if [[ -S $socket ]]; then break; fi
        sleep 0.05
    done
    mkfifo "$dir/live"
    timeout 60 tshark -l -X lua_script:wireshark/spfe.lua -i - -T fields -e rmap.command \
        -e rmap.status -e rmap.data <"$dir/live" >"$dir/live.txt" 2>"$dir/tshark.err" &
    shark_pid=$!
    timeout 60 "$1/spfe" -q capture "unix:$socket" -w - --packets 4 |
        tee "$dir/live.pcapng" >"$dir/live" &
    # The capture has begun when its first bytes have come.
    for ((run = 0; run < 400; run++)); do
        if [[ -s $dir/live.pcapng ]]; then break; fi
        sleep 0.05
    done
    "$1/spfe" rmap write "unix:$socket" -a 0x10 --data deadbeef >/dev/null &&
        "$1/spfe" rmap read "unix:$socket" -a 0x10 -l 4 >/dev/null
    wait "$shark_pid"
    kill "$daemon" && wait "$daemon"
    found=$(cat "$dir/live.txt")
    same "$(
        tab 'Verified write' '' deadbeef && echo
        tab 'Verified write' 0 '' && echo
        tab Read '' '' && echo
        tab Read 0 deadbeef
    )" "$found"
}

rmap_checks() {
    check 'write: path, address, data' record 1 \
        'spacewire.path rmap.command rmap.address rmap.data rmap.data_crc_good rmap.reply_in' \
        "$(tab 03 'Verified write' 0x0000000140000010 deadbeef 1 2)"
    check 'reply: status, command, response time to the ps' record 2 \
        'rmap.status rmap.reply_to rmap.time_ps rmap.header_crc_good' "$(tab 0 1 1000001 1)"
    check 'read' record 3 'rmap.command rmap.length rmap.key rmap.transaction rmap.reply_in' \
        "$(tab Read 4 0x20 0x0011 4)"
    check 'reply to read' record 4 'rmap.data rmap.data_crc_good rmap.reply_to' "$(tab deadbeef 1 3)"
    check 'read-modify-write: data and mask' record 5 'rmap.command rmap.data rmap.mask' \
        "$(tab Read-modify-write 000000ff 0000000f)"
    check 'bad data CRC' record 7 'rmap.header_crc_good rmap.data_crc_good' "$(tab 1 0)"
    check 'reply with a status' record 8 'rmap.status rmap.reply_to' "$(tab 4 7)"
    check 'bad header CRC' record 9 'rmap.header_crc_good rmap.reply_in' "$(tab 0 '')"
    check 'reply address' record 10 'spacewire.path rmap.reply_address rmap.reply_in' \
        "$(tab 0507 00000409 11)"
    check 'reply with a path' record 11 'spacewire.path rmap.reply_to rmap.data' "$(tab 0409 10 dead)"
    check 'cut by the network' record 12 'spacewire.end rmap.data' "$(tab 2 dead)"
}

other_checks() {
    check 'space packet' record 15 \
        'ccsds_ptp.target ccsds_ptp.user_application ccsds_ptp.type ccsds_ptp.apid ccsds_ptp.sequence_count ccsds_ptp.secondary_header' \
        "$(tab 0x30 5 1 291 77 1)"
    check 'protocol of a project' record 17 'spacewire.pid spacewire.cargo' "$(tab 240 010203)"
    check 'pseudo-header' record 17 'spfe.vc spfe.vn spfe.id spfe.sub_ns spfe.length spfe.end' \
        "$(tab 1 1 103 3 5 1)"
    check 'broadcast message' record 19 \
        'spfe.broadcast.channel spfe.broadcast.type spfe.broadcast.late spfe.broadcast.data' \
        "$(tab 32 0x81 1 0102030405060708)"
    check 'time-code' record 20 'spacewire.time_code' 63
    check 'interrupt' record 21 'spacewire.interrupt' 5
    check 'interrupt acknowledge' record 22 'spacewire.interrupt_acknowledge' 5
    check 'event' record 23 'spfe.event.code spfe.event.meaning spfe.lane frame.comment' \
        "$(tab 0x0101 'Connected -> Active' 2 'Lane state')"
    check 'injected fault' record 24 'spfe.flags.fault spfe.event.value spfe.event.text' \
        "$(tab 1 3 'seed 1, word 77')"
    check 'scrambled data frame and the packet in it' record 27 \
        'spacefibre.name spacefibre.vc spacefibre.seq spacefibre.crc16_good rmap.transaction' \
        "$(tab SDF,Data,Data,Data,Data,Data,EDF 3,3 0x05 1 0x0031)"
    check 'damaged data frame' record 28 'spacefibre.seq.count spacefibre.seq.negative spacefibre.crc16_good' \
        "$(tab 6 1 0)"
    check 'broadcast frame' record 29 \
        'spacefibre.channel spacefibre.b_type spacefibre.broadcast_data spacefibre.crc8_good' \
        "$(tab 32 0x01 0707070707070707 1)"
    check 'FCT' record 30 'spacefibre.name spacefibre.vc spacefibre.multiplier spacefibre.seq spacefibre.crc8' \
        "$(tab FCT 3 4 0x2a 0xaf)"
    check 'characters' record 33 'spacewire_characters.kind spacewire.time_code spacewire.length' \
        "$(tab 4,4,3,3,0,0,5,0,1,0,2,6 21 3,1)"
    check 'words of every other kind' record 34 \
        'spacefibre.reason spacefibre.cause spacefibre.active_lanes spacefibre.align.lanes spacefibre.crc8_good spacefibre.crc16_good spacefibre.frame_words' \
        "$(tab 7 1 0x0003 0x12,0x12 1 1 3)"
    check 'columns' same "$(tab camera.1 router.3 RMAP 'RMAP Read 0x0140000010, 4 bytes, transaction 17')" \
        "$(fields "$dir/all.pcapng" frame.number==3 _ws.col.Source _ws.col.Destination _ws.col.Protocol _ws.col.Info)"
    check 'capability of INIT3' same "$(tab 1 8)" "$(
        fields "$dir/all.pcapng" 'spfe.kind == 5' spacefibre.capability.data_scrambled |
            tr ',' '\n' | sed '/^$/d' | sort | uniq -c | awk '{ printf "%d\t%d", $2, $1 }'
    )"
    check 'time of day' same "$(tab 1800000000.000002000 1000001)" \
        "$(fields "$dir/dated.pcapng" frame.number==2 frame.time_epoch rmap.time_ps)"
}

main() {
    local program
    for program in tshark capinfos editcap; do
        command -v "$program" >/dev/null || {
            printf 'ok captures are read by tshark # SKIP no %s: tools/setup.sh test\n' "$program"
            return
        }
    done
    if [[ -z $sample ]]; then
        HOME=$home cargo build --quiet --release -p spfe-capture --example sample >"$dir/said" 2>&1 || true
        sample=${CARGO_TARGET_DIR:-target}/release/examples/sample
    fi
    if [[ -z $record ]]; then
        HOME=$home cargo build --quiet --release -p spfe-sim --example record >"$dir/said" 2>&1 || true
        record=${CARGO_TARGET_DIR:-target}/release/examples/record
    fi
    [[ -x $sample ]] || {
        printf 'not ok %s is there: build it with "cargo build --release -p spfe-capture --example sample"\n' \
            "$sample"
        return 1
    }
    check 'captures are written' write_captures
    check 'capinfos reads the file' file_is_read
    check 'nothing is malformed' clean "$dir/all.pcapng"
    check 'nothing is malformed in short records' clean "$dir/short.pcapng"
    check 'expert infos: these and no others' expert_infos
    rmap_checks
    other_checks
    check 'every control word of a lane has its name' control_words "$dir/all.pcapng" 33 "$dir/counts"
    check 'the same in short records' short_records
    check 'errors in words that come in short records' short_errors
    check 'every fault of a simulation has its name' every_fault
    check "$runs damaged captures" damaged
    check 'installed as a plugin' installed
    local bin=${SPFE_BIN:-${CARGO_TARGET_DIR:-target}/release}
    if [[ -x $bin/spfe && -x $bin/spfed ]]; then
        check 'a live capture' live "$bin"
    else
        printf 'ok a live capture # SKIP no spfe and spfed in %s: make build\n' "$bin"
    fi
    return "$failed"
}

main
