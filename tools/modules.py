#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Finds module cycles inside the crates of the workspace, and public type names that collide.

    modules.py [CRATE_DIR...]     checks these crates; without arguments every crate of the project
    modules.py --edges CRATE_DIR  prints which sibling module uses which, with one place each

Two sibling modules A and B form a cycle if something below A names something below B and the other
way round, directly or through other siblings. A child may use its parent: a module and its
submodules are one unit. Paths (`crate::`, `super::`, `self::`, use trees) are resolved through
re-exports; calls of methods need no path and are not seen. Code under `#[cfg(test)]` is left out.

The existing tool, cargo-modules, embeds rust-analyzer: building it takes longer than the whole
lint group of the tests, and it stops at the first cycle it finds.
"""

import argparse
import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Names that every crate may define for itself.
COMMON_NAMES = {"Error", "Result"}

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\\n])\'',
    re.S,
)
PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*(?:super|[A-Za-z_]\w*))+")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.M)
TYPE = re.compile(r"^\s*pub\s+(?:unsafe\s+)?(?:struct|enum|trait|union|type)\s+([A-Z]\w*)", re.M)


def blank(match):
    """White space of the same shape, so that line numbers stay right."""
    return re.sub(r"[^\n]", " ", match.group())


def without_tests(text):
    """Blanks items under #[cfg(test)] and #[cfg(all(test, ...))]."""
    for start in reversed([m.start() for m in re.finditer(r"#\[cfg\((?:all\()?test\b", text)]):
        end, depth = start, 0
        while end < len(text):
            char = text[end]
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    break
            elif char == ";" and depth == 0:
                break
            end += 1
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end + 1]) + text[end + 1:]
    return text


def use_tree(text):
    """Yields (path, name) of each leaf of a use tree; name is None for a glob."""
    text = text.strip()
    if (brace := text.find("{")) >= 0:
        head, depth, part = text[:brace].rstrip(": \n"), 0, ""
        for char in text[brace + 1:text.rindex("}")] + ",":
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                if part.strip():
                    for path, name in use_tree(part):
                        yield ([*re.split(r"\s*::\s*", head)] if head else []) + path, name
                part = ""
            else:
                part += char
        return
    path, _, alias = (piece.strip() for piece in text.partition(" as "))
    parts = re.split(r"\s*::\s*", path)
    if parts[-1] == "*":
        yield parts[:-1], None
    elif parts[-1] == "self":
        yield parts[:-1], alias or (parts[-2] if len(parts) > 1 else None)
    else:
        yield parts, alias or parts[-1]


