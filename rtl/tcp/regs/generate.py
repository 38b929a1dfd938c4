#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Generates everything that comes from rtl/tcp/regs/registers.toml.

    generate.py            writes the files that differ
    generate.py --check    writes nothing; exit code 1 and their names if any differ
"""

import argparse
import sys
from pathlib import Path

import model
import software
import sv

SOURCE = "rtl/tcp/regs/registers.toml"
COMMAND = "python3 rtl/tcp/regs/generate.py"
NOTE = f"Generated from {SOURCE}: do not edit; run `{COMMAND}`."
OUTPUTS = {
    "rtl/tcp/spfe_tcp_regs_pkg.sv": sv.package,
    "rtl/tcp/spfe_tcp_regs_file.sv": sv.file,
    "rtl/tcp/regs/spfe_tcp_regs.h": software.c_header,
    "rtl/bench/src/registers.rs": software.rust,
    "docs/tcp-registers.md": software.markdown,
}


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    options = parser.parse_args(arguments)
    root = Path(__file__).resolve().parents[3]
    try:
        registers = model.parse((root / SOURCE).read_text(encoding="utf-8"))
    except (model.MapError, KeyError) as error:
        print(f"{SOURCE}: {error}", file=sys.stderr)
        return 2
    differ = False
    for path, emit in OUTPUTS.items():
        text, file = emit(registers, NOTE), root / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        differ = True
        if options.check:
            print(f"{path} is not what {SOURCE} gives; run: {COMMAND}", file=sys.stderr)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
