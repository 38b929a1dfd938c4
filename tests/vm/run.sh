#!/usr/bin/env bash
# Tests the Linux driver in virtual machines, against the device model; prints TAP.
#
#   tests/vm/run.sh [--short|--long] [TEST...]     default: --short, all of its tests
#   tests/vm/run.sh --debug [TEST...]              on the debug kernel; default: all that it can run
#   tests/vm/run.sh --rtl [TEST...]                on simulated cores; default: test rtl
#   tests/vm/run.sh --list                         names of the tests
#
# --short is what `make test` runs. --long is everything, and the random tests run longer. Missing
# packages are fetched (tests/vm/fetch.sh); if that fails, all tests are skipped, which counts as a
# failure with CI=true. --debug builds a kernel first (debug_kernel.sh) that reports errors of memory,
# locking, DMA and life time; a test takes several times as long on it. SPFE_VM_DEBUG=1 is the same.
# --rtl needs a model of the core (make rtl-model) and an spfed with the cargo feature rtl.
# tests/lib/guests.bash lists the variables that the tests read.
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
cd "$vm_root" || exit

readonly tests=tests/vm/vm.bats
names() { sed -n 's/^@test "\([^":]*\).*/\1/p' "$tests" | uniq; }

form=short chosen=() options=(--tap) debug=${SPFE_VM_DEBUG:+1}
while (($#)); do
    case $1 in
    --short | --long) form=${1#--} ;;
    --debug) debug=1 ;;
    --rtl) export SPFE_VM_DEVICE=rtl ;;
    --list) names && exit ;;
    -*) vm_die "unknown option '$1'; see the top of $0" ;;
    *)
        names | grep -qxF -- "$1" || vm_die "no test '$1'; see tests/vm/run.sh --list"
        chosen+=("${1//./\\.}")
        ;;
    esac
    shift
done
if ((${#chosen[@]})); then
    options+=(--filter "^($(IFS='|' && printf '%s' "${chosen[*]}"))(:|\$)")
elif [[ -n $debug ]]; then
    options+=(--filter-tags '!plain')
elif [[ -n ${SPFE_VM_DEVICE:-} ]]; then
    options+=(--filter-tags rtl)
elif [[ $form == short ]]; then
    options+=(--filter-tags 'short,!debug')
else
    options+=(--filter-tags '!debug,!rtl')
fi
if [[ -n $debug ]]; then
    export SPFE_VM_DEBUG=1
    "$vm_dir/debug_kernel.sh" || exit
fi
SPFE_VM_FORM=$form exec bats "${options[@]}" "$tests"
