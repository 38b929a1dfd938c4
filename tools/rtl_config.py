#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Configurations of the endpoint core: one TOML file each, rtl/config/NAME.toml, from which the top
rtl/config/spfe_core_NAME.sv is made (docs/endpoint-core.md, "Configurations").

    rtl_config.py [check]        checks all files, and that the tops are those that "write" would make
    rtl_config.py write          makes the tops
    rtl_config.py top FILE       prints the top of a file, for a configuration outside this tree
    rtl_config.py model NAME     prints the arguments of tools/rtl_model.sh for a simulated core
    rtl_config.py device NAME    prints the options of its device name rtl:

Prints what is wrong, with the file and the key, and exits with 1.
"""

import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

CONFIGS = Path(__file__).resolve().parent.parent / "rtl" / "config"
PROTECT = ("none", "parity", "secded")
SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
WORDS = {"spacefibre": {"lanes": (1, 4), "channels": (1, 32)},
         "spacewire": {"bit_cycles": (1, 255)}}


class Wrong(Exception):
    """A configuration that no core can have; the text says why, and what to do."""


class Reader:
    """A table of the file. Each key is taken once; what is left at the end is unknown."""

    def __init__(self, table, place):
        self.table, self.place = dict(table), place

    def wrong(self, key, what):
        """The error about a key."""
        return Wrong(f"{self.place}.{key}: {what}")

    def number(self, key, default, least, most):
        """A number within limits. Without a default the key has to be there."""
        value = self.table.pop(key, default)
        if value is None:
            raise self.wrong(key, f"is missing; {least} to {most} allowed")
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(key, f"{value!r}; {least} to {most} allowed")
        return value

    def choice(self, key, default, allowed):
        """One of some words."""
        value = self.table.pop(key, default)
        if value not in allowed:
            raise self.wrong(key, f"{value!r}; allowed: {', '.join(allowed)}")
        return value

    def flag(self, key, default):
        """true or false."""
        value = self.table.pop(key, default)
        if type(value) is not bool:
            raise self.wrong(key, f"{value!r}; true or false allowed")
        return value

    def size(self, key):
        """Bytes: a number, or a text such as 64K."""
        value = self.table.pop(key, None)
        if isinstance(value, str) and value[:-1].isdigit() and value[-1] in SIZES:
            value = int(value[:-1]) * SIZES[value[-1]]
        if type(value) is not int or not 1 <= value < 1 << 63:
            raise self.wrong(key, f"{value!r}; bytes, or a text such as \"64K\"")
        return value

    def tables(self, key):
        """The tables of an array."""
        value = self.table.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            raise self.wrong(key, f"has to be [[{key}]]")
        return [Reader(part, f"{self.place}.{key}[{index}]") for index, part in enumerate(value)]

    def end(self):
        """All keys are known."""
        if self.table:
            raise Wrong(f"{self.place}: unknown: {', '.join(sorted(self.table))}")


class Region(NamedTuple):
    """An entry of the target's table that is there from power-up on."""

    key: int
    base: int
    bytes: int
    memory: int
    rights: str
    notify: bool
    hidden: bool
    initiators: list


class Target(NamedTuple):
    """The target of RDMA."""

    port: int
    channel: int
    protocol: int
    address: int
    entries: int
    segment: int
    notes: int
    identity: tuple
    regions: list
    rmap: "Rmap | None"


class Rmap(NamedTuple):
    """RMAP on the target. `key` is None if any key is right."""

    key: int | None
    absolute: bool


class Pair(NamedTuple):
    """Where the queue pair of RDMA is."""

    port: int
    channel: int


class Config(NamedTuple):
    """A core. `kinds` are those of its ports, SpaceFibre first."""

    name: str
    kinds: list
    lanes: int
    channels: int
    bit_cycles: int
    core: dict
    queues: bool
    protect: int
    target: Target | None
    pair: Pair | None


def same(ports, kind, key, default):
    """The value of a key that all ports of a kind share."""
    found = {port.number(key, None, *WORDS[kind][key]) for kind_of, port in ports if kind_of == kind}
    if len(found) > 1:
        raise Wrong(f"port: {key} of the {kind} ports are {sorted(found)}; they share one value")
    return found.pop() if found else default


