#!/usr/bin/env bash
# Runs programs of the field that `make test` does not install with our interfaces to them.
#
#   tools/field.sh openc3     OpenC3's Python library (about 220 MB) with examples/openc3
#   tools/field.sh yamcs      Yamcs (47 MB; needs Java and Maven) with examples/yamcs
#   tools/field.sh            both
#
# They are installed below ${XDG_CACHE_HOME:-~/.cache}/spfe. SPFE_PROGRAMS names another
# directory of programs than target/release; SPFE_SITE a directory with the Python package, instead
# of target/python/site.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/lib/python.bash
source tests/lib/python.bash
readonly yamcs=5.12.2
site=${SPFE_SITE:-$PWD/target/python/site}
spfed=${SPFE_PROGRAMS:-target/release}/spfed
spfe=${SPFE_PROGRAMS:-target/release}/spfe

# beside_daemon COMMAND...: runs a command, with two joined endpoints as its last arguments.
beside_daemon() {
    local directory daemon code=0
    [[ -d $site ]] || tools/python.sh install
    directory=$(mktemp -d)
    "$spfed" --listen "$directory/sock" >"$directory/log" 2>&1 &
    daemon=$!
    until [[ -S $directory/sock ]] || ! kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
    PYTHONPATH=$site timeout --kill-after=5 300 "$@" "unix:$directory/sock/0" \
        "unix:$directory/sock/1" 2>"$directory/errors" || code=$?
    ((code == 0)) || tail -n 20 "$directory/errors" >&2
    kill "$daemon"
    wait "$daemon" || true
    rm -rf "$directory"
    return "$code"
}

openc3() {
    local bin
    bin=$(environment openc3 tools/packages/openc3.txt)
    # Its logger looks for the database of a whole installation, and says so.
    beside_daemon "$bin/python" tests/field/openc3_peer.py
}

yamcs() {
    local lib=${XDG_CACHE_HOME:-$HOME/.cache}/spfe/yamcs-$yamcs bin
    if [[ ! -e $lib/.complete ]]; then
        rm -rf "$lib"
        mvn --batch-mode --quiet --file tests/field/yamcs.pom.xml "-Dyamcs=$yamcs" \
            dependency:copy-dependencies "-DoutputDirectory=$lib"
        touch "$lib/.complete"
    fi
    bin=$(environment pyface tools/packages/pyface.txt)
    beside_daemon "$bin/python" tests/field/yamcs_peer.py "$lib" "$(realpath "$spfe")"
}

case ${1:-} in
openc3) openc3 ;;
yamcs) yamcs ;;
'')
    openc3
    yamcs
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
