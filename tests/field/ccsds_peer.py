# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a ground system does at spfe bridge ccsds, over UDP and over TCP; tests/field.bats runs it.

    ccsds_peer.py SPFE DEVICE DEVICE    the command, and two endpoints whose ports 0 are joined
"""

import json
import socket
import subprocess
import sys
import time

import spfe

FRONT = b"\xfe\x02\x00\x00"
LENGTHS = [1, 2, 100, 1000, 9000]


def space_packet(count, length, telecommand=0):
    header = (0x0864 | telecommand << 12).to_bytes(2, "big") + (0xC000 | count).to_bytes(2, "big")
    return header + (length - 1).to_bytes(2, "big") + bytes((count + i) & 0xFF for i in range(length))


def bridge(command, device, tm, tc):
    """Starts a bridge. Returns it and its addresses."""
    words = [command, "--json", "bridge", "ccsds", device, "--tm", tm, "--tc", tc]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    places = json.loads(process.stdout.readline())
    texts = [places[name].rpartition(":") for name in ("tm", "tc")]
    return process, [(host, int(port)) for host, _, port in texts]


def ended(process, telemetry, telecommands, dropped):
    process.terminate()
    said = process.communicate(timeout=30)[1].decode()
    expected = f"{telemetry} packets of telemetry, {telecommands} telecommands, {dropped} dropped"
    assert expected in said, said


def receive(stream, count):
    data = b""
    while len(data) < count:
        part = stream.recv(count - len(data))
        assert part, "the bridge has closed the connection"
        data += part
    return data


def datagrams(command, here, tx, rx):
    ground = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ground.bind(("127.0.0.1", 0))
    ground.settimeout(30)
    tm = f"udp:127.0.0.1:{ground.getsockname()[1]}"
    process, (_, to) = bridge(command, here, tm, "udp:127.0.0.1:0")
    for count, length in enumerate(LENGTHS):
        tx.send(FRONT + space_packet(count, length), timeout=30)
        assert ground.recv(70000) == space_packet(count, length)
        ground.sendto(space_packet(count, length, 1), to)
        with rx.recv(timeout=30) as packet:
            assert bytes(packet) == FRONT + space_packet(count, length, 1)
    # What is no space packet is dropped: a short datagram, a wrong length, another protocol, a cut one.
    ground.sendto(b"short", to)
    ground.sendto(space_packet(1, 10, 1) + b"more", to)
    tx.send(b"\xfe\x01" + space_packet(1, 10), timeout=30)
    tx.send(FRONT + space_packet(1, 10), end="eep", timeout=30)
    ground.sendto(space_packet(9, 5, 1), to)
    with rx.recv(timeout=30) as packet:
        assert bytes(packet) == FRONT + space_packet(9, 5, 1)
    tx.send(FRONT + space_packet(9, 5), timeout=30)
    assert ground.recv(70000) == space_packet(9, 5)
    ended(process, 6, 6, 4)


def streams(command, here, tx, rx):
    process, (down, up) = bridge(command, here, "tcp:127.0.0.1:0", "tcp:127.0.0.1:0")
    with socket.create_connection(down) as tm, socket.create_connection(up) as tc:
        tm.settimeout(30)
        # Packets in one write, and one in many: the stream has no borders, the link has.
        tc.sendall(b"".join(space_packet(count, length, 1) for count, length in enumerate(LENGTHS)))
        for count, length in enumerate(LENGTHS):
            with rx.recv(timeout=30) as packet:
                assert bytes(packet) == FRONT + space_packet(count, length, 1)
        for byte in space_packet(7, 20, 1):
            tc.send(bytes([byte]))
            time.sleep(0.001)
        with rx.recv(timeout=30) as packet:
            assert bytes(packet) == FRONT + space_packet(7, 20, 1)
        for count, length in enumerate(LENGTHS):
            tx.send(FRONT + space_packet(count, length), timeout=30)
        for count, length in enumerate(LENGTHS):
            assert receive(tm, length + 6) == space_packet(count, length)
    # The next client goes on. What was sent meanwhile waits for it.
    time.sleep(0.2)
    tx.send(FRONT + space_packet(1, 3), timeout=30)
    time.sleep(0.2)
    tx.send(FRONT + space_packet(2, 3), timeout=30)
    with socket.create_connection(down) as tm, socket.create_connection(up) as tc:
        tm.settimeout(30)
        last = b""
        while last != space_packet(2, 3):
            last = receive(tm, 9)
            assert last in (space_packet(1, 3), space_packet(2, 3))
        # Bytes that are no space packet end the connection.
        tc.sendall(b"\xff" * 7)
        tc.settimeout(30)
        tc.sendall(b"\xff" * 65600)
        try:
            assert tc.recv(1) == b""
        except ConnectionError:
            pass
    process.terminate()
    assert process.wait(30) == 0


def main():
    command, here, there = sys.argv[1:]
    with spfe.open(there) as endpoint, endpoint.port(0).tx(bytes=70000) as tx:
        with endpoint.port(0).rx(bytes=70000) as rx:
            datagrams(command, here, tx, rx)
            streams(command, here, tx, rx)
    print("ok")


main()
