# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""SystemVerilog: the package with the structs and the module that stores and decodes."""

HEAD = "// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1\n// {note}\n"
GROUP_BITS = 3  # registers whose words differ in these low bits share a multiplexer


def members(registers, wanted):
    """Fields of the registers with these kinds of access."""
    return [f for r in registers if r.access in wanted for f in r.fields]


def struct(name, doc, rows):
    """A packed struct; rows are (width, name, doc)."""
    lines = ["", f"  /// {doc}", "  typedef struct packed {"]
    for width, member, text in rows:
        kind = "logic" if width == 1 else f"logic [{width - 1}:0]"
        lines += [f"    /// {text}", f"    {kind} {member};"]
    return lines + [f"  }} {name};"]


def package(m, note):
    """rtl/tcp/spfe_tcp_regs_pkg.sv."""
    lines = ["", "/// Registers of the TCP core: what is stored, read and written, and the order of the counters.",
             "package spfe_tcp_regs_pkg;", "  import spfe_tcp_pkg::*;", "", "  /* verilator lint_off UNUSEDPARAM */",
             "  /// Counters.", f"  localparam int unsigned CounterCount = {len(m.counters)};",
             "  /// Number of the 32-bit word of the first one.",
             f"  localparam int unsigned CounterWord = {m.counters_offset // 4};",
             "  /* verilator lint_on UNUSEDPARAM */"]
    for name, doc, kinds in (
            ("regs_rw_t", "Values of the stored registers.", ("rw",)),
            ("regs_hw_t", "Values that come from the core.", ("hw", "build", "ext"))):
        lines += struct(name, doc, [(f.width, f.name, f.doc) for f in members(m.registers, kinds)])
    strobes = [r for r in m.registers if r.strobe]
    lines += struct("regs_wr_t", "Register is written in this cycle.",
                    [(1, r.name.lower(), r.doc) for r in strobes])
    lines += ["", "  /// Events of this cycle, one bit for each counter.",
              "  function automatic logic [CounterCount-1:0] counter_events(",
              "      rx_count_t rx, tx_count_t tx, eng_count_t eng, net_count_t net, logic event_lost);",
              "    logic [CounterCount-1:0] v;"]
    lines += [f"    v[{n}] = {c.signal};" for n, c in enumerate(m.counters)]
    lines += ["    return v;", "  endfunction", "endpackage", ""]
    return HEAD.format(note=note) + "\n".join(lines)


PORTS = """\

/// Stored registers, and decoding of reads and writes.
module spfe_tcp_regs_file
  import spfe_tcp_regs_pkg::*;
#(
{parameters}
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high: stored registers get their reset values.
    input logic rst_i,
    /// A word is written in this cycle; from the bus.
    input logic wr_valid_i,
    /// Its number; there since the cycle before.
    input logic [9:0] wr_addr_i,
    /// The word; there since the cycle before.
    input logic [31:0] wr_data_i,
    /// It is refused: not writable, locked, or a field out of its range; in the same cycle.
    output logic wr_error_o,
    /// Number of the word to read; from the bus.
    input logic [9:0] rd_addr_i,
    /// Its value, one cycle later; 0 for counters.
    output logic [31:0] rd_data_o,
    /// There is no such register; one cycle later.
    output logic rd_error_o,
    /// Registers of the operations on sessions cannot be written.
    input logic lock_i,
    /// Values from the core.
    input regs_hw_t hw_i,
    /// Stored values; to the core.
    output regs_rw_t rw_o,
    /// What is written in this cycle; to blocks that act on it.
    output regs_wr_t wr_o
);
"""


def ranges(register):
    """Conditions under which a write is out of range."""
    found = []
    for f in register.fields:
        part = f"32'(wr_data_i[{f.lsb}+:{f.width}])"
        if f.low is not None:
            found.append(f"{part} < {f.low}")
        if f.high is not None:
            found.append(f"{part} > {f.high}")
    return found


