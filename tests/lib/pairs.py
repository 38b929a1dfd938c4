"""Traffic between all ordered pairs of the nodes of a fabric at once, with checked contents.

    pairs.py run NODE NODES [MORTAL]     the process of a node; runs until it gets SIGTERM
    pairs.py check REPORT...             compares what all processes have reported

A process connects to each other node and accepts a connection from each. Once it has all of them
it sends a block to every node 25 times a second. Nobody needs that rate: all that counts is that
the traffic goes on until SIGTERM. A process prints "active" when every connection to it has brought
ENOUGH bytes since all nodes began to send, and again after SIGUSR1, counting from there.

Connections with the node MORTAL may end in any way. Any other failure ends the process. Its last
line has for each other node the bytes sent and received, and how many segments the kernel has sent
again since the first "active".
"""

import contextlib
import hashlib
import json
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time

PORT, BLOCK, PAUSE = 5400, 4096, 0.04
ENOUGH = 10 * BLOCK
# Seconds that a process waits for another one to start.
PATIENCE = 60
# Offset of tcpi_total_retrans in struct tcp_info of <linux/tcp.h>.
TOTAL_RETRANS = 100


def block(source, target, number):
    """A block that is like no other one, of this pair or another."""
    return hashlib.shake_128(b"%d %d %d" % (source, target, number)).digest(BLOCK)


def address(node):
    """Where the process of a node listens."""
    return f"192.168.20.{node}", PORT


