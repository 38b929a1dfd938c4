#!/usr/bin/env bash
# Sends mutated frames to one state of the TCP core, each in lock-step with the model in software.
#
#   tools/tcp_fuzz.sh [FRAMES]     default 1000000, spread over the builds; about 25 minutes of
#                                  processor time for a million
#
# TCP_BUILDS names the builds (default: "sf64 ct64"), FUZZ_JOBS the number of runs beside each other
# (default: one for each processor). The runs are those of the seeds 1, 2, ... A run that
# target/rtl/report/data/fuzz.json has of the same core is not repeated, so an interrupted command
# goes on where it was. The core must not change meanwhile. Fails if a frame is answered otherwise
# than by the model.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly frames=${1:-1000000} size=20000 record=target/rtl/report/data/fuzz.json
readonly programs=${CARGO_TARGET_DIR:-rtl/bench/target}/release
read -ra builds <<<"${TCP_BUILDS:-sf64 ct64}"

[[ $frames =~ ^[1-9][0-9]*$ ]] || {
    printf 'tcp_fuzz.sh: %s: FRAMES must be a number above 0\n' "$frames" >&2
    exit 2
}

# tally TODO|SUM: looks into the record. TODO prints "BUILD SEED" of each run that it lacks, SUM the
# frames of each build; SUM fails if a run is missing or has failed.
tally() {
    python3 -ISc '
import json, pathlib, sys
what, record, size, each, *builds = sys.argv[1:]
size, each = int(size), int(each)
record = pathlib.Path(record)
runs = json.loads(record.read_text()) if record.exists() else []
lacks = False
for build in builds:
    state = pathlib.Path(f"target/rtl/models/{build}.stamp").read_text()[:16]
    done = {run["seed"]: run["result"] for run in runs
            if (run["endpoint"], run["core"], run["lockstep"]) == (build, state, True)
            and (run["frames"] == size or run["result"] != "passed")}
    seeds = range(1, -(-each // size) + 1)
    if what == "TODO":
        for seed in seeds:
            if done.get(seed) != "passed":
                print(build, seed)
        continue
    passed = sum(done.get(seed) == "passed" for seed in seeds)
    failed = [seed for seed in seeds if done.get(seed, "passed") != "passed"]
    lacks |= passed < len(seeds)
    print(f"{build}, core {state}: {passed * size} frames in lock-step passed, failed seeds: "
          + (" ".join(map(str, failed)) or "none"))
sys.exit(lacks)
' "$1" "$record" "$size" "$((frames / ${#builds[@]}))" "${builds[@]}"
}

cargo build --locked --release --manifest-path rtl/bench/Cargo.toml --bins
"$programs/tcp-bench" build "${builds[@]}"
# A run that fails does not stop the others.
# shellcheck disable=SC2016 # for the shells that xargs starts
tally TODO | xargs -r -n 2 -P "${FUZZ_JOBS:-$(nproc)}" bash -c '
    "$0" --core "$2" fuzz --lockstep --frames "$1" --seed "$3" | grep -v ^counters:
    exit "${PIPESTATUS[0]}"' "$programs/tcp-check" "$size" || true
tally SUM
