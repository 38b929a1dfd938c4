# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Tables for people: contract/REFERENCE.md."""

from model import ERRNO, LICENCE

INTRO = """\
# Contract reference

Every number of the contract, version {major}.{minor}. The rules in prose are in [README.md](README.md).
All values are little-endian. Bits are numbered from 0, the least significant, and written most significant first.
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


def emit(contract, note):
    lines = [f"<!-- SPDX-License-Identifier: {LICENCE} -->", f"<!-- {note} -->", ""]
    lines.append(INTRO.format(major=contract.major, minor=contract.minor))
    rows = [(f"`{c.name}`", c.value, text(c.doc)) for c in contract.consts]
    magic = ("`CONTRACT_MAGIC`", f"{contract.magic:#x}", "What the register `MAGIC` holds.")
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
    return "\n".join(lines).rstrip("\n") + "\n"
