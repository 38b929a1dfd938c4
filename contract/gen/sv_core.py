# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""SystemVerilog for the registers of a core: the package with its types, and the module that stores
the registers and decodes reads and writes."""

import text
from sv import packed_struct

LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1"
GROUP_BITS = 3  # registers whose word numbers differ in these low bits only share a multiplexer


def stem(core):
    """Start of the names of the core's package and module."""
    return f"spfe_{core.name}_{core.block.name}"


def fields(registers):
    return [field for register in registers for field in register.fields]


def members(registers):
    return [(field.width, field.name, field.doc) for field in fields(registers)]


def head(note):
    return [LICENCE, *text.lines(note, "// "), ""]


def package(core, note):
    """The types of the register file, and the order of the counters."""
    block = core.block
    stored = [r for r in block.registers if r.stored]
    shown = [r for r in block.registers if r.access != "wo" and not r.stored and not r.constant]
    strobes = [(1, r.name.lower(), r.doc) for r in block.registers if r.strobe]
    lines = head(note) + text.lines(f"{block.doc} Types of the stored values, the values from the "
                                    "core and the write strobes, and the order of the counters.",
                                    "/// ")
    lines += [f"package {stem(core)}_pkg;", *(f"  import {name}::*;" for name in core.imports)]
    lines += ["", "  /* verilator lint_off UNUSEDPARAM */", "  /// Number of counters."]
    lines.append(f"  localparam int unsigned CounterCount = {len(block.counters)};")
    lines.append("  /// Word number of the first counter.")
    lines.append(f"  localparam int unsigned CounterWord = {block.counters[0].offset // 4};")
    lines.append("  /* verilator lint_on UNUSEDPARAM */")
    lines += packed_struct("regs_rw_t", "Values of the stored registers.", members(stored))
    lines += packed_struct("regs_hw_t", "Values that the core drives.", members(shown))
    lines += packed_struct("regs_wr_t", "Strobes: a write to the register takes effect in this "
                           "cycle.", strobes)
    arguments = ", ".join(f"{item.type} {item.name}" for item in block.inputs)
    lines += ["", "  /// Events of this cycle, one bit for each counter."]
    lines += ["  function automatic logic [CounterCount-1:0] counter_events(", f"    {arguments}"]
    lines += ["  );", "    logic [CounterCount-1:0] v;"]
    lines += [f"    v[{n}] = {item.signal};" for n, item in enumerate(block.counters)]
    return "\n".join([*lines, "    return v;", "  endfunction", "endpackage", ""])


PORTS = """\
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: gives the stored registers their reset values.
  input logic rst_i,
  /// Write strobe of the bus. Address and data are stable since the cycle before.
  input logic wr_valid_i,
  /// Word number of the write.
  input logic [9:0] wr_addr_i,
  /// Data of the write.
  input logic [31:0] wr_data_i,
  /// In the cycle of the strobe: the write is refused, because the word is not writable, is locked,
  /// or has a field out of range.
  output logic wr_error_o,
  /// Word number of the read.
  input logic [9:0] rd_addr_i,
  /// Data of the read, one cycle after its address; 0 for counters.
  output logic [31:0] rd_data_o,
  /// No register has the address of the read; one cycle after the address.
  output logic rd_error_o,
LOCKS  /// Values that the core drives.
  input regs_hw_t hw_i,
  /// Values of the stored registers.
  output regs_rw_t rw_o,
  /// Write strobes for the core.
  output regs_wr_t wr_o
);"""


def ranges(register):
    """Conditions under which a field of the written word is out of range."""
    found = []
    for field in register.fields:
        part = f"32'(wr_data_i[{field.lsb}+:{field.width}])"
        if field.low is not None:
            found.append(f"{part} < {field.low}")
        if field.high is not None:
            found.append(f"{part} > {field.high}")
    return found


def write(registers):
    """Decoding of writes. Whether a word is refused is registered, a cycle before the strobe."""
    lines = ["  regs_rw_t rw_q, rw_d;", "  logic refused_q, refused_d, take;", "",
             "  always_comb begin", "    unique case (wr_addr_i)"]
    never = "1'b0"
    writable = [register for register in registers if register.writable]
    for register in writable:
        bad = ([f"lock_{register.lock}_i"] if register.lock else []) + ranges(register)
        word = f"10'h{register.offset // 4:03x}"
        line = f"      {word}: refused_d = {' || '.join(bad) or never};"
        if len(line) > text.COLUMNS:
            line = f" ||\n{10 * ' '}".join(line.rsplit(" || ", 1))
        lines += line.split("\n")
    lines += ["      default: refused_d = 1'b1;", "    endcase", "  end", "",
              "  assign take = wr_valid_i && !refused_q;", "", "  always_comb begin",
              "    rw_d = rw_q;", "    wr_o = '0;", "    unique case (wr_addr_i)"]
    for register in writable:
        lines.append(f"      10'h{register.offset // 4:03x}: begin")
        if register.strobe:
            lines.append(f"        wr_o.{register.name.lower()} = take;")
        else:
            lines.append("        if (take) begin")
            lines += [f"          rw_d.{f.name} = wr_data_i[{f.lsb}+:{f.width}];"
                      for f in register.fields]
            lines.append("        end")
        lines.append("      end")
    return lines + ["      default: ;", "    endcase", "  end", "",
                    "  assign wr_error_o = wr_valid_i && refused_q;", "  assign rw_o = rw_q;", ""]


