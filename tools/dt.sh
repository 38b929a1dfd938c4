#!/usr/bin/env bash
# Checks the device-tree binding, driver/dt: the schema itself, its example, what it refuses, and
# that it and the driver have the same name for the device.
#
#   tools/dt.sh          "ok NAME" or "not ok NAME" for each check
#
# The programs are those of the Python package dtschema, pinned in tools/packages/python.txt, in a
# virtual environment below ${XDG_CACHE_HOME:-~/.cache}/spfe/python. Without them, or without dtc,
# the checks are skipped with the reason.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=checks.sh
source tools/checks.sh

readonly pins=tools/packages/python.txt
readonly binding=driver/dt/spfe,endpoint.yaml
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/spfe/python
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

skip() {
    printf 'ok device-tree binding # SKIP %s\n' "$1"
    exit 0
}

# environment: sets bin to where the programs of dtschema are; makes them when they are not there.
environment() {
    local python key home
    python=$(python3 -ISc 'import sys; print(sys.version)') || return
    key=$({ printf '%s\n' "$python" && cat "$pins"; } | sha256sum | cut -c 1-16)
    home=$cache/$key bin=$home/bin
    [[ ! -e $home/.complete ]] || return 0
    mkdir -p "$cache"
    # Whoever else makes the same one waits.
    exec {lock}>"$cache/.lock" && flock "$lock" || return
    [[ ! -e $home/.complete ]] || return 0
    rm -rf "$home"
    python3 -m venv "$home" &&
        "$bin/pip" --disable-pip-version-check --quiet install --require-hashes \
            --requirement "$pins" &&
        touch "$home/.complete"
}

# silent COMMAND...: succeeds and has nothing to say: these programs warn with exit code 0.
silent() {
    "$@" >"$dir/words" 2>&1
    local code=$?
    cat "$dir/words"
    ((code == 0)) && [[ ! -s $dir/words ]]
}

# validate FILE: compiles a device tree and holds it to the binding; what it has to say is a finding.
# The two warnings are about what dt-extract-example puts round an example; the machine that the
# node of the tests is added to is QEMU's, and not looked at.
validate() {
    silent dtc -I dts -O dtb -W no-avoid_unnecessary_addr_size -W no-interrupt_provider \
        -o "$1.dtb" "$1" &&
        silent "$bin/dt-validate" --limit spfe --schema "$dir/schema.json" "$1.dtb"
}

# refused FILE SED_SCRIPT WORDS: the example, changed, is refused, and this is why.
refused() {
    sed -E "$2" "$1" >"$dir/changed.dts"
    ! cmp -s "$1" "$dir/changed.dts" || { echo "'$2' changes nothing" && return 1; }
    ! validate "$dir/changed.dts" >"$dir/why" || { echo 'it is accepted' && return 1; }
    grep -F "$3" "$dir/why" || { cat "$dir/why" && return 1; }
}

# same_name: the binding and the driver's table name the same devices.
same_name() {
    local driver
    driver=$(sed -n 's/.*\.compatible = "\(.*\)".*/\1/p' driver/linux/platform.c)
    [[ -n $driver ]] || { echo 'platform.c names no compatible' && return 1; }
    diff <(sort <<<"$driver") <(sed -n '/^  compatible:/,/^$/s/.*const: //p' "$binding" | sort)
}

# test_node: the node that is added to a machine for tests.
test_node() {
    { echo '/dts-v1/;' && cat tests/vm/guest/platform.dts; } >"$dir/node.dts"
    validate "$dir/node.dts"
}

main() {
    local bin='' example=$dir/example.dts
    command -v dtc >/dev/null || skip 'no dtc; run: tools/setup.sh vm'
    environment >"$dir/pip" 2>&1 ||
        skip "dtschema cannot be installed: $(tail -n 1 "$dir/pip")"

    check 'the schema keeps the rules of schemas' silent "$bin/dt-doc-validate" "$binding"
    check 'schemas become one file' \
        "$bin/dt-mk-schema" --json --outfile "$dir/schema.json" "$binding"
    "$bin/dt-extract-example" "$binding" >"$example"
    check 'the example is accepted' validate "$example"
    check 'the node of the tests is accepted' test_node
    check 'a device without registers is refused' \
        refused "$example" '/reg = <0x0 /d; s/(spacefibre)@a0000000/\1/' "'reg' is a required property"
    check 'a device without interrupts is refused' \
        refused "$example" '/interrupts = /d' "'interrupts' is a required property"
    check '65 interrupts are refused' \
        refused "$example" "s/(interrupts = ).*/\\1$(printf '<0 %d 1>,' {1..64})<0 65 1>;/" 'too long'
    check 'two windows of registers are refused' \
        refused "$example" 's/(reg = <0x0 .*>);/\1, <0x0 0x1000 0x0 0x1000>;/' 'too long'
    check 'an unknown property is refused' \
        refused "$example" 's/dma-coherent;/spfe,queues = <4>;/' "'spfe,queues'"
    check 'binding and driver name the same devices' same_name
    return "$failed"
}

main
