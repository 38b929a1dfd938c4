# SPDX-License-Identifier: MIT OR Apache-2.0
"""Round trips of packets between two processes, over a daemon's network.

    tools/python.sh run python python/bench/ping.py [--rounds 3000] [--bytes 64 4096 65536 262144]

Starts spfed of target/release (or SPFE_PROGRAMS), a process that echoes, and measures the time
from `send` to the end of `recv` here. Both sides poll. Packets are buffers of the program, sent
without a copy by Python; the echo sends back the memory into which it received.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import spfe

SPFED = os.path.join(os.environ.get("SPFE_PROGRAMS", "target/release"), "spfed")


def echo(device: str, size: int, rounds: int) -> None:
    """Sends back what arrives."""
    with spfe.open(device) as endpoint:
        port = endpoint.port(0)
        with port.rx(buffers=0, strategy="poll") as rx, port.tx(strategy="poll") as tx:
            room = endpoint.alloc(size)
            for _ in range(rounds):
                rx.post(room)
                rx.recv_group()
                tx.send(room)
                tx.drain()


def ping(device: str, size: int, rounds: int) -> list[float]:
    """Times of round trips, in us."""
    times = []
    with spfe.open(device) as endpoint:
        port = endpoint.port(0)
        with port.rx(buffers=0, strategy="poll") as rx, port.tx(strategy="poll") as tx:
            room, packet = endpoint.alloc(size), endpoint.alloc(size)
            for _ in range(rounds):
                rx.post(room)
                begin = time.perf_counter()
                tx.send(packet)
                rx.recv_group()
                times.append((time.perf_counter() - begin) * 1e6)
                tx.drain()
    return times


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--bytes", type=int, nargs="*", default=[64, 4096, 16384, 65536, 262144])
    parser.add_argument("--echo", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo:
        echo(options.echo[0], int(options.echo[1]), int(options.echo[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        socket = pathlib.Path(folder) / "sock"
        daemon = subprocess.Popen([SPFED, "--listen", str(socket)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            while not socket.exists():
                time.sleep(0.01)
            print("packet bytes  median us  90 % us")
            for size in options.bytes:
                words = [f"unix:{socket}/1", str(size), str(options.rounds)]
                other = subprocess.Popen([sys.executable, __file__, "--echo", *words])
                times = sorted(ping(f"unix:{socket}/0", size, options.rounds)[10:])
                other.wait()
                print(f"{size:12}  {times[len(times) // 2]:9.1f}  {times[len(times) * 9 // 10]:7.1f}",
                      flush=True)
        finally:
            daemon.terminate()
            daemon.wait()


if __name__ == "__main__":
    main()
