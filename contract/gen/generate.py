#!/usr/bin/env python3
# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Generates everything that comes from contract/spfe.toml.

    generate.py            writes the files that differ
    generate.py --check    writes nothing; exit code 1 and their names if any differ
"""

import argparse
import itertools
import sys
from pathlib import Path

import c
import markdown
import model
import rust
import sv
import vectors

SOURCE = "contract/spfe.toml"
NOTE = f"Generated from {SOURCE} by contract/gen/generate.py: do not edit; run `make gen`."
OUTPUTS = {
    "crates/spfe-contract/src/generated.rs": rust,
    "include/spfe/spfe_hw.h": c,
    "rtl/pkg/spfe_pkg.sv": sv,
    "contract/REFERENCE.md": markdown,
    "contract/vectors/entries.json": vectors,
}


def differing(root, texts):
    """Yields the path of each file that is not as it should be, and why."""
    for path, text in texts.items():
        file = root / path
        if not file.is_file():
            yield path, "is missing"
            continue
        have, want = file.read_bytes().splitlines(True), text.encode().splitlines(True)
        if have != want:
            pairs = enumerate(itertools.zip_longest(have, want), 1)
            yield path, f"differs in line {next(n for n, (a, b) in pairs if a != b)}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="top of the source tree (default: this one)")
    options = parser.parse_args(arguments)
    try:
        contract = model.parse((options.root / SOURCE).read_text(encoding="utf-8"))
    except model.ContractError as error:
        print(f"{SOURCE}: {error}", file=sys.stderr)
        return 2
    texts = {path: emitter.emit(contract, NOTE) for path, emitter in OUTPUTS.items()}
    changed = list(differing(options.root, texts))
    for path, why in changed:
        if options.check:
            print(f"{path} {why}; run: python3 contract/gen/generate.py", file=sys.stderr)
            continue
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_bytes(texts[path].encode())
        print(f"wrote {path}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
