# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The conformance suite that every device must pass, through the library, on two joined devices.
#
#   conformance.sh [PART]      only cases whose name contains PART
load_driver 2
[ -z "${1:-}" ] || export SPFE_CASE="$1"
# The driver does not name other users of a port, and its counters survive from case to case.
if spfe-conformance /dev/spfe0 /dev/spfe1 --without owners,fresh >/tmp/suite 2>&1; then
    echo "# $(grep -c '^ok' /tmp/suite) cases, $(grep -c '# SKIP' /tmp/suite) of them skipped"
    echo 'ok the suite'
else
    grep -v '^ok' /tmp/suite | sed 's/^/# /'
    echo 'not ok the suite'
    failed=1
fi
grep '# SKIP' /tmp/suite | sed 's/^ok [0-9]* - /# skipped: /'
check 'devices are listed' sh -c 'spfe list | grep /dev/spfe1'
check 'state of a link' sh -c 'spfe link /dev/spfe0 | grep -i up'
unload_driver
exit "$failed"
