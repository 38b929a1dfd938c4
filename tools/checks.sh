# shellcheck shell=bash
# What tests that are shell scripts have in common. The script makes $dir, a directory of its own.

# shellcheck disable=SC2034 # of whoever reads this
failed=0
prefix='' # of the names of checks

# check NAME COMMAND...: "ok NAME" or "not ok NAME" by whether a command succeeds; of one that fails the end
# of what it said is shown, and of the files *.err in $dir. $failed is 1 from the first that fails.
check() {
    local name=$prefix$1
    shift
    # shellcheck disable=SC2154
    if "$@" >"$dir/said" 2>&1; then
        printf 'ok %s\n' "$name"
    else
        printf 'not ok %s\n' "$name"
        tail -n 30 "$dir/said" "$dir"/*.err 2>/dev/null | sed 's/^/# /'
        failed=1
    fi
}
