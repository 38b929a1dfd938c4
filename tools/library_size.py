#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks how much of the project a program compiles that only uses real hardware.

    library_size.py             the limit of 18,000 lines, and the crates that are allowed
    library_size.py --limit N   another limit

Builds the library with `--no-default-features --features kernel`, takes the source files from the
compiler's dependency information, and counts all their lines, generated files included. Fails over
the limit, and if a crate of the workspace other than contract, ring, proto, host and the library is
compiled.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = {"spfe", "spfe-contract", "spfe-host", "spfe-proto", "spfe-ring", "spfe-topology"}
LIMIT = 18_000
BUILD = ["cargo", "check", "--package", "spfe", "--lib", "--no-default-features",
         "--features", "kernel", "--message-format", "json"]


def libraries(messages, root):
    """Yields the package name and dependency file of each library of the workspace that cargo
    reports in its messages, one JSON object per line."""
    for line in messages:
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact":
            continue
        manifest = Path(message["manifest_path"])
        if root not in manifest.parents or "lib" not in message["target"]["kind"]:
            continue
        metadata = next(Path(name) for name in message["filenames"] if name.endswith(".rmeta"))
        name = metadata.stem.removeprefix("lib") + ".d"
        yield manifest.parent.name, metadata.with_name(name)


def sources(text):
    """The source files that a dependency file names: a target, a colon and file names per line."""
    files = set()
    for line in text.splitlines():
        _, colon, names = line.partition(": ")
        if colon and not line.startswith("#"):
            files.update(name for name in names.split() if name.endswith(".rs"))
    return files


def lines_of(file):
    return file.read_bytes().count(b"\n")


def problems(sizes, limit):
    """What is wrong with a build, given the lines of each crate."""
    for name in sorted(set(sizes) - ALLOWED):
        yield f"{name} is compiled; allowed are {', '.join(sorted(ALLOWED))}"
    total = sum(sizes.values())
    if total > limit:
        yield f"{total} lines; at most {limit} allowed"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"lines allowed ({LIMIT})")
    options = parser.parse_args(arguments)
    build = subprocess.run(BUILD, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if build.returncode:
        print("library_size: the build failed", file=sys.stderr)
        return 1
    sizes = {}
    for name, dependencies in libraries(build.stdout.splitlines(), ROOT):
        files = sources(dependencies.read_text(encoding="utf-8"))
        sizes[name] = sum(lines_of(ROOT / file) for file in files)
    for name, lines in sorted(sizes.items()):
        print(f"{lines:6}  {name}")
    print(f"{sum(sizes.values()):6}  lines in a library for real hardware")
    found = list(problems(sizes, options.limit))
    for problem in found:
        print(f"library_size: {problem}", file=sys.stderr)
    return 1 if found or not sizes else 0


if __name__ == "__main__":
    sys.exit(main())
