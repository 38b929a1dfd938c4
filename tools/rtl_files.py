# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files of rtl/ in the order in which tools read them, and helpers for running tools.

A module is in a file of its name below rtl/, outside rtl/tb, rtl/formal and rtl/boards. Packages (*_pkg.sv) are
read first, each after those it uses; modules are found by their names.
"""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl"
OUT = ROOT / "target" / "rtl"
NOT_DESIGN = ("tb", "formal", "bench", "boards")
# Which folders the modules of a folder may use, besides their own; rtl/README.md has the same
# table.
CORES = ("host", "spacefibre", "spacewire", "rdma")
USES = {"prim": (), "pkg": (), "tcp": ("prim",), "endpoint": ("prim", "pkg", *CORES),
        "config": ("prim", "pkg", "endpoint", *CORES),
        "sim": ("prim", "pkg", "endpoint", *CORES),
        **{core: ("prim", "pkg") for core in CORES},
        "host": ("prim", "pkg", "spacefibre"), "rdma": ("prim", "pkg", "spacefibre", "host")}
WORD = re.compile(r"\w+")
PACKAGE_USE = re.compile(r"\b(\w+_pkg)::")
# Strings are code, and may look like comments.
COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)


def code(path):
    """The text of a file without its comments, which may name modules that it does not use."""
    return COMMENT.sub(lambda part: part[0] if part[0].startswith('"') else " ", path.read_text())


def design_files(rtl=RTL):
    """Files of the design, packages included, sorted."""
    return [path for path in sorted(rtl.rglob("*.sv"))
            if path.relative_to(rtl).parts[0] not in NOT_DESIGN]


def packages(rtl=RTL):
    """Files of packages, each after those it uses."""
    found = {path.stem: path for path in design_files(rtl) if path.stem.endswith("_pkg")}
    ordered = []

    def visit(name, above):
        if name in above:
            raise ValueError(f"package {name} uses itself")
        if name in found and found[name] not in ordered:
            for used in sorted(set(PACKAGE_USE.findall(code(found[name])))):
                if used != name:
                    visit(used, above + [name])
            ordered.append(found[name])

    for name in found:
        visit(name, [])
    return ordered


def modules(rtl=RTL):
    """Files of modules by module name."""
    return {path.stem: path for path in design_files(rtl) if not path.stem.endswith("_pkg")}


def folders(rtl=RTL):
    """Folders that hold modules."""
    return sorted({path.parent for path in modules(rtl).values()})


def relative(path):
    """Path relative to the root of the project, where the tools run."""
    return str(Path(path).relative_to(ROOT))


def needed(name, files=None):
    """Names of the modules and packages that a module needs, itself included: those whose names
    occur in its code or, in turn, in theirs."""
    files = files or {path.stem: path for path in design_files()}
    found, todo = set(), [name]
    while todo:
        name = todo.pop()
        if name in files and name not in found:
            found.add(name)
            todo += set(WORD.findall(code(files[name])))
    return found


def foreign(rtl=RTL):
    """(file, name) of each use of a module or package in a folder that its user may not use."""
    files = {path.stem: path for path in design_files(rtl)}
    folder = {name: path.relative_to(rtl).parts[0] for name, path in files.items()}
    found = []
    for name, path in files.items():
        allowed = (folder[name], *USES.get(folder[name], ()))
        used = set(WORD.findall(code(path))) & set(files)
        found += [(path, other) for other in sorted(used) if folder[other] not in allowed]
    return found


def design(module):
    """Files of a module and all it needs, in the order in which tools read them."""
    wanted = needed(module)
    return [relative(path) for path in [*packages(), *modules().values()] if path.stem in wanted]


def search_options(module=None):
    """Arguments for Verilator and slang: the packages that a module needs (or all), and the folders
    to search for modules."""
    wanted = needed(module) if module else None
    options = [relative(path) for path in packages() if not wanted or path.stem in wanted]
    for folder in folders():
        options += ["-y", relative(folder)]
    return options


def run(command, log=None, timeout=900):
    """Runs a command in the project. Returns its exit code and its output, which log also gets."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        code, said = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace") + f"\nended after {timeout} s\n"
        code = 124
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(said)
    return code, said


def report(good, name, said=""):
    """Prints the result of a check, with the last lines of output if it failed; returns good."""
    print(f"{'ok' if good else 'not ok'} {name}", flush=True)
    if not good:
        for line in said.strip().splitlines()[-40:]:
            print(f"# {line}", flush=True)
    return good


def processors():
    """Number of jobs to run beside each other: RTL_JOBS, or the processors of this process."""
    return int(os.environ.get("RTL_JOBS", "0")) or len(os.sched_getaffinity(0))


def each(work, items):
    """Calls work(item) for every item, with one thread for each processor."""
    with ThreadPoolExecutor(processors()) as pool:
        return list(pool.map(work, items))


def chosen(known, wanted, what):
    """The entries of a dictionary that were named, or all if none was."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"rtl.sh: there is no {what} {', '.join(unknown)}; "
                         f"there are: {' '.join(known)}")
    return {name: known[name] for name in wanted} if wanted else dict(known)
