#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh format [MODULE...]: lays out the design and the proofs with verible-verilog-format.

Two spaces for each level and for continued lines, no columns: a longer name changes its own line
only. Generated files are left alone, and so are the benches in rtl/tb, which are laid out by hand.
`tools/rtl.sh lint` fails for a file that this command would change.
"""

import sys

from rtl_files import RTL, chosen, design_files, relative, report, run

GENERATED = "// Generated from "
COLUMNS = ("assignment_statement", "case_items", "enum_assignment_statement", "formal_parameters",
           "module_net_variable", "named_parameter", "named_port", "port_declarations",
           "struct_union_members")
INDENTED = ("formal_parameters", "named_parameter", "named_port", "port_declarations")
FORMATTER = ["verible-verilog-format", "--failsafe_success=false", "--column_limit=100",
             "--indentation_spaces=2", "--wrap_spaces=2",
             *(f"--{kind}_alignment=flush-left" for kind in COLUMNS),
             *(f"--{kind}_indentation=indent" for kind in INDENTED)]


def formatted_files():
    """Files that the formatter lays out, by name without ending."""
    paths = [*design_files(), *sorted((RTL / "formal").glob("*.sv"))]
    return {path.stem: path for path in paths if GENERATED not in path.read_text()}


def unformatted(path):
    """What the formatter says about a file that it would change; empty if it would not."""
    code, said = run([*FORMATTER, "--verify", relative(path)])
    return (said or f"{relative(path)}: run tools/rtl.sh format") if code else ""


def main(arguments):
    """Command line; returns the exit code."""
    wanted = chosen(formatted_files(), arguments, "module")
    code, said = run([*FORMATTER, "--inplace", *map(relative, wanted.values())])
    return 0 if report(code == 0, f"format of {len(wanted)} files", said) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
