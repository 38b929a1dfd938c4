#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Takes the figures of docs/performance.md that `spfe perf` prints, and writes them into the page.

    python3 tools/performance.py                        measure with 10 iterations of 2 s, and write
    python3 tools/performance.py --iterations 1 --duration 500ms --fifo
    python3 tools/performance.py --render               write from the results of the last run

The results are kept in bench/out/performance/NAME/results.json. In the page each part stands
between two comments, `figures NAME` and `end of figures`; what is between them is replaced.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
OUT = ROOT / "bench/out/performance"
PAPER_CORES = 4
PAPER_INTERRUPTS = {8: 2624, 16: 2649, 32: 2660, 256: 2671}

# Parts of the page: the options of `spfe perf`, and whether iterations apply.
PARTS = {
    "tables": ["tables"],
    "tables-100g": ["tables", "--published", "--link", "4x25G"],
    "latency": ["latency", "--loop", "--link", "4x7.5G", "--wait", "poll"],
    "latency-spw": ["latency", "--loop", "--link", "spw:200M", "--wait", "block",
                    "--size-min", "1", "--size-max", "4K", "--step", "x4"],
    "messages": ["broadcast", "--link", "4x7.5G", "--wait", "poll"],
}


def size(row):
    """The packet size of a row, with its unit."""
    bytes_ = row["size_bytes"]
    return f"{bytes_ // 1024} KB" if bytes_ >= 1024 and bytes_ % 1024 == 0 else f"{bytes_} B"


def number(value, decimals):
    """A number, or a dash where nothing was measured."""
    return "-" if value is None else f"{value:.{decimals}f}"


def worst(mean, other, decimals):
    """A mean with the worst iteration in brackets, if it differs."""
    text = number(mean, decimals)
    low = number(other, decimals)
    return text if other is None or low == text else f"{text} ({low})"


def host(row):
    """The load of the host with the highest of any iteration."""
    return worst(row.get("host_cpu_pct"), row.get("worst_host_cpu_pct"), 1)


def paper_cpu(row):
    """The published load in % of one core."""
    paper = row.get("paper")
    return number(paper["cpu_pct_of_4_cores"] * PAPER_CORES, 1) if paper else "-"


def kernel(row, name, decimals):
    """A load as the kernel counts it."""
    return number((row.get("kernel") or {}).get(name), decimals)


def link_share(row):
    """Rate in % of what the link allows."""
    limit = row.get("link_limit_gbps")
    return number(100 * row["rate_gbps"] / limit, 1) if limit else "-"


def micro(row, name):
    """A latency in us."""
    ns = (row.get("latency_ns") or {}).get(name)
    return number(None if ns is None else ns / 1000, 2)


def above(row, name):
    """A latency without the time of the link, in us."""
    ns, link = (row.get("latency_ns") or {}).get(name), row.get("link_minimum_ns")
    return number(None if ns is None or link is None else (ns - link) / 1000, 2)


RATE = [("Rate (worst)", "Gbit/s", lambda row: worst(row["rate_gbps"], row["worst_gbps"], 2)),
        ("Of link", "%", link_share)]
PAPER_RATE = [("Paper", "Gbit/s", lambda row: number(row["paper"]["rate_gbps"], 2))]
LOAD = [("Host (worst)", "% core", host),
        ("Floor", "% core", lambda row: number(row.get("floor_cpu_pct"), 1)),
        ("Device", "% core", lambda row: number(row.get("device_cpu_pct"), 1))]
PAPER_LOAD = [("Paper", "% core", paper_cpu)]
WAKES = [("Machine", "% core", lambda row: kernel(row, "machine_pct", 0)),
         ("Wakes", "1/s", lambda row: number(row.get("wakes_per_s"), 0)),
         ("IRQs", "1/s", lambda row: kernel(row, "interrupts_per_s", 0))]
