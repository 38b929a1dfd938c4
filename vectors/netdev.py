#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints netdev.txt: packets with Ethernet frames, built from docs/netdev.md alone.

    vectors/netdev.py > vectors/netdev.txt
"""

import struct

MACS = bytes.fromhex("020000000002" "020000000001")


def ones(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def tcp(payload, complete):
    """An IPv4 frame with a TCP segment; its checksum covers only the pseudo-header if not complete."""
    length = 20 + len(payload)
    pseudo = bytes([10, 0, 0, 1, 10, 0, 0, 2, 0, 6]) + struct.pack(">H", length)
    segment = struct.pack(">HHIIBBHHH", 4660, 80, 1, 2, 0x50, 0x10, 8192, 0, 0) + payload
    check = ones(pseudo + segment) ^ 0xFFFF if complete else ones(pseudo)
    segment = segment[:16] + struct.pack(">H", check) + segment[18:]
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 1, 0x4000, 64, 6, 0) + pseudo[:8]
    header = header[:10] + struct.pack(">H", ones(header) ^ 0xFFFF) + header[12:]
    return MACS + b"\x08\x00" + header + segment


def prefix(kind):
    return struct.pack("<BBBBHH", 0xFE, 0xF5, 2, kind, 0, 0)


def second(name, frame, flags=0, kind=0, header=0, segment=0, start=0, offset=0):
    fields = (flags, kind, header, segment, start, offset)
    shown = " ".join(f"{key}={value}" for key, value in zip(
        ("flags", "kind", "header", "segment", "start", "offset"), fields))
    packet = prefix(0) + struct.pack("<BBHHHH", *fields) + frame
    print(f"{name}; version=2 {shown} frame={frame.hex()}; {packet.hex()}")


def hello(name, ask, seen, features, packet_max):
    packet = prefix(1) + struct.pack("<BBHII", ask | seen << 1, 2, features, packet_max, 0)
    print(f"{name}; hello=2 ask={ask} seen={seen} features={features} packet_max={packet_max}; "
          f"{packet.hex()}")


print("# Made by netdev.py: name; fields; bytes of the packet.")
FRAME = tcp(b"whole", True)
print(f"version 1; version=1 frame={FRAME.hex()}; {(bytes([0xFE, 0xF5, 1, 0, 0, 0]) + FRAME).hex()}")
second("complete", FRAME)
second("verified by the sender", FRAME, flags=2)
second("checksum to be completed", tcp(b"half", False), flags=1, start=34, offset=16)
second("three segments of TCP over IPv4", tcp(bytes(range(250)), False), flags=1, kind=1, header=54,
       segment=100, start=34, offset=16)
second("the same with ECN", tcp(bytes(range(250)), False), flags=1, kind=0x81, header=54, segment=100,
       start=34, offset=16)
hello("hello that asks", 1, 0, 15, 65571)
hello("hello that answers", 0, 1, 31, 65571)
