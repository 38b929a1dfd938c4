"""A small TCP and UDP peer for the tests of interfaces.

    sockets.py listen tcp|udp ADDRESS PORT         prints "ready"; TCP: then the SHA-256 of the
                                                   stream; UDP: returns datagrams reversed
    sockets.py send tcp ADDRESS PORT FILE          sends a file
    sockets.py send udp ADDRESS PORT               sends datagrams of many sizes, checks the replies
    sockets.py count udp ADDRESS PORT NUMBER       sends numbered datagrams, 100 a second, and prints
                                                   how many replies came back
"""

import hashlib
import socket
import sys
import time

SIZES = [1, 100, 1400, 8000, 60000, 65507]


def listen_tcp(s, where):
    """Receives one stream and prints its digest."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(where)
    s.listen()
    print("ready", flush=True)
    connection, _ = s.accept()
    connection.settimeout(20)
    digest = hashlib.sha256()
    while data := connection.recv(1 << 20):
        digest.update(data)
    print(digest.hexdigest(), flush=True)
    connection.sendall(b"done")


def listen_udp(s, where):
    """Returns each datagram reversed, until an empty one arrives."""
    s.bind(where)
    print("ready", flush=True)
    while True:
        data, sender = s.recvfrom(1 << 16)
        if not data:
            break
        s.sendto(data[::-1], sender)


def send_tcp(s, where, path):
    """Sends a file and waits until the listener has all of it."""
    s.connect(where)
    with open(path, "rb") as file:
        s.sendfile(file)
    s.shutdown(socket.SHUT_WR)
    assert s.recv(4) == b"done"


def send_udp(s, where):
    """Sends datagrams of all sizes and repeats each until its reply arrives."""
    s.settimeout(1)
    for size in SIZES:
        data = bytes(i * 7 % 251 for i in range(size))
        for _ in range(10):
            s.sendto(data, where)
            try:
                back = s.recvfrom(1 << 16)[0]
            except TimeoutError:
                continue
            if len(back) == size:
                break
        assert back == data[::-1], f"{size} bytes"
    s.sendto(b"", where)


def count_udp(s, where, number):
    """Sends each datagram once. Waits for a reply far longer than any machine needs."""
    number = int(number)
    for i in range(number):
        s.sendto(i.to_bytes(4, "big"), where)
        time.sleep(0.01)
    replies = set()
    try:
        while len(replies) < number:
            replies.add(s.recv(16))
    except TimeoutError:
        pass
    s.sendto(b"", where)
    print(f"{len(replies)} of {number} returned", flush=True)


def main(action, kind, address, port, *rest):
    """Command line."""
    where = (address, int(port))
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    s.settimeout(20)
    actions = {("listen", "tcp"): listen_tcp, ("listen", "udp"): listen_udp,
               ("send", "tcp"): send_tcp, ("send", "udp"): send_udp,
               ("count", "udp"): count_udp}
    actions[action, kind](s, where, *rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
