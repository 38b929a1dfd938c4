# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rate of groups of packets in Python and in Rust, taken the same way.

    tools/python.sh run python python/bench/grouped_rate.py [--seconds 0.3] [--tries 7]

Both send the rows of one buffer between two ports of one process and receive them into the rows of
another. They run in turns; the best of all tries counts, because other programs only slow them down.
The Rust program is crates/spfe-bench/src/bin/grouped_rate.rs, in target/release.
"""

import argparse
import subprocess
import time

import spfe

SIZES = ((256, 256), (1024, 128), (4096, 64), (16384, 32), (65536, 16), (262144, 8))
RUST = "target/release/grouped_rate"


def python_rate(size: int, rows: int, seconds: float) -> float:
    """Bytes a second through the Python package."""
    with spfe.open("virtual:") as endpoint:
        with endpoint.port(0).tx() as tx, endpoint.port(1).rx(buffers=0) as rx:
            packets, room = endpoint.alloc(size, rows), endpoint.alloc(size, rows)
            with memoryview(packets) as view:
                view.cast("B")[:] = b"\1" * (size * rows)
            begin, rounds = time.perf_counter(), 0
            while (elapsed := time.perf_counter() - begin) < seconds:
                rx.post(room)
                tx.send_group(packets)
                rx.recv_group()
                tx.drain()
                rounds += 1
    return rounds * size * rows / elapsed


def rust_rate(size: int, rows: int, seconds: float) -> float:
    """Bytes a second through the Rust library."""
    words = [RUST, str(size), str(rows), str(round(seconds * 1000))]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a try")
    parser.add_argument("--tries", type=int, default=7, help="tries of each")
    options = parser.parse_args()
    print("packet bytes  packets  Python Gbyte/s  Rust Gbyte/s  ratio")
    for size, rows in SIZES:
        best = {python_rate: 0.0, rust_rate: 0.0}
        for _ in range(options.tries):
            for rate in best:
                best[rate] = max(best[rate], rate(size, rows, options.seconds) * 1e-9)
        here, there = best[python_rate], best[rust_rate]
        print(f"{size:12}  {rows:7}  {here:14.2f}  {there:12.2f}  {here / there:5.2f}", flush=True)


if __name__ == "__main__":
    main()
