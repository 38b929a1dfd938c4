# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the repeater between two word streams, one word period in each clock cycle.

    LINE_A=unix:a.sock LINE_B=unix:b.sock python test_repeater.py

compiles it with Verilator and runs the test. It ends with the streams.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

import cocotb  # noqa: E402
from cocotb.triggers import Timer  # noqa: E402
from spfe_foreign import WORDS, ForeignEnd  # noqa: E402


def pack(cells):
    """The cells of all lanes as one vector, lane 0 in the lowest bits."""
    return sum(cell << 64 * lane for lane, cell in enumerate(cells))


def unpack(vector, lanes):
    """The cells of all lanes of a vector. The registers start with zeros, so none is undefined."""
    value = int(vector)
    return [value >> 64 * lane & (1 << 64) - 1 for lane in range(lanes)]


@cocotb.test()
async def repeats(dut):
    lanes = len(dut.a_i) // 64
    lines = [
        ForeignEnd(os.environ[name], kind=WORDS, lanes=lanes, name=f"cocotb {name}")
        for name in ("LINE_A", "LINE_B")
    ]
    assert lines[0].words == lines[1].words, "both links need messages of the same size"
    received = [line.silence() for line in lines]
    signals = cycles = 0
    dut.clk_i.value = 0
    while None not in received:
        sent = [[], []]
        for a, b in zip(*received):
            dut.a_i.value, dut.b_i.value = pack(a), pack(b)
            await Timer(1, "ns")
            dut.clk_i.value = 1
            await Timer(1, "ns")
            dut.clk_i.value = 0
            sent[0].append(unpack(dut.a_o.value, lanes))
            sent[1].append(unpack(dut.b_o.value, lanes))
            cycles += 1
            signals += any(b)
        received = [line.exchange(message) for line, message in zip(lines, sent)]
    for line in lines:
        line.close()
    dut._log.info("%d clock cycles, %d with a signal", cycles, signals)
    assert signals > 2000, "the lanes never started"


def main():
    from cocotb_tools.runner import get_runner

    build = Path(os.environ.get("OUT", "build")).resolve()
    runner = get_runner("verilator")
    runner.build(
        sources=[HERE.parent / "repeater.sv"],
        hdl_toplevel="repeater",
        build_dir=build,
        build_args=["-Wno-fatal"],
    )
    results = runner.test(
        hdl_toplevel="repeater", test_module="test_repeater", build_dir=build, test_dir=build
    )
    from cocotb_tools.check_results import get_results

    tests, failed = get_results(results)
    print(f"{tests} test, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
