# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""The numbers of the contract, read from the tables of REFERENCE.md."""

import re
from collections import namedtuple
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "REFERENCE.md"
Block = namedtuple("Block", "type version size stride registers")
Register = namedtuple("Register", "offset access")
HEADING = re.compile(r"^(##+) (.*)$")
BLOCK = re.compile(r"Type (\d+) \(`\w+`\), version (\d+), (?:header )?0x([0-9a-f]+) bytes"
                   r"(?:, stride 0x([0-9a-f]+))?")


def cells(line):
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split(" | ")]


def number(text):
    return int(text, 0)


class Reference:
    """Constants, enumerations, masks, entries and register blocks, by name."""

    def __init__(self, text):
        self.constants, self.enums, self.bits, self.entries, self.blocks = {}, {}, {}, {}, {}
        section = title = ""
        self.shape = None
        for line in text.splitlines():
            if found := HEADING.match(line):
                level, name = found.groups()
                section, title = (name, "") if level == "##" else (section, name)
            elif found := BLOCK.match(line):
                kind, version, size, stride = found.groups()
                self.blocks[title.removesuffix(" block")] = Block(
                    int(kind), int(version), int(size, 16), int(stride or "0", 16), {})
            elif line.startswith("| ") and not line.startswith("| ---"):
                self.row(section, title, cells(line))

    def row(self, section, title, row):
        if section == "Constants" and row[0] != "name":
            self.constants[row[0]] = number(row[1])
        elif section == "Enumerations" and row[0] != "value":
            self.enums.setdefault(title, {})[row[1]] = number(row[0])
        elif section == "Bit fields" and row[0] != "bits":
            self.bits.setdefault(title, {})[row[1]] = number(row[2])
        elif section == "Ring entries" and row[0] != "word":
            high, _, low = row[1].partition(":")
            field = (int(row[0]), int(low or high), int(high))
            self.entries.setdefault(title, {})[row[2]] = field
        elif section == "Register blocks" and title.endswith(" block") and row[0] != "offset":
            registers = self.blocks[title.removesuffix(" block")].registers
            registers[row[1]] = Register(number(row[0]), row[2])

    def pack(self, entry, **values):
        """The two words of a ring entry."""
        words = [0, 0]
        for name, value in values.items():
            word, low, high = self.entries[entry][name]
            words[word] |= (value & ((1 << (high - low + 1)) - 1)) << low
        return words

    def unpack(self, entry, words):
        return {name: words[word] >> low & ((1 << (high - low + 1)) - 1)
                for name, (word, low, high) in self.entries[entry].items()}

    def field(self, bits, name, value):
        """The value of a bit field in a word."""
        mask = self.bits[bits][name]
        return (value & mask) // (mask & -mask)

    def at(self, bits, name, value):
        """A value at the place of a bit field."""
        mask = self.bits[bits][name]
        return value * (mask & -mask)

    def name(self, enum, value):
        found = [name for name, known in self.enums[enum].items() if known == value]
        return found[0] if found else f"{value:#x}"


def load():
    return Reference(REFERENCE.read_text())
