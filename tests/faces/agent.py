# SPDX-License-Identifier: MIT OR Apache-2.0
"""The Python package as an agent of the conformance suite: reads commands and answers each with a line.

crates/spfe-conformance/src/faces.rs has the rules. A method of Agent carries out the command of its name.
"""

import asyncio
import select
import sys
import threading
import zlib

import numpy
import spfe



def pattern(seed: int, length: int, start: int = 0) -> bytes:
    at = numpy.arange(start, start + length, dtype=numpy.int64)
    return ((seed * 31 + at * 7 + (at >> 8) * 13) & 0xFF).astype(numpy.uint8).tobytes()


class Lacks(Exception):
    """What the package does not have, and why."""


class Agent:
    def __init__(self) -> None:
        self.endpoint: spfe.Endpoint | None = None
        self.queues: dict[str, object] = {}
        # Records of the packed receive queue that nobody has asked for.
        self.records: list[spfe.Record] = []

    def open(self, name: str) -> None:
        self.endpoint = spfe.open(name)

    def peer(self, *_unused: str) -> None:
        pass

    def close_all(self) -> None:
        for queue in self.queues.values():
            queue.close()
        self.queues.clear()
        self.records.clear()
        if self.endpoint is not None:
            self.endpoint.close()
        self.endpoint = None

    def close(self, queue: str) -> None:
        self.queues.pop(queue).close()

    def reset(self) -> None:
        self.endpoint.reset()

    # Queues

    def tx(self, queue: str, vc: str, depth: str) -> None:
        self.queues[queue] = self.endpoint.port(0).tx(int(vc), bytes=262144, depth=int(depth))

    def rx(self, queue: str, vc: str, buffers: str, size: str, event: bool = False) -> None:
        self.queues[queue] = self.endpoint.port(0).rx(
            int(vc), buffers=int(buffers), bytes=int(size), event=event
        )

    def rx_event(self, *arguments: str) -> None:
        self.rx(*arguments, event=True)

    def send(self, queue: str, end: str, length: str, seed: str) -> None:
        self.queues[queue].send(pattern(int(seed), int(length)), end=end, timeout=10)

    def group(self, queue: str, count: str, length: str, seed: str) -> None:
        packets = [pattern(int(seed) + number, int(length)) for number in range(int(count))]
        self.queues[queue].send_group(packets, timeout=10)

    def burst(self, queue: str, length: str, stride: str, count: str, seed: str) -> None:
        size = int(stride) * (int(count) - 1) + int(length)
        self.queues[queue].send_burst(pattern(int(seed), size), int(length), stride=int(stride))

    def packed(self, queue: str, vc: str, area: str) -> None:
        self.queues[queue] = self.endpoint.port(0).rx_packed(int(vc), area=int(area))

    def drain(self, queue: str, ms: str) -> None:
        self.queues[queue].drain(timeout=int(ms) / 1000)

    def recv(self, queue: str, ms: str) -> str:
        parts, end = [], "more"
        while end == "more":
            data, end, status = self.part(self.queues[queue], int(ms) / 1000)
            parts.append(data)
        whole = b"".join(parts)
        return f"{len(whole)} {zlib.crc32(whole)} {end} {status.name}"

    def part(self, queue: object, timeout: float) -> tuple[bytes, str, spfe.Status]:
        if isinstance(queue, spfe.PackedRx):
            if not self.records:
                self.records = list(queue.recv(timeout=timeout))
            record = self.records.pop(0)
            cut = record.end == "eep"
            return bytes(record), record.end, spfe.Status.PACKET_CUT if cut else spfe.Status.OK
        with queue.recv(timeout=timeout) as packet:
            if packet.status not in (spfe.Status.OK, spfe.Status.PACKET_CUT):
                # A buffer that comes back unused says why no packet will come.
                raise spfe.LocalError("no packet", packet.status)
            return bytes(packet), packet.end, packet.status

    def wait(self, queue: str, count: str, ms: str) -> None:
        self.queues[queue].wait(int(count), timeout=int(ms) / 1000)

    def cancelled_wait(self, queue: str, ms: str) -> None:
        threading.Timer(0.02, self.queues[queue].cancel).start()
        self.queues[queue].wait(1, timeout=int(ms) / 1000)

    def await_(self, queue: str, ms: str) -> None:
        if self.queues[queue].request_event():
            return
        if not select.select([self.queues[queue].fileno()], [], [], int(ms) / 1000)[0]:
            raise spfe.TimedOut("the descriptor stayed silent")

    # Messages

    def messages(self, queue: str) -> None:
        self.queues[queue] = self.endpoint.port(0).broadcast()

    def message(self, queue: str, channel: str, kind: str, data: str) -> None:
        self.queues[queue].send(bytes.fromhex(data), channel=int(channel), kind=int(kind))

    def next_message(self, queue: str, ms: str) -> str:
        got = self.queues[queue].recv(timeout=int(ms) / 1000)
        return f"{got.channel} {got.kind} {got.data.hex()}"

    def time_codes(self, queue: str) -> None:
        self.queues[queue] = self.endpoint.port(1).time_codes()

    def time_code(self, queue: str, time: str, flags: str) -> None:
        self.queues[queue].send(int(time), int(flags))

    def next_time_code(self, queue: str, ms: str) -> str:
        got = self.queues[queue].recv(timeout=int(ms) / 1000)
        return f"{got.time} {got.flags}"

    def interrupts(self, queue: str) -> None:
        self.queues[queue] = self.endpoint.port(1).interrupts()

    def interrupt(self, queue: str, number: str, acknowledge: str) -> None:
        if acknowledge == "0":
            self.queues[queue].send(int(number))
        else:
            self.queues[queue].acknowledge(int(number))

    def next_interrupt(self, queue: str, ms: str) -> str:
        got = self.queues[queue].recv(timeout=int(ms) / 1000)
        return f"{got.number} {int(got.acknowledge)}"

    # Remote memory

    def rmap(self, queue: str, vc: str, key: str) -> None:
        self.queues[queue] = self.endpoint.port(0).rmap(int(vc), key=int(key))

    def target(self, vc: str, address: str, size: str, key: str) -> None:
        target = self.endpoint.port(0).rmap_target(int(vc))
        target.window(int(address), int(size), key=int(key))
        self.queues["target"] = target
        threading.Thread(target=serve, args=(target,), daemon=True).start()

    def rmap_write(self, queue: str, address: str, length: str, seed: str) -> None:
        self.queues[queue].write(int(address), pattern(int(seed), int(length)), timeout=10)

    def rmap_read(self, queue: str, address: str, length: str) -> str:
        data = self.queues[queue].read(int(address), int(length), timeout=10)
        return f"{len(data)} {zlib.crc32(data)}"

    def rmap_modify(self, queue: str, address: str, data: str, mask: str) -> str:
        rmap = self.queues[queue]
        return rmap.modify(int(address), bytes.fromhex(data), bytes.fromhex(mask), timeout=10).hex()

    def server(self, vc: str, target: str) -> None:
        server = self.endpoint.port(0).rdma_server(int(vc), target)
        self.queues["server"] = server
        threading.Thread(target=serve, args=(server,), daemon=True).start()

    def rdma(self, queue: str, vc: str) -> None:
        rdma = self.endpoint.port(0).rdma(int(vc))
        self.queues[queue] = rdma
        self.region = rdma.regions(timeout=10)[0]
        rdma.connect(timeout=10)

    def rdma_write(self, queue: str, address: str, length: str, seed: str) -> None:
        data, region = pattern(int(seed), int(length)), self.region
        self.queues[queue].write(region.address + int(address), data, region.key, timeout=10)

    def rdma_read(self, queue: str, address: str, length: str) -> str:
        # As a task of an event loop does.
        region = self.region
        reading = self.queues[queue].aread(region.address + int(address), int(length), region.key)
        data = asyncio.run(until(reading))
        return f"{len(data)} {zlib.crc32(data)}"

    def rdma_add(self, queue: str, address: str, value: str) -> str:
        rdma, region = self.queues[queue], self.region
        number = rdma.post_fetch_add(region.address + int(address), int(value), region.key)
        rdma.submit()
        rdma.wait(timeout=10)
        done = rdma.poll()
        assert done.id == number
        return str(done.result())

    # The rest

    def space_packet(self, apid: str, count: str, length: str, seed: str) -> str:
        data = pattern(int(seed), int(length))
        return bytes(spfe.SpacePacket(int(apid), data, sequence_count=int(count))).hex()

    def read_space_packet(self, written: str) -> str:
        packet = spfe.SpacePacket.decode(bytes.fromhex(written))
        data = packet.data
        return f"{packet.apid} {packet.sequence_count} {len(data)} {zlib.crc32(data)}"

    def status(self, value: str) -> str:
        status = spfe.Status(int(value))
        # An exception made from it has the same.
        error = spfe.Error("", status)
        assert (error.status, error.errno) == (status, status.errno)
        return f"{status.name} {status.kind} {status.errno}"

    def mib(self, name: str) -> str:
        try:
            return str(self.endpoint.port(0).mib[name])
        except KeyError:
            raise spfe.UsageError(name, spfe.Status.NOT_FOUND) from None

    def gather(self, *_unused: str) -> None:
        raise Lacks("Python has no gathered packets: join the parts")

    def path(self, *_unused: str) -> None:
        raise Lacks("Python has no paths apart from the packet: put the bytes in front")

    def pooled_tx(self, *_unused: str) -> None:
        raise Lacks("Python has no slots: Tx and Rx have buffers of their own")

    pooled_rx = pooled_tx


def serve(server: spfe.RdmaServer | spfe.RmapTarget) -> None:
    """Executes requests until the server is closed."""
    try:
        server.serve()
    except spfe.Error:
        pass


async def until(task: object) -> bytes:
    return await asyncio.wait_for(task, 10)


def name_of(error: spfe.Error) -> str:
    if isinstance(error, spfe.TimedOut):
        return "TIMED_OUT"
    if isinstance(error, spfe.RmapRefused):
        return f"RMAP_REFUSED:{error.rmap_status}"
    if isinstance(error, spfe.RdmaRefused):
        return "REFUSED"
    return error.status.name if error.status is not None else type(error).__name__


def main() -> None:
    agent = Agent()
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "quit":
            break
        method = {"await": "await_"}.get(command, command.replace("-", "_"))
        try:
            answer = f"ok {getattr(agent, method)(*arguments) or ''}".rstrip()
        except Lacks as why:
            answer = f"lacks {why}"
        except spfe.Error as error:
            answer = f"error {name_of(error)}"
        print(answer, flush=True)


main()
