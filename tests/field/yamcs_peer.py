# SPDX-License-Identifier: MIT OR Apache-2.0
"""Yamcs with the links of examples/yamcs at two bridges: tools/field.sh yamcs.

    yamcs_peer.py LIB SPFE DEVICE DEVICE    its jar files, the command, and two endpoints whose ports
                                            0 are joined
"""

import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import spfe

EXAMPLE = Path(__file__).parents[2] / "examples/yamcs"
FRONT = b"\xfe\x02\x00\x00"
LENGTHS = [1, 2, 100, 1000, 9000]
COMMAND = bytes.fromhex("1864c0000003")


def space_packet(count, length):
    header = (0x0864).to_bytes(2, "big") + (0xC000 | count).to_bytes(2, "big")
    return header + (length - 1).to_bytes(2, "big") + bytes((count + i) & 0xFF for i in range(length))


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Yamcs:
    """A server with the example's configuration, on free ports."""

    def __init__(self, lib, home):
        shutil.copytree(EXAMPLE, home, dirs_exist_ok=True)
        udp, tcp = socket.SOCK_DGRAM, socket.SOCK_STREAM
        self.ports = {10015: free_port(udp), 10016: free_port(tcp), 10025: free_port(tcp),
                      10026: free_port(udp), 8090: free_port(tcp)}
        for name in ("yamcs.yaml", "yamcs.spfe.yaml"):
            text = (home / "etc" / name).read_text()
            for printed, port in self.ports.items():
                text = text.replace(f"port: {printed}\n", f"port: {port}\n")
            (home / "etc" / name).write_text(text)
        self.log = home / "log"
        words = ["java", "-cp", f"{lib}/*", "org.yamcs.YamcsServer", "--etc-dir", "etc",
                 "--data-dir", "data"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, cwd=home, stdout=log, stderr=log)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[8090]}/api/{path}", data,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def wait(self, what, ready):
        """Until ready() is true; what it waits for is the server's own work."""
        for _ in range(1200):
            assert self.process.poll() is None, self.log.read_text()
            try:
                if ready():
                    return
            except OSError:
                pass  # it does not listen yet
            time.sleep(0.1)
        raise SystemExit(f"{what} did not happen:\n{self.log.read_text()}")

    def links(self):
        return {link["name"]: link for link in self.ask("links/spfe")["links"]}

    def packets(self):
        listed = self.ask("archive/spfe/packets?limit=100&order=asc").get("packet", [])
        return sorted(base64.b64decode(packet["packet"]) for packet in listed)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def bridge(command, device, vc, tm, tc):
    words = [command, "--json", "bridge", "ccsds", device, "--vc", str(vc), "--tm", tm, "--tc", tc]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    return process


def run(yamcs, queues):
    yamcs.wait("links", lambda: all(link["status"] == "OK" for link in yamcs.links().values()))
    sent = []
    for vc, (tx, _) in enumerate(queues):
        for count, length in enumerate(LENGTHS):
            sent.append(space_packet(count + 10 * vc, length))
            tx.send(FRONT + sent[-1], timeout=30)
    # One packet in is one packet out, with every byte of it.
    yamcs.wait("telemetry", lambda: len(yamcs.packets()) >= len(sent))
    assert yamcs.packets() == sorted(sent)
    for link in ("telemetry-udp", "telemetry-tcp"):
        assert yamcs.links()[link]["dataInCount"] == str(len(LENGTHS)), link
    # Commands leave by the first link that is enabled.
    for vc, (_, rx) in enumerate(queues):
        for value in range(3):
            yamcs.ask("processors/spfe/realtime/commands/spfe/set", {"args": {"value": value}})
            with rx.recv(timeout=30) as packet:
                assert bytes(packet) == FRONT + COMMAND + value.to_bytes(4, "big"), bytes(packet)
        if vc == 0:
            yamcs.ask("links/spfe/commands-tcp:disable", {})
    assert yamcs.links()["commands-udp"]["dataOutCount"] == "3"


def main():
    lib, command, here, there = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home, spfe.open(there) as endpoint:
        yamcs = Yamcs(lib, Path(home))
        at = "127.0.0.1:{}"
        udp, tcp = "udp:" + at, "tcp:" + at
        ports = yamcs.ports
        bridges = [
            bridge(command, here, 0, udp.format(ports[10015]), tcp.format(ports[10025])),
            bridge(command, here, 1, tcp.format(ports[10016]), udp.format(ports[10026])),
        ]
        queues = [(endpoint.port(0).tx(vc, bytes=70000), endpoint.port(0).rx(vc, bytes=70000))
                  for vc in range(2)]
        try:
            run(yamcs, queues)
        finally:
            for tx, rx in queues:
                tx.close()
                rx.close()
            yamcs.stop()
            for process in bridges:
                process.terminate()
                process.communicate(timeout=30)
    print("ok")


main()
