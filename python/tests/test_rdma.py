# SPDX-License-Identifier: MIT OR Apache-2.0
"""Remote memory with queues of requests, alone, in threads and in asyncio tasks."""

import asyncio
import threading

import pytest
import spfe


@pytest.fixture
def rdma():
    with spfe.open("virtual:?peer=target:1M") as endpoint:
        with endpoint.port(0).rdma() as queue:
            region = queue.regions(timeout=20)[0]
            queue.connect(timeout=20)
            yield queue, region


def test_bytes_come_back(rdma):
    queue, region = rdma
    assert region.size == 1 << 20
    for length in (1, 100, 70_000):
        data = bytes(i * 7 & 0xFF for i in range(length))
        queue.write(region.address + 3, data, region.key, timeout=20)
        assert queue.read(region.address + 3, length, region.key, timeout=20) == data


def test_requests_complete_with_their_numbers(rdma):
    queue, region = rdma
    numbers = [queue.post_write(region.address + 64 * i, bytes([i]) * 64, region.key) for i in range(8)]
    numbers.append(queue.post_read(region.address + 64, 64, region.key))
    assert queue.poll() is None
    queue.submit()
    done = {}
    while len(done) < len(numbers):
        queue.wait(timeout=20)
        while (completion := queue.poll()) is not None:
            done[completion.id] = completion.result()
    assert sorted(done) == numbers
    assert done[numbers[-1]] == b"\x01" * 64
    assert all(done[number] is None for number in numbers[:-1])


def test_atomic_operations_return_the_old_value(rdma):
    queue, region = rdma
    for post, old in (
        (lambda: queue.post_fetch_add(region.address, 5, region.key), 0),
        (lambda: queue.post_compare_swap(region.address, 5, 9, region.key), 5),
        (lambda: queue.post_compare_swap(region.address, 5, 1, region.key), 9),
    ):
        number = post()
        queue.submit()
        queue.wait(timeout=20)
        completion = queue.poll()
        assert (completion.id, completion.result()) == (number, old)


def test_a_refusal_is_an_exception(rdma):
    queue, region = rdma
    with pytest.raises(spfe.RdmaRefused) as refused:
        queue.write(region.address + region.size - 1, b"too long", region.key, timeout=20)
    assert refused.value.rdma_status != 0
    with pytest.raises(spfe.Error):
        queue.read(region.address, 8, region.key, timeout=20)
    queue.connect(timeout=20)
    assert queue.read(region.address, 8, region.key, timeout=20) == bytes(8)


def test_what_waits_for_posted_requests_is_refused(rdma):
    queue, region = rdma
    queue.post_read(region.address, 8, region.key)
    with pytest.raises(spfe.LocalError, match="outstanding"):
        queue.read(region.address, 8, region.key, timeout=20)
    with pytest.raises(spfe.TimedOut):
        queue.wait(timeout=0.01)
    with pytest.raises(spfe.UsageError):
        queue.post_read(region.address, 8, region.key + 1), queue.wait(timeout=-1)


def test_tasks_await_their_completions(rdma):
    queue, region = rdma

    async def one(index: int) -> None:
        address = region.address + 1000 * index
        for turn in range(5):
            await queue.awrite(address, bytes([index, turn]) * 500, region.key)
            assert await queue.aread(address, 1000, region.key) == bytes([index, turn]) * 500

    async def everything() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        clock = asyncio.create_task(tick())
        await asyncio.wait_for(asyncio.gather(*(one(index) for index in range(6))), 60)
        clock.cancel()
        return ticks

    # The loop went on meanwhile.
    assert asyncio.run(everything()) > 0


def test_a_failed_request_raises_in_its_task(rdma):
    queue, region = rdma

    async def fails() -> None:
        with pytest.raises(spfe.RdmaRefused):
            await queue.aread(region.address + region.size, 8, region.key)

    asyncio.run(asyncio.wait_for(fails(), 60))


