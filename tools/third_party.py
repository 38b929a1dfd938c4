#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints the licence notices of the libraries that are linked into programs of the workspace.

    third_party.py PACKAGE...

For each library: name, version and licence, then its licence and notice files. A text that several
libraries share is printed once.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

NOTICE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.I)


def metadata():
    """Metadata of the workspace and all its dependencies, from cargo."""
    host = re.search(r"^host: (.*)$", run("rustc", "-vV"), re.M)[1]
    words = ("metadata", "--format-version", "1", "--locked", "--filter-platform", host)
    return json.loads(run("cargo", *words))


def run(*command):
    """Output of a command. If the command fails, so does this program."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(data, names):
    """Identities of all packages that are linked into these, including themselves."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    members = set(data["workspace_members"])
    by_name = {package["name"]: package["id"] for package in data["packages"]
               if package["id"] in members}
    todo, found = [by_name[name] for name in names], set()
    while todo:
        identity = todo.pop()
        if identity in found:
            continue
        found.add(identity)
        for dependency in nodes[identity]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    return found - members


def notices(package):
    """Yields name and text of the licence and notice files of a package."""
    folder = Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and NOTICE.match(file.name):
            yield file.name, file.read_text("utf-8", "replace").strip()


def report(packages):
    """Yields the lines of the report."""
    seen = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        yield f"{'=' * 78}\n{name}: {package['license'] or 'see its notices'}\n"
        found = False
        for file, text in notices(package):
            found = True
            if text in seen:
                yield f"{file}: the same as {seen[text]}\n"
                continue
            seen[text] = f"{file} of {name}"
            yield f"{file}:\n\n{text}\n"
        if not found:
            authors = ", ".join(package["authors"]) or "not named"
            yield f"It came without a notice. Authors: {authors}\n"


def main(names):
    """Prints the notices."""
    data = metadata()
    wanted = linked(data, names)
    packages = [package for package in data["packages"] if package["id"] in wanted]
    packages.sort(key=lambda package: (package["name"], package["version"]))
    print("Libraries that are linked into:", ", ".join(names), "\n")
    print("\n".join(report(packages)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    main(sys.argv[1:])
