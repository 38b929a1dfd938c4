# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the resources of a mapped netlist, from the numbers of cells that Yosys reports."""

import re

# Look-up tables that distributed memory takes, by cell (UltraScale: UG574, table of primitives).
LUTRAM_LUTS = {
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
    "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8, "RAM64X8SW": 8, "RAM32X16DR8": 8,
}
IGNORED = re.compile(r"^(GND|VCC|BUFG|[IO]BUF|\$scopeinfo|\$print|\$check)")


class UnknownCell(ValueError):
    """A kind of cell that no figure includes."""


def xcup(cells):
    """Figures of an UltraScale+ netlist; `lut_total` counts all look-up tables before packing."""
    counted = {"lut": {f"LUT{size}": 0 for size in range(1, 7)}, "inv": 0, "srl": 0,
               "lutram": {"cells": 0, "luts": 0}, "muxf": 0, "ff": 0,
               "bram36": 0, "bram18": 0, "uram": 0, "dsp": 0, "carry4": 0, "carry8": 0}
    for cell, number in cells.items():
        if cell in counted["lut"]:
            counted["lut"][cell] += number
        elif cell == "INV":
            counted["inv"] += number
        elif cell in LUTRAM_LUTS:
            counted["lutram"]["cells"] += number
            counted["lutram"]["luts"] += number * LUTRAM_LUTS[cell]
        elif cell in ("SRL16E", "SRLC16E", "SRLC32E"):
            counted["srl"] += number
        elif re.fullmatch(r"MUXF[789]", cell):
            counted["muxf"] += number
        elif re.fullmatch(r"FD[RSCP]E(_1)?|LD[CP]E", cell):
            counted["ff"] += number
        elif cell.startswith("RAMB36"):
            counted["bram36"] += number
        elif cell.startswith("RAMB18"):
            counted["bram18"] += number
        elif cell.startswith("URAM"):
            counted["uram"] += number
        elif cell.startswith("DSP48"):
            counted["dsp"] += number
        elif cell in ("CARRY4", "CARRY8"):
            counted[cell.lower()] += number
        elif not IGNORED.match(cell):
            raise UnknownCell(f"{number} cells {cell}")
    counted["lut_total"] = (sum(counted["lut"].values()) + counted["inv"] + counted["srl"]
                            + counted["lutram"]["luts"])
    return counted


def ecp5(cells):
    """Figures of an ECP5 netlist; `lut4_total` counts a carry cell as two and a memory as four."""
    counted = {"lut4": 0, "pfumx": 0, "l6mux21": 0, "ccu2c": 0, "lutram_cells": 0, "ff": 0,
               "dp16kd": 0, "mult18": 0}
    names = {"LUT4": "lut4", "PFUMX": "pfumx", "L6MUX21": "l6mux21", "CCU2C": "ccu2c",
             "TRELLIS_DPR16X4": "lutram_cells", "TRELLIS_FF": "ff", "DP16KD": "dp16kd",
             "PDPW16KD": "dp16kd", "MULT18X18D": "mult18"}
    for cell, number in cells.items():
        if cell in names:
            counted[names[cell]] += number
        elif not IGNORED.match(cell):
            raise UnknownCell(f"{number} cells {cell}")
    counted["lut4_total"] = (counted["lut4"] + 2 * counted["ccu2c"]
                             + 4 * counted["lutram_cells"])
    return counted


def cells(stat):
    """Numbers of cells by name, from the output of `stat -json`."""
    module, = stat["modules"].values()
    return {name.lstrip("\\"): number for name, number in module["num_cells_by_type"].items()}