def read_region(reader, index):
    """An entry of the target's table."""
    key = reader.number("key", None, 0, (1 << 32) - 1)
    if key >> 12 != index:
        raise reader.wrong("key", f"{key:#x}; bits 31:12 are the number of the entry, {index}")
    base, memory = (reader.number(name, 0, 0, (1 << 64) - 1) for name in ("base", "memory"))
    size, rights = reader.size("size"), reader.table.pop("rights", "rw")
    if not isinstance(rights, str) or not rights or set(rights) - set("rwa"):
        raise reader.wrong("rights", f"{rights!r}; some of r, w and a allowed")
    for name, start in (("base", base), ("memory", memory)):
        if start + size > 1 << 64:
            raise reader.wrong(name, f"{start:#x}; {size} bytes reach beyond 64 bits")
    initiators = reader.table.pop("initiators", [])
    good = isinstance(initiators, list) and len(initiators) <= 4
    if not good or not all(type(one) is int and 0 <= one <= 255 for one in initiators):
        raise reader.wrong("initiators", f"{initiators!r}; up to 4 logical addresses")
    region = Region(key, base, size, memory, rights, reader.flag("notify", False),
                    reader.flag("hidden", False), initiators)
    reader.end()
    return region


def read_place(reader, kinds, channels):
    """Port and channel."""
    port = reader.number("port", 0, 0, len(kinds) - 1)
    last = channels - 1 if kinds[port] == "spacefibre" else 0
    return port, reader.number("channel", 0, 0, last)


def read_pair(reader, kinds, channels, target, queues):
    """The queue pair of RDMA."""
    place = read_place(reader, kinds, channels)
    if target and place == (target.port, target.channel):
        raise reader.wrong("channel", f"{place[1]}; that of the target, which takes its packets")
    if not queues:
        raise Wrong(f"{reader.place}: a queue pair has a queue; core.queues is false")
    reader.end()
    return Pair(*place)


def read_target(reader, kinds, channels):
    """The target of RDMA."""
    port, channel = read_place(reader, kinds, channels)
    protocol = reader.number("protocol", 0xf0, 0xf0, 0xfe)
    address = reader.number("logical_address", 0xfe, 0x20, 0xff)
    entries = reader.number("entries", 4, 2, 128)
    segment = reader.number("segment", 4096, 256, 65536)
    notes = reader.number("notifications", 4, 0, 128)
    for key, value in ("segment", segment), ("notifications", notes):
        if value == 1 or value & (value - 1):
            raise reader.wrong(key, f"{value}; a power of two is possible")
    identity = tuple(reader.number(key, 0, 0, (1 << 32) - 1)
                     for key in ("vendor", "device", "serial"))
    regions = [read_region(part, index) for index, part in enumerate(reader.tables("region"))]
    if len(regions) > entries:
        raise reader.wrong("region", f"{len(regions)} regions; the table has {entries} entries")
    rmap = reader.table.pop("rmap", None)
    rmap = rmap if rmap is None else read_rmap(Reader(rmap, f"{reader.place}.rmap"))
    reader.end()
    return Target(port, channel, protocol, address, entries, segment, notes, identity, regions,
                  rmap)


def read_rmap(reader):
    """RMAP on the target."""
    key = reader.number("key", None, 0, 0xff) if "key" in reader.table else None
    absolute = reader.choice("addressing", "region", ("region", "absolute")) == "absolute"
    reader.end()
    return Rmap(key, absolute)


