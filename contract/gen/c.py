# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""C11 and C++11: the contract for user space and kernel, and the registers of a core."""

import core as core_model
import text
from model import LICENCE

PREAMBLE = """\
#ifndef SPFE_HW_H
#define SPFE_HW_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
typedef __u8 spfe_u8;
typedef __le16 spfe_le16;
typedef __le32 spfe_le32;
typedef __le64 spfe_le64;
#else
#include <stddef.h>
#include <stdint.h>
/* Little-endian in memory. A big-endian host must swap the bytes of each load and store. */
typedef uint8_t spfe_u8;
typedef uint16_t spfe_le16;
typedef uint32_t spfe_le32;
typedef uint64_t spfe_le64;
#endif

#ifdef __cplusplus
#define SPFE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define SPFE_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define SPFE_ALIGNED(bytes) __attribute__((aligned(bytes)))
"""


def literal(value, width):
    suffix = "ULL" if width == 64 else "U"
    return f"0x{value:0{width // 4}x}{suffix}"


def define(name, value, doc=""):
    return (text.block(doc) if doc else []) + [f"#define {name} {value}"]


def enum(item):
    prefix = f"SPFE_{item.name.upper()}"
    lines = ["", *text.block(item.doc), f"enum spfe_{item.name} {{"]
    for value in item.values:
        lines += text.block(value.doc, "\t")
        lines.append(f"\t{prefix}_{value.name} = {value.value:#04x},")
    lines.append("};")
    if item.name == "status":
        lines += ["", *text.block("Every status: X(name, number, class, errno, text).")]
        rows = [
            f'\tX({v.name}, {v.value:#04x}, {v.status_class.upper()}, {v.errno}, '
            f'"{v.doc.replace(chr(34), chr(92) + chr(34))}")'
            for v in item.values
        ]
        lines += ["#define SPFE_STATUS_TABLE(X) \\", " \\\n".join(rows)]
    return lines


def bits(item):
    lines = ["", *text.block(item.doc)]
    for field in item.fields:
        prefix, mask = f"SPFE_{item.name.upper()}_{field.name}", literal(field.mask, item.width)
        if field.width == 1:
            lines += define(prefix, mask, field.doc)
        else:
            lines += define(f"{prefix}_SHIFT", field.lsb, field.doc)
            lines += define(f"{prefix}_MASK", mask)
    return lines


def check_size(item):
    check = f'sizeof(struct spfe_{item.name}) == {item.size}, "size of spfe_{item.name}"'
    return [f"SPFE_STATIC_ASSERT({check});"]


def words_struct(item):
    lines = ["", *text.block(item.doc), f"struct spfe_{item.name} {{", "\tspfe_le64 word0;"]
    lines += ["\tspfe_le64 word1;", "} SPFE_ALIGNED(16);", *check_size(item)]
    for field in item.fields:
        prefix = f"SPFE_{item.name.upper()}_{field.name.upper()}"
        lines += define(f"{prefix}_WORD", field.word, field.doc)
        lines += define(f"{prefix}_SHIFT", field.shift)
        lines += define(f"{prefix}_MASK", literal(field.mask, 64))
    return lines


def offset_struct(item):
    name = f"struct spfe_{item.name}"
    lines = ["", *text.block(item.doc), f"{name} {{"]
    for field in item.fields:
        kind = "spfe_u8" if field.width == 8 else f"spfe_le{field.width}"
        lines += [*text.block(field.doc, "\t"), f"\t{kind} {field.name};"]
    lines += [f"}} SPFE_ALIGNED({item.align});", *check_size(item)]
    for field in item.fields:
        where = f"offsetof({name}, {field.name}) == {field.offset}"
        lines.append(f'SPFE_STATIC_ASSERT({where}, "offset of {item.name}.{field.name}");')
    return lines


def block(item):
    prefix = f"SPFE_{item.name.upper()}_BLOCK"
    lines = ["", *text.block(item.doc), *define(f"{prefix}_TYPE", item.type_value)]
    lines += define(f"{prefix}_VERSION", item.version)
    lines += define(f"{prefix}_SIZE", literal(item.size, 32))
    if item.stride:
        lines += define(f"{prefix}_STRIDE", literal(item.stride, 32))
    for register in item.registers:
        doc = f"{register.doc} ({register.access})"
        lines += define(f"{prefix}_{register.name}", literal(register.offset, 32), doc)
    return lines


def mib(items):
    head = "Every item: X(name, number, layer, kind, access, scope, min, max, unit, title)."
    rows = [
        f"\tX({m.name}, {m.value}, {m.layer}, {m.kind}, {m.access}, {m.scope}, "
        f'{literal(m.min, 64)}, {literal(m.max, 64)}, "{m.unit}", "{m.title}")'
        for m in items
    ]
    return ["", *text.block(head), "#define SPFE_MIB_TABLE(X) \\", " \\\n".join(rows)]


def emit(contract, note):
    lines = [f"/* SPDX-License-Identifier: {LICENCE} */", *text.block(note), PREAMBLE]
    lines += define("SPFE_CONTRACT_MAGIC", literal(contract.magic, 32))
    lines += define("SPFE_CONTRACT_VERSION_MAJOR", contract.major)
    lines += define("SPFE_CONTRACT_VERSION_MINOR", contract.minor)
    for item in contract.consts:
        value = f"{item.value}U" if item.value < 2**32 else f"{item.value:#x}ULL"
        lines += define(f"SPFE_{item.name}", value, item.doc)
    for item in contract.enums:
        lines += enum(item)
    for item in contract.bits:
        lines += bits(item)
    for item in contract.structs:
        lines += words_struct(item) if item.words else offset_struct(item)
    for item in contract.blocks:
        lines += block(item)
    lines += mib(contract.mib)
    return "\n".join([*lines, "", "#endif", ""])


def emit_core(core, note):
    """The registers of a core."""
    prefix = f"SPFE_{core.name.upper()}"
    guard = f"{prefix}_{core.block.name.upper()}_H"
    lines = ["/* SPDX-License-Identifier: MIT OR Apache-2.0 */", *text.block(note),
             f"#ifndef {guard}", f"#define {guard}", ""]
    for name, value, doc in core_model.constants(core):
        number = str(value) if name.endswith("_SHIFT") else f"0x{value:08X}U"
        lines += define(f"{prefix}_{name}", number, doc)
    return "\n".join([*lines, "", "#endif", ""])