def store(registers):
    """The registers themselves, and their reset values."""
    lines = ["  always_ff @(posedge clk_i) begin", "    refused_q <= refused_d;",
             "    rw_q <= rw_d;", "    if (rst_i) begin"]
    stored = [register for register in registers if register.stored]
    lines += [f"      rw_q.{f.name} <= {f.width}'({f.reset});" for f in fields(stored)]
    return lines + ["    end", "  end", ""]


def value(register):
    """The word that a read gives."""
    if register.access == "wo":
        return "32'd0"
    if register.constant:
        return f"32'h{register.value:08x}"
    source = "rw_q" if register.stored else "hw_i"
    parts, top = [], 32
    for field in sorted(register.fields, key=lambda f: -f.lsb):
        if field.lsb + field.width < top:
            parts.append(f"{top - field.lsb - field.width}'d0")
        parts.append(f"{source}.{field.name}")
        top = field.lsb
    if top:
        parts.append(f"{top}'d0")
    return "{" + ", ".join(parts) + "}" if len(parts) > 1 else parts[0]


def case(register, group):
    """One arm of a group's multiplexer, on two lines if it is long."""
    low = register.offset // 4 & (1 << GROUP_BITS) - 1
    head, word = f"        {GROUP_BITS}'h{low:x}: group_d[{group}] =", value(register)
    if len(f"{head} {word};") <= text.COLUMNS:
        return [f"{head} {word};"]
    parts = word.strip("{}").split(", ")
    lines, line = [], "         "
    for index, part in enumerate(parts):
        part += "," if index + 1 < len(parts) else ""
        if len(f"{line} {part}") > text.COLUMNS:
            lines.append(line)
            line = "         "
        line += f" {part}"
    return [f"{head} {{", *lines, line, "        };"]


def read(block):
    """One multiplexer and register for each group of registers, then an OR of all groups."""
    groups = {}
    for register in block.registers:
        groups.setdefault(register.offset // 4 >> GROUP_BITS, []).append(register)
    first = block.counters[0].offset // 4
    last, count = first + 2 * len(block.counters) - 1, len(groups)
    lines = [f"  logic [{count - 1}:0][31:0] group_q, group_d;",
             f"  logic [{count}:0] known_q, known_d;", "", "  always_comb begin",
             "    group_d = '0;", "    known_d = '0;",
             f"    known_d[{count}] = rd_addr_i >= 10'h{first:03x} && rd_addr_i <= 10'h{last:03x};"]
    for number, (page, registers) in enumerate(groups.items()):
        lines.append(f"    if (rd_addr_i[9:{GROUP_BITS}] == {10 - GROUP_BITS}'d{page}) begin")
        lines.append(f"      known_d[{number}] = 1'b1;")
        lines.append(f"      unique case (rd_addr_i[{GROUP_BITS - 1}:0])")
        for register in registers:
            lines += case(register, number)
        lines.append(f"        default: known_d[{number}] = 1'b0;")
        lines += ["      endcase", "    end"]
    return lines + ["  end", "", "  always_ff @(posedge clk_i) begin", "    group_q <= group_d;",
                    "    known_q <= known_d;", "  end", "", "  always_comb begin",
                    "    rd_data_o = '0;",
                    f"    for (int unsigned i = 0; i < {count}; i++) rd_data_o |= group_q[i];",
                    "  end", "", "  assign rd_error_o = known_q == '0;", "endmodule", ""]


def file(core, note):
    """The module that stores the registers and decodes reads and writes."""
    name, parameters = stem(core), []
    for item in core.parameters:
        comma = "," if item is not core.parameters[-1] else ""
        parameters += text.lines(item.doc, "  /// ")
        parameters.append(f"  parameter int unsigned {item.name} = {item.default}{comma}")
    lines = head(note) + text.lines(f"{core.block.doc} Stores the registers, decodes reads and "
                                    "writes, and checks the range of what is written.", "/// ")
    registers = core.block.registers
    locks = "".join(f"  /// Refuses writes to the registers whose lock is `{lock}`.\n"
                    f"  input logic lock_{lock}_i,\n"
                    for lock in sorted({r.lock for r in registers if r.lock}))
    lines += [f"module {name}_file", f"  import {name}_pkg::*;", "#(", *parameters, ") (",
              PORTS.replace("LOCKS", locks)]
    return "\n".join(lines + write(registers) + store(registers) + read(core.block))