def read(path):
    """The configuration in a file. Raises Wrong."""
    try:
        whole = Reader(tomllib.loads(path.read_text()), path.name)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Wrong(f"{path}: {error}") from error
    if not path.stem.isidentifier() or path.stem != path.stem.lower():
        raise Wrong(f"{path.name}: the name of the file becomes that of a module: a to z, 0 to 9, _")
    ports = [(port.choice("kind", None, tuple(WORDS)), port) for port in whole.tables("port")]
    kinds = [kind for kind, _ in ports]
    if not 1 <= len(kinds) <= 8:
        raise Wrong(f"{path.name}.port: {len(kinds)} ports; 1 to 8 allowed")
    if kinds != sorted(kinds):
        raise Wrong(f"{path.name}.port: SpaceWire ports come after the SpaceFibre ports")
    lanes, channels = same(ports, "spacefibre", "lanes", 1), same(ports, "spacefibre", "channels", 1)
    if lanes == 3:
        raise Wrong(f"{path.name}.port: lanes: 3; 1, 2 or 4 allowed")
    bit_cycles = same(ports, "spacewire", "bit_cycles", 2)
    for _, port in ports:
        port.end()
    core = Reader(whole.table.pop("core", {}), f"{path.name}.core")
    values = {"Regions": core.number("regions", 64, 2, 4096),
              "Events": core.number("events", 16, 2, 512),
              "Pages": core.number("pages", 1024, 2, 65536),
              "CyclePs": core.number("cycle_ps", 6400, 1000, 20000),
              "LaneRateMbps": core.number("lane_rate_mbps", 6250, 1, 100000)}
    queues = core.flag("queues", True)
    protect = PROTECT.index(core.choice("protect", "none", PROTECT))
    core.end()
    target = whole.table.pop("target", None)
    if target is not None:
        target = read_target(Reader(target, f"{path.name}.target"), kinds, channels)
    pair = whole.table.pop("pair", None)
    if pair is not None:
        pair = read_pair(Reader(pair, f"{path.name}.pair"), kinds, channels, target, queues)
    if "rmap" in whole.table:
        raise Wrong(f"{path.name}.rmap: RMAP belongs to a target; write [target.rmap]")
    if target is None and not queues:
        raise Wrong(f"{path.name}: neither queues nor a target: nothing would move data")
    whole.end()
    return Config(path.stem, kinds, lanes, channels, bit_cycles, values, queues, protect, target,
                  pair)


def region_text(number, region):
    """An entry of the table as a parameter."""
    flags = {"read": "r" in region.rights, "write": "w" in region.rights,
             "atomic": "a" in region.rights, "notify": region.notify, "hidden": region.hidden,
             "listed": bool(region.initiators)}
    padded = (region.initiators + region.initiators[:1] * 4)[:4]
    listed = "".join(f"{one:02x}" for one in reversed(padded)) or "0"
    lines = [f"key: 32'h{region.key:x}", f"base: 64'h{region.base:x}",
             f"bytes: 64'h{region.bytes:x}", f"memory: 64'h{region.memory:x}",
             *(f"{name}: 1'b{int(on)}" for name, on in flags.items()),
             f"initiators: 32'h{listed}"]
    body = ",\n".join(f"    {line}" for line in lines)
    return f"  localparam spfe_rdma_pkg::region_t Region{number} = '{{\n{body}\n  }};\n"


def rmap_lines(rmap):
    """The fields of the target about RMAP."""
    if rmap is None:
        return ["rmap: 1'b0", "rmap_settings: '0"]
    key = rmap.key or 0
    return ["rmap: 1'b1", f"rmap_settings: '{{any_key: 1'b{int(rmap.key is None)}, key: 8'h{key:x}, "
            f"absolute: 1'b{int(rmap.absolute)}}}"]


def target_text(target):
    """The parameters of the target, and those of the core that name them."""
    fields = {"entries": target.entries, "fixed": len(target.regions), "port": target.port,
              "vc": target.channel, "protocol": target.protocol, "address": target.address}
    lines = [*(f"{name}: 8'd{value}" for name, value in fields.items()),
             f"segment_log2: 5'd{target.segment.bit_length() - 1}", f"notes: 8'd{target.notes}",
             *rmap_lines(target.rmap)]
    body = ",\n".join(f"    {line}" for line in lines)
    text = f"  localparam target_t Target = '{{\n{body}\n  }};\n"
    text += "".join(region_text(*pair) for pair in enumerate(target.regions))
    identity = "_".join(f"{part:08x}" for part in target.identity)
    given = {"Target": "Target", "TargetIdentity": f"96'h{identity}"}
    if target.regions:
        names = ", ".join(f"Region{number}" for number in reversed(range(len(target.regions))))
        given |= {"TargetEntries": len(target.regions), "TargetTable": f"{{{names}}}"}
    return text, given


