# SPDX-License-Identifier: MIT OR Apache-2.0
"""One side of a word stream: the foreign end of an exact link (docs/foreign-ends.md).

    line = ForeignEnd("unix:/tmp/link.sock")
    received = line.silence()
    while received is not None:
        received = line.exchange(simulate(received))

A message is a list of word periods, each a list with the cell of every lane. A cell is an int; see
word() and symbols(). Only the standard library is needed.
"""

import socket
import struct
import time

WORDS, GROUPS = 1, 2
SIGNAL = 1 << 63

_GREETING = struct.Struct("<8sHHIIIQQ24s")
_HEAD = struct.Struct("<IIQ")


def word(bits, k=0, errors=0):
    """The cell of four symbols (symbol 0 in bits 7:0), their K flags and error flags."""
    return SIGNAL | (errors & 15) << 36 | (k & 15) << 32 | bits & 0xFFFF_FFFF


def symbols(cell):
    """Symbols, K flags and error flags of a cell; None without a signal."""
    if not cell & SIGNAL:
        return None
    return cell & 0xFFFF_FFFF, cell >> 32 & 15, cell >> 36 & 15


class ForeignError(Exception):
    """The stream cannot begin."""


class ForeignEnd:
    """A stream to an exact link. kind, lanes, words and rate may be 0: those of the other side."""

    def __init__(self, address, kind=0, lanes=0, words=0, rate=0, name="python", patience=60.0):
        self._line = _connect(address, patience)
        ours = (kind, lanes, words, rate)
        self._line.sendall(
            _GREETING.pack(b"SPFEWORD", 1, 0, kind, lanes, words, rate, 0, name.encode()[:23])
        )
        theirs = self._read(_GREETING.size)
        if theirs is None:
            raise ForeignError("the other side closed the connection")
        magic, version, _, *values, _, name = _GREETING.unpack(theirs)
        if magic != b"SPFEWORD" or version != 1:
            raise ForeignError("the other side speaks no word stream version 1")
        for what, own, far in zip(("kind", "lanes", "words", "rate"), ours, values):
            if own == far == 0 or own and far and own != far:
                raise ForeignError(f"{what}: ours {own}, the other side's {far}")
        joined = (own or far for own, far in zip(ours, values))
        self.kind, self.lanes, self.words, self.rate = joined
        self.far_name = name.split(b"\0")[0].decode(errors="replace")
        self._cells = struct.Struct(f"<{self.words * self.lanes}Q")
        self._sent = self._received = 0

    def silence(self):
        """A message without a signal: what arrives before the first exchange."""
        return [[0] * self.lanes for _ in range(self.words)]

    def exchange(self, message):
        """Sends a message; returns the next one to receive, or None when the stream has ended."""
        cells = [cell for period in message for cell in period]
        head = _HEAD.pack(1, self.words, self._sent)
        self._sent += self.words
        try:
            self._line.sendall(head + self._cells.pack(*cells))
            head = self._read(_HEAD.size)
            if head is None or _HEAD.unpack(head) != (1, self.words, self._received):
                return None
            bytes_ = self._read(self._cells.size)
        except OSError:
            return None
        if bytes_ is None:
            return None
        self._received += self.words
        cells = self._cells.unpack(bytes_)
        return [list(cells[at : at + self.lanes]) for at in range(0, len(cells), self.lanes)]

    def close(self):
        """Ends the stream."""
        try:
            self._line.sendall(_HEAD.pack(2, 0, 0))
        except OSError:
            pass
        self._line.close()

    def _read(self, count):
        parts = []
        while count:
            part = self._line.recv(count)
            if not part:
                return None
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _connect(address, patience):
    kind, _, place = address.partition(":")
    if kind.startswith("tcp"):
        host, _, port = place.rpartition(":")
        family, target = socket.AF_INET, (host, int(port))
        if host.startswith("["):
            family, target = socket.AF_INET6, (host[1:-1], int(port))
    elif kind in ("unix", "unix-listen"):
        family, target = socket.AF_UNIX, place
    else:
        raise ForeignError(f"address '{address}': write unix:PATH or tcp:HOST:PORT")
    if kind.endswith("-listen"):
        with socket.socket(family) as door:
            door.bind(target)
            door.listen(1)
            door.settimeout(patience)
            line = door.accept()[0]
            line.settimeout(None)
            return line
    end = time.monotonic() + patience
    while True:
        line = socket.socket(family)
        try:
            line.connect(target)
            return line
        except OSError as error:
            line.close()
            if time.monotonic() > end:
                raise ForeignError(f"address '{address}': {error}") from error
            time.sleep(0.005)
