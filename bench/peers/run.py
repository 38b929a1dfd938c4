#!/usr/bin/env python3
"""Compares spfe with other ways of moving messages between two processes; see ../README.md."""

import argparse
import fcntl
import json
import os
import sys
import tempfile
import time
from statistics import median

import parse
import procs
import programs as progs
import report

EXTRA = 3  # additional samples if too few are near
LINE_END = "\r" if sys.stderr.isatty() else "\n"


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sizes", help="bytes, comma-separated (default 64 to 262144)")
    p.add_argument("--repeats", type=int, help="samples per cell (default 5)")
    p.add_argument("--seconds", type=float, help="length of one sample (default 0.3)")
    p.add_argument("--only", default="", metavar="WORDS", help="programs whose name or test "
                   "contains one of these, comma-separated, e.g. 'spfe,ucx tag' or 'latency'")
    p.add_argument("--quick", action="store_true", help="64, 1024 and 16384 B, 3 x 0.1 s")
    p.add_argument("--cpus", default="0,1", help="the two CPUs (default 0,1)")
    p.add_argument("--no-fifo", action="store_true", help="never use SCHED_FIFO")
    p.add_argument("--json", metavar="FILE", help="write all samples and ratios there")
    a = p.parse_args()
    sizes = "64,1024,16384" if a.quick else "64,1024,4096,16384,65536,262144"
    a.repeats = a.repeats or (3 if a.quick else 5)
    a.seconds = a.seconds or (0.1 if a.quick else 0.3)
    try:
        a.sizes = sorted({int(s) for s in (a.sizes or sizes).split(",")})
        a.cpus = first, second = tuple(int(c) for c in a.cpus.split(","))
        a.both = f"{first},{second}"
    except ValueError:
        p.error("--sizes takes numbers separated by commas, --cpus two of them")
    return a


class Bench:
    """All samples of one run."""

    def __init__(self, args, fifo, chosen, probe):
        self.args, self.fifo, self.programs, self.probe = args, fifo, chosen, probe
        self.cells = {(p.name, p.test, s): [] for p in chosen for s in args.sizes}
        self.errors, self.lines, self.calibrations = {}, [], []

    def ask_probe(self, *options):
        return procs.run(procs.placed([self.probe, *options], self.args.both, self.fifo))

    def line(self):
        """Measures the cache-line time in ns."""
        text = self.ask_probe("--line-only", "--ms", "10", "--cpus", self.args.both)
        self.lines.append(float(text))
        return self.lines[-1]

    def attempt(self, program, size):
        """Takes a sample. Returns the value for its table, or None if the program failed."""
        try:
            found = program.sample(self.args.cpus, self.fifo, size, self.args.seconds)
            return found["latency_ns" if report.is_time(program.test) else "rate_gbps"]
        except (procs.RunError, OSError, ValueError, KeyError) as error:
            self.errors.setdefault((program.name, program.test, size), []).append(str(error))
            return None

    def wanted(self, program, size, turn):
        """Whether to take a sample: not after two failures, additional ones if too few are near."""
        key = (program.name, program.test, size)
        near = sum(report.is_near(s, min(self.lines)) for s in self.cells[key])
        return len(self.errors.get(key, [])) < 2 and (
            turn < self.args.repeats or near < self.args.repeats)

    def run(self):
        """Runs the programs in turn for every size, and the probe before and after each sample."""
        done, total, started = 0, len(self.cells) * self.args.repeats, time.monotonic()
        for turn in range(self.args.repeats + EXTRA):
            if turn < self.args.repeats:
                self.calibrations.append(parse.calibration(self.ask_probe("--json")))
            for size in self.args.sizes:
                before = self.line()
                for program in self.programs:
                    if not self.wanted(program, size, turn):
                        continue
                    if program.needs_pilot(size):
                        self.attempt(program, size)
                        before = self.line()
                    value, after = self.attempt(program, size), self.line()
                    if value is not None:
                        self.cells[program.name, program.test, size].append(
                            {"value": value, "before_ns": before, "after_ns": after})
                    done, before = done + 1, after
                    text = (f"[{done}/{total}] {time.monotonic() - started:.0f} s, line "
                            f"{after:.0f} ns, {program.name} {program.test} {size} B")
                    print(text.ljust(78), end=LINE_END, file=sys.stderr, flush=True)

    def outcome(self):
        """Summaries of the cells, medians of the near line times and of memcpy, ratios."""
        low, sizes = min(self.lines), self.args.sizes
        line = median(ns for ns in self.lines if ns <= report.NEAR_FACTOR * low)
        cells = {key: report.summarise(found, key[1], low) for key, found in self.cells.items()}
        known = [s for s in sizes if s in self.calibrations[0]["copies"]]
        copies = {s: {name: median(c["copies"][s][name] for c in self.calibrations)
                      for name in report.LIMITS} for s in known}
        return cells, line, copies, {
            s: report.ratios(cells, self.programs, s, line, copies) for s in sizes}


def write_json(bench, versions, cells, line, copies, ratios):
    rows = [{"program": key[0], "test": key[1], "size_bytes": key[2], "samples": samples,
             "unit": "ns" if report.is_time(key[1]) else "Gbit/s",
             "errors": bench.errors.get(key, [])} | (cells[key] or {})
            for key, samples in bench.cells.items()]
    meta = {"machine": bench.calibrations[0]["facts"], "peers": versions, "fifo": bench.fifo,
            "cpus": bench.args.cpus, "repeats": bench.args.repeats, "seconds": bench.args.seconds,
            "line_ns": {"min": min(bench.lines), "near": line, "max": max(bench.lines)}}
    with open(bench.args.json, "w", encoding="utf-8") as out:
        json.dump({"meta": meta, "cells": rows, "memcpy": copies, "ratios": ratios,
                   "calibrations": bench.calibrations}, out, indent=1)


def write_text(bench, versions, cells, line, copies, ratios):
    for path, text in versions.items():
        print(f"peer: {path} {text}")
    if not any(p.kind == "ours" for p in bench.programs):
        print("spfe itself is not in this run (see SPFE_PROGRAMS)")
    print(f"CPUs {bench.args.both}, SCHED_FIFO {'on' if bench.fifo else 'OFF'}, cache line one way "
          f"{min(bench.lines):.0f} to {max(bench.lines):.0f} ns, near median {line:.0f} ns\n")
    print(report.tables(cells, bench.programs, bench.args.sizes, ratios, copies))
    if any(cell and cell["flagged"] for cell in cells.values()):
        print(f"\n* fewer than {report.MIN_NEAR} near samples: all used, do not compare")
    for (name, test, size), texts in bench.errors.items():
        print(f"{name} {test} {report.size_name(size)}: {len(texts)} failed: {texts[-1]}")


def main():
    args = arguments()
    probe = progs.find_own("spfe-probe") or sys.exit("spfe-probe is missing: build spfe-measure")
    chosen, versions = progs.available()
    chosen = [p for p in chosen if any(w in f"{p.name} {p.test}" for w in args.only.split(","))]
    with open(os.path.join(tempfile.gettempdir(), f"spfe-bench-{os.getuid()}"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one run at a time
        bench = Bench(args, not args.no_fifo and procs.fifo_allowed(), chosen, probe)
        bench.run()
    write_text(bench, versions, *(outcome := bench.outcome()))
    if args.json:
        write_json(bench, versions, *outcome)


if __name__ == "__main__":
    main()