def top(config):
    """The text of the top."""
    ports, wires = len(config.kinds), config.kinds.count("spacewire")
    constants = {"Ports": ports, "Lanes": config.lanes, "Events": config.core["Events"]}
    text, given = target_text(config.target) if config.target else ("", {})
    given = {"Ports": "Ports", "Wires": wires, "Lanes": "Lanes", "Vcs": config.channels,
             **config.core, "Events": "Events", "WireBitCycles": config.bit_cycles,
             "Protect": config.protect, "HasQueues": f"1'b{int(config.queues)}", **given}
    pairs = "NoPairs"
    if config.pair:
        pairs = "Pairs"
        given["Pairs"] = pairs
        text += ("  localparam pairs_t Pairs = '{\n    count: 8'd1,\n"
                 f"    port: 8'd{config.pair.port},\n    vc: 8'd{config.pair.channel}\n  }};\n")
    shape = {"target": "Target" if config.target else "NoTarget", "pairs": pairs,
             "ports": f"8'd{ports}",
             "wires": f"8'd{wires}", "lanes": f"8'd{config.lanes}", "vcs": f"8'd{config.channels}",
             "regions": f"16'd{config.core['Regions']}", "events": f"16'd{config.core['Events']}"}
    constants = "".join(f"  localparam int unsigned {name} = {value};\n"
                        for name, value in constants.items())
    listed = ",\n".join(f"    .{name}({value})" for name, value in given.items())
    shape = ",\n".join(f"    {name}: {value}" for name, value in shape.items())
    ports = (CONFIGS.parent / "endpoint" / "spfe_endpoint.sv").read_text()
    ports = ports[ports.index("\n) (\n") + len("\n) (\n"):ports.index("\n);\n")]
    ports = ports.replace("[EventWidth-1:0]", "[$clog2(Events)-1:0]")
    ports = ports.replace("[AddrWidth-1:0]", "[space_log2(Shape)-1:0]")
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from rtl/config/{config.name}.toml by tools/rtl_config.py write.

/// The endpoint core with the parameters of rtl/config/{config.name}.toml; see spfe_endpoint.
module spfe_core_{config.name}
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_sf_pkg::*;
#(
{constants.replace(";", ",")}{text.replace(";", ",")}  localparam shape_t Shape = '{{
{shape}
  }}
) (
{ports}
);
  spfe_endpoint #(
{listed}
  ) i_endpoint (
    .*
  );
endmodule
"""


def model(config):
    """Arguments of tools/rtl_model.sh. A simulated target has the memory of the simulation, and a
    simulated queue pair is on channel 0 of port 0."""
    wires = config.kinds.count("spacewire")
    return " ".join([str(len(config.kinds)), str(config.lanes), str(config.channels),
                     *([f"wires={wires}"] if wires else []),
                     *(["pair"] if config.pair else [] if config.queues else ["target"])])


def device(config):
    """Options of the device name of a simulated core."""
    wires = config.kinds.count("spacewire")
    return (f"ports={len(config.kinds) - wires}&spwports={wires}&lanes={config.lanes}"
            f"&vcs={config.channels}{'&pairs=1' if config.pair else ''}")


def every(write):
    """Checks all configurations, or writes their tops. Returns whether all is well."""
    known, good = set(), True
    for path in sorted(CONFIGS.glob("*.toml")):
        try:
            text = top(read(path))
        except Wrong as error:
            print(f"rtl_config: {error}", file=sys.stderr)
            good = False
            continue
        made = CONFIGS / f"spfe_core_{path.stem}.sv"
        known.add(made)
        if write:
            made.write_text(text)
        elif not made.exists() or made.read_text() != text:
            print(f"rtl_config: {made.name} is not that of {path.name}; run: "
                  "tools/rtl_config.py write", file=sys.stderr)
            good = False
    for stray in set(CONFIGS.glob("*.sv")) - known:
        print(f"rtl_config: {stray.name} has no configuration; remove it", file=sys.stderr)
        good = False
    return good


def main(arguments):
    """Command line; returns the exit code."""
    command, *names = arguments or ["check"]
    if command in ("check", "write") and not names:
        return 0 if every(command == "write") else 1
    makers = {"top": top, "model": model, "device": device}
    if command not in makers or len(names) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(names[0]) if command == "top" else CONFIGS / f"{names[0]}.toml"
    try:
        print(makers[command](read(path)), end="" if command == "top" else "\n")
    except Wrong as error:
        print(f"rtl_config: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
