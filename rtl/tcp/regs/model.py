# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Reads registers.toml and checks it."""

import tomllib
from dataclasses import dataclass

ACCESS = ("const", "build", "rw", "hw", "ext", "wo")
SIGNALS = ("rx", "tx", "eng", "net")
SIZE = 4096


class MapError(Exception):
    """What is wrong with the description."""


@dataclass
class Field:
    """Bits of a register."""
    name: str  # with the register's: as in the generated code
    title: str  # as in the tables; empty: the whole register
    lsb: int
    width: int
    doc: str
    reset: object
    low: object
    high: object

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.lsb


@dataclass
class Register:
    """32 bits at an offset."""
    name: str
    offset: int
    access: str
    doc: str
    lock: bool
    value: int
    fields: list

    @property
    def writable(self):
        return self.access in ("rw", "ext", "wo")

    @property
    def strobe(self):
        return self.access in ("ext", "wo")


@dataclass
class Counter:
    """64 bits at an offset."""
    name: str
    signal: str
    offset: int
    doc: str


@dataclass
class Map:
    """All of it."""
    parameters: list
    registers: list
    counters: list
    counters_doc: str

    @property
    def counters_offset(self):
        return self.counters[0].offset


def fields(row):
    """The fields of a register; one of its own name if none is listed."""
    if row["access"] == "const":
        return []
    if "fields" not in row:
        row = row | {"fields": [row | {"name": "", "lsb": 0}]}
    made = []
    used = 0
    for item in row["fields"]:
        title = item["name"]
        name = "_".join(part for part in (row["name"], title) if part).lower()
        field = Field(name, title, item["lsb"], item["width"], item["doc"],
                      item.get("reset", 0), item.get("min"), item.get("max"))
        if field.mask & used or field.mask >> 32:
            raise MapError(f"{row['name']}.{title}: bits are used twice or above 31")
        used |= field.mask
        made.append(field)
    return made


def parse(text):
    """The map that the description means."""
    data = tomllib.loads(text)
    registers = []
    for row in data["register"]:
        if row["access"] not in ACCESS:
            raise MapError(f"{row['name']}: access is {row['access']}, must be one of {ACCESS}")
        registers.append(Register(row["name"], row["offset"], row["access"], row["doc"],
                                  row.get("lock", False), row.get("value", 0), fields(row)))
    base = data["counters"]["offset"]
    counters = []
    for number, row in enumerate(data["counters"]["list"]):
        group = row["signal"].split(".")[0]
        if group not in SIGNALS and row["signal"] != "event_lost":
            raise MapError(f"counter {row['signal']}: group must be one of {SIGNALS}")
        name = row["signal"].replace(".", "_").upper()
        counters.append(Counter(name, row["signal"], base + 8 * number, row["doc"]))
    taken = {}
    spans = [(r.name, r.offset) for r in registers]
    spans += [(c.name, c.offset + part) for c in counters for part in (0, 4)]
    for name, offset in spans:
        if offset % 4 or not 0 <= offset < SIZE or taken.setdefault(offset, name) != name:
            raise MapError(f"{name}: offset {offset:#x} is used twice, odd, or above {SIZE}")
    return Map(data["parameters"], registers, counters, data["counters"]["doc"])
