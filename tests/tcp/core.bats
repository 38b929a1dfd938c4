#!/usr/bin/env bats
# The TCP core in simulation: the conformance scripts, an independent TCP stack at the other end,
# with the core at rest between frames and with everything at once, and mutated frames in lock-step
# with the model of the core.
# variants: sf64 ct64
#
# CORE_FORM is short (default: about two minutes a build), full (many minutes) or soak (hours).
# TEST_VARIANTS names the builds of the core, for the long forms also "reorder full", or reference,
# the model in software. CORE_SEED is the seed of losses and frames (default: 1, random in a soak
# run); it is printed. It also sets the bits of registers and memories that have no initial value.
# Builds of the core and of the bench are made first where they are missing,
# which takes some minutes each. Time in these tests is virtual, so nothing depends on the speed of
# the machine. Records go to target/rtl/report/data.

load ../lib/common

programs=${CARGO_TARGET_DIR:-rtl/bench/target}/release
form=${CORE_FORM:-short} cases='' racing='' frames=3000 scale=1 limit=1500
case $form in
    short) cases='passive,active,zero windows' racing='delay 0,16 sessions' ;;
    full) frames=20000 limit=3600 ;;
    soak) frames=1000000 scale=100 limit=36000 ;;
esac

setup_file() {
    export seed=${CORE_SEED:-1}
    [[ $form != soak || -n ${CORE_SEED:-} ]] || seed=$RANDOM
    export SPFE_CORE_SEED=$seed
    comment "$TEST_VARIANT: seed $seed"
}

teardown_file() { stop_all; }

# core NAME WORD...: starts a check of this build in the background.
core() {
    local name=$1
    shift
    start "$name" timeout --kill-after=5 "$limit" \
        "$programs/tcp-check" --core "$TEST_VARIANT" "$@"
}

# core_passes NAME: waits for that check.
core_passes() {
    WAIT_SECONDS=$((limit + 10)) ends "$1"
    grep -E '^(scripts|fuzzing):' "$BATS_FILE_TMPDIR/$1.out" | sed 's/^/# /' >&3 || true
}

@test "the bench builds" {
    cargo build --locked --release --manifest-path rtl/bench/Cargo.toml --bins
}

@test "the model of the core builds" {
    # The reference is software and needs no build.
    [[ $TEST_VARIANT == reference ]] || "$programs/tcp-bench" build "$TEST_VARIANT"
    # The checks run beside each other.
    core scripts drill
    core plants peer --seed "$seed" --plants
    core peer peer --seed "$seed" --scale "$scale" --only "$cases"
    [[ $TEST_VARIANT == reference ]] ||
        core racing peer --seed "$seed" --racing --only "$racing"
    core fuzz fuzz --seed "$seed" --frames "$frames" --lockstep
}

@test "conformance scripts" {
    core_passes scripts
}

@test "an independent TCP stack" {
    core_passes peer
}

@test "the rules for its frames find planted faults" {
    core_passes plants
}

@test "an independent TCP stack, with frames, users and pauses at once" {
    [[ $TEST_VARIANT != reference ]] || skip 'the model in software is always at rest'
    core_passes racing
}

@test "mutated frames in lock-step" {
    core_passes fuzz
}
