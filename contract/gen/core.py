# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""The register file of a core as checked objects: one block, in the dialect of the contract."""

import re
import tomllib
from collections import namedtuple

from model import (ACCESSES, ContractError, bit_range, lower, need, no_overlap, number, table,
                   unique, upper)

WORD_BITS = 32
FIELD_LIMITS = ("reset", "min", "max")
Core = namedtuple("Core", "name title intro imports parameters block")
Parameter = namedtuple("Parameter", "name default doc")
CoreBlock = namedtuple("CoreBlock", "name size doc registers counters counters_doc inputs")
Counter = namedtuple("Counter", "name signal offset doc")
Input = namedtuple("Input", "name type")


class CoreField(namedtuple("CoreField", "name title lsb width doc reset low high")):
    """Bits of a register. `name` has the register's name in front; `title` is empty if the field
    is the whole register."""

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.lsb


class CoreRegister(namedtuple("CoreRegister", "name offset access doc lock value stored fields")):
    """32 bits at an offset."""

    @property
    def constant(self):
        return self.value is not None

    @property
    def writable(self):
        return self.access != "ro"

    @property
    def strobe(self):
        """A write is a pulse for the core; the register file keeps nothing."""
        return self.writable and not self.stored


def limit(raw, key, where, parameters, width):
    """A reset, min or max: a number that the field can hold, or an expression of parameters."""
    if key not in raw:
        return 0 if key == "reset" else None
    value = raw[key]
    if isinstance(value, str):
        names = set(re.findall(r"[A-Za-z_]\w*", value))
        known = {parameter.name for parameter in parameters}
        need(names & known, f"{where}: {key} {value!r} names no parameter of the core")
        need(names <= known, f"{where}: {key} {value!r}: unknown parameter "
             f"{', '.join(sorted(names - known))}")
        return value
    return number(raw, key, where, (1 << width) - 1)


def load_field(raw, register, where, parameters):
    title = upper(raw, where) if raw["name"] else ""
    lsb, width = bit_range(raw["bits"], where)
    need(lsb + width <= WORD_BITS, f"{where}: bit {lsb + width - 1} is past bit {WORD_BITS - 1}, "
         "the last")
    name = "_".join(part for part in (register, title) if part).lower()
    limits = [limit(raw, key, where, parameters, width) for key in FIELD_LIMITS]
    return CoreField(name, title, lsb, width, raw["doc"], *limits)


def load_fields(raw, where, parameters):
    """The fields of a register, lowest bits first; one without a title if it lists none."""
    if "value" in raw:
        return ()
    need(("fields" in raw) != ("bits" in raw), f"{where}: give either fields or bits")
    if "bits" in raw:
        whole = {key: raw[key] for key in ("bits", "doc", *FIELD_LIMITS) if key in raw}
        return (load_field(whole | {"name": ""}, raw["name"], where, parameters),)
    need(not any(key in raw for key in FIELD_LIMITS), f"{where}: reset, min and max belong to a "
         "field")
    fields = []
    for item in raw["fields"]:
        at = table(item, f"{where}: field", ("name", "bits", "doc"), FIELD_LIMITS)
        fields.append(load_field(item, raw["name"], at, parameters))
    need(fields, f"{where}: there are no fields")
    unique(fields, where)
    fields.sort(key=lambda field: field.lsb)
    no_overlap(fields, where)
    return tuple(fields)


def load_register(raw, where, parameters):
    optional = ("value", "stored", "lock", "bits", "fields", *FIELD_LIMITS)
    at = table(raw, where, ("name", "offset", "access", "doc"), optional)
    name, access = upper(raw, at), raw["access"]
    need(access in ACCESSES, f"{at}: access {access} is not one of {', '.join(ACCESSES)}")
    value = number(raw, "value", at, 2**WORD_BITS - 1) if "value" in raw else None
    need(value is None or access == "ro", f"{at}: only a register with access ro has a value")
    need("stored" not in raw or access == "rw", f"{at}: stored is for access rw")
    lock = raw.get("lock")
    need(lock is None or isinstance(lock, str) and re.fullmatch("[a-z]+", lock),
         f"{at}: lock {lock!r} is not a word in lower case")
    need(not lock or access != "ro", f"{at}: lock is for registers that can be written")
    stored = access == "rw" and raw.get("stored", True)
    return CoreRegister(name, number(raw, "offset", at, 2**16), access, raw["doc"], lock, value,
                        stored, load_fields(raw, at, parameters))


