#!/usr/bin/env python3
"""Runs spfe and other ways between two processes side by side; see ../README.md."""

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

SIZES = [64, 1024, 4096, 16384, 65536, 262144]


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--sizes", help="bytes, comma-separated (default: 64 to 262144)")
    p.add_argument("--repeats", type=int, help="samples per cell (default 5)")
    p.add_argument("--seconds", type=float, help="length of one sample (default 0.3)")
    p.add_argument("--extra", type=int, help="more samples where too few are near (default 3)")
    p.add_argument("--only", help="only programs or tests whose name contains one of these, "
                   "comma-separated, e.g. 'ucx,latency'")
    p.add_argument("--quick", action="store_true", help="64, 1024 and 16384 B, 3 x 0.1 s")
    p.add_argument("--cpus", default="0,1", help="the two CPUs (default 0,1)")
    p.add_argument("--no-fifo", action="store_true", help="never use SCHED_FIFO")
    p.add_argument("--json", metavar="FILE", help="write all samples and ratios there")
    a = p.parse_args()
    try:
        a.sizes = sorted(int(s) for s in a.sizes.split(",")) if a.sizes else None
        a.cpus = tuple(int(c) for c in a.cpus.split(","))
    except ValueError:
        p.error("--sizes and --cpus take numbers separated by commas")
    if len(a.cpus) != 2:
        p.error("--cpus takes two numbers")
    quick = (3, 0.1, 2, [64, 1024, 16384])
    for name, value in zip(("repeats", "seconds", "extra", "sizes"),
                           quick if a.quick else (5, 0.3, 3, SIZES)):
        if getattr(a, name) is None:
            setattr(a, name, value)
    return a


class Bench:
    """All samples of one run."""

    def __init__(self, args, setup, chosen, probe):
        self.args, self.setup, self.programs, self.probe = args, setup, chosen, probe
        self.cells = {(p.name, p.test, s): [] for p in chosen for s in args.sizes}
        self.errors, self.lines, self.calibrations = {}, [], []

    def line(self):
        """Cache-line time now, in ns."""
        command = [self.probe, "--line-only", "--ms", "10", "--cpus", self.setup.both]
        placed = procs.placed(command, self.setup.both, self.setup.fifo)
        self.lines.append(parse.line_ns(procs.run(placed, 5.0)))
        return self.lines[-1]

    def calibrate(self):
        command = procs.placed([self.probe, "--json"], self.setup.both, self.setup.fifo)
        self.calibrations.append(parse.calibration(procs.run(command, 15.0)))

    def attempt(self, program, size):
        """One sample of the value that counts in its table, or None."""
        key = (program.name, program.test, size)
        try:
            found = program.sample(self.setup, size, self.args.seconds)
            return found["latency_ns" if program.test == "latency" else "rate_gbps"]
        except (procs.RunError, parse.ParseError, KeyError) as error:
            self.errors.setdefault(key, []).append(str(error))
            return None

    def wanted(self, program, size, turn):
        """Whether a cell gets a sample: not after two failures; extra turns only if too far."""
        key = (program.name, program.test, size)
        if len(self.errors.get(key, [])) >= 2:
            return False
        near = sum(report.is_near(s, min(self.lines)) for s in self.cells[key])
        return turn < self.args.repeats or near < self.args.repeats

    def run(self):
        """A B C A B C ... for every size, each sample between two probes."""
        total = len(self.cells) * self.args.repeats
        done, started = 0, time.monotonic()
        self.line()
        for turn in range(self.args.repeats + self.args.extra):
            if turn < self.args.repeats:
                self.calibrate()
            for size in self.args.sizes:
                before = self.line()
                for program in self.programs:
                    if not self.wanted(program, size, turn):
                        continue
                    if program.needs_pilot and size not in program.per_op_ns:
                        self.attempt(program, size)
                        before = self.line()
                    value = self.attempt(program, size)
                    after = self.line()
                    if value is not None:
                        self.cells[program.name, program.test, size].append(
                            {"value": value, "before_ns": before, "after_ns": after})
                    done, before = done + 1, after
                    text = f"{program.name} {program.test} {report.size_name(size)}"
                    progress(f"[{done}/{total}] {time.monotonic() - started:.0f} s "
                             f"line {after:.0f} ns  {text}")
        progress("")

    def results(self):
        """Summaries, memcpy medians, line median and ratios."""
        low, repeats = min(self.lines), self.args.repeats
        cells = {key: report.summarise(samples, key[1], low, repeats)
                 for key, samples in self.cells.items()}
        copies = {}
        for size in self.args.sizes:
            rows = [by_size[size] for _, by_size in self.calibrations if size in by_size]
            if rows:
                copies[size] = {c: median(row[c] for row in rows)
                                for c in rows[0] if c.endswith("_gbps")}
        near = [ns for ns in self.lines if ns <= report.NEAR_FACTOR * low]
        line = median(near)
        compared = {size: report.ratios(cells, self.programs, size, line, copies)
                    for size in self.args.sizes}
        return cells, copies, line, compared


