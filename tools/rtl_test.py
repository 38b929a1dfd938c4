#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh test [--ci|BENCH|GROUP...]: runs the block tests of rtl/tb; --ci: those of `make
test`.

Each folder rtl/tb/GROUP makes a test program, whose top tb_GROUP holds the benches of that group. A
file bench.toml in it may say more: `flags` for Verilator, `sources` in C++ that are the main
program instead of the top's own clock, `ci = false` to leave it out of `make test`, and programs
`[[program]]` with a name, parameters of the top and a `ci` of their own. "+list" prints "bench
NAME" for each bench of a program, "+bench=NAME +seed=N" runs one, which ends with "passed NAME:".
Each bench runs with the seeds 1 to 3 and RTL_SEEDS random ones (1), or only with RTL_SEED. With
--ci it runs with seeds 1 and 2 and no random one, so that a change is judged by what it changed.
"""

import os
import random
import re
import sys
import tomllib
from typing import NamedTuple

from rtl_files import (OUT, RTL, chosen, each, packages, processors, relative, report,
                       run, search_options)

TB = RTL / "tb"
SEEDS = (1, 2, 3)
# Benches have registers with initial values, look at some outputs and use some of a package only.
# What runs once, at the start, is not optimised.
FLAGS = ["--assert", "-Wall", "-Wno-PROCASSINIT", "-Wno-UNUSEDSIGNAL",
         "-Wno-UNUSEDPARAM", "-O3", "--x-assign", "unique",
         "--x-initial", "unique", "-MAKEFLAGS", "OPT_FAST=-O1", "-MAKEFLAGS", "OPT_GLOBAL=-O1",
         "-MAKEFLAGS", "OPT_SLOW=-O0"]
TIMED = ["--binary", "--timing", "--no-sched-zero-delay"]
BENCH = re.compile(r"^bench (\S+)$", re.M)


class Program(NamedTuple):
    """A test program: its name, its group, and its entry in bench.toml."""

    name: str
    group: str
    parameters: dict = {}
    sources: tuple = ()
    flags: tuple = ()
    ci: bool = True


def programs():
    """Test programs by name."""
    known = {}
    for folder in sorted(path for path in TB.iterdir() if path.is_dir()):
        table = folder / "bench.toml"
        special = tomllib.loads(table.read_text()) if table.exists() else {}
        for entry in special.get("program", [{"name": folder.name}]):
            known[entry["name"]] = Program(
                entry["name"], folder.name, entry.get("parameters", {}),
                tuple(special.get("sources", ())), tuple(special.get("flags", ())),
                entry.get("ci", special.get("ci", True)))
    return known


def build(program, out=OUT / "tb", flags=()):
    """Compiles a test program; returns its path, and the log if that fails."""
    folder, home = out / program.name, TB / program.group
    top = f"tb_{program.group}"
    folder.mkdir(parents=True, exist_ok=True)
    own = [path for path in packages(TB) if path.parent in (TB, home)]
    kind = TIMED
    if program.sources:
        kind = ["--cc", "--exe", "--build", *(home / name for name in program.sources),
                "-CFLAGS", f"-DBENCH={program.name}"]
    command = ["verilator", *kind, *FLAGS, *program.flags, *flags, "-j", processors(),
               "--Mdir", relative(folder),
               *(f"-G{key}={value}" for key, value in program.parameters.items()),
               *search_options(), *map(relative, own), "-y", relative(TB), "-y", relative(home),
               f"-I{relative(home)}", "--top-module", top, relative(home / f"{top}.sv")]
    code, said = run(command, out / f"{program.name}.log")
    return folder / f"V{top}", "" if code == 0 else said


def benches(program):
    """Names of the benches in a test program."""
    return BENCH.findall(run([program, "+list", "+verilator+quiet"])[1])


def seeds(short=False):
    """Seeds to run each bench with."""
    if "RTL_SEED" in os.environ:
        return [int(os.environ["RTL_SEED"])]
    count = int(os.environ.get("RTL_SEEDS", "0" if short else "1"))
    return [*(SEEDS[:2] if short else SEEDS), *(random.randrange(4, 2**31) for _ in range(count))]


def run_bench(job):
    """Runs a bench, which passes only if it says so itself."""
    program, bench, seed, *more = job
    log = program.parent / f"{bench}-{seed}.log"
    command = [program, f"+bench={bench}", f"+seed={seed}", f"+verilator+seed+{seed}",
               "+verilator+quiet", *more]
    code, said = run(command, log, timeout=300)
    return code == 0 and f"passed {bench}:" in said, f"bench {bench} seed {seed}", said


def wanted_programs(arguments):
    """The programs to compile: those named, or all if a bench or nothing is named."""
    known = programs()
    named = {program.group for program in known.values()} | set(known)
    if not arguments or not set(arguments) <= named:
        return list(known.values())
    return [program for program in known.values() if {program.name, program.group} & set(arguments)]


def compiled(arguments, out=OUT / "tb", flags=(), short=False):
    """Compiles programs; returns (program, bench) of each bench, and whether all compiled."""
    jobs, known, good = [], {}, []
    wanted = [program for program in wanted_programs(arguments) if program.ci or not short]
    for program, (path, wrong) in zip(wanted, each(lambda one: build(one, out, flags), wanted)):
        found = benches(path) if not wrong else []
        good.append(report(bool(found), f"test program {program.name} compiles", wrong or "no benches"))
        jobs += [(path, bench) for bench in found]
        known.setdefault(program.group, set()).update(found)
        known.setdefault(program.name, set()).update(found)
        known |= {bench: {bench} for bench in found}
    names = {bench for group in chosen(known, arguments, "bench").values() for bench in group}
    return [job for job in jobs if job[1] in names], all(good)


def main(arguments):
    """Command line; returns the exit code."""
    short = arguments == ["--ci"]
    jobs, good = compiled([] if short else arguments, short=short)
    runs = [(*job, seed) for job in jobs for seed in seeds(short)]
    return 0 if good and all([report(*result) for result in each(run_bench, runs)]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
