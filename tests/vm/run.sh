#!/usr/bin/env bash
# The Linux driver in virtual machines, against the device model.
#
#   tests/vm/run.sh [--short|--long] [TEST...]     "ok NAME" or "not ok NAME" for each check
#   tests/vm/run.sh --list                         names of the tests
#
# --short (default) is what `make test` runs; --long is everything, for longer. What is missing is
# fetched (tests/vm/fetch.sh); if that is impossible, the tests are skipped with the reason.
#
#   SPFED_BIN, SPFE_BIN   programs (default: those in target/release); SPFE_VM_PROGRAMS, see image.sh
#   SPFE_VM_LOGS    directory for the logs of guests and models (default: target/vm/logs)
#   SPFE_SEED       seed of random tests (default: from the clock; it is printed)
#
# Only what it started is ended. No test looks at how long anything takes.
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=cases.sh
source "$vm_dir/cases.sh"
cd "$vm_root" || exit

readonly logs=${SPFE_VM_LOGS:-$vm_work/logs}
# shellcheck disable=SC2034 # for cases.sh
readonly seed=${SPFE_SEED:-$(date +%s)}
form=short
failed=0
children=()
declare -A guests=()
dir=$(mktemp -d) || exit

finish() {
    end_children
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# end_children: ends the device models and guests of a test.
end_children() {
    local pid
    for pid in "${children[@]}"; do
        kill "$pid" 2>/dev/null
    done
    for pid in "${children[@]}"; do
        wait "$pid" 2>/dev/null
    done
    children=()
}

# report [SUFFIX]: reads results of a test and prints them with its name in front; what is no result
# becomes a comment.
report() {
    local line
    while IFS= read -r line; do
        case $line in
        'ok '* | 'not ok '*) printf '%s %s: %s\n' "${line%%ok *}ok" "$test$1" "${line#*ok }" ;;
        '#'*) printf '%s\n' "$line" ;;
        *) printf '# %s\n' "$line" ;;
        esac
    done
}

# check NAME COMMAND...: reports whether a command succeeds; else what it has said.
check() {
    local name=$1
    shift
    if "$@" >"$dir/check.out" 2>&1; then
        printf 'ok %s\n' "$name" | report ''
    else
        tail -n 40 "$dir/check.out" | sed 's/^/# /'
        printf 'not ok %s\n' "$name" | report ''
        failed=1
        return 1
    fi
}

# need SET...: these sets of the cache are there.
need() { "$vm_dir/fetch.sh" "$@" >"$logs/fetch.log" 2>&1; }

# image ARCH SERIES: packs the root file system with the driver and all programs; sets image.
image() {
    image=$dir/image-$1-$2
    [[ -e $image ]] ||
        check "driver and programs for Linux $2, $1" \
            "$vm_dir/image.sh" --arch "$1" --kernel "$2" "$image"
}

# devices COUNT SPFED_WORD...: starts a network with devices for guests; sets model to the options of
# boot.sh for all of them.
devices() {
    local socket
    vm_devices "$dir/$test" "$@" 2>"$dir/devices.out" || {
        sed 's/^/# /' "$dir/devices.out"
        printf 'not ok device models\n' | report ''
        failed=1
        return 1
    }
    children+=("$vm_model")
    model=()
    for socket in "${vm_sockets[@]}"; do
        model+=(--device "$socket")
    done
}

# start NAME BOOT_WORD...: boots a guest in the background; words are those of boot.sh.
start() {
    local name=$1
    shift
    rm -f "$logs/$test-$name".*
    "$vm_dir/boot.sh" --log "$logs/$test-$name" "$@" >"$dir/$name.out" 2>&1 &
    guests[$name]=$!
    children+=("$!")
}

# join NAME: waits for the end of a guest and reports its results; true if it exits with 0.
join() {
    local code=0
    if [[ -z ${guests[$1]:-} ]]; then
        failed=1
        return 1
    fi
    wait "${guests[$1]}" || code=$?
    unset "guests[$1]"
    report "$([[ $1 == one ]] || printf ', %s' "$1")" <"$dir/$1.out"
    ((code == 0)) || failed=1
    return "$code"
}

# guest NAME BOOT_WORD...: boots a guest, waits for its end and reports.
guest() { start "$@" && join "$1"; }

# said NAME PATTERN SECONDS: waits until a running guest has said such a line.
said() {
    local tries=$(($3 * 10))
    until grep -qsE "$2" "$logs/$test-$1.result"; do
        ((tries-- > 0)) && kill -0 "${guests[$1]}" 2>/dev/null || return 1
        sleep 0.1
    done
}

run() {
    local test=$1 start=$SECONDS
    "test_${1//[-.]/_}"
    end_children
    guests=()
    printf '# %s: %d s\n' "$test" $((SECONDS - start))
}

main() {
    local name
    local -a chosen=()
    while (($#)); do
        case $1 in
        --short | --long) form=${1#--} ;;
        --list) printf '%s\n' "${short_tests[@]}" "${long_tests[@]}" && return ;;
        -*) vm_die "unknown option '$1'; see the top of $0" ;;
        *) chosen+=("$1") ;;
        esac
        shift
    done
    if ((${#chosen[@]} == 0)); then
        chosen=("${short_tests[@]}")
        [[ $form == short ]] || chosen+=("${long_tests[@]}")
    fi
    mkdir -p "$logs"
    if ! need qemu kernel-6.1-amd64 guest-amd64; then
        tail -n 5 "$logs/fetch.log" | sed 's/^/# /'
        for name in "${chosen[@]}"; do
            printf 'ok %s # SKIP skipped: the emulator, a kernel and programs cannot be fetched here\n' "$name"
        done
        return
    fi
    for name in "${chosen[@]}"; do
        [[ " ${short_tests[*]} ${long_tests[*]} " == *" $name "* ]] || vm_die "no test '$name'; see --list"
        run "$name"
    done
    return "$failed"
}

main "$@"
