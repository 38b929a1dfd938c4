#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks that the binary interface of the C library only grows.

    c_abi.py check [--compiler CC] [--library libspfe.so]
                       compares the header, as the compiler lays it out, and the library's symbols
                       with packaging/c/abi.txt
    c_abi.py accept    adds what is new to packaging/c/abi.txt; refuses a change of what is there

The list has one line for each function (with its prototype and symbol version), structure (size and
alignment), field (offset, size and type), and constant. Programs that were built with an earlier header
depend on every line. A structure that starts with its size may get more fields at its end; that changes
its size, which is therefore the one line that may grow.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADERS = [ROOT / "include/spfe" / name for name in ("spfe.h", "fabric.h", "fast.h")]
MAP = ROOT / "packaging/c/libspfe.map"
LIST = ROOT / "packaging/c/abi.txt"

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRUCT = re.compile(r"^struct (\w+) \{(.*?)^\};", re.S | re.M)
ENUM = re.compile(r"^enum (\w+) \{(.*?)^\};", re.S | re.M)
PROTOTYPE = re.compile(r"^(?!static|typedef|struct \w+ \{|#)([a-z][\w \t\n*]*?\b(spfe_\w+)\([^;{]*?\));", re.M)
CONSTANT = re.compile(r"^#define (SPFE_\w+) (\(?[-+\w()]+\)?)\s*$", re.M)
FIELD = re.compile(r"^\s*(.+?)(\w+)(\[\w+\])?$", re.S)


def plain(text):
    """One line, with single blanks."""
    return re.sub(r"\s+", " ", text).strip()


class Header:
    """What the header declares."""

    def __init__(self, text):
        text = COMMENT.sub("", text)
        self.structs = {name: list(fields(body)) for name, body in STRUCT.findall(text)}
        self.constants = [name for name, _ in CONSTANT.findall(text)]
        for _, body in ENUM.findall(text):
            self.constants += re.findall(r"\b(SPFE_\w+)\b(?=\s*(?:=|,|$))", body, re.M)
        outside = STRUCT.sub("", ENUM.sub("", text))
        outside = re.sub(r"^static inline.*?^\}", "", outside, flags=re.S | re.M)
        self.functions = {name: plain(whole) for whole, name in PROTOTYPE.findall(outside)}


def fields(body):
    """Yields (type, name, array) of the fields of a structure."""
    for declaration in filter(str.strip, body.split(";")):
        kind, name, array = FIELD.match(declaration.strip()).groups()
        yield plain(kind) + (array or ""), name


def layout(header, compiler):
    """Lines with sizes, offsets and values, as a compiler sees them."""
    code = ["#include <stddef.h>", "#include <stdio.h>", "#include <spfe/fast.h>", "int main(void) {"]
    for name, members in header.structs.items():
        code.append(f'printf("struct {name} %zu bytes, alignment %zu\\n", sizeof(struct {name}), '
                    f"_Alignof(struct {name}));")
        for kind, field in members:
            code.append(f'printf("field {name}.{field} at %zu, %zu bytes: {kind}\\n", '
                        f"offsetof(struct {name}, {field}), sizeof(((struct {name} *)0)->{field}));")
    for name in header.constants:
        code.append(f'printf("constant {name} %lld\\n", (long long)({name}));')
    code.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "layout.c", Path(folder) / "layout"
        source.write_text("\n".join(code), encoding="utf-8")
        subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", f"-I{ROOT / 'include'}",
                        "-o", program, source], check=True)
        done = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def versions(text):
    """The version of each symbol in a version script."""
    found = {}
    for version, body in re.findall(r"^(\w[\w.]*) \{(.*?)^\}", text, re.S | re.M):
        for name in re.findall(r"^\s*(spfe_\w+);", body, re.M):
            found[name] = version
    return found


def exported(library):
    """The version of each function that a library exports."""
    words = ["nm", "-D", "--defined-only", library]
    text = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(re.findall(r"^\S+ T (\w+)@@(\S+)$", text, re.M))


def current(compiler):
    """All lines of the interface, sorted."""
    header = Header("\n".join(file.read_text(encoding="utf-8") for file in HEADERS))
    of = versions(MAP.read_text(encoding="utf-8"))
    lines = [f"function {of.get(name, 'no version')} {text}" for name, text in header.functions.items()]
    return sorted(lines + layout(header, compiler))


def grown(line, new):
    """Whether a line is that of a structure which starts with its size, and has only become larger."""
    size = re.compile(r"^struct (\w+) (\d+) bytes, alignment (\d+)$")
    before = size.match(line)
    if not before or not any(other.startswith(f"field {before[1]}.size at 0,") for other in new):
        return False
    after = [match for match in map(size.match, new) if match and match[1] == before[1]]
    return any(before[3] == match[3] and int(before[2]) < int(match[2]) for match in after)


def broken(old, new):
    """Lines of the old list that do not hold any more."""
    have = set(new)
    return [line for line in old if line not in have and not grown(line, new)]


def main():
    """Runs a command."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("check", "accept"))
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--library")
    options = parser.parse_args()
    new = current(options.compiler)
    old = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    gone = broken(old, new)
    for line in gone:
        print(f"changed or gone: {line}")
    if options.command == "accept" and not gone:
        LIST.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")
        return 0
    added = sorted(set(new) - set(old))
    for line in added:
        print(f"not in {LIST.relative_to(ROOT)}: {line}")
    if added and not gone:
        print("run: tools/c_abi.py accept")
    if options.library:
        declared = {line.split("(")[0].split()[-1].lstrip("*"): line.split()[1]
                    for line in new if line.startswith("function ")}
        for name, version in exported(options.library).items() ^ declared.items():
            print(f"header and library disagree: {name} {version}")
            gone.append(name)
    return 1 if gone or added else 0


if __name__ == "__main__":
    sys.exit(main())
