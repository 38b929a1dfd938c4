# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Rust: crates/spfe-contract/src/generated.rs and rdma.rs, and the registers of a core."""

import core as core_model
import text
from model import CLASSES, ERRNO

KEYWORDS = {"type", "match", "ref", "move", "fn", "use", "in", "loop", "mod", "where", "box"}
CLASS_DOC = {
    "ok": "No error.",
    "local": "Cause: the host, its device or its daemon.",
    "remote": "Cause: the far end.",
    "link": "Cause: the link between the two ends.",
    "usage": "Cause: the submission itself. It would fail again.",
}
DERIVE = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]"
DERIVE_STRUCT = "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]"


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def ident(name):
    return f"r#{name}" if name in KEYWORDS else name


def literal(value):
    return str(value) if value < 10 else f"{value:#x}"


def const(name, kind, value, doc, indent=""):
    return [*text.lines(doc, f"{indent}/// "), f"{indent}pub const {name}: {kind} = {value};"]


def matches(contract_enum, result, signature, doc):
    """A function of an enum that is one match; variants with one result share an arm."""
    arms = {}
    for value in contract_enum.values:
        arms.setdefault(result(value), []).append(f"Self::{camel(value.name)}")
    lines = ["", *text.lines(doc, "    /// "), f"    pub const fn {signature} {{"]
    lines.append("        match self {")
    for value, variants in arms.items():
        lines.append(f"            {' | '.join(variants)} => {value},")
    return lines + ["        }", "    }"]


def enum(item):
    kind, name = f"u{item.width}", camel(item.name)
    lines = ["", *text.lines(item.doc, "/// "), f"#[repr({kind})]", DERIVE, f"pub enum {name} {{"]
    for value in item.values:
        lines += text.lines(value.doc, "    /// ")
        lines.append(f"    {camel(value.name)} = {literal(value.value)},")
    lines += ["}", "", f"impl {name} {{", "    /// All values, in the order of the contract."]
    lines.append("    pub const ALL: &[Self] = &[")
    values = " ".join(f"Self::{camel(value.name)}," for value in item.values)
    lines += text.lines(values, "        ")
    lines += ["    ];", "", "    /// The value with this number, if there is one."]
    lines += [f"    pub const fn from_raw(v: {kind}) -> Option<Self> {{", "        match v {"]
    for value in item.values:
        lines.append(f"            {literal(value.value)} => Some(Self::{camel(value.name)}),")
    lines += ["            _ => None,", "        }", "    }", "", "    /// Number of the value."]
    lines += [f"    pub const fn raw(self) -> {kind} {{", f"        self as {kind}", "    }"]
    lines += matches(item, lambda v: f'"{v.name}"', "name(self) -> &'static str",
                     "Name in the contract.")
    if item.name == "status":
        lines += status(item)
    return lines + ["}"]


def status(item):
    def quoted(value):
        return '"' + value.doc.replace('"', '\\"') + '"'

    return (
        matches(item, lambda v: f"StatusClass::{camel(v.status_class)}",
                "class(self) -> StatusClass", "Where the cause lies.")
        + matches(item, lambda v: f'"{v.errno}"', "errno_name(self) -> &'static str",
                  'Name of the Linux error for this status; "0" for none.')
        + matches(item, lambda v: str(ERRNO[v.errno]), "errno(self) -> i32",
                  "Number of the Linux error for this status; 0 for none.")
        + matches(item, quoted, "doc(self) -> &'static str", "Description in one sentence.")
    )


def status_class():
    lines = ["", "/// Cause of a status.", DERIVE, "pub enum StatusClass {"]
    for name in CLASSES:
        lines += [f"    /// {CLASS_DOC[name]}", f"    {camel(name)},"]
    return lines + ["}"]


def bits(item):
    kind, digits = f"u{item.width}", item.width // 4
    lines = ["", *text.lines(item.doc, "/// "), f"pub mod {item.name} {{"]
    for field in item.fields:
        if field.width == 1:
            lines += const(field.name, kind, f"1 << {field.lsb}", field.doc, "    ")
            continue
        shift = f"Lowest bit of {field.name}."
        lines += const(f"{field.name}_SHIFT", "u32", field.lsb, shift, "    ")
        mask = f"0x{field.mask:0{digits}x}"
        lines += const(f"{field.name}_MASK", kind, mask, f"{field.doc} Mask, in place.", "    ")
    return lines + ["}"]


def struct_head(item, attributes=()):
    lines = ["", *text.lines(item.doc, "/// "), *attributes, DERIVE_STRUCT]
    lines.append(f"pub struct {camel(item.name)} {{")
    for field in item.fields:
        lines += text.lines(field.doc, "    /// ")
        lines.append(f"    pub {ident(field.name)}: u{field.type_width},")
    return lines + ["}"]


