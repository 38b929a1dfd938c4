# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Tables for people: contract/REFERENCE.md, and the registers of a core."""

from model import ERRNO, LICENCE

INTRO = """\
# Contract reference

Every number of the contract, version {major}.{minor}. [README.md](README.md) has the rules in prose.
All values are little-endian. Bit 0 is the least significant bit; ranges name the highest bit first.
"""


def text(value):
    for mark in ("|", "<", ">", "*"):
        value = value.replace(mark, "\\" + mark)
    return value


def table(head, rows):
    lines = ["", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def section(item, note=""):
    return [f"### {item.name}", "", text(item.doc) + note]


def span(field, lsb):
    return str(lsb) if field.width == 1 else f"{lsb + field.width - 1}:{lsb}"


def enum(item):
    lines = section(item, f" Type u{item.width}.")
    if item.name != "status":
        rows = [(v.value, f"`{v.name}`", text(v.doc)) for v in item.values]
        return lines + table(("value", "name", "meaning"), rows)
    rows = [
        (f"{v.value:#04x}", f"`{v.name}`", v.status_class,
         f"{v.errno} ({ERRNO[v.errno]})" if ERRNO[v.errno] else "none", text(v.doc))
        for v in item.values
    ]
    return lines + table(("value", "name", "class", "errno", "meaning"), rows)


def bits(item):
    rows = [
        (span(f, f.lsb), f"`{f.name}`", f"0x{f.mask:0{item.width // 4}x}", text(f.doc))
        for f in reversed(item.fields)
    ]
    return section(item, f" Type u{item.width}.") + table(("bits", "name", "mask", "meaning"), rows)


def struct(item):
    if not item.words:
        lines = section(item, f" {item.size} bytes, aligned to {item.align}.")
        rows = [(f.offset, f"`{f.name}`", f"u{f.width}", text(f.doc)) for f in item.fields]
        return lines + table(("offset", "field", "type", "meaning"), rows)
    rows = [
        (f.word, span(f, f.shift), f"`{f.name}`", f"u{f.type_width}", text(f.doc))
        for f in sorted(item.fields, key=lambda f: (f.word, -f.shift))
    ]
    return section(item) + table(("word", "bits", "field", "type", "meaning"), rows)


def block(item):
    lines = [f"### {item.name} block", "", text(item.doc), ""]
    facts = f"Type {item.type_value} (`{item.type_name}`), version {item.version}, "
    if item.stride:
        lines.append(f"{facts}header {item.size:#x} bytes, stride {item.stride:#x}. "
                     "Offsets are from the start of an element.")
    else:
        lines.append(f"{facts}{item.size:#x} bytes. Offsets are from the start of the block.")
    rows = [
        (f"0x{r.offset:02x}", f"`{r.name}`", r.access, text(r.doc))
        for r in sorted(item.registers, key=lambda r: r.offset)
    ]
    return lines + table(("offset", "register", "access", "meaning"), rows)


MIB = """\
The parameters (table 5-36), statuses and errors (table 5-37) of ECSS-E-ST-50-11C for one end of a
link, under the names of the standard. `offset` is the offset of the 64-bit value in an element of
the mib block. A link may support a smaller range; it then refuses other values and names its range.
"""
MIB_LAYER = {"NETWORK": "network", "DATA_LINK": "data link", "MULTI_LANE": "multi-lane",
             "LANE": "lane", "PHYSICAL": "physical"}
MIB_ACCESS = {"RO": "ro", "RW": "rw", "COMMAND": "command"}
MIB_SCOPE = {"LINK": "link", "LANE": "lane", "VC": "VC"}


def mib(items, value_bytes):
    rows = []
    for item in items:
        big = f"{item.max:#x}" if item.max > 65535 else item.max
        meaning = text(item.doc)
        if item.values:
            names = (f"{number} {name}" for number, name in enumerate(item.values))
            meaning = f"{', '.join(names)}."
        rows.append((
            item.value, f"0x{item.value * value_bytes:03x}", item.title, f"`{item.name}`",
            MIB_LAYER[item.layer], "5-36" if item.kind == "PARAMETER" else "5-37",
            item.kind.lower(), MIB_ACCESS[item.access], MIB_SCOPE[item.scope],
            f"{item.min} to {big}", item.unit, meaning))
    head = ("item", "offset", "name", "identifier", "layer", "table", "kind", "access", "per",
            "range", "unit", "meaning")
    return ["## Management information base", "", MIB, *table(head, rows)[1:]]


def emit(contract, note):
    lines = [f"<!-- SPDX-License-Identifier: {LICENCE} -->", f"<!-- {note} -->", ""]
    lines.append(INTRO.format(major=contract.major, minor=contract.minor))
    rows = [(f"`{c.name}`", c.value, text(c.doc)) for c in contract.consts]
    magic = ("`CONTRACT_MAGIC`", f"{contract.magic:#x}", "Value of the register `MAGIC`.")
    lines += ["## Constants", *table(("name", "value", "meaning"), [magic, *rows])]
    for title, emitter, items in (
        ("Enumerations", enum, contract.enums),
        ("Bit fields", bits, contract.bits),
        ("Ring entries", struct, [s for s in contract.structs if s.words]),
        ("Other structures in memory", struct, [s for s in contract.structs if not s.words]),
        ("Register blocks", block, contract.blocks),
    ):
        lines += [f"## {title}", ""]
        for item in items:
            lines += emitter(item)
    sizes = [item.value for item in contract.consts if item.name == "MIB_VALUE_BYTES"]
    lines += mib(contract.mib, *sizes)
    return "\n".join(lines).rstrip("\n") + "\n"


CORE_ACCESS = {"ro": "read", "rw": "read, write", "wo": "write"}


def limits(field):
    """The range that a field of a core accepts, if it is not all its bits can hold."""
    if field.low is None and field.high is None:
        return ""
    low = 0 if field.low is None else field.low
    return f"{low} to {(1 << field.width) - 1 if field.high is None else field.high}"


def core_fields(register):
    return [
        (f"`{register.name}`", span(f, f.lsb), f"`{f.title}`" if f.title else "",
         f.reset if register.stored else "", limits(f), text(f.doc) if f.title else "")
        for f in register.fields
    ]


def emit_core(core, note):
    """The registers of a core."""
    block = core.block
    lines = ["<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->", f"<!-- {note} -->", ""]
    lines += [f"# Registers of the {core.title}", "", core.intro]
    rows = [
        (f"0x{r.offset:03X}", f"`{r.name}`", CORE_ACCESS[r.access] + (f", locked: {r.lock}" if r.lock else ""),
         text(r.doc))
        for r in block.registers
    ]
    lines += table(("offset", "register", "access", "meaning"), rows)
    rows = [row for register in block.registers for row in core_fields(register)]
    lines += ["## Fields", *table(("register", "bits", "field", "reset", "range", "meaning"), rows)]
    rows = [(f"0x{c.offset:03X}", f"`{c.signal}`", text(c.doc)) for c in block.counters]
    lines += ["## Counters", "", text(block.counters_doc)]
    lines += table(("offset", "counter", "meaning"), rows)
    return "\n".join(lines).rstrip("\n") + "\n"
