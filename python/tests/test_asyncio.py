# SPDX-License-Identifier: MIT OR Apache-2.0
"""Waits in asyncio tasks."""

import asyncio

import pytest

import spfe


def run(main):
    asyncio.run(asyncio.wait_for(main, 60))


def test_an_echo_over_two_channels():
    async def echo(rx, tx):
        async for packet in rx:
            await tx.asend(packet)
            if bytes(packet) == b"end":
                return

    async def main():
        with spfe.open("virtual:") as endpoint:
            here, there = endpoint.port(0), endpoint.port(1)
            with (
                here.tx(0, event=True) as ask, there.rx(0, event=True, buffers=8) as asked,
                there.tx(1, event=True) as answer, here.rx(1, event=True) as answered,
            ):
                task = asyncio.create_task(echo(asked, answer))
                for number in range(200):
                    await ask.asend(b"%d" % number)
                    packet = await answered.arecv()
                    assert bytes(packet) == b"%d" % number
                    packet.release()
                await ask.asend(b"end")
                assert bytes(await answered.arecv()) == b"end"
                await task
                await ask.adrain()

    run(main())


def test_a_full_queue_holds_up_its_task_only():
    async def main():
        with spfe.open("virtual:") as endpoint:
            with endpoint.port(0).tx(event=True, buffers=2) as tx:
                done = []

                async def send():
                    for number in range(10):
                        await tx.asend(b"%d" % number)
                    done.append(True)

                task = asyncio.create_task(send())
                await asyncio.sleep(0.02)
                assert not done and tx.outstanding == 2
                with endpoint.port(1).rx(event=True) as rx:
                    got = [bytes(await rx.arecv()) for _ in range(10)]
                    await task
                assert got == [b"%d" % number for number in range(10)] and done

    run(main())


def test_two_tasks_take_turns_and_a_cancelled_one_loses_nothing():
    async def main():
        with spfe.open("virtual:") as endpoint:
            with endpoint.port(1).rx(event=True) as rx, endpoint.port(0).tx() as tx:
                first = asyncio.create_task(rx.arecv())
                others = [asyncio.create_task(rx.arecv()) for _ in range(4)]
                await asyncio.sleep(0)
                first.cancel()
                tx.send_group([b"a", b"b", b"c", b"d"])
                assert sorted([bytes(await task) for task in others]) == [b"a", b"b", b"c", b"d"]

    run(main())


def test_messages_and_errors():
    async def main():
        with spfe.open("virtual:") as endpoint:
            with endpoint.port(1).broadcast(event=True) as listener:
                task = asyncio.create_task(listener.arecv())
                await asyncio.sleep(0)
                endpoint.port(0).broadcast().send(b"8 bytes!")
                assert (await task).data == b"8 bytes!"
            with endpoint.port(3).time_codes(event=True) as codes:
                endpoint.port(2).time_codes().send(5)
                async for code in codes:
                    assert code.time == 5
                    break
            with endpoint.port(1).rx() as rx:
                with pytest.raises(spfe.UsageError, match="event=True|descriptor"):
                    await rx.arecv()

    run(main())
