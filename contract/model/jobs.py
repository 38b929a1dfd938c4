# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Jobs of DMA: work requests of a queue of kind RDMA, executed on the windows of the other node."""

import device


def bits(name):
    return device.REF.bits[name]


SENDS = {"WRITE", "WRITE_IMM"}
ATOMIC = {"FETCH_ADD": 1, "CMP_SWAP": 2}
OPERANDS = {"WRITE_IMM": 1, "BIND": 1, **ATOMIC}


class Slots:
    """The slots of a work request, read one by one."""

    def __init__(self, queue):
        self.queue, self.count, self.chained = queue, 0, True

    def next(self):
        ring = self.queue.sq
        device.need(self.chained, "BAD_FIELD")
        words = ring.read(ring.position + self.count)
        device.need(words is not None, "BAD_FIELD")
        self.count += 1
        flags = words[1] >> 32 & 0xffff
        self.chained = bool(flags & bits("submit_flags")["CHAIN"])
        return words, flags

    def more(self):
        """A slot that is not the first one."""
        words, flags = self.next()
        known = bits("submit_flags")["TYPE"] | bits("submit_flags")["CHAIN"]
        device.need(flags & ~known == 0, "BAD_FIELD")
        return words, device.REF.name("entry_type", flags & bits("submit_flags")["TYPE"])

    def skip(self):
        """Goes to the end of a request that is refused, as far as it is there."""
        ring = self.queue.sq
        while self.chained and self.count < 1 << ring.log2:
            words = ring.read(ring.position + self.count)
            if words is None:
                break
            self.count += 1
            self.chained = bool(words[1] >> 32 & bits("submit_flags")["CHAIN"])


class Job:
    """A work request."""

    def __init__(self, node, slots):
        self.node, self.elements, self.inline, self.operands = node, [], b"", []
        words, flags = slots.next()
        work = device.REF.unpack("work_entry", words)
        self.address, self.key = work["address"], work["key"]
        self.signal = bool(flags & bits("work_flags")["SIGNAL"])
        entry = device.REF.field("work_flags", "TYPE", flags)
        device.need(entry == device.REF.enums["entry_type"]["RDMA"], "BAD_OPCODE")
        reserved = bits("work_flags")["MBZ0"] | bits("work_flags")["MBZ1"]
        device.need(flags & reserved == 0 and slots.chained, "BAD_FIELD")
        opcode = device.REF.field("work_flags", "OPCODE", flags)
        self.opcode = device.REF.name("work_opcode", opcode)
        device.need(not self.opcode.startswith("0x"), "BAD_OPCODE")
        self.add(slots)
        for _ in range(OPERANDS.get(self.opcode, 0)):
            words, kind = slots.more()
            device.need(kind == "OPERAND", "BAD_OPCODE")
            self.operands.append(device.REF.unpack("operand", words))
        most = device.REF.constants["WORK_ELEMENTS_MAX"]
        while slots.chained:
            device.need(slots.count - 1 - len(self.operands) < most, "CHAIN_TOO_LONG")
            self.add(slots)

    def add(self, slots):
        """The next slot is a local element."""
        words, kind = slots.more()
        if kind == "INLINE":
            entry = device.REF.unpack("inline_submission", words)
            data = entry["data_lo"].to_bytes(8, "little") + entry["data_hi"].to_bytes(3, "little")
            device.need(self.opcode in SENDS and 0 < entry["count"] <= len(data), "BAD_FIELD")
            self.inline += data[:entry["count"]]
            return
        device.need(kind == "DATA", "BAD_OPCODE")
        length = device.REF.unpack("submission", words)["length"]
        if length:
            access = () if self.opcode == "BIND" else (
                ["LOCAL_READ"] if self.opcode in SENDS else ["LOCAL_WRITE"])
            self.node.translate(words[0], length, access)
            self.elements.append((words[0], length))

    @property
    def length(self):
        return len(self.inline) + sum(length for _, length in self.elements)

    def gather(self):
        data = b""
        for address, length in self.elements:
            at = self.node.translate(address, length, ["LOCAL_READ"])
            data += self.node.ram[at:at + length]
        return data + self.inline

    def scatter(self, data):
        for address, length in self.elements:
            at = self.node.translate(address, length, ["LOCAL_WRITE"])
            self.node.ram[at:at + length], data = data[:length], data[length:]


