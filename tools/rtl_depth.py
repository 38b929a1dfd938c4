# SPDX-License-Identifier: MIT OR Apache-2.0
"""The longest chain of logic in a netlist of UltraScale+ cells.

A look-up table, a read of distributed memory and a carry chain of any length count one each; wide
multiplexers and inverters are beside a table and count nothing. Chains begin and end at inputs,
outputs and clocked cells. This is neither a delay nor a clock rate: wires are most of that.
"""

import re

PRIMARY = re.compile(r"LUT[1-6]|MUXF[789]|INV")
MEMORY = re.compile(r"RAM\d+(M\d*|X.*)")
SHIFT = re.compile(r"SRL\w+")


def passes(kind, port, output):
    """Whether an output of this kind of cell depends combinationally on this input."""
    if PRIMARY.fullmatch(kind) or kind.startswith("CARRY"):
        return True
    if SHIFT.fullmatch(kind):
        return port.startswith("A")
    if MEMORY.fullmatch(kind):
        if output.startswith("DO") and port.startswith("ADDR"):
            return output[2:3] == port[4:5] or len(output) == 2
        if output == "DPO":
            return port.startswith("DPRA")
        return port.startswith("A") and not port.startswith("ADDR")
    return False


def cost(kind, port, driver):
    """Levels that a cell adds to a chain; `driver` is the kind of cell at its input."""
    if kind.startswith(("MUXF", "INV")):
        return 0
    if kind.startswith("CARRY") and port in ("CI", "CI_TOP") and driver.startswith("CARRY"):
        return 0
    return 1


def split(cell):
    """Inputs and outputs of a cell, by port, as lists of bits."""
    ports = {False: {}, True: {}}
    for port, bits in cell["connections"].items():
        ports[cell["port_directions"][port] == "output"][port] = bits
    return ports[False], ports[True]


def arcs(module):
    """For each output bit of logic, the pairs (input bit, levels) that it depends on."""
    driver, found = {}, {}
    for cell in module["cells"].values():
        for bits in split(cell)[1].values():
            driver.update({bit: cell["type"] for bit in bits})
    for cell in module["cells"].values():
        kind = cell["type"]
        inputs, outputs = split(cell)
        for output, output_bits in outputs.items():
            before = {bit: cost(kind, port, driver.get(bit, ""))
                      for port, bits in inputs.items() if passes(kind, port, output)
                      for bit in bits if isinstance(bit, int)}
            if before:
                found.update({bit: before for bit in output_bits})
    return found


def depths(found):
    """The longest chain to each output bit of logic, and the bit before it."""
    done, onward = {}, {}
    for start in found:
        stack = [start]
        while stack:
            bit = stack[-1]
            if bit in done:
                stack.pop()
                continue
            missing = [before for before in found[bit] if before in found and before not in done]
            if not missing:
                depth, last = max((done.get(before, 0) + grown, before)
                                  for before, grown in found[bit].items())
                done[bit], onward[bit] = depth, last
                stack.pop()
            elif len(stack) > len(found):
                raise ValueError("the netlist has a loop of logic")
            else:
                stack.append(missing[0])
    return done, onward


def longest(module):
    """Length of the longest chain, and the names of its first and last signal."""
    done, onward = depths(arcs(module))
    if not done:
        return 0, None, None
    names = {}
    for name, net in module["netnames"].items():
        for index, bit in enumerate(net["bits"]):
            if isinstance(bit, int) and (bit not in names or not net.get("hide_name")):
                names[bit] = f"{name}[{index}]" if len(net["bits"]) > 1 else name
    after = {}
    for cell in module["cells"].values():
        inputs, outputs = split(cell)
        if cell["type"].startswith("FD"):
            for bits in inputs.values():
                after.update({bit: outputs["Q"][0] for bit in bits})
    end = max(done, key=lambda bit: done[bit])
    begin = end
    while begin in onward:
        begin = onward[begin]
    return done[end], names.get(begin), names.get(after.get(end, end))
