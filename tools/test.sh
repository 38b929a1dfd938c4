#!/usr/bin/env bash
# Every check and test of the project, cheapest first. A failing step does not stop the run.
#
#   tools/test.sh [STEP|GROUP...]    without arguments everything; groups: lint unit rtl tcp
#                                    model e2e vm
#
# Two tracks run side by side, since most steps use one core or wait: the programs, then proofs and
# synthesis; the rest of the hardware description, then the virtual machines. The logs of the steps
# go to target/test-logs/. The last lines name each skipped test with its reason, then what failed, and
# say "N passed, N failed, N skipped". The exit code is 0 only if a test passed and none failed.
#
# With CI=true a test of the hardware description, the virtual machines, the peers, the Python package,
# the libfabric provider, the suite behind every face, the links of ground systems or other programs
# on a fabric must not be skipped, unless the user would have to set something for it. STEP_TIMEOUT
# (seconds, default 1800) ends a step that hangs. tools/count_tests.py says how it counts each kind of
# step.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly logs=target/test-logs
# For each step that ran: passed, failed, skipped, name.
readonly table=$logs/steps.txt
readonly skips=$logs/skips.txt
# The first lines of each failed step that show a failure, with what is around them.
readonly failures=$logs/failures.txt
# Those lines alone.
readonly briefly=$logs/briefly.txt
# The names of all steps and groups.
readonly known=$logs/names.txt
readonly wanted=("$@")
readonly failure='^(FAIL| *not ok|error|thread .* panicked)|\.\.\. FAILED$'
# The programs of the end-to-end tests and of the virtual machines are those of the unit tests, with
# their checks of overflows and assertions. Without --all-targets some crates would have other
# features, and would be built again.
readonly build=(cargo build --workspace --all-targets)
child=''

# stop: ends what this shell waits for. Each track sets it anew.
stop() {
    [[ -z $child ]] || kill "$child" 2>/dev/null
    exit 130
}
trap stop INT TERM

