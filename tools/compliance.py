#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the compliance table against the tree.

    compliance.py [FILE]      FILE: docs/compliance.md of this tree unless given

Every file, item and test that the table names must exist, and every row must be complete. Prints a
line for each error and exits with 1, or prints the summary, which must equal that of the page.

References are in backticks: PATH, PATH:NAME or PATH:NAME, NAME. A PATH that starts with one of the
directories crates, fuzz, rtl, tests, tools and vectors is complete. Any other PATH starts with a crate:
`spfe-link/crc.rs` is crates/spfe-link/src/crc.rs in a column of sources, and
crates/spfe-link/tests/crc.rs in a column of tests. NAME is an item, field or variant of a source
(Type::function for a nested one). In a column of tests NAME is a function with #[test], or a case in
a `cases!` list of the conformance suite.

A table may have a column Core: the test that checks the requirement in the core of rtl/, or the
words "not built" or "no test".
"""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ("Clause", "Requirement", "Where", "Test", "Status")
WITH_CORE = REQUIREMENTS + ("Core",)
CHOICES = ("Id", "Clause", "Question", "Choice", "Parameter", "Test")
NOT_BUILT = ("Id", "Clause", "What", "Instead")
AS_IT_IS = ("crates", "fuzz", "rtl", "tests", "tools", "vectors")
NO_TEST = "no test"
STATUS = re.compile(r"kept|(choice|deviation) (C\d+(?:, C\d+)*)|(not built) (N\d+)")
REFERENCE = re.compile(r"([\w.+-]+(?:/[\w.+-]+)+)(?::(\w+(?:::\w+)*(?:, \w+(?:::\w+)*)*))?")

CASES = re.compile(r"^cases! \{(.*?)^\}", re.M | re.S)


class Row(NamedTuple):
    """A row of a table: its line number, and its cells by the names of their columns."""

    line: int
    columns: tuple
    cells: dict


class Summary(NamedTuple):
    """Numbers of requirements by their status."""

    kept: int
    choices: int
    deviations: int
    not_built: int
    untested: int

    def __str__(self):
        total = self.kept + self.choices + self.deviations + self.not_built
        return (
            f"{total} requirements: {self.kept} kept, {self.choices} by a choice, "
            f"{self.deviations} with a deviation, {self.not_built} not built; "
            f"{self.untested} without a test."
        )


def cells_of(line):
    """Splits a line of a table into cells. A bar after a backslash belongs to the cell."""
    cells = re.split(r"(?<!\\)\|", line.strip())
    return [cell.strip() for cell in cells[1:-1]]


def rows_of(text):
    """Yields the rows of all tables of the page."""
    rows, header = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = tuple(cells_of(line))
        elif set(line) - set("|-: "):
            rows.append(Row(number, header, dict(zip(header, cells_of(line)))))
            if len(cells_of(line)) != len(header):
                rows[-1].cells.clear()
    return rows


def declares(text, name):
    """Whether a source declares an item, field or variant, or has an impl of that type."""
    item = r"\b(?:fn|struct|enum|union|trait|type|mod|const|static)\s+(?:mut\s+)?" + name + r"\b"
    block = r"^\s*impl\b[^;{]*\b" + name + r"\b"
    field = r"^\s*pub(?:\([^)]*\))?\s+" + name + r"\s*:"
    variant = r"^\s+" + name + r"(?:\s*[,({]|\s*=\s*\d|$)"
    patterns = [item, block, field] + ([variant] if name[0].isupper() else [])
    return any(re.search(pattern, text, re.M) for pattern in patterns)


def has_test(text, name):
    """Whether a source has a test function or a conformance case of this name."""
    if any(re.search(r"^\s+" + name + r":", cases, re.M) for cases in CASES.findall(text)):
        return True
    between = r"(?:\s*#\[[^\]]*\]|\s*//[^\n]*)*"
    return re.search(r"#\[test\]" + between + r"\s*fn " + name + r"\b", text) is not None


class Checker:
    """Looks up the references of a page and collects errors."""

    def __init__(self, root):
        self.root = root
        self.problems = []
        self.texts = {}

    def wrong(self, line, text):
        """Records an error in a line."""
        self.problems.append(f"{line}: {text}")

    def text(self, path):
        """The text of a file of the tree, or None if it does not exist."""
        if path not in self.texts:
            file = self.root / path
            is_file = file.is_file()
            self.texts[path] = file.read_text("utf-8", "replace") if is_file else None
        return self.texts[path]

    def references(self, line, cell, is_test):
        """Checks the references of a cell. Returns their number."""
        found = re.findall(r"`([^`]*)`", cell)
        for reference in found:
            match = REFERENCE.fullmatch(reference)
            if not match:
                self.wrong(line, f"`{reference}`: not of the form PATH or PATH:NAME")
                continue
            self.reference(line, match[1], (match[2] or "").split(", "), is_test)
        return len(found)

    def reference(self, line, path, names, is_test):
        """Checks one reference."""
        first, rest = path.split("/", 1)
        if first not in AS_IT_IS:
            path = f"crates/{first}/{'tests' if is_test else 'src'}/{rest}"
        text = self.text(path)
        if text is None:
            self.wrong(line, f"{path}: no such file")
            return
        for name in filter(None, names):
            if is_test:
                known = has_test(text, name)
            else:
                known = all(declares(text, part) for part in name.split("::"))
            if not known:
                self.wrong(line, f"{path}: no {'test' if is_test else 'item'} {name}")

    def tests(self, line, cell):
        """Checks a cell of tests. Returns whether it names a test."""
        count = self.references(line, cell, True)
        if (count != 0) == (NO_TEST in cell):
            self.wrong(line, f"Test: references, or the words {NO_TEST}")
        return count != 0

    def requirement(self, row, ids):
        """Checks a requirement. Returns its status, and whether it is tested."""
        cells = row.cells
        match = STATUS.fullmatch(cells["Status"])
        if not match:
            self.wrong(row.line, f"Status: {cells['Status']!r}, not kept, choice Cn, deviation Cn "
                                 "or not built Nn")
            return None, True
        named = (match[2] or match[4] or "").split(", ")
        for name in filter(None, named):
            if name not in ids:
                self.wrong(row.line, f"Status: there is no {name}")
        if match[3]:
            if (cells["Where"], cells["Test"]) != ("-", "-"):
                self.wrong(row.line, "not built: Where and Test are -")
            return match[3], True
        if not self.references(row.line, cells["Where"], False):
            self.wrong(row.line, "Where: no reference")
        return match[1] or "kept", self.tests(row.line, cells["Test"])

    def core(self, row):
        """Checks what a requirement says about the core of rtl/, if its table has that column."""
        cell = row.cells.get("Core", NO_TEST)
        if cell not in ("not built", NO_TEST) and not self.references(row.line, cell, True):
            self.wrong(row.line, f"Core: {cell!r}, not a test, not built or {NO_TEST}")

    def choice(self, row):
        """Checks a row of the choices."""
        cell = row.cells["Parameter"]
        if not self.references(row.line, cell, False) and not cell.startswith("none"):
            self.wrong(row.line, "Parameter: a reference, or none")
        self.tests(row.line, row.cells["Test"])

    def ids(self, rows):
        """Returns the identifiers of choices and of unbuilt features; none may occur twice."""
        seen = set()
        for row in rows:
            name = row.cells.get("Id")
            if row.columns not in (CHOICES, NOT_BUILT) or name is None:
                continue
            if not re.fullmatch(r"C\d+" if row.columns == CHOICES else r"N\d+", name):
                self.wrong(row.line, f"Id: {name!r}")
            if name in seen:
                self.wrong(row.line, f"Id: {name} a second time")
            seen.add(name)
        return seen

    def page(self, text):
        """Checks a page. Returns its summary."""
        rows = rows_of(text)
        ids = self.ids(rows)
        kinds, untested = Counter(), 0
        for row in rows:
            if not row.cells or "" in row.cells.values():
                self.wrong(row.line, f"columns: {len(row.columns)} cells with something in them")
            elif row.columns in (REQUIREMENTS, WITH_CORE):
                kind, tested = self.requirement(row, ids)
                self.core(row)
                kinds[kind] += 1
                untested += not tested
            elif row.columns == CHOICES:
                self.choice(row)
            elif row.columns != NOT_BUILT:
                self.wrong(row.line, f"columns: unknown, {', '.join(row.columns)}")
        numbers = (kinds[kind] for kind in ("kept", "choice", "deviation", "not built"))
        summary = Summary(*numbers, untested)
        if not summary.kept:
            self.wrong(1, "no requirement is kept: is this the page?")
        if not self.problems and str(summary) not in " ".join(text.split()):
            self.wrong(1, f"the page does not say: {summary}")
        return summary


def main(arguments):
    """Command line; returns the exit code."""
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 2
    file = Path(arguments[0]) if arguments else ROOT / "docs" / "compliance.md"
    checker = Checker(ROOT)
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        print(f"{file}: {error.strerror}", file=sys.stderr)
        return 2
    summary = checker.page(text)
    for problem in checker.problems:
        print(f"{file.name}:{problem}")
    if not checker.problems:
        print(summary)
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
