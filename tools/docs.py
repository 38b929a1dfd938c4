#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the project's documents against the source tree.

    docs.py             every tracked Markdown file that is not generated
    docs.py FILE...     these files

What is checked, outside code blocks:

* links to files and to headings of files lead somewhere;
* files that are named in `backticks` exist;
* functions, types, modules, registers, options and make targets that are named in `backticks`
  occur in the sources; `FILE:Type::function` names a function that this file defines;
* text is at most 100 columns wide (tables and links may be wider);
* a paragraph, a list item or a table cell has at most 100 words.

Prints "FILE:LINE: what is wrong" for each finding; the exit code is 1 if there are any.
"""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Names of other standards and programs (pcapng, Linux) that the sources do not spell.
EXTERNAL = {"isb_ifdrop", "isb_ifrecv", "if_tsresol", "if_tsoffset", "if_name", "if_speed",
            "epb_flags", "sched_rt_runtime_us"}
COLUMNS, WORDS = 100, 100
BUILT = ("target/", "bench/out", "~", "/")  # where names start that are not in the tree
OWN_CHECK = {"docs/compliance.md"}  # tools/compliance.py looks up what it names
GENERATED = re.compile(r"^<!-- Generated|^Generated from", re.M)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What a name in backticks must look like to be looked up as one.
PLACE = re.compile(r"^([\w./-]+\.(?:rs|sv|c|h|py|sh|bash|bats|lua)):([\w:]+)(?:\(\))?$")
FILE = re.compile(r"^[\w.*{},-]*(?:/[\w.*{},-]+)+/?$|^[\w-]+\.(?:rs|sv|py|sh|toml|lua|md|h|tsv|json)$")
PATH_NAME = re.compile(r"^\w+(?:::\w+)+(?:\(\))?!?$")
NAME = re.compile(r"^(?:[a-z]\w*_\w+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z][a-z]\w*[A-Z]\w*)(?:\(\))?$")
OPTION = re.compile(r"^--[a-z][a-z-]+(?:[ =].*)?$")
MAKE = re.compile(r"^make ((?:[a-z][a-z-]*(?: |$))+)$")


def tracked():
    """Paths of the tracked files that exist, relative to the root."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout
    return [path for path in listed.splitlines() if (ROOT / path).is_file()]


class Sources:
    """What the documents can refer to."""

    def __init__(self):
        self.files = tracked()
        self.folders = {str(parent) for file in self.files for parent in Path(file).parents}
        self.words = set()
        for file in self.files:
            if not file.endswith((".md", ".gz", ".pcapng", ".png")):
                text = (ROOT / file).read_text(encoding="utf-8", errors="replace")
                self.words.update(IDENTIFIER.findall(text))
                self.words.update(IDENTIFIER.findall(file))
        self.crates = {Path(file).parent.name for file in self.files if file.endswith("Cargo.toml")}
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        self.targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))

    def file(self, name, beside):
        """Paths that a file or folder name can mean: from the root, the document, or any folder."""
        name = name.rstrip("/")
        local = [str((Path(beside) / name).as_posix()), name]
        inside = []
        if (crate := name.split("/")[0]) in self.crates:
            inside = [f"crates/{crate}/{part}/{name[len(crate) + 1:]}" for part in ("src", "tests")]
        for wanted in local + inside:
            found = [path for path in (*self.files, *self.folders) if fnmatch.fnmatch(path, wanted)]
            if found:
                return found
        return [path for path in (*self.files, *self.folders) if fnmatch.fnmatch(path, f"*/{name}")]


def expand(name):
    """The names that a{b,c}d stands for."""
    if match := re.search(r"\{([^{}]*)\}", name):
        for part in match[1].split(","):
            yield from expand(name[:match.start()] + part + name[match.end():])
    else:
        yield name


def check_place(sources, text, beside):
    """`FILE:Type::function` in the form of docs/operations.md."""
    name, inner = PLACE.match(text).groups()
    files = [path for path in sources.file(name, beside) if (ROOT / path).is_file()]
    if not files:
        return f"there is no file {name}"
    *outer, last = inner.split("::")
    for path in files:
        code = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        defined = re.search(rf"\b(?:fn|struct|enum|trait|const|static|mod|module|function|task|def)\s+{last}\b"
                            rf"|^{last}\(\)|\b{last}\s*\(", code, re.M)
        if defined and all(re.search(rf"\b{part}\b", code) for part in outer):
            return None
    return f"{name} does not define {inner}"


