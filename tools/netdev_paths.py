#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measures IP between two interfaces of `spfe ip` with both versions of the encapsulation, in turns.

    python3 tools/netdev_paths.py [--turns 5] [--seconds 1] [--mode inline] [--fifo]

The two interfaces are at the ends of a SpaceFibre link without a limit, and on two nodes of a
fabric, each in a network namespace of its own, with an MTU of 9000 and of 65500 bytes. Version 2
is measured as it is, and with its offloads turned off (ethtool). A row is TCP by unmodified iperf3
with writes of 128 KiB: the median, the best, and processor seconds for each GB, of iperf3, of both
interfaces and of the daemon. Then ping. With --fifo all programs run under SCHED_FIFO, before other
work of the machine. Needs root, iperf3, ethtool, ping and nsenter; SPFE_PROGRAMS is the directory
of spfe and spfed (target/release).
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(os.environ.get("SPFE_PROGRAMS", ROOT / "target/release")).resolve()
TICKS = os.sysconf("SC_CLK_TCK")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
OFFLOADS = ("tx", "tso", "gso")


def seconds_of(process):
    """Processor time of a process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextlib.contextmanager
def running(*words, **options):
    """A program that runs until the block ends."""
    process = subprocess.Popen([str(word) for word in words], **{**QUIET, **options})
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Way:
    """Two interfaces, and what was measured between them."""

    def __init__(self, name, network, number, encapsulation, mtu, offloads):
        self.name, self.network, self.number = name, network, number
        self.encapsulation, self.mtu, self.offloads = encapsulation, mtu, offloads
        self.spaces, self.counted = [], []
        self.rates, self.costs, self.trips = [], [], []

    def address(self, side):
        """The address of an end."""
        return f"10.84.{self.number}.{side + 1}"

    def on(self, side, *words):
        """The words that run a command at an end."""
        return ["nsenter", "--target", str(self.spaces[side].pid), "--net", *words]

    def run(self, side, *words):
        """What a command at an end prints; it must succeed."""
        return subprocess.run(self.on(side, *words), check=True, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL).stdout

    def start(self, stack, folder, mode):
        """Starts daemon and interfaces."""
        socket = Path(folder) / f"sock{self.number}"
        network = ["--topology", "fabric:2"] if self.network == "fabric" else []
        self.counted.append(stack.enter_context(running(
            PROGRAMS / "spfed", "--listen", socket, "--mode", mode, *network)))
        while not socket.exists():
            time.sleep(0.02)
        for side in range(2):
            self.spaces.append(stack.enter_context(running("unshare", "--net", "sleep", "1000")))
            while self.run(side, "readlink", "/proc/self/ns/net") == os.readlink(
                    "/proc/self/ns/net") + "\n":
                time.sleep(0.02)
            self.counted.append(stack.enter_context(running(*self.on(
                side, PROGRAMS / "spfe", "ip", "up", f"unix:{socket}/{side}",
                "--name", "probe", "--mtu", self.mtu, "--encapsulation", self.encapsulation,
                "--address", f"{self.address(side)}/24"))))
        for _ in range(200):
            reached = subprocess.run(
                self.on(0, "ping", "-q", "-c", "1", "-W", "1", self.address(1)), check=False,
                **QUIET)
            if reached.returncode == 0:
                break
            time.sleep(0.1)
        # Both have found out what the other understands.
        time.sleep(2.5)
        if not self.offloads:
            for side in range(2):
                self.run(side, "ethtool", "-K", "probe",
                         *(word for name in OFFLOADS for word in (name, "off")))

    def measure(self, seconds):
        """A turn."""
        before = sum(map(seconds_of, self.counted))
        with running(*self.on(1, "iperf3", "--server", "--one-off")):
            for _ in range(100):
                time.sleep(0.05)
                client = subprocess.run(
                    self.on(0, "iperf3", "--json", "--client", self.address(1), "--time",
                            str(seconds)), capture_output=True, text=True, check=False,
                    stdin=subprocess.DEVNULL)
                if client.returncode == 0:
                    break
        end = json.loads(client.stdout)["end"]
        received, load = end["sum_received"], end["cpu_utilization_percent"]
        used = (load["host_total"] + load["remote_total"]) / 100 * received["seconds"]
        used += sum(map(seconds_of, self.counted)) - before
        self.rates.append(received["bits_per_second"] / 1e9)
        self.costs.append(used / (received["bytes"] / 1e9))
        text = self.run(0, "ping", "-q", "-c", "200", "-i", "0.002", self.address(1))
        self.trips.append(float(text.split("rtt ")[1].split("= ")[1].split("/")[1]) * 1000)


def conditions():
    """The machine and its load."""
    info = Path("/proc/cpuinfo").read_text()
    model = next(line.split(": ")[1] for line in info.splitlines() if line.startswith("model name"))
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} CPUs, Linux {os.uname().release}, load {load:.1f}"


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--mode", choices=["inline", "thread"], default="inline")
    parser.add_argument("--fifo", action="store_true")
    args = parser.parse_args()
    if args.fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    ways = []
    for network in ("SpaceFibre", "fabric"):
        for mtu in (9000, 65500):
            for name, encapsulation, offloads in (
                    ("version 1", 1, True), ("version 2, offloads off", 2, False),
                    ("version 2", 2, True)):
                ways.append(Way(name, network, len(ways), encapsulation, mtu, offloads))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        print(conditions())
        for way in ways:
            way.start(stack, folder, args.mode)
        for _ in range(args.turns):
            for way in ways:
                way.measure(args.seconds)
        print(f"{'network':12}{'MTU':>6}  {'encapsulation':25}{'Gbit/s':>8}{'best':>8}"
              f"{'CPU s/GB':>10}{'ping us':>9}")
        for way in ways:
            print(f"{way.network:12}{way.mtu:6}  {way.name:25}"
                  f"{statistics.median(way.rates):8.2f}{max(way.rates):8.2f}"
                  f"{statistics.median(way.costs):10.3f}{min(way.trips):9.0f}")
        print(conditions())


if __name__ == "__main__":
    main()
