# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""The contract as checked objects. A broken rule raises a ContractError that names it."""

import re
import tomllib
from collections import namedtuple

LICENCE = "(GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause"  # of contract/ and include/
LINE_BYTES = 64
HEADER_BYTES = 16  # of every register block: type 16, version 16, size 32, next 32, instance 32
WIDTHS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
ACCESSES = ("ro", "rw", "wo")
MIB_PLACE = ("layer", "kind", "access", "scope")
MIB_ITEMS_MAX = 63  # their values and their mask fill an element of the mib block
PAIR_COUNTERS_MAX = 63  # likewise in the pair block
# Classes of a status, and the numbers of each.
CLASSES = {
    "ok": range(0x00, 0x01),
    "local": range(0x10, 0x20),
    "remote": range(0x20, 0x30),
    "link": range(0x30, 0x40),
    "usage": range(0x40, 0x50),
}
# Linux numbers (asm-generic) of the errors that a status may map to.
ERRNO = {
    "0": 0, "EPERM": 1, "ENOENT": 2, "EINTR": 4, "EIO": 5, "ENXIO": 6, "E2BIG": 7, "EBADF": 9,
    "EAGAIN": 11, "ENOMEM": 12, "EACCES": 13, "EFAULT": 14, "EBUSY": 16, "EDQUOT": 122, "EEXIST": 17,
    "ENODEV": 19, "EINVAL": 22, "ENOSPC": 28, "EPIPE": 32, "ERANGE": 34, "EPROTO": 71,
    "EBADMSG": 74, "EOVERFLOW": 75, "EMSGSIZE": 90, "EPROTONOSUPPORT": 93, "EOPNOTSUPP": 95,
    "ENETDOWN": 100, "ECONNRESET": 104, "ENOBUFS": 105, "ESHUTDOWN": 108, "ETIMEDOUT": 110, "EHOSTDOWN": 112,
    "ECANCELED": 125,
}


class ContractError(Exception):
    """A rule of the contract file is broken; the text names object, value and limit."""


# Items that the Rust crate compiles only with a feature of this name.
FEATURES = ("rdma", "fabric")
Const = namedtuple("Const", "name value doc feature", defaults=("",))
Value = namedtuple("Value", "name value doc status_class errno", defaults=("", ""))
Enum = namedtuple("Enum", "name width doc values feature", defaults=("",))
Bits = namedtuple("Bits", "name width doc fields feature", defaults=("",))
Register = namedtuple("Register", "name offset access doc")
Block = namedtuple("Block", "name type_name type_value version size stride doc registers feature", defaults=("",))
MibItem = namedtuple("MibItem", "name title value layer kind access scope min max unit values doc")
Contract = namedtuple(
    "Contract", "name major minor magic consts enums bits structs blocks mib")


class Field(namedtuple("Field", "name lsb width type_width doc")):
    """A field of a bit set or a structure; lsb counts from its start."""

    @property
    def word(self):
        return self.lsb // 64

    @property
    def shift(self):
        return self.lsb % 64

    @property
    def offset(self):
        return self.lsb // 8

    @property
    def mask(self):
        """Mask of the field, in place in its set or its 64-bit word."""
        return ((1 << self.width) - 1) << self.shift


class Struct(namedtuple("Struct", "name size words doc fields feature", defaults=("",))):
    @property
    def align(self):
        widest = max(field.type_width for field in self.fields) // 8
        return LINE_BYTES if self.size == LINE_BYTES else widest


def need(condition, message):
    if not condition:
        raise ContractError(message)


def table(raw, where, required, optional=()):
    """Checks the keys of a TOML table: all required ones, and no unknown ones."""
    where = f"{where} {raw['name']}" if isinstance(raw.get("name"), str) else where
    for key in required:
        need(key in raw, f"{where}: {key} is missing")
    for key in raw:
        need(key in required or key in optional, f"{where}: unknown key {key}")
    if "doc" in required:
        doc = raw["doc"]
        need(isinstance(doc, str) and doc.strip(), f"{where}: doc is empty")
        for mark in ("\n", "\\", "/*", "*/"):
            need(mark not in doc, f"{where}: doc must not contain {mark!r}")
    return where


def name(raw, where, pattern, kind):
    text = raw["name"]
    need(re.fullmatch(pattern, text), f"{where}: the name must be {kind}")
    return text


