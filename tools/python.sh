#!/usr/bin/env bash
# The Python package (python/, docs/python.md).
#
#   tools/python.sh wheel [DIRECTORY]   builds a wheel (default target/python) and prints its path
#   tools/python.sh test [WORD...]      installs it below target/python and runs pytest
#   tools/python.sh run COMMAND...      runs a command with the installed package
#
# What builds and tests it is pinned in tools/packages/pyface.txt and installed below
# ${XDG_CACHE_HOME:-~/.cache}/spfe/pyface. PY_WHEEL names a wheel that is built already, and SPFE_SITE
# another directory to install to. PY_PROFILE is the profile of cargo that builds it (release), and
# PY_INTERPRETER the interpreter for which it is built and which tests and runs it (python3). One
# without the global lock, such as python3.14t, gets a wheel of its own. To build one the interpreter
# need not be there: maturin knows those of Linux.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# shellcheck source=tests/lib/python.bash
. tests/lib/python.bash

site=${SPFE_SITE:-$root/target/python/site}

# wheel DIRECTORY: builds the wheel and prints its path.
wheel() {
    local bin builds=${PY_INTERPRETER:-python3} target=()
    if ! command -v "$builds" >/dev/null; then
        builds=python3 target=(--target "$(rustc -vV | sed -n 's/^host: //p')")
    fi
    bin=$(PY_INTERPRETER=$builds environment pyface tools/packages/pyface.txt) || return
    mkdir -p "$1"
    rm -f "$1"/spfe-*.whl
    # The notices of the libraries in it go with it.
    python3 -IS tools/third_party.py spfe-python >python/spfe/NOTICES.txt || return
    "$bin/maturin" build --profile "${PY_PROFILE:-release}" --locked --quiet --compatibility linux \
        --manifest-path python/Cargo.toml --interpreter "${PY_INTERPRETER:-python3}" --out "$1" \
        "${target[@]}" >&2 || return
    realpath -e "$1"/spfe-*.whl
}

# install: installs the wheel where `run` finds it.
install() {
    local bin wheel=${PY_WHEEL:-}
    [[ $wheel ]] || wheel=$(wheel target/python)
    bin=$(environment pyface tools/packages/pyface.txt) || return
    rm -rf "$site"
    "$bin/pip" --disable-pip-version-check --quiet install --no-deps --no-index --target "$site" "$wheel"
}

# run COMMAND...
run() {
    local bin
    [[ -d $site ]] || install
    bin=$(environment pyface tools/packages/pyface.txt) || return
    PATH=$bin:$PATH PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 "$@"
}

case ${1:-} in
wheel) wheel "${2:-target/python}" ;;
install) install ;;
test)
    shift
    install
    run pytest -p no:cacheprovider -c python/pyproject.toml --rootdir python "${@:-python/tests}"
    ;;
run)
    shift
    run "$@"
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
