#!/usr/bin/env bash
# Builds models of the endpoint core for devices `rtl:` (docs/devices.md).
#
#   tools/rtl_model.sh [PORTS LANES VCS]...    2 1 4 by default
#
# writes target/rtl/models/spfe_sim_endpoint_PORTS_LANES_VCS.so, unless it exists and none of its
# sources has changed. The tools are those of tools/rtl.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

(($#)) || set -- 2 1 4
(($# % 3 == 0)) || {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
while (($#)); do
    # The library registers each piece of memory as a region.
    SPFE_RTL_TOP=spfe_sim_endpoint SPFE_RTL_SHIM=rtl/sim/shim.cpp \
        rtl/bench/model/build.sh "spfe_sim_endpoint_$1_$2_$3" \
        "-GPorts=$1" "-GLanes=$2" "-GVcs=$3" -GRegions=256
    printf 'target/rtl/models/spfe_sim_endpoint_%s_%s_%s.so\n' "$1" "$2" "$3"
    shift 3
done