def test_a_server_in_a_thread_and_closing():
    with spfe.open("virtual:") as endpoint:
        server = endpoint.port(1).rdma_server(target="64K")
        ended = []

        def serve() -> None:
            try:
                server.serve()
            except spfe.Error as error:
                ended.append(error.status)

        thread = threading.Thread(target=serve)
        thread.start()
        with endpoint.port(0).rdma() as queue:
            region = queue.regions(timeout=20)[0]
            queue.connect(timeout=20)
            queue.write(region.address, b"in place", region.key, timeout=20)
            assert queue.read(region.address, 8, region.key, timeout=20) == b"in place"
        server.close()
        thread.join(20)
        assert ended == [spfe.Status.CANCELLED] or ended == [spfe.Status.BAD_FIELD]
        with pytest.raises(spfe.UsageError, match="closed"):
            queue.poll()
        with pytest.raises(spfe.UsageError, match="closed"):
            server.serve(timeout=0)


@pytest.fixture
def small():
    with spfe.open("virtual:?peer=target:1M") as endpoint:
        with endpoint.port(0).rdma(depth=8) as queue:
            yield queue, queue.regions(timeout=20)[0]


def group(pooled, count):
    """Posts a group and takes its end."""
    assert pooled.stage(count) == count
    pooled.submit()
    pooled.wait(timeout=20)
    return pooled.poll()


def test_requests_that_repeat_write_and_read_every_place(small):
    queue, region = small
    expected = [bytes(40)] * 16
    with pooled_write(queue, region) as pooled:
        assert (pooled.requests, pooled.free, pooled.next) == (16, 16, 0)
        for turn in range(1, 33):
            first, count = pooled.next, turn % 16 + 1
            for ahead in range(count):
                number = (first + ahead) % 16
                expected[number] = bytes([turn, ahead]) * 20
                pooled.fill(number, expected[number])
            done = group(pooled, count)
            assert (done.first, done.requests, done.result()) == (first, count, None)
        assert pooled.poll() is None
    queue.connect(timeout=20)
    assert queue.read(region.address, 640, region.key, timeout=20) == b"".join(expected)
    with queue.pooled("read", region.address, 40, region.key) as pooled:
        group(pooled, 16).result()
        assert [pooled.data(number) for number in range(16)] == expected


def pooled_write(queue, region):
    return queue.pooled("write", region.address, 40, region.key, stride=64)


def test_outstanding_requests_keep_their_bytes(small):
    queue, region = small
    pooled = pooled_write(queue, region)
    assert pooled.stage(99) == 16 and pooled.free == 0
    with pytest.raises(spfe.LocalError, match="outstanding"):
        pooled.fill(3, b"x")
    with pytest.raises(spfe.LocalError, match="pooled"):
        queue.post_write(region.address, b"x", region.key)
    with pytest.raises(spfe.TimedOut):
        pooled.wait(timeout=0.01)
    pooled.submit()
    pooled.wait(timeout=20)
    assert pooled.poll().requests == 16
    with pytest.raises(spfe.UsageError, match="16"):
        pooled.data(16)
    with pytest.raises(spfe.UsageError, match="41"):
        pooled.fill(0, bytes(41))
    pooled.close()
    pooled.close()
    with pytest.raises(spfe.UsageError, match="closed"):
        pooled.stage()


def test_a_group_that_fails_raises_and_the_queue_goes_on(small):
    queue, region = small
    with queue.pooled("write", region.address, 8, region.key, remote_stride=0x20000) as pooled:
        group(pooled, 8).result()
        # The ninth lies behind the region.
        ended = group(pooled, 2)
        assert ended.first == 8
        with pytest.raises(spfe.RdmaRefused):
            ended.result()
    queue.connect(timeout=20)
    assert queue.read(region.address, 8, region.key, timeout=20) == bytes(8)


def test_what_cannot_be_pooled_is_refused_and_the_queue_stays(small):
    queue, region = small
    for kind, length, options in (("add", 8, {}), ("write", 0, {}), ("write", 8, {"stride": 7})):
        with pytest.raises(spfe.UsageError):
            queue.pooled(kind, region.address, length, region.key, **options)
    queue.connect(timeout=20)
    queue.post_read(region.address, 8, region.key)
    with pytest.raises(spfe.LocalError, match="without requests"):
        pooled_write(queue, region)
