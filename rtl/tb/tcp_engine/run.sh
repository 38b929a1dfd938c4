#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# Builds and runs the benches of the protocol engine: run.sh [BUILD_DIRECTORY] [SEED] [BENCH]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rtl=$(cd "$here/../.." && pwd)
build=${1:-${TMPDIR:-/tmp}/tb_tcp_engine}
seed=${2:-1}
benches=${3:-tb_tcp_engine_directed}
mkdir -p "$build"
for top in $benches; do
  verilator --cc --exe --main --timing --assert -Wall -Wno-fatal -Wno-DECLFILENAME -Wno-UNUSEDSIGNAL \
    -Wno-WIDTHTRUNC -Wno-WIDTHEXPAND -Wno-BLKSEQ -Wno-INITIALDLY -Wno-STMTDLY \
    -Wno-PROCASSINIT -j 1 -O3 --top-module "$top" -Mdir "$build/$top" -I"$here" -y "$rtl/prim" -y "$rtl/tcp" -y "$here" \
    "$rtl/tcp/spfe_tcp_pkg.sv" "$rtl/tcp/spfe_tcp_eng_pkg.sv" "$here"/*_pkg.sv \
    "$here/$top.sv"
  make -s -C "$build/$top" -f "V$top.mk" -j 1 OPT_FAST=-O0 OPT_SLOW=-O0
  "$build/$top/V$top" "+verilator+seed+$seed" "+seed=$seed"
done
