#!/usr/bin/env bats
# The device-tree binding, driver/dt: the schema itself, its example, what it refuses, and that the
# binding and the driver name the same devices.
#
# The programs come from the Python package dtschema, pinned in tools/packages/python.txt, in a
# virtual environment below ${XDG_CACHE_HOME:-~/.cache}/spfe/python.

load ../lib/common
load ../lib/python

pins=tools/packages/python.txt
binding=driver/dt/spfe,endpoint.yaml

setup_file() {
    export dir=$BATS_FILE_TMPDIR bin example=$BATS_FILE_TMPDIR/example.dts
    command -v dtc >/dev/null || {
        unavailable 'dtc is not installed; run tools/setup.sh vm'
        return
    }
    bin=$(environment python "$pins" 2>"$dir/pip") || {
        unavailable "dtschema cannot be installed: $(tail -n 1 "$dir/pip")"
        return
    }
    "$bin/dt-mk-schema" --json --outfile "$dir/schema.json" "$binding"
    "$bin/dt-extract-example" "$binding" >"$example"
}

setup() { skip_if_unavailable; }

# validate FILE: compiles a device tree and checks it against the binding. These programs warn with
# exit code 0, so any output is a finding. The two disabled warnings concern what
# dt-extract-example puts around an example.
validate() {
    silent dtc -I dts -O dtb -W no-avoid_unnecessary_addr_size -W no-interrupt_provider \
        -o "$1.dtb" "$1" &&
        silent "$bin/dt-validate" --limit spfe --schema "$dir/schema.json" "$1.dtb"
}

# refused SED_SCRIPT WORDS: the example, changed by the script, is refused with these words.
refused() {
    sed -E "$1" "$example" >"$dir/changed.dts"
    fails cmp -s "$example" "$dir/changed.dts"
    run validate "$dir/changed.dts"
    printf '%s\n' "$output"
    ((status != 0))
    grep -F "$2" <<<"$output"
}

@test "the schema follows the rules for schemas" {
    silent "$bin/dt-doc-validate" "$binding"
}

@test "the example is accepted" {
    validate "$example"
}

# The node that a test adds to the device tree of an emulated machine.
@test "the node of the tests is accepted" {
    { echo '/dts-v1/;' && cat tests/vm/guest/platform.dts; } >"$dir/node.dts"
    validate "$dir/node.dts"
}

@test "a device without registers is refused" {
    refused '/reg = <0x0 /d; s/(spacefibre)@a0000000/\1/' "'reg' is a required property"
}

@test "a device without interrupts is refused" {
    refused '/interrupts = /d' "'interrupts' is a required property"
}

@test "65 interrupts are refused" {
    refused "s/(interrupts = ).*/\\1$(printf '<0 %d 1>,' {1..64})<0 65 1>;/" 'too long'
}

@test "two register windows are refused" {
    refused 's/(reg = <0x0 .*>);/\1, <0x0 0x1000 0x0 0x1000>;/' 'too long'
}

@test "an unknown property is refused" {
    refused 's/dma-coherent;/spfe,queues = <4>;/' "'spfe,queues'"
}

@test "the binding and the driver name the same devices" {
    local driver
    driver=$(sed -n 's/.*\.compatible = "\(.*\)".*/\1/p' driver/linux/platform.c | sort)
    [[ -n $driver ]]
    same "$driver" "$(sed -n '/^  compatible:/,/^$/s/.*const: //p' "$binding" | sort)"
}