class Window:
    """Memory that the other end of a channel may use under a key."""

    def __init__(self, job):
        self.key, self.first = job.key, job.address
        [(self.memory, self.length)] = job.elements
        self.options = job.operands[0]["immediate"]

    def access(self):
        names = {"READ": ["REMOTE_READ"], "WRITE": ["REMOTE_WRITE"],
                 "ATOMIC": ["REMOTE_READ", "REMOTE_WRITE"]}
        wanted = [names[name] for name in names if self.options & bits("key_options")[name]]
        return sorted({access for group in wanted for access in group})


def bind(queue, job):
    allowed = device.REF.bits["queue_options"]["REMOTE_KEYS"]
    device.need(queue.setup["OPTIONS"] & allowed, "BAD_OPCODE")
    index = job.key >> 12
    if job.opcode == "UNBIND":
        device.need(index in queue.keys and queue.keys[index].key == job.key, "NOT_FOUND")
        del queue.keys[index]
        return
    device.need(len(job.elements) == 1, "BAD_FIELD")
    window = Window(job)
    job.node.translate(window.memory, window.length, window.access())
    device.need(window.options & bits("key_options")["MBZ"] == 0, "BAD_FIELD")
    device.need(index < device.REF.constants["REMOTE_KEYS_MAX"], "BAD_FIELD")
    device.need(index not in queue.keys, "BUSY")
    queue.keys[index] = window


def reach(node, index, queue, job, right):
    """The far node and the offset in its memory that the job names."""
    far, context = node.far(index)
    receive, keys = far.queues.get(context), far.queues.get(context - 1)
    partner = device.REF.field("queue_pair", "PARTNER", queue.setup["PAIR"])
    device.need(receive is not None and receive.kind == "RDMA_RX", "NO_ANSWER")
    own = device.REF.field("queue_pair", "OWN", receive.setup["PAIR"])
    device.need(own == partner, "NO_ANSWER")
    window = keys.keys.get(job.key >> 12) if keys else None
    device.need(window is not None and window.key == job.key, "REMOTE_ACCESS")
    offset, length = job.address - window.first, job.length or 8
    device.need(0 <= offset and offset + length <= window.length, "REMOTE_ACCESS")
    device.need(window.options & bits("key_options")[right], "REMOTE_ACCESS")
    return far, context, far.translate(window.memory + offset, length, window.access())


def execute(node, index, queue, job):
    """Executes a job. Returns what its completion says."""
    if job.opcode in ("BIND", "UNBIND"):
        bind(queue, job)
        return 0
    right = {"READ": "READ"}.get(job.opcode, "ATOMIC" if job.opcode in ATOMIC else "WRITE")
    far, context, at = reach(node, index, queue, job, right)
    if job.opcode == "READ":
        job.scatter(bytes(far.ram[at:at + job.length]))
    elif job.opcode in ATOMIC:
        old = int.from_bytes(far.ram[at:at + 8], "little")
        first, *swap = (operand["value"] for operand in job.operands)
        new = (old + first) % (1 << 64) if not swap else swap[0] if old == first else old
        far.ram[at:at + 8] = new.to_bytes(8, "little")
        job.scatter(old.to_bytes(8, "little"))
    else:
        device.need(job.opcode in SENDS, "BAD_OPCODE")
        if job.opcode == "WRITE_IMM":
            notify(far, context, job.operands[0]["immediate"])
        far.ram[at:at + job.length] = job.gather()
    return job.length


def notify(node, context, immediate):
    """Completes a receive buffer of the far node with immediate data."""
    queue = node.queues[context]
    device.need(queue.sq.read(queue.sq.position) is not None, "NOT_READY")
    at = queue.stamps + 8 * ((1 << queue.cq.log2) + queue.cq.position % (1 << queue.cq.log2))
    node.ram[at:at + 8] = immediate.to_bytes(8, "little")
    flags = bits("completion_flags")["IMMEDIATE"] | bits("completion_flags")["WRITE"]
    queue.complete(queue.sq.position, flags=flags, vc=context // 2)
    queue.sq.position += 1


def run(node, index, queue):
    """Carries out the next work request of a queue. Whether there was one."""
    if queue.sq.read(queue.sq.position) is None:
        return False
    slots, status, length, signal = Slots(queue), "OK", 0, True
    try:
        job = Job(node, slots)
        device.need(not queue.failed, "FLUSHED")
        length, signal = execute(node, index, queue, job), job.signal
    except device.Refused as refused:
        slots.skip()
        status = device.REF.name("status", refused.status)
        if queue.failed:
            status = "FLUSHED"
        queue.failed = True
        node.errors[index] += 1
    queue.sq.position += slots.count
    if not signal:
        queue.done = {"packets": queue.done["packets"] + 1, "bytes": queue.done["bytes"] + length}
        return True
    queue.complete(queue.sq.position - 1, status, length, vc=index // 2)
    return True
