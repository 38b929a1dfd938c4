#!/usr/bin/env python3
"""How the rate of a daemon changes with the number of its clients, and that of an exact daemon with
the number of its endpoints.

    python3 bench/daemon.py [--pairs 1,4,16,31] [--endpoints 2,16,64] [--size 4K] [--seconds 1]
                            [--waits block,adaptive] [--window 512K,512K] [--apart]

Pairs of client processes send groups of packets to each other, all at once, each on a link of its
own of one daemon in mode thread. A row has the sum of their rates, that sum beside the first row's,
the lowest rate beside the highest, and the context switches of the machine for 128 packets. One
pair with a large window shows what memory alone costs. Exact: one pair is active, on a link of one
lane of 6.25 Gbit/s that is simulated word by word; the other endpoints have no client.

With --apart the daemon has a processor of its own, and the clients have the others.

A process measures five times; the first and the last do not count, because not all processes have
begun or are still there. With 31 pairs a second is too short for that: those that begin first have
the machine for themselves in part of their second round. Needs target/release/spfe and spfed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "target" / "release"
ROUNDS = 5


def on(processors):
    """What a child process does to run on these processors only; None: on all."""
    return processors and (lambda: os.sched_setaffinity(0, processors))


@contextmanager
def daemon(*options, processors=None):
    """A daemon on these processors; gives its socket."""
    with tempfile.TemporaryDirectory() as directory:
        socket = Path(directory) / "spfe.sock"
        with subprocess.Popen([PROGRAMS / "spfed", "--listen", socket, *options],
                              stderr=subprocess.DEVNULL, preexec_fn=on(processors)) as process:
            try:
                for _ in range(200):
                    if socket.exists():
                        break
                    time.sleep(0.05)
                yield socket
            finally:
                process.terminate()


def switches():
    """Context switches of the machine so far."""
    text = Path("/proc/stat").read_text(encoding="ascii")
    return int(next(line for line in text.splitlines() if line.startswith("ctxt")).split()[1])


def rates(socket, pairs, args, wait):
    """Rate of each of so many pairs that send at once, Gbit/s, and switches in a second."""
    def command(pair):
        ends = f"unix:{socket}/{2 * pair},unix:{socket}/{2 * pair + 1}"
        return [PROGRAMS / "spfe", "perf", "rate", "--ends", ends, "--processes", "2",
                "--wait", wait, "--size", args.size, "--duration", f"{args.seconds}s",
                "--window", args.window,
                "--iterations", str(ROUNDS), "--pin", "none", "--json", "-q"]

    running = [subprocess.Popen(command(pair), stdout=subprocess.PIPE, text=True,
                                preexec_fn=on(args.clients))
               for pair in range(pairs)]
    try:
        # In the middle of the rounds.
        time.sleep(ROUNDS * args.seconds / 2)
        before = switches()
        time.sleep(1)
        count = switches() - before
        said = [process.communicate(timeout=ROUNDS * args.seconds + 120)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    if any(process.returncode for process in running):
        raise SystemExit("spfe perf rate failed")
    rounds = [json.loads(text)["results"][0]["iterations"][1:-1] for text in said]
    return [statistics.median(each["rate_gbps"] for each in middle) for middle in rounds], count


def numbers(text):
    """A list of numbers."""
    return [int(each) for each in text.split(",")]


def size_bytes(text):
    """Bytes of a size such as 4K."""
    return int(text.rstrip("KM")) << {"K": 10, "M": 20}.get(text[-1], 0)


def main():
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=numbers, default=[1, 4, 16, 31])
    parser.add_argument("--endpoints", type=numbers, default=[2, 16, 64])
    parser.add_argument("--size", default="4K")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--waits", default="block,adaptive")
    parser.add_argument("--window", default="512K,512K")
    parser.add_argument("--apart", action="store_true")
    args = parser.parse_args()
    first, *others = sorted(os.sched_getaffinity(0))
    if args.apart and not others:
        raise SystemExit("--apart needs two processors, and this process may use one")
    args.clients = set(others) if args.apart else None
    alone = {first} if args.apart else None
    print(f"Pairs of clients, {args.size}, mode thread: "
          "sum in Gbit/s, of the first row, lowest share, switches for 128 packets")
    bits = 128 * 8 * size_bytes(args.size)
    for wait in args.waits.split(","):
        first = None
        for pairs in args.pairs:
            with daemon("--endpoints", "64", "--max-clients", "128",
                        processors=alone) as socket:
                found, count = rates(socket, pairs, args, wait)
            first = first or sum(found)
            print(f"  {wait:9} {pairs:3} pairs {sum(found):8.2f} {sum(found) / first:6.2f} "
                  f"{min(found) / max(found):6.2f} {count * bits / sum(found) / 1e9:6.1f}",
                  flush=True)
    print("One active pair of an exact daemon, 1x6.25G: Gbit/s, of the first row")
    first = None
    for endpoints in args.endpoints:
        with daemon("--endpoints", str(endpoints), "--link", "exact:1x6.25G",
                    processors=alone) as socket:
            (found,), _ = rates(socket, 1, args, "block")
        first = first or found
        print(f"  {endpoints:3} endpoints {found:8.3f} {found / first:6.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
