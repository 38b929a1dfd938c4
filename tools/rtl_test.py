#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh test [BENCH|GROUP...]: the block tests of rtl/tb.

Each folder rtl/tb/GROUP is one test program, whose top tb_GROUP holds the benches of that group. Each
bench runs with the seeds 1 to 3 and RTL_SEEDS random ones (1), or only with RTL_SEED.
"""

import os
import random
import re
import sys

from rtl_files import OUT, RTL, chosen, each, packages, relative, report, run, search_options

SEEDS = (1, 2, 3)
# Benches have registers with initial values, and look at some outputs only.
FLAGS = ["--binary", "--timing", "--no-sched-zero-delay", "--assert", "-Wall", "-Wno-PROCASSINIT",
         "-Wno-UNUSEDSIGNAL", "-O3", "--x-assign", "unique", "--x-initial", "unique",
         "-CFLAGS", "-O1"]
BENCH = re.compile(r"^bench (\S+)$", re.M)


def groups():
    """Folders of benches by name."""
    return {path.name: path for path in sorted((RTL / "tb").iterdir()) if path.is_dir()}


def build(group, out=OUT / "tb", flags=()):
    """Compiles the test program of a group; returns its path, and the log if that fails."""
    folder = out / group
    top = f"tb_{group}"
    shared = RTL / "tb"
    folder.mkdir(parents=True, exist_ok=True)
    command = ["verilator", *FLAGS, *flags, "-j", os.cpu_count() or 1, "--Mdir", relative(folder),
               *search_options(), *map(relative, packages(shared)), "-y", relative(shared),
               "-y", relative(shared / group), "--top-module", top,
               relative(shared / group / f"{top}.sv")]
    code, said = run(command, out / f"{group}.log")
    return folder / f"V{top}", "" if code == 0 else said


def benches(program):
    """Names of the benches in a test program."""
    return BENCH.findall(run([program, "+list", "+verilator+quiet"])[1])


def seeds():
    """Seeds to run each bench with."""
    if "RTL_SEED" in os.environ:
        return [int(os.environ["RTL_SEED"])]
    count = int(os.environ.get("RTL_SEEDS", "1"))
    return [*SEEDS, *(random.randrange(4, 2**31) for _ in range(count))]


def run_bench(job):
    """Runs a bench; it is good if it says itself that it passed."""
    program, bench, seed, *more = job
    log = program.parent / f"{bench}-{seed}.log"
    command = [program, f"+bench={bench}", f"+seed={seed}", f"+verilator+seed+{seed}",
               "+verilator+quiet", *more]
    code, said = run(command, log, timeout=300)
    return code == 0 and f"passed {bench}:" in said, f"bench {bench} seed {seed}", said


def main(arguments):
    """Command line; returns the exit code."""
    programs, jobs, known, good = {}, [], {}, []
    for group in groups():
        programs[group], wrong = build(group)
        if wrong:
            good.append(report(False, f"test program {group} compiles", wrong))
            continue
        known[group] = benches(programs[group])
        known |= {bench: [bench] for bench in known[group]}
        jobs += [(programs[group], bench) for bench in known[group]]
        good.append(report(bool(known[group]), f"test program {group} compiles", "no benches"))
    wanted = {bench for names in chosen(known, arguments, "bench").values() for bench in names}
    runs = [(*job, seed) for job in jobs if job[1] in wanted for seed in seeds()]
    good += [report(*result) for result in each(run_bench, runs)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
