#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints sfrp.txt: packets of SFRP version 1, built from docs/rdma.md alone.

    vectors/sfrp.py > vectors/sfrp.txt
"""

import struct

RESPONSE, ACK, FIRST, LAST, CRC, IMM, SOLICIT, RETRY = 0x80, 0x80, 0x40, 0x20, 0x10, 8, 4, 2
WRITE, READ, SEND, FETCH_ADD, CMP_SWAP, FLUSH, INFO, REGIONS, CREDIT, CONNECT, DISCONNECT = range(1, 12)
EIGHT = bytes(range(0x10, 0x18))


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = crc << 1 ^ (0x11021 if crc & 0x8000 else 0)
    return crc


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def packet(field, payload, path):
    units = -(-(40 + len(path)) // 8)
    header = struct.pack(
        ">BBBBBBBBHHIIIQIH", field["receiver"], 0xF0, 1 << 4 | units, field["code"], field["flags"],
        field["status"], field["sender"], len(path), field["sender_queue"], field["receiver_queue"],
        field["request"], field["key"], field["length"], field["address"], field["immediate"],
        field["sequence"])
    header = (header + path).ljust(units * 8 - 2, b"\0")
    header += struct.pack(">H", crc16(header))
    if field["flags"] & CRC:
        payload += struct.pack(">I", crc32c(payload))
    return header + payload


def show(name, code, flags, payload=b"", path=b"", **more):
    response = code & RESPONSE
    field = {
        "receiver": 0x67 if response else 0x42, "code": code, "flags": flags, "status": 0,
        "sender": 0x42 if response else 0x67, "sender_queue": 7 if response else 5,
        "receiver_queue": 5 if response else 7, "request": 0, "key": 0, "length": len(payload),
        "address": 0, "immediate": 0, "sequence": 0, **more}
    shown = " ".join(f"{key}={value:#x}" for key, value in field.items())
    print(f"{name}; {shown} path={path.hex()} payload={payload.hex()}; "
          f"{packet(field, payload, path).hex()}")


print("# Made by sfrp.py: name; fields; bytes from the receiver's logical address on.")
KEY, EVERY = 0x00012ABC, ACK | FIRST | LAST
show("V1 WRITE", WRITE, EVERY | CRC, EIGHT, request=1, key=KEY, address=0x1000, sequence=1)
show("V2 WRITE_ACK", WRITE | RESPONSE, FIRST | LAST, request=1, key=KEY, address=8, sequence=1)
show("V3 READ", READ, EVERY, request=2, key=KEY, address=0x1000, length=8, sequence=2)
show("V4 READ_DATA", READ | RESPONSE, FIRST | LAST | CRC, EIGHT, request=2, key=KEY, sequence=2)
show("V5 READ, BOUNDS", READ | RESPONSE, FIRST | LAST, status=4, request=3, key=KEY, sequence=3)
show("V6 SEND with a reply path", SEND, EVERY | CRC | IMM | SOLICIT, b"hello", b"\3\5", request=4,
     address=5 << 32, immediate=0xCAFEF00D, sequence=4)
show("V7 CREDIT", CREDIT, 0, immediate=64)
show("first segment of a WRITE", WRITE, FIRST | CRC, bytes(range(256)), request=8, key=KEY,
     address=0x1_FFFF_FF00, sequence=0xFFFF)
show("last segment of a WRITE", WRITE, ACK | LAST | CRC, b"\xff", request=8, key=KEY,
     address=0x2_0000_0000, sequence=0xFFFF)
show("WRITE of nothing", WRITE, EVERY, request=9, key=KEY, address=0x10, sequence=0)
show("WRITE with immediate data, again", WRITE, EVERY | CRC | IMM | RETRY, EIGHT, request=10, key=KEY,
     immediate=0x01020304, sequence=2)
show("FETCH_ADD", FETCH_ADD, EVERY | CRC, struct.pack(">Q", 1), request=11, key=KEY, address=0x18,
     sequence=3)
show("FETCH_ADD, old value", FETCH_ADD | RESPONSE, FIRST | LAST | CRC, struct.pack(">Q", 2**64 - 1),
     request=11, key=KEY, address=8, sequence=3)
show("CMP_SWAP", CMP_SWAP, EVERY | CRC, struct.pack(">QQ", 5, 6), request=12, key=KEY, address=0x18,
     sequence=4)
show("FLUSH", FLUSH, EVERY, request=13, sequence=5)
show("INFO, longest reply path", INFO, EVERY, path=bytes(range(1, 25)), request=14, status=0xFF,
     receiver_queue=0)
show("INFO answered", INFO | RESPONSE, FIRST | LAST | CRC,
     struct.pack(">BBBBHHIIIIQ", 1, 1, 0x1E, 12, 2, 16, 1 << 20, 1, 2, 3, 123456789), request=14,
     sender_queue=0)
show("REGIONS answered", REGIONS | RESPONSE, FIRST | LAST | CRC,
     struct.pack(">HHIQQ", 0, 0xB, KEY, 0, 8 << 30) + struct.pack(">HHIQQ", 1, 0x11, 0, 1 << 32, 1),
     request=15, sender_queue=0)
show("SEND, receiver not ready", SEND | RESPONSE, FIRST | LAST, status=7, request=16, immediate=100,
     sequence=6)
show("WRITE, message missing", WRITE | RESPONSE, FIRST | LAST, status=16, request=17, key=KEY,
     immediate=7, sequence=9)
show("CONNECT", CONNECT, EVERY, request=0xDEADBEEF, sequence=0x1234)
show("DISCONNECT", DISCONNECT, EVERY, request=0xDEADBEEF, sequence=0x1240)
show("longest payload", WRITE, EVERY | CRC, bytes(n * 7 & 0xFF for n in range(4096)), request=18, key=KEY,
     address=0x2000, sequence=10)
