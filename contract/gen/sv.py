# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""SystemVerilog: rtl/pkg/spfe_pkg.sv."""

import text

KEYWORDS = {"type", "end", "begin", "bit", "byte", "int", "reg", "wire", "logic", "input", "output",
            "priority", "unique", "event", "time", "release", "force", "wait", "packed"}


def ident(name):
    return f"{name}_" if name in KEYWORDS else name


def hexed(value, width):
    return f"{width}'h{value:0{width // 4}x}"


def param(name, value, width, doc):
    return [*text.lines(doc, "  /// "),
            f"  localparam logic [{width - 1}:0] {name} = {hexed(value, width)};"]


def size_param(name, value, doc):
    width = 32 if value < 2**32 else 64  # not int: Icarus 11 has no typed integer parameters
    return [*text.lines(doc, "  /// "),
            f"  localparam logic [{width - 1}:0] {name} = {width}'d{value};"]


def enum(item):
    prefix, rows = item.name.upper(), []
    for index, value in enumerate(item.values):
        comma = "," if index + 1 < len(item.values) else ""
        rows += text.lines(value.doc, "    /// ")
        rows += [f"    {prefix}_{value.name} = {hexed(value.value, item.width)}{comma}"]
    head = f"  typedef enum logic [{item.width - 1}:0] {{"
    return ["", *text.lines(item.doc, "  /// "), head, *rows, f"  }} {item.name}_e;"]


def bits(item):
    lines = ["", *text.lines(f"{item.name}: {item.doc}", "  // ")]
    for field in item.fields:
        name = f"{item.name.upper()}_{field.name}"
        if field.width == 1:
            lines += param(name, field.mask, item.width, field.doc)
        else:
            lines += size_param(f"{name}_SHIFT", field.lsb, f"Lowest bit of {field.name}.")
            lines += param(f"{name}_MASK", field.mask, item.width, f"{field.doc} Mask, in place.")
    return lines


def packed_struct(name, doc, members):
    """A packed struct; members are (width, name, doc), the one in the upper bits first."""
    lines = ["", *text.lines(doc, "  /// "), "  typedef struct packed {"]
    for width, member, meaning in members:
        kind = "logic" if width == 1 else f"logic [{width - 1}:0]"
        lines += [*text.lines(meaning, "    /// "), f"    {kind} {member};"]
    return lines + [f"  }} {name};"]


def words_struct(item):
    members = [(field.width, ident(field.name), field.doc) for field in reversed(item.fields)]
    return packed_struct(f"{item.name}_t", item.doc, members)


def offset_struct(item):
    prefix = item.name.upper()
    lines = ["", *text.lines(f"{item.name}: {item.doc}", "  // ")]
    lines += size_param(f"{prefix}_BYTES", item.size, "Size in bytes.")
    for field in item.fields:
        lines += size_param(f"{prefix}_{field.name.upper()}_OFFSET", field.offset, field.doc)
    return lines


def block(item):
    prefix = f"{item.name.upper()}_BLOCK"
    lines = ["", *text.lines(f"{item.name} block: {item.doc}", "  // ")]
    lines += param(f"{prefix}_TYPE", item.type_value, 16, f"block_type {item.type_name}.")
    lines += param(f"{prefix}_VERSION", item.version, 16, "Version of the block.")
    lines += param(f"{prefix}_SIZE", item.size, 32, "Size in bytes of the block, or of its header if it is an array.")
    if item.stride:
        lines += param(f"{prefix}_STRIDE", item.stride, 32, "Bytes from one element to the next.")
    for register in item.registers:
        doc = f"{register.doc} ({register.access})"
        lines += param(f"{prefix}_{register.name}", register.offset, 32, doc)
    written = sum(1 << register.offset // 4 for register in item.registers
                  if register.access == "rw")
    return lines + param(f"{prefix}_RW_MASK", written, 128,
                         "Words of the block, or of an element, that the host writes: bit N for word N.")


def mib(items):
    lines = ["", "  // Masks of items of the management information base: bit N for item N."]
    for name, chosen, doc in (
        ("RW", lambda m: m.access == "RW", "Items that can be set."),
        ("COMMAND", lambda m: m.access == "COMMAND", "Items that start an action when set to 1."),
        ("LANE", lambda m: m.scope == "LANE", "Items that exist once per lane."),
        ("VC", lambda m: m.scope == "VC", "Items that exist once per virtual channel."),
    ):
        mask = sum(1 << item.value for item in items if chosen(item))
        lines += param(f"MIB_{name}_MASK", mask, 64, doc)
    for bound in ("min", "max"):
        lines += ["", f"  /// {'Smallest' if bound == 'min' else 'Largest'} value of an item that can "
                  "be set; 0 for others.",
                  f"  function automatic logic [63:0] mib_{bound}(input logic [7:0] item);",
                  "    case (item)"]
        lines += [f"      8'd{item.value}: return {hexed(getattr(item, bound), 64)};  // {item.title}"
                  for item in items if item.access != "RO" and getattr(item, bound)]
        lines += ["      default: return 64'd0;", "    endcase", "  endfunction"]
    lines += ["", "  // Ranges of the items that can be set; a link may support less."]
    for item in items:
        if item.access == "RW":
            lines += param(f"MIB_{item.name}_MIN", item.min, 64, f"Smallest value of {item.title}.")
            lines += param(f"MIB_{item.name}_MAX", item.max, 64, f"Largest value of {item.title}.")
    return lines


def checker(contract):
    lines = ["", "/// Stops elaboration if a tool gives a type another size.",
             "module spfe_pkg_check;", "`ifndef __ICARUS__  // Icarus 11 has no elaboration tasks"]
    checks = [(f"{s.name}_t", s.size * 8) for s in contract.structs if s.words]
    checks += [(f"{e.name}_e", e.width) for e in contract.enums]
    for name, width in checks:
        error = f'$error("spfe_pkg::{name} has %0d bits, not {width}", $bits(spfe_pkg::{name}))'
        lines += [f"  if ($bits(spfe_pkg::{name}) != {width}) begin : gen_{name}", f"    {error};"]
        lines.append("  end")
    return lines + ["`endif", "endmodule"]


def emit(contract, note):
    lines = ["// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1", *text.lines(note, "// ")]
    lines += ["/* verilator lint_off UNUSEDPARAM */", "/* verilator lint_off DECLFILENAME */", ""]
    lines += ["/// The spfe contract: constants, enums, ring entries, register offsets."]
    lines += ["package spfe_pkg;"]
    lines += param("CONTRACT_MAGIC", contract.magic, 32, "Value of the register MAGIC.")
    lines += param("CONTRACT_VERSION_MAJOR", contract.major, 16, "Must be equal on both sides.")
    lines += param("CONTRACT_VERSION_MINOR", contract.minor, 16, "A higher minor version only adds to the contract.")
    for item in contract.consts:
        lines += size_param(item.name, item.value, item.doc)
    for item in contract.enums:
        lines += enum(item)
    for item in contract.bits:
        lines += bits(item)
    for item in contract.structs:
        lines += words_struct(item) if item.words else offset_struct(item)
    for item in contract.blocks:
        lines += block(item)
    lines += mib(contract.mib)
    lines += ["endpackage", *checker(contract), ""]
    lines += ["/* verilator lint_on DECLFILENAME */", "/* verilator lint_on UNUSEDPARAM */"]
    return "\n".join(lines) + "\n"
