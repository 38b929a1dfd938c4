"""Two ends of a connection under vxrun, one of which breaks the rules of its ring.

    hostile.py victim ADDRESS PORT    prints "ready", then how the connection ended
    hostile.py breaker ADDRESS PORT   writes an impossible position into the memory that it shares
"""

import socket
import sys

ROUNDS = 300
PRODUCED = 64  # offset of the position of the ring
IMPOSSIBLE = 1 << 40


def victim(where):
    """Answers some rounds, then reads until the connection ends."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(where)
    s.listen()
    print("ready", flush=True)
    connection, _ = s.accept()
    for _ in range(ROUNDS):
        connection.sendall(connection.recv(1))
    connection.settimeout(0.05)
    for _ in range(600):
        try:
            data = connection.recv(100)
        except TimeoutError:
            continue
        except OSError as error:
            print(type(error).__name__, flush=True)
            break
        print(f"{len(data)} bytes", flush=True)
        break


def breaker(where):
    """Makes some rounds, then writes into the memory of its own stream."""
    s = socket.create_connection(where)
    for _ in range(ROUNDS):
        s.sendall(b"x")
        s.recv(1)
    with open("/proc/self/maps", encoding="ascii") as maps:
        ours = [line for line in maps if "spfe-fabric-stream" in line and " rw-s " in line]
    start = int(ours[0].split("-")[0], 16)
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(start + PRODUCED)
        memory.write(IMPOSSIBLE.to_bytes(8, "little"))
    s.settimeout(30)
    try:
        print(f"{len(s.recv(1))} bytes", flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)


{"victim": victim, "breaker": breaker}[sys.argv[1]]((sys.argv[2], int(sys.argv[3])))
