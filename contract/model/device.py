# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""A second implementation of fabric ports: registers, doorbells, packets and jobs of DMA.

It is written from REFERENCE.md and README.md of the contract and shares no code with the device of
this project. It is slow and has no time: whatever can happen has happened when a call returns.
"""

from collections import namedtuple

import jobs
from reference import load

REF = load()
STATUS = REF.enums["status"]
CHANNELS = 2
REGIONS = 16
EVENTS = 64
RAM_AT, RAM_BYTES = 0x100000, 256 << 10
WORD = 0xffffffff
Place = namedtuple("Place", "block instance element name words access")


class Refused(Exception):
    """A status that is not OK."""

    def __init__(self, status):
        super().__init__(status)
        self.status = STATUS[status]


def need(condition, status):
    if not condition:
        raise Refused(status)


class Ring:
    """A ring in a node's memory, at an offset of the memory."""

    def __init__(self, ram, at, log2):
        self.ram, self.at, self.log2, self.position = ram, at, log2, 0

    def place(self, position):
        return self.at + 16 * (position % (1 << self.log2))

    def phase(self, position):
        return ((position >> self.log2) + 1) & 0xffff

    def read(self, position):
        """The words at a position, or None if they are not valid yet."""
        at = self.place(position)
        words = [int.from_bytes(self.ram[at + 8 * i:at + 8 * i + 8], "little") for i in (0, 1)]
        return words if words[1] >> 48 == self.phase(position) else None

    def write(self, position, words):
        tagged = [words[0], words[1] & (1 << 48) - 1 | self.phase(position) << 48]
        at = self.place(position)
        self.ram[at:at + 16] = b"".join(word.to_bytes(8, "little") for word in tagged)


class Queue:
    """An enabled queue."""

    def __init__(self, kind, rings, stamps, setup):
        self.kind, (self.sq, self.cq), self.stamps, self.setup = kind, rings, stamps, setup
        self.done = {"packets": 0, "bytes": 0}
        self.failed = False
        self.keys = {}

    def complete(self, position, status="OK", bytes=0, packets=1, flags=0, vc=0):
        """Reports a submission with the earlier ones that were not reported."""
        total = {"packets": self.done["packets"] + packets, "bytes": self.done["bytes"] + bytes}
        words = REF.pack("completion", status=STATUS[status], vc=vc, position=position & 0xffff,
                         flags=flags, **total)
        self.done = {"packets": 0, "bytes": 0}
        self.cq.write(self.cq.position, words)
        self.cq.position += 1


