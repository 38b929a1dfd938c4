#!/usr/bin/env bash
# Counts instructions per packet, and per word of an exact link and of a network, with callgrind. The
# counts have no noise, so they can be a gate. Each scenario runs with N and 2N rounds; the
# difference, divided by its packets or words, is the cost of one.
#
# Scenarios c-NAME are those of the inline functions of <spfe/fast.h>, in bench/c/instructions.c. An
# application in C may take 1.1 times the instructions of the same one in Rust.
#
# Scenarios rdma-NAME are groups of 16 operations of 8 bytes on a target-only endpoint, the copy
# included.
#
# Networks pairs-SIZE are those of network_speed. A word of a large one may take 1.1 times the
# instructions of a small one.
#
#   tools/callgrind.sh           print the table
#   tools/callgrind.sh --check   compare with bench/instructions.tsv; exit 1 if any got worse, or if C
#                                takes too many beside Rust, or a large network beside a small one
#   tools/callgrind.sh --accept  write the table to bench/instructions.tsv
set -euo pipefail
cd "$(dirname "$0")/.."
limits=bench/instructions.tsv
mode=${1:-}
# Tolerance for patch releases of the compiler: 3 %.
slack=103
# Instructions of C for 100 of Rust, and of a large network for 100 of a small one.
beside=110
command -v valgrind >/dev/null || {
  echo 'callgrind: valgrind is not installed; run make setup' >&2
  exit 1
}
cargo build --release -q -p spfe-bench --bin instructions --bin link_speed --bin network_speed \
  -p spfe-capi --lib
release=${CARGO_TARGET_DIR:-target}/release
bin=$release/instructions
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
gcc -std=c11 -O2 -g -Iinclude -o "$out/c" bench/c/instructions.c "$release/libspfe_capi.a" \
  -pthread -lgcc_s -lm

# count SCENARIO ROUNDS OPTION: prints the instructions and packets of a run. The option selects the
# functions to count; the toggle excludes the engine's functions from the application's.
count() {
  local packets
  packets=$(valgrind --tool=callgrind --callgrind-out-file="$out/cg"  \
    --toggle-collect="*measured_engine_*" "$3" "$bin" "$1" "$2" 2>"$out/log")
  echo "$(sed -n 's/.*Collected : //p' "$out/log") $packets"
}

# per_packet SCENARIO OPTION: prints the instructions per packet.
per_packet() {
  local one two
  read -r -a one <<<"$(count "$1" 100 "$2")"
  read -r -a two <<<"$(count "$1" 200 "$2")"
  awk -v i=$((two[0] - one[0])) -v p=$((two[1] - one[1])) 'BEGIN { printf "%.1f", i / p }'
}

# per_packet_c SCENARIO: the same of an application in C. Nothing but the application is counted, so
# one run is enough. spfe_fast_start wakes the device; the device of the program in Rust never sleeps.
# Here it is a thread, and what it has done by the time of a call changes the call's path (c-group: 3 %
# from run to run on an idle machine, more on a busy one), so this is the least of twelve runs. A
# check ends with the first run that is as good as the record.
per_packet_c() {
  local packets count enough=0
  [[ $mode != --check ]] || enough=$(awk -v name="c-$1" '$1 == name { print $2 }' "$limits")
  for _ in {1..12}; do
    packets=$(valgrind --tool=callgrind --callgrind-out-file="$out/cg" \
      --toggle-collect="measured_engine_*" --toggle-collect=spfe_fast_start \
      --toggle-collect="measured_app_*" "$out/c" "c-$1" 200 2>"$out/log")
    count=$(sed -n 's/.*Collected : //p' "$out/log" | awk -v p="$packets" '{ printf "%.1f", $1 / p }')
    printf '%s\n' "$count"
    ! awk -v is="$count" -v enough="${enough:-0}" 'BEGIN { exit !(is <= enough) }' || break
  done | sort -n | head -n 1
}

# per_word LANES: prints the instructions per word, over both ends of an exact link, with one clock
# and with two.
per_word() {
  local rounds=$((8000 / $1)) counts=()
  for times in 1 2; do
    valgrind --tool=callgrind --callgrind-out-file="$out/cg" \
      "${bin%/*}/link_speed" "$1" $((times * rounds)) 2>"$out/log" >/dev/null
    counts+=("$(sed -n 's/.*Collected : //p' "$out/log")")
  done
  awk -v i=$((counts[1] - counts[0])) -v w=$((rounds * 16 * 2 * 2 * $1)) \
    'BEGIN { printf "%.1f", i / w }'
}

# per_network_word SIZE: prints the instructions per word of a network that has started.
per_network_word() {
  local counts=() words=()
  for microseconds in 50 60; do
    words+=("$(valgrind --tool=callgrind --callgrind-out-file="$out/cg" \
      "${bin%/*}/network_speed" pairs "$1" "$microseconds" 2>"$out/log" |
      sed -n 's/.*, \([0-9]*\) words.*/\1/p')")
    counts+=("$(sed -n 's/.*Collected : //p' "$out/log")")
  done
  awk -v i=$((counts[1] - counts[0])) -v w=$((words[1] - words[0])) 'BEGIN { printf "%.1f", i / w }'
}

table() {
  printf 'scenario\tapplication\tengine\n'
  for scenario in pooled-single pooled-group single group group-all burst packed \
    rdma-write rdma-read rdma-pooled-write rdma-pooled-read; do
    printf '%s\t%s\t%s\n' "$scenario" "$(per_packet "$scenario" --toggle-collect=*measured_app_*)" \
      "$(per_packet "$scenario" --collect-atstart=no)"
  done
  for scenario in pooled-single pooled-group single group packed; do
    printf 'c-%s\t%s\t-\n' "$scenario" "$(per_packet_c "$scenario")"
  done
  for lanes in 1 4; do
    printf 'word-%s-lane\t-\t%s\n' "$lanes" "$(per_word "$lanes")"
  done
  for size in 8 128; do
    printf 'pairs-%s\t-\t%s\n' "$size" "$(per_network_word "$size")"
  done
}

table >"$out/table"
cat "$out/table"
case $mode in
  --accept) cp "$out/table" "$limits" ;;
  --check)
    paste "$limits" "$out/table" | awk -F'\t' -v slack="$slack" -v beside="$beside" '
      NR > 1 {
        rust[$4] = $5
        if (sub("^c-", "", $4)) {
          say = sprintf("c-%s: %s instructions in C, %s in Rust", $4, $5, rust[$4])
          if ($5 * 100 > rust[$4] * beside) { print "not ok " say; bad = 1 } else print "ok " say
          $4 = "c-" $4
        }
        if ($4 == "pairs-8") small = $6
        if ($4 == "pairs-128") {
          say = sprintf("pairs-128: %s instructions a word, %s of 8 nodes", $6, small)
          if ($6 * 100 > small * beside) { print "not ok " say; bad = 1 } else print "ok " say
        }
        for (side = 2; side <= 3; side++) {
          name = $1 " " (side == 2 ? "application" : "engine")
          if ($side == "-") continue
          if ($1 != $4) { print "not ok " name ": " $4 " is not in the table"; bad = 1 }
          else if ($(side + 3) * 100 > $side * slack) {
            print "not ok " name ": " $(side + 3) " instructions, " $side " allowed"; bad = 1
          } else print "ok " name
        }
      }
      END { exit bad }'
    ;;
esac
