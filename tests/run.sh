#!/usr/bin/env bash
# Runs script tests with bats and prints TAP.
#
#   tests/run.sh [FILE.bats...]     default: all of tests/*.bats
#
# A file that has a line "# variants: A B" runs once for each of these words, or for those of
# TEST_VARIANTS. It finds the word in $TEST_VARIANT, and the names of its tests begin with it.
# TEST_FILTER runs only the tests whose name matches this extended regular expression.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit

command -v bats >/dev/null || {
    printf 'tests/run.sh: bats is not installed; run tools/setup.sh test\n' >&2
    exit 127
}

failed=0
(($#)) || set -- tests/*.bats
for file in "$@"; do
    read -ra variants < <(sed -n 's/^# variants: //p' "$file")
    ((${#variants[@]} == 0)) || read -ra variants <<<"${TEST_VARIANTS:-${variants[*]}}"
    for variant in "${variants[@]:-}"; do
        TEST_VARIANT=$variant BATS_TEST_NAME_PREFIX=${variant:+$variant: } \
            bats --tap --print-output-on-failure ${TEST_FILTER:+--filter "$TEST_FILTER"} \
            "$file" || failed=1
    done
done
exit "$failed"
