#!/usr/bin/env python3
# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Generates everything that comes from contract/spfe.toml and from the cores' registers.toml.

    generate.py            writes the files that differ
    generate.py --check    writes nothing; exit code 1 and their names if any differ
"""

import argparse
import itertools
import sys
from pathlib import Path

import c
import core
import markdown
import model
import rust
import sv
import sv_core
import vectors

COMMAND = "python3 contract/gen/generate.py"
SOURCE = "contract/spfe.toml"
TCP = "rtl/tcp/regs/registers.toml"
# For each source: how it is read, and what writes each file that comes from it.
SOURCES = {
    SOURCE: (model.parse, {
        "crates/spfe-contract/src/generated.rs": rust.emit,
        "crates/spfe-contract/src/rdma.rs": rust.emit_rdma,
        "crates/spfe-contract/src/fabric.rs": rust.emit_fabric,
        "include/spfe/spfe_hw.h": c.emit,
        "rtl/pkg/spfe_pkg.sv": sv.emit,
        "contract/REFERENCE.md": markdown.emit,
        "contract/vectors/entries.json": vectors.emit,
    }),
    TCP: (core.parse, {
        "rtl/tcp/spfe_tcp_regs_pkg.sv": sv_core.package,
        "rtl/tcp/spfe_tcp_regs_file.sv": sv_core.file,
        "rtl/tcp/regs/spfe_tcp_regs.h": c.emit_core,
        "rtl/bench/src/registers.rs": rust.emit_core,
        "docs/tcp-registers.md": markdown.emit_core,
    }),
}
OUTPUTS = {path: source for source, (_, emitters) in SOURCES.items() for path in emitters}


def differing(root, texts):
    """Yields the path of each file that is not up to date, and the reason."""
    for path, text in texts.items():
        file = root / path
        if not file.is_file():
            yield path, "is missing"
            continue
        have, want = file.read_bytes().splitlines(True), text.encode().splitlines(True)
        if have != want:
            pairs = enumerate(itertools.zip_longest(have, want), 1)
            yield path, f"differs in line {next(n for n, (a, b) in pairs if a != b)}"


def generated(root):
    """Path and text of every output."""
    texts = {}
    for source, (parse, emitters) in SOURCES.items():
        note = f"Generated from {source}: do not edit; run `make gen`."
        try:
            parsed = parse((root / source).read_text(encoding="utf-8"))
        except model.ContractError as error:
            raise model.ContractError(f"{source}: {error}") from error
        texts |= {path: emit(parsed, note) for path, emit in emitters.items()}
    return texts


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="top of the source tree (default: this one)")
    options = parser.parse_args(arguments)
    try:
        texts = generated(options.root)
    except model.ContractError as error:
        print(error, file=sys.stderr)
        return 2
    changed = list(differing(options.root, texts))
    for path, why in changed:
        if options.check:
            print(f"{path} {why}; run: {COMMAND}", file=sys.stderr)
            continue
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_bytes(texts[path].encode())
        print(f"wrote {path}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
