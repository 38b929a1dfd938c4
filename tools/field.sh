#!/usr/bin/env bash
# Runs programs of the field that `make test` does not install with our interfaces to them.
#
#   tools/field.sh openc3     OpenC3's Python library (about 220 MB) with examples/openc3
#
# They are installed below ${XDG_CACHE_HOME:-~/.cache}/spfe. SPFED_BIN names another daemon than that in
# target/release; SPFE_SITE a directory with the Python package, instead of target/python/site.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly openc3=7.4.1
site=${SPFE_SITE:-$PWD/target/python/site}
spfed=${SPFED_BIN:-target/release/spfed}

openc3() {
    local home=${XDG_CACHE_HOME:-$HOME/.cache}/spfe/openc3-$openc3 directory daemon code=0
    if [[ ! -e $home/.complete ]]; then
        rm -rf "$home"
        python3 -m venv "$home"
        "$home/bin/pip" --disable-pip-version-check --quiet install "openc3==$openc3"
        touch "$home/.complete"
    fi
    [[ -d $site ]] || tools/python.sh install
    directory=$(mktemp -d)
    "$spfed" --listen "$directory/sock" >"$directory/log" 2>&1 &
    daemon=$!
    until [[ -S $directory/sock ]] || ! kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
    # Its logger looks for the database of a whole installation, and says so.
    PYTHONPATH=$site timeout --kill-after=5 120 "$home/bin/python" tests/field/openc3_peer.py \
        "unix:$directory/sock/0" "unix:$directory/sock/1" 2>"$directory/errors" || code=$?
    ((code == 0)) || tail -n 20 "$directory/errors" >&2
    kill "$daemon"
    wait "$daemon" || true
    rm -rf "$directory"
    return "$code"
}

case ${1:-} in
openc3) openc3 ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