class Crate:
    """The modules of one crate and what they name of each other."""

    def __init__(self, folder):
        self.folder = folder
        self.source = folder / "src"
        self.files = {}
        self.texts = {}
        self.exports = collections.defaultdict(dict)
        for file in sorted(self.source.rglob("*.rs")):
            parts = list(file.relative_to(self.source).with_suffix("").parts)
            # tests.rs has the unit tests of its module.
            if parts[0] == "bin" or parts[-1] == "tests":
                continue
            if parts[-1] == "mod" or (len(parts) == 1 and parts[0] in ("lib", "main")):
                parts.pop()
            self.files.setdefault(tuple(parts), []).append(file)
        for module, files in self.files.items():
            self.texts[module] = [
                (file, without_tests(NOISE.sub(blank, file.read_text()))) for file in files
            ]
        self.children = collections.defaultdict(set)
        for module in self.files:
            if module:
                self.children[module[:-1]].add(module)
        for module, texts in self.texts.items():
            for _, text in texts:
                for match in USE.finditer(text):
                    for path, name in use_tree(match[2]):
                        if target := self.absolute(module, path):
                            self.exports[module].setdefault(name, []).append(target)

    def absolute(self, module, path):
        """The path from the crate's root, or None for another crate's."""
        base = list(module)
        first, rest = path[0], list(path[1:])
        if first == "crate":
            base = []
        elif first == "super":
            base = base[:-1]
        elif first != "self":
            if (*module, first) not in self.files:
                return None
            rest = list(path)
        while rest and rest[0] == "super":
            base, rest = base[:-1], rest[1:]
        return tuple(base + rest)

    def resolve(self, path, depth=0):
        """The module that defines what an absolute path names."""
        end = len(path)
        while path[:end] not in self.files:
            end -= 1
        module, rest = path[:end], path[end:]
        if not rest or depth > 8:
            return module
        for target in self.exports[module].get(rest[0], []):
            if target != path:
                return self.resolve(target + rest[1:], depth + 1)
        return module

    def uses(self):
        """Yields (module, module it names, file, line)."""
        for module, texts in self.texts.items():
            for file, text in texts:
                found = []
                for match in USE.finditer(text):
                    found += [(match.start(2), p + ([n] if n is None else [])) for p, n in use_tree(match[2])]
                plain = USE.sub(blank, text)
                found += [(m.start(), re.split(r"\s*::\s*", m.group())) for m in PATH.finditer(plain)]
                for at, path in found:
                    target = self.absolute(module, [part for part in path if part is not None])
                    if target is not None:
                        yield module, self.resolve(target), file, text.count("\n", 0, at) + 1

    def edges(self):
        """{(sibling, sibling): (file, line)}, one place for each pair."""
        edges = {}
        for module, target, file, line in self.uses():
            common = 0
            while common < min(len(module), len(target)) and module[common] == target[common]:
                common += 1
            if common < len(module) and common < len(target):
                edges.setdefault((module[:common + 1], target[:common + 1]), (file, line))
        return edges

    def types(self):
        """{name: [(file, line)]} of the types that are marked `pub`."""
        types = collections.defaultdict(list)
        for texts in self.texts.values():
            for file, text in texts:
                for match in TYPE.finditer(text):
                    types[match[1]].append((file, text.count("\n", 0, match.start(1)) + 1))
        return types


def components(edges):
    """Strongly connected components with more than one member (Tarjan), each sorted."""
    graph = collections.defaultdict(set)
    for a, b in edges:
        graph[a].add(b)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            member, group = None, []
            while member != node:
                member = stack.pop()
                group.append(member)
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def place(file, line):
    return f"{file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}:{line}"


def report_cycles(crate):
    """Prints the cycles of a crate; returns how many modules are in one."""
    edges, bad = crate.edges(), 0
    for group in components(edges):
        bad += len(group)
        names = ", ".join("::".join(module) for module in group)
        print(f"{crate.folder.name}: module cycle: {names}")
        for (a, b), where in sorted(edges.items()):
            if a in group and b in group:
                print(f"    {'::'.join(a)} uses {'::'.join(b)} at {place(*where)}")
    return bad


def report_names(crates):
    """Prints type names that the library crates define more than once; returns how many names."""
    places = collections.defaultdict(list)
    for crate in crates:
        if not (crate.source / "lib.rs").is_file() or crate.folder.parent.name != "crates":
            continue
        for name, where in crate.types().items():
            places[name] += where
    bad = {name: where for name, where in places.items()
           if len(where) > 1 and name not in COMMON_NAMES}
    for name, where in sorted(bad.items()):
        print(f"public type {name} is defined {len(where)} times: "
              + ", ".join(place(*one) for one in where))
    return len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("crates", nargs="*", type=Path)
    parser.add_argument("--edges", action="store_true", help="print the uses between siblings")
    options = parser.parse_args()
    folders = options.crates or [
        file.parent for file in [*sorted((ROOT / "crates").glob("*/Cargo.toml")),
                                 ROOT / "rtl/bench/Cargo.toml",
                                 ROOT / "rtl/sim/Cargo.toml"] if file.is_file()
    ]
    crates = [Crate(folder.resolve()) for folder in folders]
    if options.edges:
        for crate in crates:
            for (a, b), where in sorted(crate.edges().items()):
                print(f"{'::'.join(a)} uses {'::'.join(b)} at {place(*where)}")
        return 0
    cycles = sum(report_cycles(crate) for crate in crates)
    names = report_names(crates)
    print(f"{len(crates)} crates: {cycles} modules in cycles, {names} public type names that collide")
    return 1 if cycles or names else 0


if __name__ == "__main__":
    sys.exit(main())
