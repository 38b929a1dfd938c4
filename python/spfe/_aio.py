# SPDX-License-Identifier: MIT OR Apache-2.0
"""Waits in asyncio tasks, through the descriptors of queues.

A queue announces what a task waits for by its descriptor, which the event loop watches. No thread is
needed, and no other task is held up.
"""

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

from spfe.errors import TimedOut

# A descriptor has one reader: a second task waits for its turn.
_turns: "weakref.WeakKeyDictionary[Any, asyncio.Lock]" = weakref.WeakKeyDictionary()


async def _until(queue: Any, take: Callable[[], Any]) -> Any:
    """Calls `take` after each event of the queue, until it returns something else than None."""
    loop = asyncio.get_running_loop()
    descriptor = queue.fileno()
    async with _turns.setdefault(queue, asyncio.Lock()):
        while True:
            if (result := take()) is not None:
                return result
            if queue.request_event():
                # It is here, or due in a moment: let other tasks run meanwhile.
                await asyncio.sleep(0)
                continue
            woken = loop.create_future()
            loop.add_reader(descriptor, _wake, woken)
            try:
                await woken
            finally:
                loop.remove_reader(descriptor)


def _wake(woken: "asyncio.Future[None]") -> None:
    if not woken.done():
        woken.set_result(None)


async def recv(queue: Any) -> Any:
    """The next packet or message."""
    return await _until(queue, queue.poll)


async def send(queue: Any, data: Any, end: str) -> None:
    """Sends a packet, when the queue has room."""

    def take() -> bool | None:
        try:
            queue.send(data, end=end, timeout=0)
        except TimedOut:
            return None
        return True

    await _until(queue, take)


async def drain(queue: Any) -> None:
    """Returns when everything has been sent."""

    def take() -> bool | None:
        try:
            queue.drain(timeout=0)
        except TimedOut:
            return None
        return True

    await _until(queue, take)


# Completions that tasks have not asked for yet, by request.
_completions: "weakref.WeakKeyDictionary[Any, dict[int, Any]]" = weakref.WeakKeyDictionary()


async def completion(rdma: Any, number: int) -> Any:
    """The completion of a request. Whichever task has its turn takes those of all others too.

    A queue of requests has no descriptor, because packets may have to move meanwhile: a thread waits.
    """
    mine = _completions.setdefault(rdma, {})
    turn = _turns.setdefault(rdma, asyncio.Lock())
    while number not in mine:
        async with turn:
            if number in mine:
                break
            if (done := rdma.poll()) is not None:
                mine[done.id] = done
                continue
            try:
                await asyncio.to_thread(rdma.wait, 0.05)
            except TimedOut:
                pass
    return mine.pop(number)


async def result(rdma: Any, number: int) -> Any:
    """The result of a request that was posted a moment ago."""
    rdma.submit()
    return (await completion(rdma, number)).result()
