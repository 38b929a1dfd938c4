#!/usr/bin/env bash
# Builds models of the endpoint core for devices `rtl:` (docs/devices.md).
#
#   tools/rtl_model.sh [PORTS LANES VCS [wires=N] [pair|target]]...    2 1 4 by default
#
# writes target/rtl/models/spfe_sim_endpoint_PORTS_LANES_VCS[_wiresN][_pair|_target].so, unless it
# exists and none of its sources has changed. With wires=N the last N ports are SpaceWire ports. With
# pair the core has a queue pair of RDMA on channel 0 of port 0. With target it has no queues, and
# serves memory to that channel. The tools are those of tools/rtl.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

(($#)) || set -- 2 1 4
while (($#)); do
    (($# >= 3)) || usage
    name=spfe_sim_endpoint_$1_$2_$3
    # The library registers each piece of memory as a region, and a program in a virtual machine may get
    # no large pages: 16 MiB take 4096 pages then.
    parameters=("-GPorts=$1" "-GLanes=$2" "-GVcs=$3" -GRegions=256 -GPages=16384)
    shift 3
    if [[ ${1:-} == wires=* ]]; then
        name+=_wires${1#wires=}
        parameters+=("-GWires=${1#wires=}")
        shift
    fi
    if [[ ${1:-} == pair ]]; then
        name+=_pair
        parameters+=(-GPairs=1)
        shift
    elif [[ ${1:-} == target ]]; then
        name+=_target
        # The logical address is the one that initiators assume.
        parameters+=(-GQueues=0 -GTarget=4 -GTargetVc=0 -GTargetAddress=254)
        shift
    fi
    SPFE_RTL_TOP=spfe_sim_endpoint SPFE_RTL_SHIM=rtl/sim/shim.cpp \
        rtl/bench/model/build.sh "$name" "${parameters[@]}"
    printf 'target/rtl/models/%s.so\n' "$name"
done
