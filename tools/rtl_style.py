# SPDX-License-Identifier: MIT OR Apache-2.0
"""House style of SystemVerilog that no other tool checks: one module a file, its size, its licence
line, names of instances, registers behind outputs, the size of always_ff blocks, and a comment
`///` before the module and before its ports and parameters."""

import re

from pyslang import syntax

LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1"
LINES_MAX = 400
COLUMNS_MAX = 100
ALWAYS_FF_MAX = 60
SAME_EVERYWHERE = ("clk_i", "rst_i")
HANDSHAKE = re.compile(r"(\w+_)?(?:valid|ready)_[io]")
OLD_ALWAYS = re.compile(r"\balways\b(?!_)")
REGISTER = re.compile(r"(?:^|begin |\) |else |: )(\w+)(?:\.\w+|\[[^\]]*\])* <= ")
Kind = syntax.SyntaxKind


def documented(node):
    """Whether a comment `///` is right before this part of the source."""
    return any(piece.getRawText().startswith("///") for piece in node.getFirstToken().trivia)


def declarations(part):
    """The declarations of a list of ports or parameters, without the commas."""
    return [item for item in part if hasattr(item, "getFirstToken")]


def undocumented(module):
    """Names of ports and parameters without a comment. clk_i and rst_i mean the same everywhere and
    need none. The comment of a channel's payload covers its valid and ready: cmd_i documents
    cmd_valid_i and cmd_ready_o, data_i documents valid_i and ready_o."""
    header = module.header
    listed = declarations(header.parameters.declarations) if header.parameters else []
    if header.ports is not None and hasattr(header.ports, "ports"):
        listed += declarations(header.ports.ports)
    names = {re.sub("//.*", "", str(item)).split("=")[0].split()[-1]: documented(item)
             for item in listed}
    channels = [f"{name[:-2]}_" for name, good in names.items() if good]
    for name, good in names.items():
        handshake = HANDSHAKE.fullmatch(name)
        covered = handshake and any(one.startswith(handshake[1] or "data_") for one in channels)
        if not good and not covered and name not in SAME_EVERYWHERE:
            yield name


def instances(node):
    """Names of the instances of modules in a part of the source."""
    if node.kind == Kind.HierarchicalInstance and node.decl is not None:
        yield node.decl.name.valueText
    for part in node:
        if hasattr(part, "kind") and isinstance(part, syntax.SyntaxNode):
            yield from instances(part)


def registers(lines):
    """What is wrong with the always_ff blocks of a file that the formatter has laid out."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line.lstrip().startswith("always_ff"):
            start, indent = number, line[:len(line) - len(line.lstrip())]
        if start is None:
            continue
        for name in REGISTER.findall(line.split("//")[0].strip()):
            if not name.endswith("_q"):
                yield f"line {number}: register {name}; its name must end in _q"
        if line == f"{indent}end" or (number == start and not line.endswith("begin")):
            if number - start + 1 > ALWAYS_FF_MAX:
                yield (f"line {start}: always_ff of {number - start + 1} lines; "
                       f"at most {ALWAYS_FF_MAX} are allowed")
            start = None


def findings(text, stem):
    """What is wrong with a file of this name without suffix, as sentences."""
    lines = text.splitlines()
    root = syntax.SyntaxTree.fromText(text).root
    members = list(root.members) if root.kind == Kind.CompilationUnit else [root]
    found = []
    if not lines or lines[0] != LICENCE:
        found.append(f"the first line is not: {LICENCE}")
    if len(lines) > LINES_MAX:
        found.append(f"{len(lines)} lines; at most {LINES_MAX} are allowed")
    if len(members) != 1:
        found.append(f"{len(members)} modules or packages in one file; there has to be one")
    for member in members:
        name = member.header.name.valueText
        if name != stem:
            found.append(f"{name} is in {stem}.sv")
        if not documented(member):
            found.append(f"{name} has no comment ///")
        if member.kind == Kind.ModuleDeclaration:
            found += [f"{item} has no comment ///" for item in undocumented(member)]
        found += [f"instance {name}; its name must begin with i_" for name in instances(member)
                  if not name.startswith("i_")]
    for number, line in enumerate(lines, 1):
        if OLD_ALWAYS.search(line.split("//")[0]):
            found.append(f"line {number}: always; use always_ff or always_comb")
        if len(line) > COLUMNS_MAX:
            found.append(f"line {number}: {len(line)} columns; at most {COLUMNS_MAX} are allowed")
    return found + list(registers(lines))