def pack(field):
    code = f"self.{ident(field.name)}"
    if field.width < field.type_width:
        code = f"({code} & 0x{field.mask >> field.shift:x})"
    if field.type_width < 64:
        code = f"({code} as u64)"
    return f"({code} << {field.shift})" if field.shift else code


def unpack(field):
    code = f"w[{field.word}]"
    if field.shift:
        code = f"({code} >> {field.shift})"
    if field.width < field.type_width and field.shift + field.width < 64:
        code = f"({code} & 0x{field.mask >> field.shift:x})"
    if field.type_width < 64:
        code = f"{code} as u{field.type_width}"
    elif code[0] == "(":
        code = code[1:-1]
    return code


def words_struct(item):
    name = camel(item.name)
    lines = struct_head(item) + ["", f"impl {name} {{"]
    lines += ["    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped."]
    lines += ["    #[inline(always)]", "    pub const fn to_words(self) -> [u64; 2] {", "        ["]
    for word in range(2):
        parts = [pack(field) for field in item.fields if field.word == word]
        lines.append("            " + " | ".join(parts) + ",")
    lines += ["        ]", "    }", "", "    /// Decodes an entry from its two words. Any words are valid."]
    lines += ["    #[inline(always)]", "    pub const fn from_words(w: [u64; 2]) -> Self {"]
    lines.append("        Self {")
    lines += [f"            {ident(field.name)}: {unpack(field)}," for field in item.fields]
    return lines + ["        }", "    }", "}"]


def offset_struct(item):
    name = camel(item.name)
    repr_c = "#[repr(C, align(64))]" if item.align == 64 else "#[repr(C)]"
    lines = struct_head(item, (repr_c,))
    lines += ["", f"/// Offsets of the fields of `{name}`.", f"pub mod {item.name} {{"]
    lines += const("SIZE", "usize", item.size, "Size in bytes.", "    ")
    # Nobody looks for reserved fields; the size and the fields around them give their places.
    fields = [field for field in item.fields if not field.name.startswith("reserved")]
    for field in fields:
        lines += const(f"{field.name.upper()}_OFFSET", "usize", field.offset, field.doc, "    ")
    lines += ["}", "const _: () = {", f"    use {item.name} as at;"]
    lines.append(f"    assert!(size_of::<{name}>() == {item.size} && at::SIZE == {item.size});")
    lines.append(f"    assert!(align_of::<{name}>() == {item.align});")
    for field in fields:
        offset = f"core::mem::offset_of!({name}, {ident(field.name)})"
        lines.append(f"    assert!({offset} == at::{field.name.upper()}_OFFSET);")
    return lines + ["};"]


def block(item):
    lines = ["", *text.lines(item.doc, "/// "), f"pub mod {item.name}_block {{"]
    lines += const("TYPE", "u16", item.type_value, f"block_type {item.type_name}.", "    ")
    lines += const("VERSION", "u16", item.version, "Version of the block.", "    ")
    size = "Size in bytes of the header; the elements follow." if item.stride else "Size in bytes."
    lines += const("SIZE", "u32", f"{item.size:#x}", size, "    ")
    if item.stride:
        doc = "Bytes from one element to the next. Register offsets are relative to an element."
        lines += const("STRIDE", "u32", f"{item.stride:#x}", doc, "    ")
    for register in item.registers:
        doc = f"{register.doc} ({register.access})"
        lines += const(register.name, "u32", f"0x{register.offset:02x}", doc, "    ")
    return lines + ["}"]


def setup_fields(item):
    """The writable registers of a block as fields; a pair of words is one field."""
    registers = [register for register in item.registers if register.access == "rw"]
    for register in registers:
        if register.name.endswith("_HI"):
            continue
        wide = register.name.endswith("_LO")
        name = register.name.removesuffix("_LO") if wide else register.name
        doc = register.doc.replace(", low word", "") if wide else register.doc
        yield name, 64 if wide else 32, doc


def setup(item):
    """The struct of all values that a host writes to set up an element of a block."""
    name, fields = f"{camel(item.name)}Setup", list(setup_fields(item))
    doc = (f"Values that a host writes to set up an element of the block `{item.name}`: its registers "
           "with access rw, in their order.")
    lines = ["", *text.lines(doc, "/// "), "#[repr(C)]", DERIVE_STRUCT,
             '#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]',
             f"pub struct {name} {{"]
    for field, width, doc in fields:
        lines += [*text.lines(doc, "    /// "), f"    pub {ident(field.lower())}: u{width},"]
    lines += ["}", "", f"impl {name} {{"]
    lines += ["    /// Reads the values from registers. `read` gets the offset of a register in the element."]
    lines += ["    pub fn from_registers(mut read: impl FnMut(u32) -> u32) -> Self {"]
    lines += [f"        use {item.name}_block as at;", "        Self {"]
    for field, width, _ in fields:
        value = f"read(at::{field})"
        if width == 64:
            value = f"read(at::{field}_LO) as u64 | (read(at::{field}_HI) as u64) << 32"
        lines.append(f"            {ident(field.lower())}: {value},")
    return lines + ["        }", "    }", "}"]


