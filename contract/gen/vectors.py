# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Golden bytes of ring entries: contract/vectors/entries.json.

The bytes come from one sum over bit positions, not from what the emitters write, so that every
language can be held against them. Field values are strings: not every JSON reader has 64 bits.
"""

import json

from model import LICENCE

# One entry of each kind as it would be in a ring; fields that are not named are zero.
TYPICAL = {
    "submission": {"offset": 0x1000, "region": 0x5003, "length": 4096, "flags": 0x0011, "phase": 1},
    "inline_submission": {"data_lo": 0x0807060504030201, "count": 11, "data_hi": 0x0B0A09,
                          "flags": 0x0142, "phase": 2},
    "burst_ext": {"stride": 2048, "count": 64, "flags": 0x0004, "phase": 3},
    "release": {"bytes": 65536, "completions": 4, "flags": 0x0006, "phase": 4},
    "message": {"data": 0x1122334455667788, "channel": 5, "type": 6, "kind": 1, "flags": 0x0007,
                "phase": 5},
    "work_entry": {"address": 0x123456789000, "key": 0x00012ABC, "flags": 0x2478, "phase": 6},
    "operand": {"value": 0x1122334455667788, "immediate": 0xCAFEF00D, "flags": 0x0049, "phase": 7},
    "completion": {"bytes": 4096, "packets": 1, "vc": 3, "position": 41, "flags": 0x0010,
                   "phase": 65535},
}
# Structures that are no single entry, with all their fields.
STRUCTURES = {
    "wide_completion": {"word0": 0x0003000100000015, "word1": 0x0001040000000029,
                        "time": 0x1122334455667788, "data0": 0x0807060504030201,
                        "data1": 0x100F0E0D0C0B0A09, "data2": 0x0000001514131211},
}
PATTERN = bytes(range(0x11, 0x21))


def encode(struct, values):
    total = sum(values[field.name] << field.lsb for field in struct.fields)
    return total.to_bytes(struct.size, "little")


def cut(struct, data):
    """The fields of an entry with these bytes."""
    number = int.from_bytes(data, "little")
    return {f.name: number >> f.lsb & ((1 << f.width) - 1) for f in struct.fields}


def examples(struct):
    zero = {field.name: 0 for field in struct.fields}
    cases = {
        "zero": zero,
        "ones": cut(struct, b"\xff" * struct.size),
        "pattern": cut(struct, PATTERN),
    }
    if struct.name in TYPICAL:
        cases["typical"] = zero | TYPICAL[struct.name]
    return [
        {"name": name, "fields": {k: f"{v:#x}" for k, v in values.items()},
         "hex": encode(struct, values).hex()}
        for name, values in cases.items()
    ]


def structure(struct):
    fields = {field.name: 0 for field in struct.fields} | STRUCTURES[struct.name]
    return {"fields": {k: f"{v:#x}" for k, v in fields.items()},
            "hex": encode(struct, fields).hex()}


def emit(contract, note):
    data = {
        "SPDX-License-Identifier": LICENCE,
        "comment": note,
        "entries": {s.name: examples(s) for s in contract.structs if s.words},
        "structures": {s.name: structure(s) for s in contract.structs if s.name in STRUCTURES},
    }
    return json.dumps(data, indent=2) + "\n"