def write(m):
    """Decoding of writes, and the storage: whether a word is refused is known a cycle before it is written."""
    lines = ["  regs_rw_t rw_q, rw_d;", "  logic refused_q, refused_d, take;", "", "  always_comb begin",
             "    unique case (wr_addr_i)"]
    never = "1'b0"
    writable = [r for r in m.registers if r.writable]
    for r in writable:
        bad = (["lock_i"] if r.lock else []) + ranges(r)
        lines.append(f"      10'h{r.offset // 4:03x}: refused_d = {' || '.join(bad or [never])};")
    lines += ["      default: refused_d = 1'b1;", "    endcase", "  end", "",
              "  assign take = wr_valid_i && !refused_q;", "", "  always_comb begin",
              "    rw_d = rw_q;", "    wr_o = '0;", "    unique case (wr_addr_i)"]
    for r in writable:
        lines.append(f"      10'h{r.offset // 4:03x}: begin")
        if r.strobe:
            lines.append(f"        wr_o.{r.name.lower()} = take;")
        else:
            lines.append("        if (take) begin")
            lines += [f"          rw_d.{f.name} = wr_data_i[{f.lsb}+:{f.width}];" for f in r.fields]
            lines.append("        end")
        lines.append("      end")
    lines += ["      default: ;", "    endcase", "  end", "",
              "  assign wr_error_o = wr_valid_i && refused_q;", "  assign rw_o = rw_q;", "",
              "  always_ff @(posedge clk_i) begin", "    refused_q <= refused_d;", "    rw_q <= rw_d;",
              "    if (rst_i) begin"]
    lines += [f"      rw_q.{f.name} <= {f.width}'({f.reset});" for f in members(m.registers, ("rw",))]
    return lines + ["    end", "  end", ""]


def value(register):
    """The word that a read gives."""
    if register.access == "const":
        return f"32'h{register.value:08x}"
    source = "rw_q" if register.access == "rw" else "hw_i"
    parts, top = [], 32
    for f in sorted(register.fields, key=lambda field: -field.lsb):
        if f.lsb + f.width < top:
            parts.append(f"{top - f.lsb - f.width}'d0")
        parts.append(f"{source}.{f.name}")
        top = f.lsb
    if top:
        parts.append(f"{top}'d0")
    return "{" + ", ".join(parts) + "}" if len(parts) > 1 else parts[0]


def read(m):
    """One multiplexer and register for each group of registers, then all of them together."""
    groups = {}
    for r in m.registers:
        groups.setdefault(r.offset // 4 >> GROUP_BITS, []).append(r)
    first = m.counters_offset // 4
    last = first + 2 * len(m.counters) - 1
    count = len(groups)
    lines = [f"  logic [{count - 1}:0][31:0] group_q, group_d;", f"  logic [{count}:0] known_q, known_d;",
             "", "  always_comb begin", "    group_d = '0;", "    known_d = '0;",
             f"    known_d[{count}] = rd_addr_i >= 10'h{first:03x} && rd_addr_i <= 10'h{last:03x};"]
    for number, (page, rows) in enumerate(groups.items()):
        lines.append(f"    if (rd_addr_i[9:{GROUP_BITS}] == {10 - GROUP_BITS}'d{page}) begin")
        lines.append(f"      known_d[{number}] = 1'b1;")
        lines.append(f"      unique case (rd_addr_i[{GROUP_BITS - 1}:0])")
        for r in rows:
            low = r.offset // 4 & (1 << GROUP_BITS) - 1
            shown = "32'd0" if r.access == "wo" else value(r)
            lines.append(f"        {GROUP_BITS}'h{low:x}: group_d[{number}] = {shown};")
        lines.append(f"        default: known_d[{number}] = 1'b0;")
        lines += ["      endcase", "    end"]
    lines += ["  end", "", "  always_ff @(posedge clk_i) begin", "    group_q <= group_d;",
              "    known_q <= known_d;", "  end", "", "  always_comb begin", "    rd_data_o = '0;",
              f"    for (int unsigned i = 0; i < {count}; i++) rd_data_o |= group_q[i];", "  end",
              "", "  assign rd_error_o = known_q == '0;", "endmodule", ""]
    return lines


def file(m, note):
    """rtl/tcp/spfe_tcp_regs_file.sv."""
    rows = [f"    /// As in the core.\n    parameter int unsigned {name} = {default}"
            for name, default in zip(m.parameters, (16, 1, 1500))]
    text = PORTS.replace("{parameters}", ",\n".join(rows))
    return HEAD.format(note=note) + text + "\n".join(write(m) + read(m))