def upper(raw, where):
    return name(raw, where, r"[A-Z][A-Z0-9_]*", "upper case")


def lower(raw, where):
    return name(raw, where, r"[a-z][a-z0-9_]*", "lower case")


def number(raw, key, where, limit, least=0):
    value = raw[key]
    need(type(value) is int, f"{where}: {key} must be an integer, not {value!r}")
    need(least <= value <= limit, f"{where}: {key} {value:#x} is not in {least:#x} to {limit:#x}")
    return value


def width_of(raw, where, allowed=tuple(WIDTHS)):
    kind = raw["type"]
    need(kind in allowed, f"{where}: type {kind} is not one of {', '.join(allowed)}")
    return WIDTHS[kind]


def unique(items, where, key=lambda item: item.name, what="name"):
    seen = {}
    for item in items:
        value = key(item)
        other = seen.setdefault(value, item)
        need(other is item, f"{where}: {what} {value} is used by {other.name} and {item.name}")


def bit_range(text, where):
    match = re.fullmatch(r"(\d+)(?::(\d+))?", text) if isinstance(text, str) else None
    need(match, f'{where}: bits {text!r} must be "N" or "MSB:LSB"')
    msb, lsb = int(match[1]), int(match[2] or match[1])
    need(msb >= lsb, f"{where}: bits {text} must have the most significant bit first")
    return lsb, msb - lsb + 1


def no_overlap(fields, where):
    for low, high in zip(fields, fields[1:]):
        end = low.lsb + low.width
        need(end <= high.lsb, f"{where}: {high.name} starts at bit {high.lsb}, inside {low.name} "
             f"(bits {end - 1}:{low.lsb})")


def no_gap(fields, where, size):
    at = 0
    for field in fields:
        need(field.lsb == at, f"{where}: bits {field.lsb - 1}:{at} before {field.name} belong to "
             "no field; name them reserved")
        at += field.width
    need(at == size * 8, f"{where}: fields end at bit {at}, the size {size} is {size * 8} bits")


def feature(raw, where):
    """The Rust feature without which an item does not exist; empty for none."""
    text = raw.get("feature", "")
    need(text in ("", *FEATURES), f"{where}: feature {text} is not one of {', '.join(FEATURES)}")
    return text


def load_const(raw):
    where = table(raw, "const", ("name", "value", "doc"), ("feature",))
    value = number(raw, "value", where, 2**64 - 1)
    return Const(upper(raw, where), value, raw["doc"], feature(raw, where))


def load_value(raw, where, most, is_status):
    extra = ("class", "errno") if is_status else ()
    where = table(raw, where, ("name", "value", "doc", *extra))
    value = number(raw, "value", where, most)
    if not is_status:
        return Value(upper(raw, where), value, raw["doc"])
    kind, errno = raw["class"], raw["errno"]
    need(kind in CLASSES, f"{where}: class {kind} is not one of {', '.join(CLASSES)}")
    span = CLASSES[kind]
    need(value in span, f"{where}: value {value:#x} is not in {span[0]:#x} to {span[-1]:#x}, "
         f"the numbers of class {kind}")
    need(errno in ERRNO, f"{where}: errno {errno} has no number in contract/gen/model.py")
    return Value(upper(raw, where), value, raw["doc"], kind, errno)


def load_enum(raw):
    where = table(raw, "enum", ("name", "type", "doc", "values"), ("feature",))
    width = width_of(raw, where, ("u8", "u16"))
    is_status = raw["name"] == "status"
    most = PAIR_COUNTERS_MAX - 1 if raw["name"] == "pair_counter" else 2**width - 1
    values = tuple(load_value(v, f"{where}: value", most, is_status) for v in raw["values"])
    need(values, f"{where}: there are no values")
    unique(values, where)
    unique(values, where, lambda v: v.value, "value")
    return Enum(lower(raw, where), width, raw["doc"], values, feature(raw, where))


