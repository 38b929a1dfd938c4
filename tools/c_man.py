#!/usr/bin/env python3
"""Writes the manual pages of section 3 for the C interface, from the headers in include/spfe.

    tools/c_man.py DIRECTORY [DATE]     DATE is the date in the pages, such as 2026-01-31

Functions that share a comment share a page; each has its name as a page. libspfe(3) is the
beginning of the header with a list of all functions. Structures and enumerations that a function
names are in its page.
"""

import re
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "include"
# The headers, and what a program includes for each.
HEADERS = {"spfe.h": "spfe/spfe.h", "fabric.h": "spfe/spfe.h", "fast.h": "spfe/fast.h"}
RULE = "-" * 20
FUNCTION = re.compile(r"\b(spfe_\w+)\(")
TYPE = re.compile(r"\b(struct|enum) (spfe_\w+)\b")


def plain(comment):
    """The text of a comment: a list of paragraphs."""
    text = comment.removeprefix("/*").removesuffix("*/")
    lines = [re.sub(r"^\s*\* ?", "", line).strip() for line in text.splitlines()]
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def blocks(text):
    """The parts of the header in order: (kind, text, whether an empty line follows)."""
    text = text[text.index('extern "C" {\n#endif') :].split("\n#ifdef __cplusplus")[0]
    pattern = re.compile(
        r"(?P<comment>/\*.*?\*/)\n|(?P<type>^(?:struct|enum) \w+ \{.*?^\};)|(?P<typedef>^typedef [^;]*;)"
        r"|(?P<inline>^static inline (?P<signature>[^{;]*)\n\{.*?^\})|(?P<macro>^#define (?:[^\n]*\\\n)*[^\n]*)|(?P<function>^\w[^;{#]*\bspfe_\w+\([^;]*\);)",
        re.DOTALL | re.MULTILINE,
    )
    for match in pattern.finditer(text):
        behind = text[match.end() : match.end() + 2]
        if match.lastgroup == "inline":
            # Helpers of inline functions end with an underscore and have no page.
            if "_(" not in match.group("signature"):
                yield "function", match.group("signature") + ";", True
        else:
            yield match.lastgroup, match.group(match.lastgroup), behind == "\n\n"


def title(comment):
    """The title in a comment that starts a section of the header."""
    return " ".join(" ".join(plain(comment)).lstrip("- ").split())


def pages(text):
    """The pages as (section, paragraphs, declarations), and all types by name."""
    section, comment, found, types = "", [], [], {}
    joins = False  # a function on the line behind another one shares its comment
    for kind, part, ends in blocks(text):
        if kind == "comment" and RULE in part:
            section, comment = title(part), []
        elif kind == "comment":
            comment = plain(part)
        elif kind == "type":
            types[TYPE.search(part).group(2)] = (comment, part)
            comment = []
        elif kind == "function":
            if joins:
                found[-1][2].append(part)
            else:
                found.append((section, comment, [part]))
            comment = []
        else:
            comment = []
        joins = kind == "function" and not ends
    return found, types


def escape(text):
    """Text as roff source."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def code(text):
    return f".nf\n{escape(text.expandtabs(8))}\n.fi\n"


def summary(paragraphs, names, section):
    """A line for the section NAME."""
    first = re.sub(r" \([^)]*\)", "", paragraphs[0] if paragraphs else section)
    first = re.split(r"[.;:](?: |$)", first)[0]
    while len(first) > 60 and ", " in first:
        first = first.rpartition(", ")[0]
    text = first if first[1:2].isupper() else first[:1].lower() + first[1:]
    return f"{escape(', '.join(names))} \\- {escape(text)}"


def names_of(declarations):
    return [FUNCTION.search(declaration).group(1) for declaration in declarations]


def head(name, date, version):
    return f'.TH "{name}" 3 "{date}" "spfe {version}" "Library functions"\n'


def page(include, section, paragraphs, declarations, types, date, version):
    """The source of a page."""
    names = names_of(declarations)
    text = head(names[0], date, version)
    text += f".SH NAME\n{summary(paragraphs, names, section)}\n"
    text += ".SH SYNOPSIS\n" + code(f"#include <{include}>\n\n" + "\n".join(declarations))
    used = dict.fromkeys(match[1] for part in declarations for match in TYPE.findall(part))
    used = [types[name] for name in used if name in types]
    text += ".SH DESCRIPTION\n"
    text += escape("\n.PP\n".join(paragraphs or [section + "."])).replace("\\&.PP", ".PP") + "\n"
    for comment, declaration in used:
        text += ".PP\n" + "".join(f"{escape(line)}\n" for line in comment) + ".PP\n"
        text += code(declaration)
    text += (
        ".SH RETURN VALUE\nFunctions that return int: 0 or more, or a negative value; then\n"
        ".BR spfe_error (3)\nhas a sentence about the reason.\n.SH SEE ALSO\n.BR libspfe (3)\n"
    )
    return text


def overview(found, intro, date, version):
    """The source of libspfe(3)."""
    text = head("libspfe", date, version)
    text += ".SH NAME\nlibspfe \\- packets, messages and remote memory over SpaceFibre\n"
    text += ".SH SYNOPSIS\n" + code("#include <spfe/spfe.h>\n\ncc ... $(pkg-config --cflags --libs spfe)")
    text += ".SH DESCRIPTION\n" + "\n.PP\n".join(escape(part) for part in intro) + "\n"
    text += ".SH FUNCTIONS\n"
    last = None
    for section, _, declarations in found:
        if section != last:
            text += f".SS {escape(section)}\n"
            last = section
        text += "".join(f".BR {escape(name)} (3)\n.br\n" for name in names_of(declarations))
    return text + ".SH SEE ALSO\n.BR spfe (1)\n"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out, date = Path(sys.argv[1]), (sys.argv[2:] or [""])[0]
    out.mkdir(parents=True, exist_ok=True)
    workspace = (INCLUDE.parent / "Cargo.toml").read_text()
    version = re.search(r'^version *= *"(.*)"', workspace, re.MULTILINE).group(1)
    everything, count = [], 1
    for name, include in HEADERS.items():
        header = (INCLUDE / "spfe" / name).read_text()
        found, types = pages(header)
        declared = set(re.findall(r"^[a-z][\w \*]*\b(spfe_\w+[a-z])\(", header, re.MULTILINE))
        written = {name for _, _, declarations in found for name in names_of(declarations)}
        if declared != written:
            sys.exit(f"{name}: no page for {', '.join(sorted(declared - written))}")
        for section, paragraphs, declarations in found:
            first, *others = names_of(declarations)
            source = page(include, section, paragraphs, declarations, types, date, version)
            (out / f"{first}.3").write_text(source)
            for other in others:
                (out / f"{other}.3").write_text(f".so man3/{first}.3\n")
        everything += found
        count += len(written)
    header = (INCLUDE / "spfe/spfe.h").read_text()
    intro = plain(re.findall(r"/\*.*?\*/", header, re.DOTALL)[1])
    (out / "libspfe.3").write_text(overview(everything, intro, date, version))
    print(f"{count} manual pages in {out}")


main()