MIB_INFO = """
/// Description of an item of the management information base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MibInfo {
    /// The item.
    pub item: MibItem,
    /// Name in the standard.
    pub title: &'static str,
    /// Layer that the item belongs to.
    pub layer: MibLayer,
    /// Parameter, status or error.
    pub kind: MibKind,
    /// Access to the item.
    pub access: MibAccess,
    /// Whether the item exists once, per lane, or per virtual channel.
    pub scope: MibScope,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Unit of the value; empty for a plain number.
    pub unit: &'static str,
    /// Names of the values from 0 on; empty if they have none.
    pub values: &'static [&'static str],
    /// Meaning of the value.
    pub doc: &'static str,
}

impl MibItem {
    /// Description of the item.
    pub const fn info(self) -> &'static MibInfo {
        &MIB_ITEMS[self as usize]
    }
}
"""


def mib(items):
    lines = [*MIB_INFO.splitlines(), "", "/// All items; item number N is at index N."]
    lines.append(f"pub static MIB_ITEMS: [MibInfo; {len(items)}] = [")
    for item in items:
        values = ", ".join(f'"{value}"' for value in item.values)
        lines += [
            "    MibInfo {", f"        item: MibItem::{camel(item.name)},",
            f'        title: "{item.title}",', f"        layer: MibLayer::{camel(item.layer)},",
            f"        kind: MibKind::{camel(item.kind)},",
            f"        access: MibAccess::{camel(item.access)},",
            f"        scope: MibScope::{camel(item.scope)},", f"        min: {literal(item.min)},",
            f"        max: {literal(item.max)},", f'        unit: "{item.unit}",',
            f"        values: &[{values}],", f'        doc: "{item.doc}",', "    },"]
    return lines + ["];"]


def items(contract, feature):
    """Constants, enums, bit fields and structures of a feature."""
    def of(kind):
        return [item for item in kind if item.feature == feature]

    lines = []
    for item in of(contract.consts):
        lines += const(item.name, "u64", item.value, item.doc)
    for item in of(contract.enums):
        lines += enum(item)
        if item.name == "status":
            lines += status_class()
    for item in of(contract.bits):
        lines += bits(item)
    for item in of(contract.structs):
        lines += words_struct(item) if item.words else offset_struct(item)
    for item in of(contract.blocks):
        lines += block(item)
        if item.name == "queue":
            lines += setup(item)
    return lines


def emit_rdma(contract, note):
    """What only programs with queues of RDMA need."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", f"// {note}", "",
             *items(contract, "rdma")]
    return "\n".join(lines) + "\n"


def emit_fabric(contract, note):
    """What only software of fabric ports needs."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", f"// {note}",
             *items(contract, "fabric")]
    return "\n".join(lines) + "\n"


def emit(contract, note):
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", f"// {note}", ""]
    lines += const("CONTRACT_MAGIC", "u32", f"{contract.magic:#x}", "Value of the register MAGIC.")
    lines += const("CONTRACT_VERSION_MAJOR", "u16", contract.major, "Must be equal on both sides.")
    lines += const("CONTRACT_VERSION_MINOR", "u16", contract.minor, "A higher minor version only adds to the contract.")
    lines += items(contract, "")
    lines += mib(contract.mib)
    return "\n".join(lines) + "\n"


def emit_core(core, note):
    """The registers of a core."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", *text.lines(note, "// ")]
    lines += text.lines(f"Registers of the {core.title}: offsets in bytes, fields, counters.",
                        "//! ") + [""]
    for name, value, doc in core_model.constants(core):
        digits = f"{value:08X}"
        number = str(value) if name.endswith("_SHIFT") else f"0x{digits[:4]}_{digits[4:]}"
        lines += const(name, "u32", number, doc)
    counters = core.block.counters
    doc = "Name and offset of every counter; 64 bits each, bits 31:0 at the lower offset."
    lines += ["", *text.lines(doc, "/// ")]
    lines.append(f"pub const COUNTERS: [(&str, u32); {len(counters)}] = [")
    lines += [f'    ("{item.signal}", COUNT_{item.name}),' for item in counters]
    return "\n".join([*lines, "];", ""])
