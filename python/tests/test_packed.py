# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packed receive and bursts."""

import asyncio
import gc
import hashlib

import numpy as np
import pytest

import spfe


@pytest.fixture
def endpoint():
    with spfe.open("virtual:") as opened:
        yield opened


def collect(rx, count):
    """So many records, copied."""
    found = []
    while len(found) < count:
        with rx.recv(timeout=1) as run:
            found += [bytes(record) for record in run]
    return found


def test_a_run_is_a_sequence_of_packets(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx_packed() as rx:
        assert rx.poll() is None
        packets = [b"one", b"twelve", b"a third"]
        tx.send_group(packets)
        run = rx.recv(timeout=1)
        assert len(run) == 3 and [bytes(record) for record in run] == packets
        assert bytes(run[-1]) == packets[2] and run[1].end == "eop" and not run[1].more
        assert len(run[1]) == 6 and repr(run) == "Run(3 packets)"
        with pytest.raises(IndexError, match="packet 3 of a run of 3"):
            run[3]
        with pytest.raises(spfe.UsageError, match="their lengths differ"):
            run.array()
        with pytest.raises(BufferError, match="lengths differ"):
            memoryview(run)
        with pytest.raises(ValueError, match="read-only"):
            run[0].array()[0] = 1
        tx.send(b"cut", end="eep")
        with rx.recv(timeout=1) as run:
            assert run[0].end == "eep"


def test_equal_packets_are_rows_of_an_array(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx_packed() as rx:
        sent = np.arange(700 * 5, dtype="u2").astype("u1").reshape(700, 5)
        assert tx.send_burst(sent) == 700
        rx.wait(700, timeout=1)
        with rx.recv(timeout=1) as run:
            rows = run.array()
            assert rows.shape == (700, 5) and rows.strides == (16, 1) and (rows == sent).all()
            with pytest.raises(BufferError, match="not adjacent"):
                hashlib.sha256(run)
            assert bytes(run) == sent.tobytes()  # a copy
            del rows


def test_memory_of_a_run(endpoint):
    with endpoint.port(0).tx() as tx:
        rx = endpoint.port(1).rx_packed()
        tx.send(b"first")
        tx.drain(1)
        run = rx.recv(timeout=1)
        record = run[0]
        view = memoryview(record)
        for refused in (run.release, rx.close, rx.poll, rx.wait, endpoint.close):
            with pytest.raises(BufferError, match="view"):
                refused()
        assert view == b"first"
        view.release()
        tx.send(b"second")
        later = rx.recv(timeout=1)
        with pytest.raises(BufferError, match="it is released"):
            memoryview(record)
        run.release()  # of an earlier run: nothing to do
        assert bytes(later[0]) == b"second"
        del later
        gc.collect()
        rx.close()
        with pytest.raises(BufferError, match="it is released"):
            bytes(record)
        with pytest.raises(spfe.UsageError, match="closed"):
            rx.recv()


def test_the_area_is_used_again_and_again(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx_packed(area=4096) as rx:
        for number in range(200):
            packets = [bytes([number]) * length for length in (1, 90, 300, 17)]
            tx.send_group(packets, timeout=1)
            assert collect(rx, 4) == packets
        # Longer than a quarter of the area: parts.
        tx.send(bytes(range(256)) * 10)
        parts = []
        while not parts or parts[-1][1]:
            with rx.recv(timeout=1) as run:
                parts += [(bytes(record), record.more) for record in run]
        assert len(parts) > 1 and b"".join(part for part, _ in parts) == bytes(range(256)) * 10
    with pytest.raises(spfe.UsageError, match="packed area of 64 bytes"):
        endpoint.port(1).rx_packed(area=64)


def test_bursts(endpoint):
    with endpoint.port(0).tx(depth=8) as tx, endpoint.port(1).rx_packed() as rx:
        assert tx.send_burst(b"aabbcc", 2) == 3
        assert tx.send_burst(b"abcd", 2, stride=1) == 3
        assert tx.send_burst(b"again", 5, stride=0, count=4) == 4
        buffer = endpoint.alloc(10)
        with memoryview(buffer) as view:
            view[:] = b"0123456789"
        assert tx.send_burst(buffer, 4, stride=5) == 2
        assert collect(rx, 12) == [b"aa", b"bb", b"cc", b"ab", b"bc", b"cd", *[b"again"] * 4,
                                   b"0123", b"5678"]
        tx.drain(1)
        assert not buffer.posted and tx.outstanding == 0
        with pytest.raises(spfe.UsageError, match="burst of 2 packets of 6 bytes, 6 apart"):
            tx.send_burst(buffer, 6, count=2)
        assert not buffer.posted
        with pytest.raises(spfe.UsageError, match="packets of 1 bytes"):
            tx.send_burst(bytes(65536), 1)
        with pytest.raises(spfe.UsageError, match="a burst takes one row"):
            tx.send_burst(endpoint.alloc(4, rows=2), 4)
        with pytest.raises(spfe.UsageError, match="two dimensions"):
            tx.send_burst(b"no length")
        # More bursts than the queue has room for: the call waits for the device.
        total = 0
        for _ in range(50):
            total += tx.send_burst(bytes(1000), 10, timeout=1)
            collect(rx, 100)
        assert total == 5000


def test_packed_receive_in_asyncio(endpoint):
    async def both():
        with endpoint.port(0).tx(event=True) as tx, endpoint.port(1).rx_packed(event=True) as rx:
            waiting = asyncio.create_task(rx.arecv())
            await asyncio.sleep(0)
            await tx.asend(b"to a task")
            return bytes((await asyncio.wait_for(waiting, 5))[0])

    assert asyncio.run(both()) == b"to a task"