def load_bits(raw):
    where = table(raw, "bits", ("name", "type", "doc", "fields"), ("feature",))
    width, fields = width_of(raw, where), []
    for item in raw["fields"]:
        at = table(item, f"{where}: field", ("name", "bits", "doc"))
        lsb, size = bit_range(item["bits"], at)
        need(lsb + size <= width, f"{at}: bit {lsb + size - 1} is past bit {width - 1}, the last")
        fields.append(Field(upper(item, at), lsb, size, width, item["doc"]))
    need(fields, f"{where}: there are no fields")
    unique(fields, where)
    fields.sort(key=lambda f: f.lsb)
    no_overlap(fields, where)
    return Bits(lower(raw, where), width, raw["doc"], tuple(fields), feature(raw, where))


def load_word_field(raw, where):
    at = table(raw, where, ("name", "bits", "type", "doc"))
    lsb, width = bit_range(raw["bits"], at)
    size = width_of(raw, at)
    need(width <= size, f"{at}: {width} bits do not fit {raw['type']}")
    need(lsb // 64 == (lsb + width - 1) // 64, f"{at}: bits {raw['bits']} cross bit 64, the "
         "border of the words")
    return Field(lower(raw, at), lsb, width, size, raw["doc"])


def load_offset_field(raw, where):
    at = table(raw, where, ("name", "offset", "type", "doc"))
    width = width_of(raw, at)
    offset = number(raw, "offset", at, 2**16)
    need(offset * 8 % width == 0, f"{at}: offset {offset} is not a multiple of {width // 8}")
    return Field(lower(raw, at), offset * 8, width, width, raw["doc"])


def load_struct(raw):
    where = table(raw, "struct", ("name", "size", "doc", "fields"), ("words", "feature"))
    words = raw.get("words", False)
    size = number(raw, "size", where, 4096, 1)
    load = load_word_field if words else load_offset_field
    fields = tuple(load(field, f"{where}: field") for field in raw["fields"])
    need(fields, f"{where}: there are no fields")
    unique(fields, where)
    need(list(fields) == sorted(fields, key=lambda f: f.lsb), f"{where}: fields are not in order")
    no_overlap(fields, where)
    no_gap(fields, where, size)
    struct = Struct(lower(raw, where), size, words, raw["doc"], fields, feature(raw, where))
    if words:
        need(size == 16, f"{where}: size {size} of a structure of words must be 16")
        last = fields[-1]
        need((last.name, last.lsb, last.width) == ("phase", 112, 16),
             f"{where}: the last field must be phase in bits 127:112, not {last.name}")
    need(size % struct.align == 0, f"{where}: size {size} is not a multiple of {struct.align}")
    return struct


def load_register(raw, where):
    at = table(raw, where, ("name", "offset", "access", "doc"))
    offset, access = number(raw, "offset", at, 2**32 - 4), raw["access"]
    need(offset % 4 == 0, f"{at}: offset {offset:#x} is not a multiple of 4")
    need(access in ACCESSES, f"{at}: access {access} is not one of {', '.join(ACCESSES)}")
    reserved = ("TYPE", "VERSION", "SIZE", "STRIDE")
    need(raw["name"] not in reserved, f"{at}: the name is one of {', '.join(reserved)}")
    return Register(upper(raw, at), offset, access, raw["doc"])


def check_lines(block, where):
    """Registers with different access never share a cache line. The device writes the header."""
    lines = {0: ("the header", "ro")}
    for element in range(2 if block.stride else 1):  # the stride is whole lines: two show all
        base = block.size + element * block.stride if block.stride else 0
        for register in block.registers:
            line = (base + register.offset) // LINE_BYTES
            label = f"{register.name}[{element}]" if block.stride else register.name
            other, access = lines.setdefault(line, (label, register.access))
            need(access == register.access, f"{where}: {label} ({register.access}) shares the "
                 f"{LINE_BYTES}-byte line at {line * LINE_BYTES:#x} with {other} ({access})")


def check_pairs(registers, where):
    by_name = {register.name: register for register in registers}
    for low in registers:
        if not low.name.endswith("_LO"):
            continue
        high = by_name.get(low.name[:-3] + "_HI")
        need(high, f"{where}: {low.name} has no {low.name[:-3]}_HI")
        need(low.offset % 8 == 0 and high.offset == low.offset + 4,
             f"{where}: {low.name} at {low.offset:#x} and {high.name} at {high.offset:#x} must be "
             "the two halves of 8 aligned bytes")


