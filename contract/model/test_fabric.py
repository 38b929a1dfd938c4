# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Holds the model of fabric ports against contract/vectors/fabric.txt, whose head explains them."""

import unittest
from pathlib import Path

import device
from device import REF

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "fabric.txt"
LOG2 = 4
KINDS = REF.enums["doorbell_kind"]


def cases():
    found = []
    for number, line in enumerate(VECTORS.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "case":
            found.append((int(words[1]), " ".join(words[2:]), []))
        else:
            found[-1][2].append((number, line.strip()))
    return found


def flags(kind, text):
    return sum(REF.bits[kind][name] for name in text.split("+") if name != "0")


def channel(text):
    node, number = text.split(".")
    return device.CHANNELS * (int(node) - 1) + int(number)


def context(end):
    direction, text = end.split(":")
    return 2 * channel(text) + (direction == "rx")


class Host:
    """A driver: it finds registers by the list of blocks and knows the contract only."""

    def __init__(self, registers):
        self.registers, self.keys, self.places, self.queues = registers, {}, {}, {}
        self.blocks, at = {}, 0
        names = {block.type: name for name, block in REF.blocks.items()}
        while True:
            kind, size, following = (registers.read32(at + 4 * word) for word in range(3))
            self.blocks[names[kind & 0xffff]] = (at, size)
            at = following
            if at == 0:
                break

    def place(self, block, register):
        name, _, element = block.partition(".")
        register, _, words = register.partition("+")
        at, size = self.blocks[name]
        shape = REF.blocks[name]
        inner = size + shape.stride * int(element or 0) if shape.stride else 0
        return at + inner + shape.registers[register].offset + 4 * int(words or 0)

    def put(self, block, register, value):
        self.registers.write32(self.place(block, register), value)

    def put64(self, block, register, value):
        self.put(block, register + "_LO", value & 0xffffffff)
        self.put(block, register + "_HI", value >> 32)

    def get(self, block, register):
        return self.registers.read32(self.place(block, register))

    def store_bell(self, page, value):
        at = self.get("global", "DOORBELL_OFFSET") + page * REF.constants["DOORBELL_STRIDE"]
        self.registers.write64(at, value)

    def bell(self, kind, rest=0):
        self.store_bell(0, REF.at("doorbell", "KIND", KINDS[kind]) | rest)

    def command(self, name, index):
        sequence = self.get("global", "CFG_ACK") + 1
        self.put("global", "CFG_COMMAND", REF.enums["command"][name])
        self.put("global", "CFG_INDEX", index)
        self.put("global", "CFG_SEQ", sequence)
        self.bell("LATCH")
        assert self.get("global", "CFG_ACK") == sequence
        return REF.name("status", self.get("global", "CFG_STATUS"))

    def key(self, text):
        return int(text[4:], 0) if text.startswith("key:") else self.keys[int(text)]

    def slot(self, text, chain):
        """The words of a slot. `chain`: another one of the request follows."""
        kind, *words = text.split()
        types, chained = REF.enums["entry_type"], REF.bits["submit_flags"]["CHAIN"] * chain
        if kind == "raw":
            return [int(word, 0) for word in words]
        if kind in ("data", "packet", "buffer"):
            more = flags("submit_flags", "SIGNAL+LAST") if kind == "packet" else chained
            entry = types["BUFFER" if kind == "buffer" else "DATA"]
            return REF.pack("submission", region=self.key(words[0]), offset=int(words[1], 0),
                            length=int(words[2], 0), flags=entry | more)
        if kind == "work":
            opcode = REF.at("work_flags", "OPCODE", REF.enums["work_opcode"][words[0]])
            value = types["RDMA"] | opcode | flags("work_flags", words[3]) | chained
            return REF.pack("work_entry", key=int(words[1], 0), address=int(words[2], 0),
                            flags=value)
        if kind == "inline":
            data = bytes.fromhex(words[0])
            return REF.pack("inline_submission", data_lo=int.from_bytes(data[:8], "little"),
                            data_hi=int.from_bytes(data[8:], "little"), count=len(data),
                            flags=types["INLINE"] | chained)
        assert kind == "operand", text
        return REF.pack("operand", value=int(words[0], 0), immediate=int(words[1], 0),
                        flags=types["OPERAND"] | chained)


class Script:
    """Carries out steps; one method for each kind."""

    def __init__(self, test, count):
        fabric = device.Fabric(count)
        self.test, self.hosts = test, [Host(fabric.nodes[n + 1]) for n in range(count)]

    def step(self, line):
        name, node, *words = line.split()
        self.line = line
        getattr(self, name.replace("-", "_"))(self.hosts[int(node) - 1], *words)

    def same(self, found, wanted):
        self.test.assertEqual(found, wanted, self.line)

    def write(self, host, block, register, value):
        host.put(block, register, int(value, 0))

    def read(self, host, block, register, value):
        self.same(host.get(block, register), int(value, 0))

    def command(self, host, name, index, status):
        self.same(host.command(name, int(index, 0)), status)

    def start(self, host):
        host.put("port", "LINK_START", 1)
        self.same(host.command("PORT_CONFIGURE", 0), "OK")

    def stop(self, host):
        host.put("port", "LINK_START", 0)
        self.same(host.command("PORT_CONFIGURE", 0), "OK")

    def bus_reset(self, host):
        host.registers.bus_reset()

    def bell(self, host, to, number):
        rest = 2 * channel(to) | REF.at("doorbell", "NUMBER", int(number))
        host.bell("PEER", rest)

    def ring(self, host, page, value):
        host.store_bell(int(page), int(value, 0))

    def region(self, host, index, offset, size, access, status):
        block = f"region.{index}"
        host.put64(block, "BASE", device.RAM_AT + int(offset, 0))
        host.put64(block, "SIZE", int(size, 0))
        host.put(block, "ACCESS", flags("access", access))
        self.same(host.command("REGION_ENABLE", int(index)), status)
        host.keys[int(index)] = host.get(block, "KEY")
        host.places[int(index)] = int(offset, 0)

    def queue(self, host, end, kind, region, offset, options, status):
        index, offset = context(end), int(offset, 0)
        block, base = f"queue.{index}", host.keys[int(region)] << 48 | offset
        for register, more in (("SQ", 0), ("CQ", 0x400), ("STAMP", 0x800), ("LINES", 0xc00)):
            host.put64(block, register, base + more)
        pair = limits = 0
        if kind in ("RDMA", "RDMA_RX"):
            pair = sum(REF.at("queue_pair", name, value) for name, value in (
                ("OWN", 1), ("PARTNER", 1), ("ADDRESS", 0x50), ("TARGET", 0x50)))
            limits = (REF.at("pair_limits", "RETRIES", 1)
                      | REF.at("pair_limits", "TIMEOUT_US", 2000))
        host.put64(block, "PAIR", pair)
        host.put64(block, "LIMITS", limits)
        for register, value in (("KIND", REF.enums["queue_kind"][kind]), ("SQ_LOG2", LOG2),
                                ("CQ_LOG2", LOG2), ("OPTIONS", flags("queue_options", options))):
            host.put(block, register, value)
        place = host.places[int(region)] + offset
        if index not in host.queues:
            host.registers.ram[place:place + 0x1000] = bytes(0x1000)
        self.same(host.command("QUEUE_ENABLE", index), status)
        if status == "OK":
            ram = host.registers.ram
            host.queues[index] = [device.Ring(ram, place, LOG2),
                                  device.Ring(ram, place + 0x400, LOG2)]

    def close(self, host, end):
        self.same(host.command("QUEUE_DISABLE", context(end)), "OK")
        del host.queues[context(end)]

    def post(self, host, end, *_):
        slots = self.line.split(None, 3)[3].split(";")
        ring = host.queues[context(end)][0]
        words = [host.slot(slot, at + 1 < len(slots)) for at, slot in enumerate(slots)]
        for ahead, pair in reversed(list(enumerate(words))):
            ring.write(ring.position + ahead, pair)
        ring.position += len(words)
        host.bell("SUBMIT", context(end))

    def done(self, host, end, status, *fields):
        ring = host.queues[context(end)][1]
        words = ring.read(ring.position)
        self.test.assertIsNotNone(words, self.line)
        ring.position += 1
        found = REF.unpack("completion", words)
        self.same(REF.name("status", found["status"]), status)
        for field in fields:
            name, value = field.split("=")
            self.same((name, found[name]), (name, int(value, 0)))

    def nothing(self, host, end):
        ring = host.queues[context(end)][1]
        self.test.assertIsNone(ring.read(ring.position), self.line)

    def store(self, host, offset, data):
        at, data = int(offset, 0), bytes.fromhex(data)
        host.registers.ram[at:at + len(data)] = data

    def load(self, host, offset, data):
        at, data = int(offset, 0), bytes.fromhex(data)
        self.same(host.registers.ram[at:at + len(data)].hex(), data.hex())


class Vectors(unittest.TestCase):
    def test_vectors(self):
        self.assertGreaterEqual(len(cases()), 15)
        for count, name, steps in cases():
            with self.subTest(name):
                script = Script(self, count)
                for number, line in steps:
                    try:
                        script.step(line)
                    except device.Refused as error:
                        self.fail(f"line {number}: {line}: {error}")


if __name__ == "__main__":
    unittest.main()
