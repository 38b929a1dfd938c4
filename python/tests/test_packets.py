# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packets, groups and the memory they lie in."""

import errno
import gc
import os
import threading

import numpy as np
import pytest

import spfe


@pytest.fixture
def endpoint():
    with spfe.open("virtual:") as opened:
        yield opened


@pytest.fixture
def ends(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
        yield tx, rx


def test_data_of_every_kind_arrives_unaltered(ends):
    tx, rx = ends
    numbers = np.arange(100, dtype="<f8").reshape(10, 10)
    for data in (b"bytes", bytearray(b"bytearray"), memoryview(b"0123456789")[2:7], numbers):
        tx.send(data, timeout=1)
        with rx.recv(1) as packet:
            assert bytes(packet) == bytes(memoryview(data).cast("B"))
            assert (packet.end, packet.more, packet.status) == ("eop", False, spfe.Status.OK)
    with pytest.raises(spfe.UsageError, match="not adjacent"):
        tx.send(numbers[:, ::2])
    with pytest.raises(spfe.UsageError, match="0 bytes"):
        tx.send(b"")
    with pytest.raises(TypeError):
        tx.send("text")


def test_views_are_the_memory_itself(ends):
    tx, rx = ends
    tx.send(np.arange(16, dtype="<u4"))
    with rx.recv(1) as packet:
        words = packet.array("<u4")
        assert words.tolist() == list(range(16))
        words[3] = 77
        assert bytes(packet)[12:16] == b"\x4d\0\0\0"
        assert words.base is not None and not words.flags.owndata
        del words


def test_long_packets_get_longer_buffers_and_come_in_parts(endpoint):
    with endpoint.port(0).tx(bytes=64, buffers=2) as tx, endpoint.port(1).rx(bytes=1000) as rx:
        data = os.urandom(2500)
        tx.send(data)
        parts = [rx.recv(1) for _ in range(3)]
        assert [(len(part), part.end) for part in parts] == [
            (1000, "more"), (1000, "more"), (500, "eop")
        ]
        assert b"".join(map(bytes, parts)) == data
        # Pieces of one packet, which ends with an error end of packet.
        tx.send(b"first, ", end="more")
        tx.send(b"last", end="eep")
        packet = rx.recv(1)
        assert packet.end in ("eep", "more")
        assert bytes(packet).startswith(b"first, ")
        with pytest.raises(spfe.UsageError, match="end 'eof': eop, eep or more"):
            tx.send(b"x", end="eof")


def test_a_buffer_is_sent_without_a_copy_and_comes_back(endpoint):
    # Nobody receives yet, so the packet stays in the queue.
    with endpoint.port(0).tx() as tx:
        buffer = endpoint.alloc(4096)
        with memoryview(buffer) as view:
            view[:5] = b"hello"
            with pytest.raises(BufferError, match="1 views"):
                tx.send(buffer)
        tx.send(buffer, length=5)
        assert buffer.posted and "posted" in repr(buffer)
        for use in (lambda: memoryview(buffer), lambda: tx.send(buffer), buffer.release):
            with pytest.raises(BufferError, match="a queue has 1 of its 1 rows"):
                use()
        with endpoint.port(1).rx() as rx:
            assert bytes(rx.recv(1)) == b"hello"
            tx.drain(1)
        assert not buffer.posted and bytes(buffer)[:5] == b"hello"
        with pytest.raises(spfe.UsageError, match="4097 bytes of rows of 4096"):
            tx.send(buffer, length=4097)
        gc.collect()
        buffer.release()
        with pytest.raises(BufferError, match="released"):
            memoryview(buffer)


def test_groups_from_arrays_lists_and_buffers(endpoint):
    with endpoint.port(0).tx(depth=16) as tx, endpoint.port(1).rx(bytes=256, buffers=256) as rx:
        rows = np.random.default_rng(1).integers(0, 256, (100, 200), dtype="u1")
        assert tx.send_group(rows, timeout=1) == 100
        assert [bytes(rx.recv(1)) for _ in range(100)] == [row.tobytes() for row in rows]
        words = [b"one", bytearray(b"three"), b"fifteen"]
        assert tx.send_group(words) == 3
        assert [bytes(packet) for packet in rx.recv_many(timeout=1)] == words
        buffer = endpoint.alloc(200, rows=100)
        buffer.array()[:] = rows[::-1]
        gc.collect()
        assert tx.send_group(buffer, length=150) == 100
        for row in rows[::-1]:
            assert bytes(rx.recv(1)) == row[:150].tobytes()
        tx.drain(1)
        assert buffer.array().shape == (100, 200)
        with pytest.raises(spfe.UsageError, match="use send_group"):
            tx.send(buffer)
        with pytest.raises(spfe.UsageError, match="two dimensions"):
            tx.send_group(b"flat")
        with pytest.raises(spfe.UsageError, match="packet 1 of 0 bytes"):
            tx.send_group([b"x", b""])
        assert tx.send_group([]) == 0


def test_received_groups_lie_in_the_rows_of_a_buffer(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx(buffers=0) as rx:
        with pytest.raises(spfe.UsageError, match="no buffer is posted"):
            rx.recv_group(0)
        with pytest.raises(spfe.UsageError, match="use post and recv_group"):
            rx.recv(0)
        first, second = endpoint.alloc(512, rows=8), endpoint.alloc(512, rows=8)
        rx.post(first)
        rx.post(second)
        rows = np.random.default_rng(2).integers(0, 256, (16, 500), dtype="u1")
        tx.send_group(rows[:9])
        got = rx.recv_group(1)
        assert got is first and got.lengths == [500] * 8
        assert (got.array()[:, :500] == rows[:8]).all()
        with pytest.raises(spfe.TimedOut):
            rx.recv_group(0.01)
        for use in (second.array, lambda: np.asarray(second), lambda: second.lengths):
            with pytest.raises(BufferError, match="a queue has 7 of its 8 rows"):
                use()
        tx.send_group(rows[9:])
        assert rx.recv_group(1) is second
        assert (second.array()[:, :500] == rows[8:]).all()
        gc.collect()
        with pytest.raises(spfe.LocalError, match="room for 1024"):
            rx.post(endpoint.alloc(64, rows=1025))
        # A closed queue gives back what was not filled.
        rx.post(first)
    assert not first.posted and first.lengths == [0] * 8


def test_released_memory_goes_back_to_the_queue(endpoint):
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx(buffers=4) as rx:
        tx.send_group([b"%d" % number for number in range(6)])
        held = [rx.recv(1) for _ in range(4)]
        with pytest.raises(spfe.LocalError, match="hold all of its 4 buffers") as error:
            rx.recv(1)
        assert (error.value.status, error.value.errno) == (spfe.Status.BUSY, errno.EBUSY)
        view = memoryview(held[0])
        with pytest.raises(BufferError, match="1 views"):
            held[0].release()
        with pytest.raises(BufferError, match="receive queue: 1 views"):
            rx.close()
        with pytest.raises(BufferError, match="endpoint: 1 views"):
            endpoint.close()
        del held[1]  # nothing refers to it any more
        assert bytes(rx.recv(1)) == b"4"
        view.release()
        held[0].release()
        held[0].release()
        assert bytes(rx.recv(1)) == b"5"
        with pytest.raises(BufferError, match="released"):
            bytes(held[0])


def test_memory_outlives_its_queue_and_endpoint():
    endpoint = spfe.open("virtual:")
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
        tx.send(b"still here")
        packet = rx.recv(1)
    buffer = endpoint.alloc(4096)
    endpoint.close()
    del endpoint, tx, rx
    gc.collect()
    assert bytes(packet) == b"still here"
    with memoryview(buffer) as view:
        view[:] = bytes(4096)


def test_timeouts_and_deadlines(endpoint, ends):
    tx, rx = ends
    with pytest.raises(spfe.TimedOut) as error:
        rx.recv(timeout=0)
    assert isinstance(error.value, TimeoutError) and error.value.errno == errno.ETIMEDOUT
    deadline = endpoint.deadline(0.02)
    with pytest.raises(TimeoutError):
        rx.recv(deadline)
    assert deadline.remaining == 0.0
    for wrong in (-1, float("nan")):
        with pytest.raises(spfe.UsageError, match="timeout of"):
            rx.recv(wrong)
    assert rx.poll() is None
    tx.send_group([b"1", b"2"])
    assert rx.wait(2, timeout=1) is True
    assert rx.wait(3, after_first=0.001, timeout=1) is False


def test_virtual_time_jumps():
    with spfe.open("virtual:?time=virtual") as endpoint, endpoint.port(0).rx() as rx:
        with pytest.raises(spfe.TimedOut):
            rx.recv(timeout=60)
        assert endpoint.now_ns == 60_000_000_000


def test_closing_waits_for_packets_and_says_what_was_left(endpoint):
    tx = endpoint.port(0).tx()
    tx.send(b"nobody receives this")
    assert tx.outstanding == 1
    with pytest.raises(spfe.TimedOut, match="closed before 1 packets were sent"):
        tx.close(linger=0.01)
    tx.close()
    with pytest.raises(spfe.UsageError, match="transmit queue: it is closed"):
        tx.send(b"x")
    buffer = endpoint.alloc(64)
    tx = endpoint.port(0).tx()
    tx.send(buffer)
    with pytest.raises(spfe.TimedOut):
        tx.close(linger=0)
    assert not buffer.posted and len(memoryview(buffer)) == 64


def test_an_endpoint_closes_its_queues():
    endpoint = spfe.open("virtual:")
    tx, rx = endpoint.port(0).tx(), endpoint.port(1).rx()
    endpoint.close()
    for use in (lambda: tx.send(b"x"), lambda: rx.recv(0), lambda: endpoint.port(0)):
        with pytest.raises(spfe.UsageError, match="closed"):
            use()
    endpoint.close()


def test_the_descriptor_of_a_queue(endpoint):
    import select

    with endpoint.port(0).tx() as tx, endpoint.port(1).rx(event=True) as rx:
        assert rx.request_event() is False
        tx.send(b"wake up")
        assert select.select([rx], [], [], 1)[0] == [rx]
        assert bytes(rx.recv(0)) == b"wake up"
        with pytest.raises(spfe.UsageError, match="without a descriptor"):
            tx.fileno()


def test_wrong_names_and_numbers(endpoint):
    for call, kind, status in (
        (lambda: spfe.open("nonsense"), spfe.UsageError, "BAD_FIELD"),
        (lambda: spfe.open("unix:/nowhere"), spfe.LocalError, "DEVICE_GONE"),
        (lambda: endpoint.port(9), spfe.UsageError, "NOT_FOUND"),
        (lambda: endpoint.port(0).tx(99), spfe.UsageError, "BAD_VC"),
        (lambda: endpoint.port(0).tx(buffers=0), spfe.UsageError, "BAD_FIELD"),
        (lambda: endpoint.port(0).rx(bytes=0), spfe.UsageError, "BAD_FIELD"),
        (lambda: endpoint.port(0).rx(strategy="lazy"), spfe.UsageError, "BAD_FIELD"),
        (lambda: endpoint.port(0).rx(depth=3, buffers=0), spfe.UsageError, "BAD_RING"),
        (lambda: endpoint.alloc(0), spfe.UsageError, "EMPTY"),
        (lambda: endpoint.alloc(1 << 40, rows=1 << 40), spfe.UsageError, "EMPTY"),
        (lambda: endpoint.port(2).broadcast(), spfe.UsageError, "BAD_OPCODE"),
    ):
        with pytest.raises(kind) as error:
            call()
        assert error.value.status == spfe.Status[status], error.value
        assert isinstance(error.value, spfe.Error) and error.value.errno > 0
    with endpoint.port(0).tx():
        with pytest.raises(spfe.LocalError) as error:
            endpoint.port(0).tx()
        assert error.value.status == spfe.Status.BUSY


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python 3.12 and newer
def test_a_child_process_must_open_again(endpoint, ends):
    tx, rx = ends
    buffer = endpoint.alloc(64)
    tx.send(b"from the parent")
    packet = rx.recv(1)
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            for use in (lambda: tx.send(b"x"), lambda: rx.recv(0), lambda: endpoint.info(),
                        lambda: endpoint.close(), lambda: memoryview(buffer),
                        lambda: memoryview(packet)):
                try:
                    use()
                except spfe.UsageError as error:
                    assert "fork" in str(error), error
                else:
                    raise AssertionError("no exception")
            del packet, buffer
            failed = 0
        finally:
            os._exit(failed)
    assert os.waitpid(child, 0)[1] == 0
    tx.send(b"the parent goes on")
    assert bytes(packet) == b"from the parent" and bytes(rx.recv(1)) == b"the parent goes on"


def test_another_thread_ends_a_wait(endpoint):
    outcome = []

    def wait(rx):
        try:
            rx.recv()
        except spfe.Error as error:
            outcome.append((error.status, "closed it" in str(error)))

    for end in ("cancel", "close"):
        rx = endpoint.port(1).rx()
        waiter = threading.Thread(target=wait, args=(rx,))
        waiter.start()
        getattr(rx, end)()
        waiter.join(30)
        assert not waiter.is_alive()
        rx.close()
    assert outcome[0] == (spfe.Status.CANCELLED, False)
    assert outcome[1][0] in (spfe.Status.CANCELLED, spfe.Status.BAD_FIELD)
