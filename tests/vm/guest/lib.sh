# shellcheck shell=sh disable=SC2034 # for those who source it
# What the scripts in the guest share; sourced by /init. Results are "ok NAME" and "not ok NAME".
failed=0

# check NAME COMMAND...: reports whether a command succeeds; else what it has said.
check() {
    check_name=$1
    shift
    if "$@" >/tmp/check.out 2>&1; then
        echo "ok $check_name"
    else
        echo "# exit code $?: $*"
        tail -n 25 /tmp/check.out | sed 's/^/# /'
        echo "not ok $check_name"
        failed=1
        return 1
    fi
}

# skip NAME REASON
skip() { echo "ok $1 # SKIP $2"; }

# fails COMMAND...: succeeds if the command does not.
fails() { ! "$@"; }

# within SECONDS COMMAND...: tries a command until it succeeds.
within() {
    within_left=$(($1 * 10))
    shift
    until "$@"; do
        within_left=$((within_left - 1))
        [ $within_left -gt 0 ] || return 1
        usleep 100000
    done
}
