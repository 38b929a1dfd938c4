# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads that use, close and look at the same objects at the same time.

Nothing may crash or alter data: each call either works or raises a documented exception.
"""

import random
import signal
import sys
import sysconfig
import threading
import time

import pytest

import spfe

ROUNDS = 12


def in_threads(*bodies):
    """Runs functions in threads; raises what one of them raised."""
    failures = []

    def run(body):
        try:
            body()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]


def payload(number):
    return number.to_bytes(4, "little") * (1 + number % 500)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"),
                    reason="set PY_INTERPRETER to an interpreter without the global lock")
def test_the_global_lock_stays_off():
    """An extension that does not say that it needs no lock turns it on."""
    assert not sys._is_gil_enabled()


def test_a_sender_and_a_receiver():
    count = 3000
    with spfe.open("virtual:") as endpoint:
        with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:

            def send():
                for number in range(count):
                    tx.send(payload(number), timeout=30)

            def recv():
                for number in range(count):
                    with rx.recv(30) as packet, memoryview(packet) as view:
                        assert view == payload(number)

            in_threads(send, recv)


def test_many_threads_share_queues():
    with spfe.open("virtual:") as endpoint:
        with endpoint.port(0).tx(buffers=4) as tx, endpoint.port(1).rx(buffers=16) as rx:
            got, lock = [], threading.Lock()

            def send(start):
                for number in range(start, 400, 4):
                    tx.send(payload(number), timeout=30)

            def recv():
                for _ in range(100):
                    packet = rx.recv(30)
                    number = int.from_bytes(bytes(packet)[:4], "little")
                    assert bytes(packet) == payload(number)
                    with lock:
                        got.append(number)

            in_threads(*[lambda s=s: send(s) for s in range(4)], recv, recv, recv, recv)
            assert sorted(got) == list(range(400))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_closing_and_reusing_memory_under_views(seed):
    """Views of packets and buffers are made, held and written, while queues are closed and opened."""
    random_number = random.Random(seed)
    endpoint = spfe.open("virtual:")
    stop = time.monotonic() + 0.15
    expected = (BufferError, spfe.Error)
    place = {}

    def open_queues():
        place["tx"] = endpoint.port(0).tx(buffers=4)
        place["rx"] = endpoint.port(1).rx(buffers=8)

    open_queues()

    def send():
        buffer = endpoint.alloc(256, rows=4)
        while time.monotonic() < stop:
            try:
                with memoryview(buffer) as view:
                    view.cast("B")[:] = bytes([7]) * 1024
                place["tx"].send_group(buffer, timeout=0.01)
                place["tx"].send(bytes([7]) * 99, timeout=0.01)
            except expected:
                pass

    def recv():
        held = []
        while time.monotonic() < stop:
            try:
                packet = place["rx"].recv(0.005)
                view = memoryview(packet)
                assert bytes(view) == bytes([7]) * len(view)
                held.append((packet, view))
                if len(held) > 5:
                    old, its_view = held.pop(0)
                    try:
                        old.release()
                    except BufferError:
                        its_view.release()
                        old.release()
            except expected:
                held.clear()
        for packet, view in held:
            assert bytes(view) == bytes([7]) * len(view)

    def disturb():
        while time.monotonic() < stop:
            time.sleep(random_number.random() * 0.01)
            name = random_number.choice(["tx", "rx"])
            try:
                place[name].close(*([0] if name == "tx" else []))
            except expected:
                pass
            try:
                port = endpoint.port(0 if name == "tx" else 1)
                place[name] = port.tx(buffers=4) if name == "tx" else port.rx(buffers=8)
            except expected:
                pass

    in_threads(send, recv, recv, disturb)


def test_a_signal_interrupts_a_wait():
    class Interrupted(Exception):
        pass

    def handler(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with spfe.open("virtual:") as endpoint, endpoint.port(1).rx() as rx:
            with pytest.raises(Interrupted):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                rx.recv(timeout=60)
            assert rx.poll() is None
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_signal_handler_that_uses_the_same_queue_gets_busy():
    with spfe.open("virtual:") as endpoint, endpoint.port(1).rx() as rx:
        def handler(*_):
            # Until the wait has begun, there is no packet in time.
            try:
                rx.recv(timeout=0)
            except spfe.TimedOut:
                pass

        before = signal.signal(signal.SIGALRM, handler)
        try:
            with pytest.raises(spfe.LocalError, match="this thread is inside it already") as error:
                signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
                rx.recv(timeout=60)
            assert error.value.status == spfe.Status.BUSY
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
