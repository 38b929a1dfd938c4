# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""For programs and people: C header, Rust constants, table in Markdown."""

ACCESS = {"const": "read", "build": "read", "hw": "read", "rw": "read, write", "ext": "read, write",
          "wo": "write"}


def constants(m):
    """(name, value, doc) of everything a program needs, in order."""
    for r in m.registers:
        yield r.name, r.offset, f"Offset: {r.doc}"
        if r.access == "const":
            yield f"{r.name}_VALUE", r.value, f"What {r.name} reads."
        for f in r.fields:
            if f.title:
                yield f"{f.name.upper()}_SHIFT", f.lsb, f"Lowest bit: {f.doc}"
                yield f"{f.name.upper()}_MASK", f.mask, "Its bits, in place."
    for c in m.counters:
        yield f"COUNT_{c.name}", c.offset, f"Offset of a counter: {c.doc}"


def number(name, value):
    """Shifts in decimal, all else as 32 bits in hexadecimal."""
    return str(value) if name.endswith("_SHIFT") else f"0x{value:08X}"


def c_header(m, note):
    """rtl/tcp/regs/spfe_tcp_regs.h."""
    lines = ["/* SPDX-License-Identifier: MIT OR Apache-2.0 */", f"/* {note} */",
             "#ifndef SPFE_TCP_REGS_H", "#define SPFE_TCP_REGS_H", ""]
    for name, value, doc in constants(m):
        suffix = "" if name.endswith("_SHIFT") else "U"
        lines += [f"/* {doc} */", f"#define SPFE_TCP_{name} {number(name, value)}{suffix}"]
    return "\n".join([*lines, "", "#endif", ""])


def rust_number(name, value):
    text = number(name, value)
    return f"0x{text[2:6]}_{text[6:]}" if text.startswith("0x") else text


def rust(m, note):
    """rtl/bench/src/registers.rs."""
    lines = ["// SPDX-License-Identifier: MIT OR Apache-2.0", f"// {note}",
             "//! Registers of the TCP core: offsets in bytes, fields, counters.", ""]
    for name, value, doc in constants(m):
        lines += [f"/// {doc}", f"pub const {name}: u32 = {rust_number(name, value)};"]
    lines += ["", "/// Name and offset of every counter; 64 bits each, bits 31:0 first.",
              f"pub const COUNTERS: [(&str, u32); {len(m.counters)}] = ["]
    lines += [f'    ("{c.signal}", COUNT_{c.name}),' for c in m.counters]
    return "\n".join([*lines, "];", ""])


def cell(text):
    return text.replace("|", "\\|")


def span(f):
    return str(f.lsb) if f.width == 1 else f"{f.lsb + f.width - 1}:{f.lsb}"


def limits(f):
    """The values a field takes."""
    if f.low is None and f.high is None:
        return ""
    return f"{0 if f.low is None else f.low} to {(1 << f.width) - 1 if f.high is None else f.high}"


INTRO = """\
# Registers of the TCP core

AXI4-Lite, 4 KiB, 32 bits each. A write must carry all four bytes. The answer is SLVERR, and nothing changes,
if there is no register at the address, if it cannot be written, if a field is out of its range, or if an
operation on a session is under way and the register says *locked*. Bits that are not listed read 0; what is
written to them is ignored. Times are counts of `tick_i`; the reset values are for ticks of 1 ms.
Expressions are of the parameters of `spfe_tcp`.

* Open a session: SESSION_SELECT, SESSION_VIF, SESSION_PEER_IP, SESSION_PORTS, then SESSION_OPERATION; wait until
  SESSION_STATUS is 0. What comes of it is told by the events, and by VIEW_STATE.
* Look at a session: SESSION_SELECT, SESSION_SNAPSHOT, wait until SESSION_STATUS is 0, read VIEW_*.
* Set up an interface: VIF_SELECT, the addresses, last VIF_CONTROL; then CONTROL.ENABLE.
* The probes are exact while frames or messages come one at a time.
"""


def markdown(m, note):
    """docs/tcp-registers.md."""
    lines = [f"<!-- {note} -->", INTRO, "| offset | register | access | meaning |", "| --- | --- | --- | --- |"]
    for r in m.registers:
        access = ACCESS[r.access] + (", locked" if r.lock else "")
        lines.append(f"| 0x{r.offset:03X} | `{r.name}` | {access} | {cell(r.doc)} |")
    lines += ["", "## Fields", "", "| register | bits | field | reset | range | meaning |",
              "| --- | --- | --- | --- | --- | --- |"]
    for r in m.registers:
        for f in r.fields:
            reset = f.reset if r.access == "rw" else ""
            lines.append(f"| `{r.name}` | {span(f)} | {f'`{f.title}`' if f.title else ''} | {reset} "
                         f"| {limits(f)} | {cell(f.doc) if f.title else ''} |")
    lines += ["", "## Counters", "", m.counters_doc, "", "| offset | counter | what is counted |",
              "| --- | --- | --- |"]
    lines += [f"| 0x{c.offset:03X} | `{c.signal}` | {cell(c.doc)} |" for c in m.counters]
    return "\n".join([*lines, ""])