def progress(text):
    end = "\r" if sys.stderr.isatty() else "\n"
    if text or sys.stderr.isatty():
        print(f"\x1b[K{text}" if end == "\r" else text, end=end, file=sys.stderr, flush=True)


def write_json(path, bench, versions, outcome):
    cells, copies, line, compared = outcome
    rows = []
    for (name, test, size), samples in bench.cells.items():
        row = {"program": name, "test": test, "size_bytes": size,
               "unit": "ns" if test == "latency" else "Gbit/s", "samples": samples,
               "errors": bench.errors.get((name, test, size), [])}
        rows.append(row | (cells[name, test, size] or {}))
    meta = {"machine": bench.calibrations[0][0]["facts"], "peers": versions,
            "cpus": bench.setup.cpus, "fifo": bench.setup.fifo,
            "repeats": bench.args.repeats, "seconds": bench.args.seconds,
            "line_ns": {"min": min(bench.lines), "median_near": line, "max": max(bench.lines)}}
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"meta": meta, "cells": rows, "memcpy": copies, "ratios": compared,
                   "calibrations": [c[0] for c in bench.calibrations]}, out, indent=1)
        out.write("\n")


def main():
    args = arguments()
    probe = progs.find_own("spfe-probe")
    if not probe:
        sys.exit("spfe-probe not found: cargo build --release -p spfe-measure")
    chosen, versions = progs.available()
    if args.only:
        words = args.only.split(",")
        chosen = [p for p in chosen if any(w in f"{p.name} {p.test}" for w in words)]
    if not chosen:
        sys.exit("nothing to run")
    lock = open(os.path.join(tempfile.gettempdir(), f"spfe-bench.{os.getuid()}.lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("another run is going on, waiting for its end", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    setup = progs.Setup(args.cpus, not args.no_fifo and procs.go_fifo())
    bench = Bench(args, setup, chosen, probe)
    try:
        bench.run()
    except (procs.RunError, parse.ParseError) as error:
        sys.exit(f"giving up: {error}")
    outcome = cells, copies, line, compared = bench.results()
    for path, text in versions.items():
        print(f"peer: {path} {text}")
    if not any(p.kind == "ours" for p in chosen):
        print("spfe itself is missing: set SPFE_BIN or build it")
    print(f"pinned to {setup.both}, SCHED_FIFO {'on' if setup.fifo else 'OFF'}, "
          f"line {min(bench.lines):.0f} to {max(bench.lines):.0f} ns\n")
    print(report.tables(cells, chosen, args.sizes, compared, line, copies))
    if any(c and c["flagged"] for c in cells.values()):
        print(f"* fewer than {report.MIN_NEAR} near samples: all used, do not compare")
    for key, texts in bench.errors.items():
        print(f"{key[0]} {key[1]} {report.size_name(key[2])}: {len(texts)} failed: {texts[-1]}")
    if args.json:
        write_json(args.json, bench, versions, outcome)


if __name__ == "__main__":
    main()