def connect(node):
    """Connects to a node, whose process may not have come so far as to listen."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address(node), PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextlib.contextmanager
def without_timers(here):
    """The kernel sends a segment again only if later ones have arrived, or after 20 s.

    Where processors are busy, it would otherwise take a late answer for a lost segment.
    """
    path = "/proc/sys/net/ipv4/tcp_early_retrans"
    route = ["ip", "route", "change", "192.168.20.0/24", "dev", "vxeth0", "proto", "kernel",
             "scope", "link", "src", address(here)[0]]
    with open(path, encoding="ascii") as file:
        before = file.read()

    def change(probes, *options):
        with open(path, "w", encoding="ascii") as file:
            file.write(probes)
        subprocess.run([*route, *options], check=True)

    change("0", "rto_min", "20s")
    try:
        yield
    finally:
        change(before)


class Outgoing:
    """A connection to another node."""

    def __init__(self, here, peer):
        self.pair, self.bytes, self.rest = (here, peer), 0, b""
        self.socket = connect(peer)
        self.socket.sendall(bytes([here]))
        self.socket.setblocking(False)
        self.before = 0

    def retransmitted(self):
        """How many segments the kernel has sent again."""
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TOTAL_RETRANS + 4)
        return struct.unpack_from("=I", info, TOTAL_RETRANS)[0]

    def send(self, ending):
        """Sends a block, or the rest of one, as far as there is room. True at the end."""
        if not self.rest:
            if ending:
                self.socket.shutdown(socket.SHUT_WR)
                return True
            self.rest = block(*self.pair, self.bytes // BLOCK)
        try:
            count = self.socket.send(self.rest)
        except BlockingIOError:
            return False
        self.rest = self.rest[count:]
        self.bytes += count
        return False


class Incoming:
    """A connection from another node."""

    def __init__(self, here, connection):
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self.pair, self.bytes, self.expected = (connection.recv(1)[0], here), 0, b""
        self.mark = 0

    def receive(self):
        """Takes what is there and compares it. True at the end."""
        data = self.socket.recv(1 << 16)
        while len(self.expected) < len(data):
            number = (self.bytes + len(self.expected)) // BLOCK
            self.expected += block(*self.pair, number)
        if not self.expected.startswith(data):
            sys.exit(f"from node {self.pair[0]}: other bytes than those sent, from {self.bytes} on")
        self.expected = self.expected[len(data):]
        self.bytes += len(data)
        return not data


class Node:
    """The process of a node."""

    def __init__(self, here, nodes, mortal=None):
        self.mortal, self.ending, self.again = mortal, False, False
        peers = [peer for peer in range(1, nodes + 1) if peer != here]
        listener = socket.create_server(address(here), backlog=nodes)
        self.outgoing = {peer: Outgoing(here, peer) for peer in peers}
        accepted = [Incoming(here, listener.accept()[0]) for _ in peers]
        self.incoming = {flow.pair[0]: flow for flow in accepted}
        self.selector = selectors.DefaultSelector()
        for peer, flow in self.incoming.items():
            self.selector.register(flow.socket, selectors.EVENT_READ, peer)
        # Connections that still send, and those that still bring something.
        self.sending, self.receiving = set(peers), set(self.incoming)
        self.report = {"node": here, "sent": {}, "received": {}, "retransmitted": {}}
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "ending", True))
        signal.signal(signal.SIGUSR1, lambda *_: setattr(self, "again", True))

    def attempt(self, peer, call, *arguments):
        """Calls; True at the end of the connection, which must be in order unless a node died."""
        try:
            return call(*arguments)
        except OSError as error:
            if peer != self.mortal:
                sys.exit(f"connection with node {peer}: {error}")
            return True

    def send(self):
        """Sends something to every node."""
        for peer in list(self.sending):
            flow = self.outgoing[peer]
            if self.attempt(peer, flow.send, self.ending):
                self.sending.remove(peer)
                self.report["sent"][peer] = flow.bytes
                self.report["retransmitted"][peer] = flow.retransmitted() - flow.before

    def receive(self, until):
        """Receives what arrives in the meantime."""
        for key, _ in self.selector.select(max(0, until - time.monotonic())):
            flow, peer = self.incoming[key.data], key.data
            if self.attempt(peer, flow.receive):
                self.selector.unregister(flow.socket)
                self.receiving.remove(peer)
                self.report["received"][peer] = flow.bytes

    def exchange(self):
        """Sends a block to each node, and receives until the next ones are due."""
        until = time.monotonic() + PAUSE
        self.send()
        while self.receiving and time.monotonic() < until:
            self.receive(until)

    def brought(self, flows):
        """The fewest bytes that a connection has brought since the mark."""
        return min(flow.bytes - flow.mark for flow in flows)

    def wait_active(self, flows):
        """Returns once each connection has brought enough from now on, or at SIGTERM."""
        for flow in flows:
            flow.mark = flow.bytes
        while self.brought(flows) < ENOUGH and not self.ending:
            self.exchange()

    def run(self):
        """Sends and receives until SIGTERM, then until nothing is left of the traffic."""
        flows = list(self.incoming.values())
        # Who sends is connected with all.
        while not all(flow.bytes for flow in flows) and not self.ending:
            self.exchange()
        self.wait_active(flows)
        for flow in self.outgoing.values():
            flow.before = flow.retransmitted()
        print("active", flush=True)
        others = [flow for flow in flows if flow.pair[0] != self.mortal]
        while not self.ending:
            self.exchange()
            if self.again:
                self.again = False
                self.wait_active(others)
                print("active", flush=True)
        for flows in (self.sending, self.receiving):
            flows.discard(self.mortal)
        while self.sending or self.receiving:
            self.exchange()
        print(json.dumps(self.report), flush=True)


def check(*paths):
    """Compares the reports of all nodes and prints a summary."""
    reports = []
    for path in paths:
        with open(path, encoding="ascii") as file:
            reports.append(json.loads(file.readlines()[-1]))
    pairs = total = again = 0
    for source in reports:
        for target in reports:
            if source is target:
                continue
            here, there = source["node"], target["node"]
            sent, received = source["sent"][str(there)], target["received"][str(here)]
            if not received or sent != received:
                sys.exit(f"node {here} sent {sent} bytes to node {there}, which got {received}")
            pairs, total = pairs + 1, total + received
            again += source["retransmitted"][str(there)]
    print(f"{pairs} pairs, {total} bytes, {again} segments sent again")


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        numbers = [int(word) for word in sys.argv[2:]]
        with without_timers(numbers[0]):
            Node(*numbers).run()
