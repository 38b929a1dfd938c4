#!/usr/bin/env bash
# Tests the Linux driver in virtual machines, against the device model; prints TAP.
#
#   tests/vm/run.sh [--short|--long] [TEST...]     default: --short, all of its tests
#   tests/vm/run.sh --list                         names of the tests
#
# --short is what `make test` runs. --long is everything, and the random tests run longer. Missing
# packages are fetched (tests/vm/fetch.sh); if that fails, all tests are skipped.
# tests/lib/guests.bash lists the variables that the tests read.
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
cd "$vm_root" || exit

readonly tests=tests/vm/vm.bats
names() { sed -n 's/^@test "\([^":]*\).*/\1/p' "$tests" | uniq; }

form=short chosen=() options=(--tap)
while (($#)); do
    case $1 in
    --short | --long) form=${1#--} ;;
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
elif [[ $form == short ]]; then
    options+=(--filter-tags short)
fi
SPFE_VM_FORM=$form exec bats "${options[@]}" "$tests"