class Layout:
    """Offsets of blocks: their order and gaps are the device's choice."""

    def __init__(self, nodes, queues):
        wanted = [("global", 0), ("port", 0), ("fabric", 0), ("queue", queues),
                  ("region", REGIONS), ("event", EVENTS), ("statistics", queues), ("peer", nodes)]
        self.blocks, at = [], 0
        for index, (name, count) in enumerate(wanted):
            block = REF.blocks[name]
            end = at + block.size + block.stride * count
            following = -(-end // 0x100) * 0x100 if index + 1 < len(wanted) else 0
            self.blocks.append((name, at, block, count, following))
            at = following or end
        self.doorbells = -(-at // 0x1000) * 0x1000

    def find(self, offset):
        for name, at, block, count, following in self.blocks:
            if at <= offset < at + 0x10:
                header = [block.type | block.version << 16, block.size, following, 0]
                return header[(offset - at) // 4]
            if at <= offset < at + block.size + block.stride * count:
                inside, element = offset - at, 0
                if block.stride:
                    element, inside = divmod(inside - block.size, block.stride)
                return self.register(name, block, element, inside)
        return None

    @staticmethod
    def register(name, block, element, inside):
        rows = {"DOORBELL": REF.constants["PEER_DOORBELLS"],
                "INWARD": REF.constants["PEER_SCRATCHPADS"],
                "OUTWARD": REF.constants["PEER_SCRATCHPADS"]}
        for register, (offset, access) in block.registers.items():
            count = rows.get(register, 1) if name == "peer" else 1
            if offset <= inside < offset + 4 * count:
                return Place(name, 0, element, register, (inside - offset) // 4, access)
        return None


class Node:
    """The registers of one node."""

    def __init__(self, fabric, number):
        self.fabric, self.number = fabric, number
        self.ram = bytearray(RAM_BYTES)
        self.nodes = fabric.count
        self.layout = Layout(self.nodes, 2 * CHANNELS * self.nodes)
        self.words, self.acknowledged, self.status, self.resets = {}, 0, 0, 0
        self.regions, self.generations, self.queues = {}, {}, {}
        self.errors = [0] * (2 * CHANNELS * self.nodes)
        self.events, self.changes = [0] * EVENTS, 0
        self.link_vector = self.bell_vector = 0
        self.started, self.epoch, self.rings = False, 0, 0
        self.refused, self.refused_status = 0, 0
        self.mail = {}

    # Registers

    def read32(self, offset):
        place = self.layout.find(offset)
        if not isinstance(place, Place):
            return place or 0
        if place.access == "rw":
            return self.words.get(offset, 0)
        return self.value(place) & WORD

    def write32(self, offset, value):
        place = self.layout.find(offset)
        if isinstance(place, Place) and place.access == "rw":
            self.words[offset] = value & WORD
        elif offset >= self.layout.doorbells:
            self.doorbell(offset - self.layout.doorbells, value & WORD)

    def write64(self, offset, value):
        if offset >= self.layout.doorbells:
            self.doorbell(offset - self.layout.doorbells, value)
        else:
            self.write32(offset, value & WORD)
            self.write32(offset + 4, value >> 32)

    def configured(self, block, element, name, words=0):
        """What the host has written to a register."""
        for known, at, shape, _, _ in self.layout.blocks:
            if known == block:
                inner = shape.size + shape.stride * element if shape.stride else 0
                offset = at + inner + shape.registers[name].offset + 4 * words
                return self.words.get(offset, 0)
        raise KeyError(block)

    def wide(self, block, element, name):
        return (self.configured(block, element, name + "_LO")
                | self.configured(block, element, name + "_HI") << 32)

    def value(self, place):
        return getattr(self, "of_" + place.block)(place)

    def of_global(self, place):
        return {"MAGIC": REF.constants["CONTRACT_MAGIC"], "CONTRACT_VERSION": 1 << 16 | 5,
                "CAPABILITY": REF.bits["capability"]["FABRIC"] | REF.bits["capability"]["RDMA"],
                "PORTS": 1, "QUEUES": len(self.errors), "REGIONS": REGIONS, "EVENTS": EVENTS,
                "DOORBELL_OFFSET": self.layout.doorbells, "DOORBELL_PAGES": 2, "DOMAINS": 1,
                "CFG_ACK": self.acknowledged, "CFG_STATUS": self.status,
                "RESETS": self.resets}.get(place.name, 0)

    def of_port(self, place):
        others = [node for node in self.fabric.nodes.values() if node is not self]
        connected = self.started and any(node.started for node in others)
        state = "UP" if connected else "STARTING" if self.started else "DOWN"
        return {"KIND": REF.enums["port_kind"]["FABRIC"], "STATE": REF.enums["port_state"][state],
                "VCS": CHANNELS * self.nodes, "QUEUE_COUNT": len(self.errors),
                "CHANGES": self.changes}.get(place.name, 0)

    def of_fabric(self, place):
        return {"NODE": self.number, "NODES": self.nodes, "CHANNELS": CHANNELS,
                "EPOCH": self.epoch, "RINGS": self.rings, "REFUSED": self.refused,
                "REFUSED_STATUS": self.refused_status}[place.name]

    def of_peer(self, place):
        peer = self.fabric.nodes[place.element + 1]
        mail = self.mail.get(peer.number, Mail())
        if place.name == "STATE":
            state = ("ABSENT" if not peer.started else "READY" if self.started else "LINK")
            return REF.enums["node_state"][state]
        return {"EPOCH": peer.epoch, "RINGS": mail.rings,
                "DOORBELL": mail.doorbells[place.words],
                "INWARD": mail.scratchpads[place.words]}[place.name]

    def of_queue(self, place):
        return {"STATE": int(place.element in self.queues),
                "VC": place.element // 2}.get(place.name, 0)

    def of_region(self, place):
        return self.regions[place.element].key if place.element in self.regions else 0

    def of_event(self, place):
        return self.events[place.element]

    def of_statistics(self, place):
        return self.errors[place.element] if place.name == "ERRORS_LO" else 0

    # Doorbells

    def doorbell(self, offset, value):
        page, inside = divmod(offset, 0x1000)
        kind = REF.field("doorbell", "KIND", value)
        kinds = REF.enums["doorbell_kind"]
        if inside:
            return
        if kind == kinds["LATCH"]:
            self.latch()
        elif kind == kinds["PEER"] and page == 0:
            try:
                self.ring_peer(value)
            except Refused as refused:
                self.refused += 1
                self.refused_status = refused.status
        self.fabric.run()

    def ring_peer(self, value):
        queue, number = (REF.field("doorbell", name, value) for name in ("QUEUE", "NUMBER"))
        need(queue < len(self.errors), "NOT_FOUND")
        peer = self.fabric.nodes[queue // 2 // CHANNELS + 1]
        need(peer is not self, "NOT_FOUND")
        need(number < REF.constants["PEER_DOORBELLS"], "BAD_FIELD")
        need(self.started and peer.started, "LINK_DOWN")
        mail = peer.mail.setdefault(self.number, Mail())
        mail.scratchpads = [self.configured("peer", peer.number - 1, "OUTWARD", word)
                            for word in range(REF.constants["PEER_SCRATCHPADS"])]
        mail.doorbells[number] += 1
        mail.rings += 1
        peer.rings += 1
        peer.signal(peer.bell_vector)

    def signal(self, vector_plus_1):
        if vector_plus_1:
            self.events[vector_plus_1 - 1] += 1

    # Commands

    def latch(self):
        sequence = self.configured("global", 0, "CFG_SEQ")
        if sequence in (0, self.acknowledged):
            return
        command = REF.name("command", self.configured("global", 0, "CFG_COMMAND"))
        try:
            need(hasattr(self, "do_" + command), "BAD_OPCODE")
            getattr(self, "do_" + command)(self.configured("global", 0, "CFG_INDEX"))
            self.status = STATUS["OK"]
        except Refused as refused:
            self.status = refused.status
        self.acknowledged = sequence

    def do_NOP(self, _):
        pass

    def do_PORT_CONFIGURE(self, port):
        need(port == 0, "NOT_FOUND")
        start, link = (self.configured("port", 0, name) for name in ("LINK_START", "LINK_VECTOR"))
        bell = self.configured("fabric", 0, "BELL_VECTOR")
        need(start <= 1 and max(link, bell) <= EVENTS, "BAD_FIELD")
        self.link_vector, self.bell_vector = link, bell
        self.set_started(start == 1)

    def set_started(self, on):
        if on == self.started:
            return
        self.started = on
        if on:
            self.epoch += 1
            for node in self.fabric.nodes.values():
                if self.number in node.mail:
                    node.mail[self.number] = Mail(node.mail[self.number].rings)
        for node in self.fabric.nodes.values():
            node.changes += 1
            node.signal(node.link_vector)

    def do_RESET(self, _):
        self.queues.clear()
        self.regions.clear()
        self.resets += 1
        if self.started:
            self.set_started(False)
            self.set_started(True)

    def bus_reset(self):
        self.do_RESET(0)
        self.words.clear()
        self.acknowledged = self.status = self.link_vector = self.bell_vector = 0
        self.set_started(False)

    def do_REGION_ENABLE(self, index):
        need(index < REGIONS, "NOT_FOUND")
        need(index not in self.regions, "BUSY")
        base, size = self.wide("region", index, "BASE"), self.wide("region", index, "SIZE")
        need(size and base % 4096 == 0, "BAD_FIELD")
        need(RAM_AT <= base and base + size <= RAM_AT + RAM_BYTES, "OUT_OF_BOUNDS")
        generation = self.generations.get(index, 0) % 15 + 1
        self.generations[index] = generation
        key = generation << REF.constants["REGION_INDEX_BITS"] | index
        access = self.configured("region", index, "ACCESS")
        self.regions[index] = Region(key, base - RAM_AT, size, access)

    def translate(self, address, length, access):
        """The offset in memory of an address {region, offset} for these accesses."""
        key, offset = address >> 48, address & (1 << REF.constants["OFFSET_BITS"]) - 1
        region = self.regions.get(key & (1 << REF.constants["REGION_INDEX_BITS"]) - 1)
        need(region is not None and region.key == key, "BAD_REGION")
        need(offset + length <= region.size, "OUT_OF_BOUNDS")
        wanted = sum(REF.bits["access"][name] for name in access)
        need(region.access & wanted == wanted, "ACCESS_DENIED")
        return region.at + offset

    def do_QUEUE_ENABLE(self, index):
        need(index < len(self.errors), "NOT_FOUND")
        need(index not in self.queues, "BUSY")
        kind = REF.name("queue_kind", self.configured("queue", index, "KIND"))
        need(kind in (("TX", "RDMA"), ("RX", "RDMA_RX"))[index % 2], "BAD_FIELD")
        need(index // 2 // CHANNELS + 1 != self.number, "BAD_FIELD")
        other = self.queues.get(index ^ 1)
        need(other is None or other.kind.startswith("RDMA") == kind.startswith("RDMA"), "BUSY")
        setup = {name: self.configured("queue", index, name) for name in ("OPTIONS", "DOMAIN")}
        for name in ("SQ", "CQ", "STAMP", "LINES", "PAIR"):
            setup[name] = self.wide("queue", index, name)
        log2 = [self.configured("queue", index, name) for name in ("SQ_LOG2", "CQ_LOG2")]
        need(2 <= log2[0] <= log2[1] <= 15, "BAD_RING")
        both = ("LOCAL_READ", "LOCAL_WRITE")
        rings = [Ring(self.ram, self.translate(setup[name], 16 << size, both), size)
                 for name, size in zip(("SQ", "CQ"), log2)]
        stamps = self.translate(setup["STAMP"], 8 << log2[1], both)
        self.queues[index] = Queue(kind, rings, stamps, setup)

    def do_QUEUE_DISABLE(self, index):
        need(index in self.queues, "NOT_FOUND")
        del self.queues[index]

    # Work

    def far(self, index):
        """The node, and its receive context, to which a transmit context leads."""
        vc = index // 2
        node = self.fabric.nodes[vc // CHANNELS + 1]
        return node, 2 * (CHANNELS * (self.number - 1) + vc % CHANNELS) + 1

    def run(self):
        """Carries out what is posted. Whether anything was."""
        moved = False
        for index, queue in list(self.queues.items()):
            if queue.kind == "TX":
                moved |= self.send(index, queue)
            elif queue.kind == "RDMA":
                moved |= jobs.run(self, index, queue)
        return moved

    def send(self, index, queue):
        words = queue.sq.read(queue.sq.position)
        node, context = self.far(index)
        far = node.queues.get(context)
        buffer = far.sq.read(far.sq.position) if far and far.kind == "RX" else None
        if words is None or buffer is None:
            return False
        packet, space = REF.unpack("submission", words), REF.unpack("submission", buffer)
        source = self.translate(words[0], packet["length"], ["LOCAL_READ"])
        sink = node.translate(buffer[0], packet["length"], ["LOCAL_WRITE"])
        need(packet["length"] <= space["length"], "TOO_LONG")
        node.ram[sink:sink + packet["length"]] = self.ram[source:source + packet["length"]]
        for end, place, vc in ((far, far.sq.position, context // 2),
                               (queue, queue.sq.position, index // 2)):
            end.sq.position += 1
            end.complete(place, bytes=packet["length"], vc=vc)
        return True


Region = namedtuple("Region", "key at size access")


class Mail:
    """What one node has sent another one in its present epoch."""

    def __init__(self, rings=0):
        self.rings = rings
        self.doorbells = [0] * REF.constants["PEER_DOORBELLS"]
        self.scratchpads = [0] * REF.constants["PEER_SCRATCHPADS"]


class Fabric:
    """Nodes by number."""

    def __init__(self, count):
        self.count = count
        self.nodes = {}
        for number in range(1, count + 1):
            self.nodes[number] = Node(self, number)

    def run(self):
        while any([node.run() for node in self.nodes.values()]):
            pass
