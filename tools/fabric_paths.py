#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measures the ways of a TCP stream between two network namespaces, in turns, and prints medians.

    python3 tools/fabric_paths.py [--turns 5] [--seconds 1] [--spin 5000] [--fifo]

The ways are loopback in one namespace, veth with an MTU of 65500, the interface of a fabric, and
vxrun with both ways of waiting; all with unmodified iperf3 and writes of 64 KiB, and with round
trips of 64 bytes (tests/sockets/rounds.c). Processor seconds are those of iperf3 at both ends
and, over the fabric, of both node processes. Then it pings over veth and over the fabric, with
nodes that sleep and with nodes that poll. With --fifo, programs and nodes run under SCHED_FIFO,
before other work of the machine, and ping before the nodes. Needs root, iperf3, ping and gcc;
SPFE_PROGRAMS is the directory of the program (target/release).
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPFE = str(Path(os.environ.get("SPFE_PROGRAMS", ROOT / "target/release")).resolve() / "spfe")
NODES = (1, 3)
FABRIC = "192.168.20."
VETH = "192.168.30."
TICKS = os.sysconf("SC_CLK_TCK")


def run(*words):
    """Standard output of a command, which must succeed."""
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


class Fabric:
    """Two nodes of a fabric."""

    def __init__(self, folder, spin_us):
        self.socket = str(Path(folder) / f"sock{spin_us}")
        words = ["--quiet", "fabric", "up", "dist2-x8", "--socket", self.socket, "--nodes",
                 "--net", FABRIC + "0/24", "--spin", str(spin_us)]
        self.process = subprocess.Popen([SPFE, *words], stdin=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 30
            while not Path(self.socket).exists() and time.monotonic() < until:
                time.sleep(0.05)
            run(SPFE, "fabric", "status", "--socket", self.socket, "--wait", "30")
        except subprocess.CalledProcessError:
            self.process.terminate()
            raise

    def nodes(self):
        """The processes of the nodes."""
        text = run(SPFE, "--json", "fabric", "status", "--socket", self.socket)
        found = {node["node"]: node["process"] for node in json.loads(text)["nodes"]}
        return [found[node] for node in NODES]

    def seconds(self):
        """Processor time of the nodes."""
        total = 0
        for process in self.nodes():
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def on(self, node, *words):
        """The words that run a command on a node."""
        return [SPFE, "--quiet", "fabric", "exec", "--socket", self.socket, str(node), *words]

    def join_by_veth(self):
        """A veth pair between the nodes' namespaces."""
        far = str(self.nodes()[1])
        run(*self.on(1, "ip", "link", "add", "veth0", "mtu", "65500", "type", "veth",
                     "peer", "name", "veth0", "mtu", "65500", "netns", far))
        for node in NODES:
            run(*self.on(node, "ip", "address", "add", f"{VETH}{node}/24", "dev", "veth0"))
            run(*self.on(node, "ip", "link", "set", "veth0", "up"))

    def close(self):
        """Ends it."""
        subprocess.run([SPFE, "--quiet", "fabric", "down", "--socket", self.socket], check=False)
        self.process.wait()


class Way:
    """A way from node 1 to an address."""

    def __init__(self, name, fabric, server, address, spin=None, counts_nodes=False):
        self.name, self.fabric, self.server, self.address = name, fabric, server, address
        self.prefix = []
        if spin is not None:
            self.prefix = [SPFE, "--quiet", "fabric", "run", "--socket", fabric.socket,
                           "--spin", str(spin)]
        self.counts_nodes = counts_nodes
        self.rates, self.costs, self.medians, self.tails = [], [], [], []

    @contextlib.contextmanager
    def serving(self, *words):
        """A server at the far end."""
        server = subprocess.Popen(self.fabric.on(self.server, *self.prefix, *words),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            server.terminate()
            server.wait()

    def client(self, *words):
        """Output of a client, once the server is there."""
        for _ in range(100):
            time.sleep(0.05)
            done = subprocess.run(self.fabric.on(1, *self.prefix, *words), capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL)
            if done.returncode == 0:
                return done.stdout
        sys.exit(f"fabric_paths: {self.name}: {words[0]} has failed: {done.stdout}{done.stderr}")

    def stream(self, seconds):
        """A turn with iperf3."""
        before = self.fabric.seconds()
        with self.serving("iperf3", "--server", "--one-off"):
            text = self.client("iperf3", "--json", "--client", self.address, "--length", "65536",
                               "--time", str(seconds))
        end = json.loads(text)["end"]
        received, load = end["sum_received"], end["cpu_utilization_percent"]
        used = (load["host_total"] + load["remote_total"]) / 100 * received["seconds"]
        if self.counts_nodes:
            used += self.fabric.seconds() - before
        self.rates.append(received["bits_per_second"] / 1e9)
        self.costs.append(used / (received["bytes"] / 1e9))

    def round_trips(self, program, count):
        """A turn with round trips of 64 bytes."""
        with self.serving(program, "server", self.address, "5400"):
            median, tail = self.client(program, "client", self.address, "5400",
                                       str(count)).split()
        self.medians.append(float(median))
        self.tails.append(float(tail))


def ping(fabric, address, fifo):
    """Median of the mean round trips of three runs, us."""
    before = ["chrt", "--fifo", "20"] if fifo else []

    def once():
        text = run(*before, *fabric.on(1, "ping", "-q", "-c", "300", "-i", "0.002", address))
        return float(text.split("rtt ")[1].split("= ")[1].split("/")[1]) * 1000
    return statistics.median(once() for _ in range(3))


def conditions():
    """The machine and its load."""
    info = Path("/proc/cpuinfo").read_text()
    model = next(line.split(": ")[1] for line in info.splitlines() if line.startswith("model name"))
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} CPUs, Linux {os.uname().release}, load {load:.1f}"


def measure(args, folder, fabric):
    """The rows of all ways."""
    program = str(Path(folder) / "rounds")
    run("gcc", "-std=c11", "-O2", "-o", program, str(ROOT / "tests/sockets/rounds.c"))
    far, veth = f"{FABRIC}{NODES[1]}", f"{VETH}{NODES[1]}"
    ways = [
        Way("loopback", fabric, NODES[0], "127.0.0.1"),
        Way("veth, MTU 65500", fabric, NODES[1], veth),
        Way("vxeth0 (IP path)", fabric, NODES[1], far, counts_nodes=True),
        Way("vxrun, sleeps at once", fabric, NODES[1], far, 0),
        Way(f"vxrun --spin {args.spin}", fabric, NODES[1], far, args.spin),
    ]
    for _ in range(args.turns):
        for way in ways:
            way.stream(args.seconds)
            way.round_trips(program, args.rounds)
    return ways


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--spin", type=int, default=5000)
    parser.add_argument("--fifo", action="store_true")
    args = parser.parse_args()
    if args.fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        fabric = Fabric(folder, 0)
        stack.callback(fabric.close)
        fabric.join_by_veth()
        print(conditions())
        ways = measure(args, folder, fabric)
        print(f"{'path':24}{'Gbit/s':>8}{'lowest to highest':>20}{'CPU s/GB':>10}"
              f"{'median us':>11}{'99.9 % us':>11}")
        for way in ways:
            spread = f"{min(way.rates):.1f} to {max(way.rates):.1f}"
            print(f"{way.name:24}{statistics.median(way.rates):8.1f}{spread:>20}"
                  f"{statistics.median(way.costs):10.3f}{statistics.median(way.medians):11.1f}"
                  f"{statistics.median(way.tails):11.1f}")
        far = f"{FABRIC}{NODES[1]}"
        veth, sleeping = (ping(fabric, to, args.fifo) for to in (f"{VETH}{NODES[1]}", far))
        polling_fabric = Fabric(folder, args.spin)
        stack.callback(polling_fabric.close)
        polling = ping(polling_fabric, far, args.fifo)
        print(f"ping: veth {veth:.0f} us, nodes that sleep {sleeping:.0f} us, nodes that poll "
              f"{polling:.0f} us")
        print(conditions())


if __name__ == "__main__":
    main()