def check_code(sources, text, beside):
    """What is wrong with a text in backticks, or None."""
    text = text.strip()
    if PLACE.match(text):
        return check_place(sources, text, beside)
    if match := MAKE.match(text):
        unknown = set(match[1].split()) - sources.targets
        return f"make has no target {', '.join(sorted(unknown))}" if unknown else None
    if FILE.match(text) and not text.startswith(BUILT):
        if re.search(r"\b[A-Z]+\b", text.replace("README", "").replace("REFERENCE", "")):
            return None  # a placeholder, as in "fuzz/TARGET"
        top = text.split("/")[0]
        if "/" in text and top not in sources.crates and not any(
                path.split("/")[0] == top or f"/{top}/" in path or f"/{top}" == path[-len(top) - 1:]
                for path in (*sources.files, *sources.folders)) and "." not in text:
            return None  # "read/write", "8b/10b": no file name
        missing = [name for name in expand(text) if not sources.file(name, beside)]
        return f"there is no file {', '.join(missing)}" if missing else None
    if PATH_NAME.match(text) or NAME.match(text):
        missing = [part for part in IDENTIFIER.findall(text) if part not in sources.words | EXTERNAL
                   and part.replace("_", "-") not in sources.crates]
        return f"{', '.join(missing)} is not in the sources" if missing else None
    if OPTION.match(text):
        option = re.split(r"[ =]", text)[0][2:]
        if option.replace("-", "_") not in sources.words and not all(
                part in sources.words for part in option.split("-")):
            return f"no program has the option --{option}"
    return None


def anchor(heading):
    """The anchor that a heading gets."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower())
    return kept.replace(" ", "-")


def check_link(target, document):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, part = target.partition("#")
    file = (document.parent / name).resolve() if name else document
    if not file.exists():
        return f"the link {target} leads nowhere"
    if part and file.suffix == ".md":
        headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
        if part not in map(anchor, headings) and f'id="{part}"' not in file.read_text():
            return f"{name or document.name} has no heading #{part}"
    return None


def paragraphs(lines):
    """Yields (line number, text) of each paragraph, list item and table cell."""
    start, text = 0, []
    for number, line in enumerate([*lines, ""], 1):
        stripped = line.strip()
        fresh = re.match(r"\s*(?:[-*]|\d+\.)\s", line) or stripped.startswith(("#", "|"))
        if (not stripped or fresh) and text:
            yield start, " ".join(text)
            text = []
        if stripped.startswith("|"):
            for cell in stripped.strip("|").split(" | "):
                yield number, cell.strip()
        elif stripped:
            start = number if not text else start
            text.append(stripped)


def text_lines(lines):
    """The lines, with those of code blocks emptied."""
    fenced = block = False
    previous = ""
    for line in lines:
        fence = line.lstrip().startswith("```")
        indented = line.startswith("    ") and not re.match(r" +(?:[-*]|\d+\.) ", line)
        block = indented and (block or not previous.strip()) or block and not line.strip()
        yield "" if fence or fenced or block else line
        fenced ^= fence
        previous = line


def check(sources, path):
    """Yields (line, what is wrong) of a document."""
    document = ROOT / path
    lines = list(text_lines(document.read_text(encoding="utf-8").splitlines()))
    beside = str(Path(path).parent)
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and "](" not in line:
            yield number, f"{len(line)} columns; at most {COLUMNS}"
        for text in CODE.findall(line):
            if path not in OWN_CHECK and (wrong := check_code(sources, text, beside)):
                yield number, wrong
        for target in LINK.findall(line):
            if wrong := check_link(target, document):
                yield number, wrong
    for number, text in paragraphs(lines):
        words = len(re.findall(r"\S*\w\S*", text))
        if words > WORDS:
            yield number, f"a paragraph of {words} words; at most {WORDS}"


def main(arguments):
    sources = Sources()
    given = [str(Path(name).resolve().relative_to(ROOT)) for name in arguments]
    documents = given or [path for path in sources.files if path.endswith(".md") and not
                          GENERATED.search((ROOT / path).read_text(encoding="utf-8")[:400])]
    findings = 0
    for path in documents:
        for number, wrong in sorted(check(sources, path)):
            print(f"{path}:{number}: {wrong}")
            findings += 1
    print(f"{len(documents)} documents, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