def load_counters(raw, where):
    """The counters, 64 bits each and one behind the other, and the inputs they count."""
    at = table(raw, f"{where}: counters", ("offset", "doc", "inputs", "list"))
    offset, inputs, counters = number(raw, "offset", at, 2**16), [], []
    need(offset % 8 == 0, f"{at}: offset {offset:#x} is not a multiple of 8")
    for item in raw["inputs"]:
        table(item, f"{at}: input", ("name", "type"))
        inputs.append(Input(item["name"], item["type"]))
    names = [item.name for item in inputs]
    for index, item in enumerate(raw["list"]):
        table(item, f"{at}: counter {item.get('signal')}", ("signal", "doc"))
        signal = item["signal"]
        need(signal.split(".")[0] in names, f"{at}: counter {signal} is in none of the inputs "
             f"{', '.join(names)}")
        counters.append(Counter(signal.replace(".", "_").upper(), signal, offset + 8 * index,
                                item["doc"]))
    unique(counters, at)
    return tuple(counters), raw["doc"], tuple(inputs)


def check_offsets(block, where):
    """Every 32-bit word of the block belongs to at most one register or counter."""
    spans = [(register.name, register.offset) for register in block.registers]
    spans += [(item.name, item.offset + half) for item in block.counters for half in (0, 4)]
    taken = {}
    for name, offset in spans:
        need(offset % 4 == 0, f"{where}: {name}: offset {offset:#x} is not a multiple of 4")
        need(offset < block.size, f"{where}: {name}: offset {offset:#x} is past the size "
             f"{block.size:#x}")
        other = taken.setdefault(offset, name)
        need(other == name, f"{where}: offset {offset:#x} is used by {other} and {name}")


def load_block(raw, parameters):
    where = table(raw, "block", ("name", "size", "doc", "registers", "counters"))
    registers = tuple(load_register(item, f"{where}: register", parameters)
                      for item in raw["registers"])
    unique(registers, where)
    counters, counters_doc, inputs = load_counters(raw["counters"], where)
    block = CoreBlock(lower(raw, where), number(raw, "size", where, 2**16, 4), raw["doc"],
                      registers, counters, counters_doc, inputs)
    check_offsets(block, where)
    return block


def parse(text):
    """Checks the text of a core's register file."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"not TOML: {error}") from error
    table(raw, "register file", ("core", "block"))
    head = raw["core"]
    table(head, "core", ("name", "title", "intro", "imports", "parameters"))
    parameters = []
    for item in head["parameters"]:
        where = table(item, "parameter", ("name", "default", "doc"))
        default = number(item, "default", where, 2**31 - 1)
        parameters.append(Parameter(item["name"], default, item["doc"]))
    unique(parameters, "parameters")
    need(len(raw["block"]) == 1, f"core {head['name']}: {len(raw['block'])} blocks; must be 1")
    return Core(lower(head, "core"), head["title"], head["intro"].strip(), tuple(head["imports"]),
                tuple(parameters), load_block(raw["block"][0], parameters))


def constants(core):
    """Name, value and meaning of everything a program needs, in order."""
    for register in core.block.registers:
        yield register.name, register.offset, f"Offset: {register.doc}"
        if register.constant:
            yield f"{register.name}_VALUE", register.value, f"Value that {register.name} reads."
        for field in register.fields:
            if field.title:
                name = f"{register.name}_{field.title}"
                yield f"{name}_SHIFT", field.lsb, f"Lowest bit: {field.doc}"
                yield f"{name}_MASK", field.mask, "Mask of the field, in place."
    for counter in core.block.counters:
        yield f"COUNT_{counter.name}", counter.offset, f"Offset of a counter: {counter.doc}"