def load_block(raw, types):
    keys = ("name", "type", "version", "size", "doc", "registers")
    where = table(raw, "block", keys, ("stride", "feature"))
    need(raw["type"] in types, f"{where}: type {raw['type']} is not a value of block_type")
    version = number(raw, "version", where, 2**16 - 1, 1)
    size, stride = number(raw, "size", where, 2**32 - 1, HEADER_BYTES), None
    first, end = HEADER_BYTES, size
    if "stride" in raw:
        stride = number(raw, "stride", where, 2**32 - 1, LINE_BYTES)
        need(stride % LINE_BYTES == 0, f"{where}: stride {stride:#x} is not whole 64-byte lines")
        first, end = 0, stride
    registers = tuple(load_register(r, f"{where}: register") for r in raw["registers"])
    for register in registers:
        need(first <= register.offset <= end - 4, f"{where}: {register.name} at "
             f"{register.offset:#x} is not in {first:#x} to {end - 4:#x}")
    unique(registers, where)
    unique(registers, where, lambda r: r.offset, "offset")
    check_pairs(registers, where)
    block = Block(lower(raw, where), raw["type"], types[raw["type"]], version, size, stride,
                  raw["doc"], registers, feature(raw, where))
    check_lines(block, where)
    return block


def load_mib(raw, enums):
    where = table(raw, "mib", ("name", "title", "value", "place", "range", "doc"))
    place, span = raw["place"], raw["range"]
    table(place, f"{where}: place", MIB_PLACE)
    table(span, f"{where}: range", ("min", "max"), ("unit", "values"))
    for key in MIB_PLACE:
        names = [value.name for value in enums[f"mib_{key}"].values]
        need(place[key] in names, f"{where}: {key} {place[key]} is not one of {', '.join(names)}")
    title = raw["title"]
    need(re.fullmatch(r"[A-Z][A-Za-z0-9 -]*", title), f"{where}: title {title!r} is no name")
    high = number(span, "max", where, 2**64 - 1)
    low = number(span, "min", where, high)
    values = tuple(span.get("values", ()))
    need(not values or len(values) == high + 1, f"{where}: {len(values)} values for 0 to {high}")
    return MibItem(upper(raw, where), title, number(raw, "value", where, MIB_ITEMS_MAX - 1),
                   *(place[key] for key in MIB_PLACE), low, high, span.get("unit", ""), values,
                   raw["doc"])


def load_items(raw, enums):
    """The items, and the enum of their numbers, which have no gaps."""
    enums = {item.name: item for item in enums}
    items = tuple(load_mib(item, enums) for item in raw)
    for index, item in enumerate(items):
        need(item.value == index, f"mib {item.name}: value {item.value} must be {index}, one more "
             "than that of the item before")
    unique(items, "mib")
    # Users may leave out everything but letters and digits.
    unique(items, "mib", lambda item: re.sub("[^a-z0-9]", "", item.title.lower()), "title")
    values = tuple(Value(item.name, item.value, f"{item.title}: {item.doc}") for item in items)
    return items, Enum("mib_item", 8, "Item of the management information base of a port "
                       "(ECSS-E-ST-50-11C tables 5-36 and 5-37).", values)


def parse(text):
    """Checks the text of a contract file."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"not TOML: {error}") from error
    table(raw, "contract file", ("contract", "const", "enum", "bits", "struct", "block", "mib"))
    head = raw["contract"]
    table(head, "contract", ("name", "version_major", "version_minor", "magic"), ("licence",))
    enums = tuple(map(load_enum, raw["enum"]))
    types = {v.name: v.value for e in enums if e.name == "block_type" for v in e.values}
    items, item_enum = load_items(raw["mib"], enums)
    contract = Contract(
        lower(head, "contract"),
        number(head, "version_major", "contract", 2**16 - 1, 1),
        number(head, "version_minor", "contract", 2**16 - 1),
        number(head, "magic", "contract", 2**32 - 1, 1),
        tuple(map(load_const, raw["const"])),
        (*enums, item_enum),
        tuple(map(load_bits, raw["bits"])),
        tuple(map(load_struct, raw["struct"])),
        tuple(load_block(block, types) for block in raw["block"]),
        items,
    )
    unique(contract.consts, "constants")
    unique(contract.enums + contract.bits + contract.structs, "enums, bits and structs")
    unique(contract.blocks, "blocks")
    unique(contract.blocks, "blocks", lambda block: block.type_name, "type")
    return contract