# selected GROUP NAME: true if the command line asks for this step.
selected() {
    printf '%s\n' "$1" "$2" >>"$known"
    ((${#wanted[@]} == 0)) || [[ " ${wanted[*]} " == *" $1 "* || " ${wanted[*]} " == *" $2 "* ]]
}

# record NAME PASSED FAILED SKIPPED
record() {
    printf '%s %s %s %s\n' "$2" "$3" "$4" "$1" >>"$table"
}

# strict GROUP NAME: prints the option by which a skipped test of this step counts as failed.
strict() {
    [[ ${CI:-} == true ]] || return 0
    case $1/$2 in
    rtl/* | tcp/* | vm/* | */peers | */e2e-python | */e2e-libfabric | */e2e-faces | */e2e-field | */e2e-apps)
        printf '%s' --strict
        ;;
    esac
}

# show NAME CODE LOG: prints why a step failed, and keeps it for the end of the run.
show() {
    printf '    | exit code %d; what failed in %s:\n' "$2" "$3"
    grep -nE -A 2 "$failure" "$3" | head -n 80 | sed 's/^/    | /'
    printf '    | its end:\n'
    tail -n 40 "$3" | sed 's/^/    | /'
    { grep -m 5 -B 6 -A 9 -E "$failure" "$3" || printf 'exit code %d\n' "$2"; } |
        sed "s/^/    $1: /" >>"$failures"
    # A step that was ended names no failure, but what came before.
    { grep -m 40 -E "$failure" "$3" || tail -n 3 "$3"; } | sed "s/^/    $1: /" >>"$briefly"
}

# step GROUP NAME KIND COMMAND...: runs one step; logs, counts and reports it. The report gives the
# time and, in brackets, that of the processors.
step() {
    local group=$1 name=$2 kind=$3 log=$logs/$2.log code=0
    local counts counted took TIMEFORMAT='%R %U %S'
    shift 3
    selected "$group" "$name" || return 0
    {
        time {
            timeout --kill-after=10 "${STEP_TIMEOUT:-1800}" "$@" >"$log" 2>&1 </dev/null &
            child=$!
            wait "$child" || code=$?
        }
    } 2>"$logs/$name.time"
    child=''
    read -ra took <"$logs/$name.time"
    rm "$logs/$name.time"
    ((code != 124)) || printf 'test.sh: ended after STEP_TIMEOUT\n' >>"$log"
    # shellcheck disable=SC2046 # no word where there is no option
    mapfile -t counted < <(
        python3 -IS tools/count_tests.py step $(strict "$group" "$name") "$kind" "$code" "$log"
    )
    read -ra counts <<<"${counted[0]:-}"
    ((${#counts[@]} == 3)) || counts=(0 1 0)
    ((${#counted[@]} < 2)) || printf "$name: %s\n" "${counted[@]:1}" >>"$skips"
    record "$name" "${counts[@]}"
    # At once, for the other track prints too.
    printf '%s\n' "$(
        awk -v name="$name" -v real="${took[0]}" -v cpu="$(printf '%s+' "${took[@]:1}")" 'BEGIN {
            split(cpu, part, "+")
            printf "%-16s %7.1f s (%6.1f)", name, real, part[1] + part[2]
        }'
        printf '   %d passed, %d failed, %d skipped\n' "${counts[@]}"
        ((counts[1] == 0)) || show "$name" "$code" "$log"
    )"
}

# absent GROUP NAME FILE: skips a step because the file it runs is not in this tree.
absent() {
    selected "$1" "$2" || return 0
    printf '%-16s skipped: there is no %s\n' "$2" "$3"
    if [[ $(strict "$1" "$2") ]]; then record "$2" 0 1 0; else record "$2" 0 0 1; fi
    printf '%s: there is no %s\n' "$2" "$3" >>"$skips"
}

# Steps that need no compiler.
run_quick() {
    local -a scripts
    mapfile -t scripts < <(
        find . \( -name target -o -name .git \) -prune -o \
            \( -name '*.sh' -o -name '*.bash' -o -name '*.bats' \) -print | sort
    )
    step lint commits tap tools/commits.py history
    step lint contract check python3 contract/gen/generate.py --check
    step lint compliance check python3 tools/compliance.py
    step lint modules check python3 tools/modules.py
    step lint docs check python3 tools/docs.py
    step lint device-tree tap tests/run.sh tests/driver/device_tree.bats
    step unit tools unittest python3 -m unittest discover -v -s tools
    step unit register-model unittest python3 -m unittest discover -v -s contract/model
    if [[ -d bench/peers ]]; then
        step unit peers unittest python3 -m unittest discover -v -s bench/peers -p 'test_*.py'
    else
        absent unit peers bench/peers
    fi
    step lint rustfmt check cargo fmt --all --check
    step lint rustfmt-rtl check cargo fmt --manifest-path rtl/bench/Cargo.toml --check
    step lint rustfmt-sim check cargo fmt --manifest-path rtl/sim/Cargo.toml --check
    step lint shellcheck check shellcheck -x -P SCRIPTDIR "${scripts[@]}" .ci/run tools/hooks/*
}

run_rust() {
    step lint clippy check cargo clippy --workspace --all-targets -- -D warnings
    step lint library-size check python3 tools/library_size.py
    step lint fuzz-check check tools/fuzz.sh --check
    step unit cargo-test cargo cargo test --workspace --no-fail-fast
}

# The hardware description; its tools are installed by the first step.
run_rtl() {
    step rtl rtl-tools check tools/rtl.sh tools
    # Verilator checks what the generator writes.
    step rtl generator unittest tools/rtl.sh run python3 -m unittest discover -v -s contract/gen
    step rtl rtl-lint tap tools/rtl.sh lint
    step rtl rtl-test tap tools/rtl.sh test --ci
    # Random seeds are for longer runs by hand.
    step rtl rtl-sim cargo env CARGO_TARGET_DIR=target/sim RTL_SEEDS="${RTL_SEEDS:-0}" \
        cargo test --locked --manifest-path rtl/sim/Cargo.toml --no-fail-fast
    # The core as a device: registers, regions, links, one driver, errors.
    step rtl rtl-model check tools/rtl_model.sh 2 1 4 2 1 4 wires=1 pair 1 1 4 target
    # With --workspace, crates have the features of the unit tests and are not built again.
    step rtl rtl-device cargo \
        env SPFE_RTL_REQUIRED=1 cargo test --workspace --no-fail-fast \
        --test rtl_device --test rtl_foreign --test rtl_pair
    step rtl rtl-suite tap tools/rtl_suite.sh --ci
    step tcp tcp-core tap \
        env CORE_FORM="${TCP_FORM:-short}" TEST_VARIANTS="${TCP_BUILDS:-sf64 ct64}" \
        tests/run.sh tests/tcp/core.bats
    # These are for `make test-tcp`.
    if [[ ${TCP_FORM:-short} != short ]]; then
        step tcp tcp-bench tap tests/run.sh tests/tcp/bench.bats
    fi
    if ((${#wanted[@]} > 0)); then
        step tcp tcp-peer tap tests/run.sh tests/tcp/peer.bats
    fi
}

# Proofs and synthesis. They belong to the hardware description, whose track takes longer.
run_proofs() {
    step rtl rtl-formal tap tools/rtl.sh formal --ci
    step rtl rtl-synth tap tools/rtl.sh synth --ci
}

run_models() {
    step model loom cargo \
        env RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
        cargo test -p spfe-ring --release --test loom --no-fail-fast
    if [[ -f tools/callgrind.sh ]]; then
        step model callgrind check tools/callgrind.sh --check
    else
        absent model callgrind tools/callgrind.sh
    fi
}

run_e2e() {
    local file
    step e2e build check "${build[@]}"
    step unit fuzz-replay tap tools/fuzz.sh --replay
    for file in tests/*.bats; do
        step e2e "e2e-$(basename "$file" .bats)" tap tests/run.sh "$file"
    done
}

# The driver in virtual machines.
run_vm() {
    # Once is enough: after the Python package, cargo would build its library again.
    grep -qx '1 0 0 build' "$table" || step vm vm-build check "${build[@]}"
    # shellcheck disable=SC2086 # words
    step vm vm tap tests/vm/run.sh "--${VM_FORM:-short}" ${VM_TESTS:-}
}

# programs: the track of what cargo builds in target/.
programs() {
    run_rust
    run_models
    run_e2e
    run_proofs
}

# hardware: the track of the hardware description and the virtual machines.
hardware() {
    child=''
    trap stop INT TERM
    run_rtl
    run_vm
}

main() {
    local name failed other
    mkdir -p "$logs"
    rm -f "$logs"/*.log
    for name in "$table" "$skips" "$failures" "$briefly" "$known"; do : >"$name"; done
    export CARGO_TERM_COLOR=never PYTHONDONTWRITEBYTECODE=1
    export SPFE_PROGRAMS=$PWD/${CARGO_TARGET_DIR:-target}/debug PY_PROFILE=dev

    run_quick
    hardware &
    other=$!
    trap 'kill "$other" 2>/dev/null; stop' INT TERM
    programs
    wait "$other"

    for name in "${wanted[@]}"; do
        grep -qxF -e "$name" "$known" || {
            printf 'test.sh: there is no step or group "%s"\n' "$name"
            record "$name" 0 1 0
        }
    done
    failed=$(awk '$2 > 0 { printf " %s", $4 }' "$table")
    cat "$failures"
    if [[ -s $skips ]]; then
        printf '\nskipped:\n'
        sed 's/^/    /' "$skips"
    fi
    # Last, for whoever sees the end of the output only.
    if [[ $failed ]]; then
        printf '\nfailed:%s\n' "$failed"
        cat "$briefly"
    fi
    exec python3 -IS tools/count_tests.py total "$table"
}

main