PAPER_IRQS = [("Paper", "1/s",
               lambda row: str(PAPER_INTERRUPTS.get(row["size_bytes"] // 1024, "-")))]
SIZE = [("Size", "", size)]
GROUP = [("Group", "", lambda row: str(row["group"]))]
LATENCY = [("Mean", "us", lambda row: micro(row, "mean")), ("50 %", "us", lambda row: micro(row, "p50")),
           ("99 %", "us", lambda row: micro(row, "p99")),
           ("99.9 %", "us", lambda row: micro(row, "p999")),
           ("Max", "us", lambda row: micro(row, "max"))]
ABOVE = [("Link", "us", lambda row: number((row.get("link_minimum_ns") or 0) / 1000, 2)),
         ("Mean above it", "us", lambda row: above(row, "mean")),
         ("Max above it", "us", lambda row: above(row, "max"))]
TEST = [("Test", "", lambda row: row["scenario"])]


def columns(rows):
    """The columns for rows of one scenario."""
    name = rows[0]["scenario"]
    if name.startswith(("broadcast-", "timecode-")):
        return TEST + LATENCY
    if name.startswith("latency"):
        return SIZE + LATENCY + ABOVE
    grouped = GROUP if any(row["group"] != 1 for row in rows) else []
    if all(row.get("paper") for row in rows):
        irqs = PAPER_IRQS if name == "send-group" else []
        return SIZE + grouped + RATE + PAPER_RATE + LOAD + PAPER_LOAD + WAKES + irqs
    return SIZE + grouped + RATE + LOAD + WAKES


def aligned(rows):
    """Rows of one scenario as right-aligned columns."""
    table = [[title, unit] + [cell(row) for row in rows] for title, unit, cell in columns(rows)]
    widths = [max(map(len, column)) for column in table]
    lines = ("  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip()
             for line in zip(*table))
    return "\n".join(lines)


def sections(rows):
    """Rows by scenario, in order of appearance; messages stand together."""
    found = {}
    for row in rows:
        name = row["scenario"]
        key = "messages" if name.startswith(("broadcast-", "timecode-")) else name
        found.setdefault(key, []).append(row)
    return found


def rendered(document):
    """A results document as a block of the page."""
    meta = document["meta"]
    when = f"{meta['iterations']} x {meta['seconds']:g} s, {meta['date'][:10]}"
    facts = f"{meta['cpu_model']}, {meta['cores']} cores, {meta['kernel']}, {when}"
    command = meta["command"].split(" --report")[0]
    parts = [f"$ {command}\n{facts}"]
    for name, rows in sections(document["results"]).items():
        parts.append(f"{name}\n{aligned(rows)}")
    return "```text\n" + "\n\n".join(parts) + "\n```"


def replaced(page, name, block):
    """The page with the block of a part replaced."""
    pattern = re.compile(rf"(<!-- figures {re.escape(name)} -->\n).*?(\n<!-- end of figures -->)", re.S)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE}: no comment 'figures {name}' with 'end of figures' after it")
    return pattern.sub(lambda match: match[1] + block + match[2], page)


def measure(spfe, name, options, common):
    """Runs a part and keeps its results."""
    command = [spfe, "perf", *options, *common, "--report", str(OUT / name)]
    print("$", " ".join(map(str, command)), file=sys.stderr)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def main():
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--duration", default="2s")
    parser.add_argument("--fifo", action="store_true", help="run under SCHED_FIFO")
    parser.add_argument("--render", action="store_true", help="do not measure")
    parser.add_argument("--spfe", default="target/release/spfe", help="the command to run")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of: {', '.join(PARTS)}")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    common = ["--iterations", str(args.iterations), "--duration", args.duration]
    page = PAGE.read_text(encoding="utf-8")
    for name in args.parts or PARTS:
        if not args.render:
            # The kernel stops a real-time thread that never sleeps for 50 ms in every second.
            fifo = ["--fifo"] if args.fifo and "poll" not in PARTS[name] else []
            measure(args.spfe, name, PARTS[name], common + fifo)
        results = json.loads((OUT / name / "results.json").read_text(encoding="utf-8"))
        page = replaced(page, name, rendered(results))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
