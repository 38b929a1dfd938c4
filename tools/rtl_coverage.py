#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh coverage [BENCH|GROUP...]: lines and toggles of the design that the block tests
reach.

All benches run once, with seed 1 or RTL_SEED; what they reach is added up over all instances of a
module. Figures go to target/rtl/coverage.json; a table is printed. Lines: branches and blocks of
statements; toggles: bits that were seen to rise and to fall. Neither says that anything was
checked.
"""

import json
import os
import re
import sys
from collections import Counter, defaultdict

from rtl_files import OUT, ROOT, design_files, each, report
from rtl_test import compiled, run_bench

FLAGS = ("--coverage-line", "--coverage-toggle")
POINT = re.compile(r"^C '(.*)' (\d+)$")
KINDS = ("line", "toggle")


def points(text):
    """Points of a coverage file, those of the benches included: ((file, kind, line, what, column),
    count). A point occurs once for each instance of its module."""
    for line in text.splitlines():
        match = POINT.match(line)
        if not match:
            continue
        fields = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
        kind = fields.get("page", "").split("/")[0].removeprefix("v_")
        # Branches are lines for us.
        kind = "toggle" if kind == "toggle" else "line"
        yield (fields["f"], kind, int(fields["l"]), fields.get("o", ""), fields.get("n", "")), int(match[2])


def summary(counts, files):
    """For each module, by kind: points reached, all points, and the first lines missed."""
    found = defaultdict(lambda: {kind: {"reached": 0, "points": 0, "missed": []} for kind in KINDS})
    for (file, kind, line, what, _), count in sorted(counts.items()):
        if file not in files:
            continue
        entry = found[files[file]][kind]
        entry["points"] += 1
        if count:
            entry["reached"] += 1
        elif kind == "line":
            entry["missed"].append(line)
        else:
            entry["missed"].append(f"{line} {what}")
    for module in found.values():
        for entry in module.values():
            entry["missed"] = list(dict.fromkeys(entry["missed"]))
    return dict(sorted(found.items()))


def percent(entry):
    """Share of the points that were reached."""
    return f"{100 * entry['reached'] / entry['points']:5.1f} %" if entry["points"] else "      -"


def main(arguments):
    """Command line; returns the exit code."""
    os.environ.setdefault("RTL_SEED", "1")
    jobs, good = compiled(arguments, OUT / "coverage", FLAGS)
    runs = []
    for program, bench in jobs:
        data = program.parent / f"{bench}.dat"
        data.unlink(missing_ok=True)
        runs.append((program, bench, int(os.environ["RTL_SEED"]),
                     f"+verilator+coverage+file+{data}"))
    good &= all([report(*result) for result in each(run_bench, runs)])
    counts = Counter()
    for program, bench in jobs:
        data = program.parent / f"{bench}.dat"
        good &= report(data.exists(), f"coverage of {bench}", "no file was written")
        if data.exists():
            for point, count in points(data.read_text(errors="replace")):
                counts[point] += count
    files = {str(path.relative_to(ROOT)): path.stem for path in design_files()}
    table = summary(counts, files)
    (OUT / "coverage.json").write_text(json.dumps(table, indent=1) + "\n")
    print(f"# {'module':28} {'lines':>7}  {'toggles':>7}   lines that were not reached")
    for module, entry in table.items():
        missed = " ".join(map(str, entry["line"]["missed"][:12]))
        print(f"# {module:28} {percent(entry['line'])}  {percent(entry['toggle'])}   {missed}")
    return 0 if good and table else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
