#!/usr/bin/env bats
# The Python package: its wheel, tests, types, examples, and the program in docs/faces.md.
#
# tools/python.sh installs what it needs. PY_WHEEL names a wheel that is built already.

load lib/common
load lib/python

setup_file() {
    environment pyface tools/packages/pyface.txt >"$BATS_FILE_TMPDIR/pip" 2>&1 || {
        missing="the tools cannot be installed: $(tail -n 1 "$BATS_FILE_TMPDIR/pip")"
        export missing
        return 0
    }
    tools/python.sh install
}

teardown_file() { stop_all; }

setup() { [[ -z ${missing:-} ]] || skip "$missing"; }

in_package() { timeout --kill-after=5 300 tools/python.sh run "$@"; }

@test "the wheel is for every Python from 3.11 on" {
    run -0 find "${PY_WHEEL:-target/python}" -name '*.whl'
    [[ $output == *-cp311-abi3-linux_*.whl ]]
    run -0 in_package python -c 'import spfe, sys; print(spfe.__file__, spfe.__version__)'
    [[ $output == "$PWD/target/python/site/spfe/__init__.py 0."* ]]
    grep -q '^pyo3 ' target/python/site/spfe/NOTICES.txt
}

@test "pytest: packets, memory, threads, messages, protocols, asyncio, scenarios, documentation" {
    in_package pytest -p no:cacheprovider -c python/pyproject.toml --rootdir python python/tests
}

@test "the types are those of the native part" {
    in_package python -m mypy.stubtest spfe --ignore-missing-stub \
        --allowlist python/tests/stubtest.txt --ignore-unused-allowlist
}

@test "the package and its examples pass mypy --strict" {
    in_package env MYPYPATH=python mypy --config-file python/pyproject.toml --cache-dir /dev/null \
        python/spfe python/examples
}

@test "the example that plots a fault campaign" {
    in_package python python/examples/fault_campaign.py --points 2 --seeds 1 \
        --out "$BATS_TEST_TMPDIR/campaign.svg" >"$BATS_TEST_TMPDIR/table"
    grep -q '<svg' "$BATS_TEST_TMPDIR/campaign.svg"
    # No packet is lost at any error rate.
    [[ $(grep -c ' 0 lost' "$BATS_TEST_TMPDIR/table") == 2 ]]
}

@test "a capture of a daemon's links" {
    built "$SPFE_PROGRAMS/spfed"
    start spfed "$SPFE_PROGRAMS/spfed" --mode thread --listen "$BATS_FILE_TMPDIR/sock"
    wait_until listens "$BATS_FILE_TMPDIR/sock"
    cat >"$BATS_TEST_TMPDIR/capture.py" <<'END'
import sys, spfe
with spfe.open(sys.argv[1] + "/0") as a, spfe.open(sys.argv[1] + "/1") as b:
    with a.port(0).tx() as tx, b.port(0).rx() as rx:
        with a.capture(sys.argv[2]) as capture:
            tx.send(b"through the daemon")
            print(bytes(rx.recv(5)))
        print(capture.end())
END
    run -0 in_package python "$BATS_TEST_TMPDIR/capture.py" "unix:$BATS_FILE_TMPDIR/sock" \
        "$BATS_TEST_TMPDIR/net.pcapng"
    same "b'through the daemon'
(1, 0)" "$output"
    grep -q 'through the daemon' "$BATS_TEST_TMPDIR/net.pcapng"
}

@test "the program in docs/faces.md" {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```python$/,/^```$/{/^```/d;p}' docs/faces.md >"$BATS_TEST_TMPDIR/printed.py"
    run -0 in_package python "$BATS_TEST_TMPDIR/printed.py"
    [[ $output == '16000 bytes in a group, equal: True' ]]
    [[ $(wc -l <"$BATS_TEST_TMPDIR/printed.py") -le 15 ]]
}

@test "the program in docs/python.md" {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```python$/,/^```$/{/^```/d;p}' docs/python.md >"$BATS_TEST_TMPDIR/printed.py"
    run -0 in_package python "$BATS_TEST_TMPDIR/printed.py"
    [[ $output == "b'from here to there'" ]]
}
