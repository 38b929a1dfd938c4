# shellcheck shell=bash
# Programs in Python environments, for tests.

# environment NAME PINS: prints where the programs of these pinned packages are; installs them below
# ${XDG_CACHE_HOME:-~/.cache}/spfe/NAME when they are missing. PY_INTERPRETER is the interpreter that
# runs them (python3).
environment() {
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/spfe/$1 pins=$2 python key home lock
    local interpreter=${PY_INTERPRETER:-python3}
    python=$("$interpreter" -ISc 'import sys; print(sys.version)') || return
    key=$({ printf '%s\n' "$python" && cat "$pins"; } | sha256sum | cut -c 1-16)
    home=$cache/$key
    printf '%s/bin' "$home"
    [[ ! -e $home/.complete ]] || return 0
    mkdir -p "$cache"
    # Another run that installs the same environment finishes first.
    exec {lock}>"$cache/.lock" && flock "$lock" || return
    [[ ! -e $home/.complete ]] || return 0
    rm -rf "$home"
    "$interpreter" -m venv "$home" >&2 &&
        "$home/bin/pip" --disable-pip-version-check --quiet install --require-hashes \
            --requirement "$pins" >&2 &&
        touch "$home/.complete"
}
