# shellcheck shell=bash
# Helpers of the script tests. Every .bats file loads this file first:
#
#   load lib/common
#
# A test file is run by tests/run.sh. Background processes and files live in $BATS_FILE_TMPDIR, so
# that later tests of the file can use them. A file that starts processes ends them in
# teardown_file with stop_all.

bats_require_minimum_version 1.5.0

# The directory of our programs, libraries and examples. SPFE_PROGRAMS names another one
# than that of a release build.
export SPFE_PROGRAMS=${SPFE_PROGRAMS:-${CARGO_TARGET_DIR:-target}/release}

# wait_until COMMAND...: repeats a command until it succeeds. Fails after about WAIT_SECONDS (60),
# long after the event must have happened, so a slow machine does not change the result. A command
# that waits itself may take longer, by one turn.
wait_until() {
    local end=$((SECONDS + ${WAIT_SECONDS:-60}))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || {
            printf 'never succeeded: %s\n' "$*"
            return 1
        }
        sleep 0.05
    done
}

# listens PATH: somebody accepts connections to this Unix socket. Its file is there a moment earlier.
listens() {
    awk -v path="$1" '$4 == "00010000" && $NF == path { found = 1 } END { exit !found }' \
        /proc/net/unix
}

# start NAME COMMAND...: runs a command in the background. Its output goes to NAME.out and
# NAME.err, its exit code to NAME.code, its process number to NAME.pid. The command inherits
# neither standard input nor the descriptors that bats waits for.
start() {
    local base=$BATS_FILE_TMPDIR/$1
    shift
    rm -f "$base".{code,pid}
    : >"$base.out" && : >"$base.err"
    (
        "$@" </dev/null >"$base.out" 2>"$base.err" &
        printf '%s\n' "$!" >"$base.pid"
        code=0
        wait "$!" || code=$?
        printf '%s\n' "$code" >"$base.code"
    ) >/dev/null 2>&1 3>&- 4>&- &
    wait_until test -s "$base.pid"
}

# pid NAME: the process number of a command that was started.
pid() { cat "$BATS_FILE_TMPDIR/$1.pid"; }

# ended NAME: succeeds once the command has ended.
ended() { [[ -s $BATS_FILE_TMPDIR/$1.code ]]; }

# waits NAME: what the threads of a background command wait for.
waits() {
    local thread
    for thread in "/proc/$(pid "$1")/task"/*; do
        printf '%s: %s, %s, syscall %s\n' "$(cat "$thread/comm")" \
            "$(grep State "$thread/status")" "$(cat "$thread/wchan")" "$(cat "$thread/syscall")"
    done 2>&1
}

# ends NAME [CODE]: waits until the command ends and checks its exit code (default 0).
ends() {
    local base=$BATS_FILE_TMPDIR/$1 code
    [[ -e $base.pid ]] || {
        printf '%s does not run: it was not started, or an earlier test saw its end\n' "$1"
        show "$1"
        return 1
    }
    wait_until ended "$1" || {
        waits "$1"
        show "$1"
        return 1
    }
    code=$(<"$base.code")
    rm -f "$base".{pid,code}
    [[ $code == "${2:-0}" ]] || {
        printf '%s: exit code %s, expected %s\n' "$1" "$code" "${2:-0}"
        show "$1"
        return 1
    }
}

# show NAME: the last lines that a background command wrote.
show() { tail -n 20 "$BATS_FILE_TMPDIR/$1".{out,err}; }

# signal NAME [SIGNAL]: sends a signal (default TERM) to a background command.
signal() { kill -s "${2:-TERM}" "$(pid "$1")"; }

# stop NAME [SIGNAL]: ends a background command and waits for it. Its exit code does not matter.
stop() {
    signal "$1" "${2:-TERM}" 2>/dev/null || true
    wait_until ended "$1" || signal "$1" KILL || true
    rm -f "$BATS_FILE_TMPDIR/$1".{pid,code}
}

# stop_all: ends every background command that still runs.
stop_all() {
    local file
    for file in "$BATS_FILE_TMPDIR"/*.pid; do
        [[ ! -e $file ]] || stop "$(basename "$file" .pid)"
    done
}

# output_has NAME PATTERN: standard output of a background command has such a line.
output_has() { grep -qE -- "$2" "$BATS_FILE_TMPDIR/$1.out"; }

# error_has NAME PATTERN: the same for standard error.
error_has() { grep -qE -- "$2" "$BATS_FILE_TMPDIR/$1.err"; }

# fails COMMAND...: succeeds if the command does not. (bats ignores the result of `! COMMAND`.)
fails() {
    if "$@"; then
        printf 'succeeded: %s\n' "$*"
        return 1
    fi
}

# silent COMMAND...: the command succeeds and prints nothing.
silent() {
    local printed
    printed=$("$@" 2>&1) || {
        printf '%s\n' "$printed"
        return 1
    }
    printf '%s' "$printed"
    [[ -z $printed ]]
}

# same EXPECTED FOUND: two texts are equal; otherwise prints both.
same() {
    [[ $1 == "$2" ]] || {
        printf 'expected:\n%s\nfound:\n%s\n' "$1" "$2"
        return 1
    }
}

# digest FILE: the SHA-256 of a file.
digest() { sha256sum <"$1" | cut -d ' ' -f 1; }

# comment TEXT: a comment in the output of the test run.
comment() { printf '# %s\n' "$1" >&3; }

# subtests COMMAND...: runs a program that prints results of its own as "ok NAME" and "not ok NAME"
# and passes them on as subtests: indented by four blanks, as in TAP 14. Fails if the program does.
subtests() {
    local code=0
    "$@" >"$BATS_TEST_TMPDIR/subtests" 2>&1 || code=$?
    forward "$BATS_TEST_TMPDIR/subtests"
    return "$code"
}

# forward FILE [PREFIX]: passes the results in a file on as subtests, with a prefix to their names.
forward() {
    tr -d '\r' <"$1" | sed -nE \
        -e "s/^(ok|not ok) ([0-9]+ - )?/    \\1 ${2:-}/p" -e 's/^# ?/    # /p' >&3
    # What is no result helps when the test fails.
    grep -vE '^(ok |not ok |#|1\.\.)' "$1" || true
}

# programs NAME...: prints why a file cannot be tested if one of these programs is missing.
programs() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || {
            printf '%s is not installed; run tools/setup.sh test' "$name"
            return
        }
    done
}

# built PROGRAM...: fails if a program of the project has not been built.
built() {
    local program
    for program in "$@"; do
        [[ -x $program ]] || {
            printf '%s does not exist; run "make build", or set SPFE_PROGRAMS\n' "$program"
            return 1
        }
    done
}

# unavailable REASON: all tests of this file are skipped for a reason, if there is one. Call it in
# setup_file; bats skips in skip_if_unavailable, which setup calls.
unavailable() { export TEST_UNAVAILABLE=$1; }
skip_if_unavailable() { [[ -z ${TEST_UNAVAILABLE:-} ]] || skip "$TEST_UNAVAILABLE"; }
