//! Carries out the steps of a vector.

use super::host::{Face, RAM, RAM_AT};
use super::names::{self, bits, bytes, number};
use spfe_contract::{
    BlockType, Command, Completion, DoorbellKind, EntryType, InlineSubmission, Operand, QueueKind,
    Status, Submission, WorkEntry, doorbell, global_block as global, pair_limits,
    port_block as port, queue_block as queue, queue_pair, region_block as region,
    submit_flags as sf, work_flags as wf,
};
use spfe_host::SharedMemory;
use spfe_ring::{Consumer, Producer, Ring};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Virtual channels to each node.
const CHANNELS: u32 = 2;
const LOG2: u32 = 4;
/// How long a completion may take, and how long none is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const QUIET: Duration = Duration::from_millis(3);

struct Queue {
    submissions: Producer,
    completions: Consumer,
}

struct Node {
    face: Box<dyn Face>,
    ram: SharedMemory,
    blocks: Vec<(BlockType, u32, u32)>,
    keys: HashMap<u32, u16>,
    offsets: HashMap<u32, u64>,
    queues: HashMap<u32, Queue>,
}

pub struct Fabric {
    nodes: Vec<Node>,
}

/// A queue context of the only port: channel and direction.
fn context(end: &str) -> u32 {
    let (direction, channel) = end.split_once(':').expect("tx:CHANNEL or rx:CHANNEL");
    2 * vc(channel) + u32::from(direction == "rx")
}

fn vc(channel: &str) -> u32 {
    let (node, number) = channel.split_once('.').expect("NODE.NUMBER");
    CHANNELS * (node.parse::<u32>().unwrap() - 1) + number.parse::<u32>().unwrap()
}

impl Node {
    fn new(ram: SharedMemory, mut face: Box<dyn Face>) -> Self {
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            let kind = BlockType::from_raw(face.read32(at) as u16).expect("block type");
            blocks.push((kind, at, face.read32(at + 4)));
            at = face.read32(at + 8);
            if at == 0 {
                break;
            }
        }
        let (keys, offsets, queues) = Default::default();
        Self { face, ram, blocks, keys, offsets, queues }
    }

    fn at(&self, kind: BlockType, stride: u32, element: u32) -> u32 {
        let block = self.blocks.iter().find(|block| block.0 == kind).expect("block");
        block.1 + if stride == 0 { 0 } else { block.2 + stride * element }
    }

    /// Offset of a register that a step names.
    fn place(&self, block: &str, name: &str) -> u32 {
        let (block, element) = block.split_once('.').unwrap_or((block, "0"));
        let (name, words) = name.split_once('+').unwrap_or((name, "0"));
        let (kind, stride) = names::block(block);
        self.at(kind, stride, element.parse().unwrap())
            + names::register(kind, name)
            + 4 * words.parse::<u32>().unwrap()
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        let sequence = self.face.read32(global::CFG_ACK).wrapping_add(1).max(1);
        self.face.write32(global::CFG_COMMAND, command.raw().into());
        self.face.write32(global::CFG_INDEX, index);
        self.face.write32(global::CFG_SEQ, sequence);
        self.bell(DoorbellKind::Latch, 0);
        assert_eq!(self.face.read32(global::CFG_ACK), sequence);
        Status::from_raw(self.face.read32(global::CFG_STATUS) as u8).unwrap()
    }

    fn bell(&mut self, kind: DoorbellKind, rest: u64) {
        let at = self.face.read32(global::DOORBELL_OFFSET);
        self.face.write64(at, u64::from(kind.raw()) << doorbell::KIND_SHIFT | rest);
    }

    fn link(&mut self, on: u32) {
        let at = self.at(BlockType::Port, 0, 0) + port::LINK_START;
        self.face.write32(at, on);
        assert_eq!(self.command(Command::PortConfigure, 0), Status::Ok);
    }

    fn write64(&mut self, at: u32, value: u64) {
        self.face.write32(at, value as u32);
        self.face.write32(at + 4, (value >> 32) as u32);
    }

    fn region(&mut self, words: &[&str]) -> Status {
        let [index, offset, size, access, _] = words else { panic!("region") };
        let (index, offset) = (index.parse().unwrap(), number(offset));
        let at = self.at(BlockType::Region, region::STRIDE, index);
        self.write64(at + region::BASE_LO, RAM_AT + offset);
        self.write64(at + region::SIZE_LO, number(size));
        self.face.write32(at + region::ACCESS, bits(access));
        let status = self.command(Command::RegionEnable, index);
        self.keys.insert(index, self.face.read32(at + region::KEY) as u16);
        self.offsets.insert(index, offset);
        status
    }

    fn queue(&mut self, words: &[&str]) -> Status {
        let [end, kind, index, offset, options, _] = words else { panic!("queue") };
        let (number_of, index) = (context(end), index.parse::<u32>().unwrap());
        let (kind, offset) = (names::queue_kind(kind), number(offset));
        let at = self.at(BlockType::Queue, queue::STRIDE, number_of);
        let base = u64::from(self.keys[&index]) << 48 | offset;
        let paired = matches!(kind, QueueKind::Rdma | QueueKind::RdmaRx);
        let pair = 1 << queue_pair::OWN_SHIFT
            | 1 << queue_pair::PARTNER_SHIFT
            | 0x50 << queue_pair::ADDRESS_SHIFT
            | 0x50 << queue_pair::TARGET_SHIFT;
        let limits = 1 << pair_limits::RETRIES_SHIFT | 2000 << pair_limits::TIMEOUT_US_SHIFT;
        let of_pair = |value: u64| if paired { value } else { 0 };
        for (register, value) in [
            (queue::SQ_LO, base),
            (queue::CQ_LO, base + 0x400),
            (queue::STAMP_LO, base + 0x800),
            (queue::LINES_LO, base + 0xc00),
            (queue::PAIR_LO, of_pair(pair)),
            (queue::LIMITS_LO, of_pair(limits)),
        ] {
            self.write64(at + register, value);
        }
        for (register, value) in [
            (queue::KIND, kind.raw().into()),
            (queue::OPTIONS, bits(options)),
            (queue::SQ_LOG2, LOG2),
            (queue::CQ_LOG2, LOG2),
        ] {
            self.face.write32(at + register, value);
        }
        let place = self.offsets[&index] + offset;
        // A queue that works keeps its rings.
        if !self.queues.contains_key(&number_of) {
            self.store(place, &[0; 0x1000]);
        }
        let status = self.command(Command::QueueEnable, number_of);
        if status == Status::Ok {
            let ring = |at: u64| {
                let slots = self.ram.base().as_ptr().wrapping_add(at as usize);
                // SAFETY: the ring is in the node's memory, which lives as long as the node.
                unsafe { Ring::new(NonNull::new(slots).unwrap().cast(), LOG2) }
            };
            let submissions = Producer::new(ring(place));
            let completions = Consumer::new(ring(place + 0x400));
            self.queues.insert(number_of, Queue { submissions, completions });
        }
        status
    }

    fn store(&self, offset: u64, data: &[u8]) {
        assert!(offset as usize + data.len() <= RAM);
        let at = self.ram.base().as_ptr().wrapping_add(offset as usize);
        // SAFETY: inside the mapping, which this process accesses only by raw copies.
        unsafe { std::ptr::copy(data.as_ptr(), at, data.len()) };
    }

    fn load(&self, offset: u64, length: usize) -> Vec<u8> {
        assert!(offset as usize + length <= RAM);
        let at = self.ram.base().as_ptr().wrapping_add(offset as usize);
        let mut data = vec![0; length];
        // SAFETY: as for `store`.
        unsafe { std::ptr::copy(at, data.as_mut_ptr(), length) };
        data
    }

    fn key(&self, text: &str) -> u16 {
        match text.strip_prefix("key:") {
            Some(key) => number(key) as u16,
            None => self.keys[&text.parse().unwrap()],
        }
    }

    /// The words of a slot. `chain`: another one of the same work request follows.
    fn slot(&self, text: &str, chain: bool) -> [u64; 2] {
        let words: Vec<&str> = text.split_whitespace().collect();
        let chained = if chain { sf::CHAIN } else { 0 };
        let buffer = |kind: EntryType, flags: u16, [key, offset, length]: [&str; 3]| {
            let (region, offset) = (self.key(key), number(offset));
            let flags = u16::from(kind.raw()) | flags;
            Submission { offset, region, length: number(length) as u32, flags, phase: 0 }.to_words()
        };
        match words[..] {
            ["raw", low, high] => [number(low), number(high)],
            ["data", a, b, c] => buffer(EntryType::Data, chained, [a, b, c]),
            ["packet", a, b, c] => buffer(EntryType::Data, sf::SIGNAL | sf::LAST, [a, b, c]),
            ["buffer", a, b, c] => buffer(EntryType::Buffer, 0, [a, b, c]),
            ["work", name, key, address, flags] => {
                let opcode = u16::from(names::opcode(name).raw()) << wf::OPCODE_SHIFT;
                let flags =
                    u16::from(EntryType::Rdma.raw()) | bits(flags) as u16 | opcode | chained;
                let (address, key) = (number(address), number(key) as u32);
                WorkEntry { address, key, flags, phase: 0 }.to_words()
            }
            ["inline", data] => {
                let data = bytes(data);
                let mut all = [0; 12];
                all[..data.len()].copy_from_slice(&data);
                let data_lo = u64::from_le_bytes(all[..8].try_into().unwrap());
                let data_hi = u32::from_le_bytes(all[8..].try_into().unwrap());
                let flags = u16::from(EntryType::Inline.raw()) | chained;
                let count = data.len() as u8;
                InlineSubmission { data_lo, count, data_hi, flags, phase: 0 }.to_words()
            }
            ["operand", value, immediate] => {
                let flags = u16::from(EntryType::Operand.raw()) | chained;
                let (value, immediate) = (number(value), number(immediate) as u32);
                Operand { value, immediate, flags, phase: 0 }.to_words()
            }
            _ => panic!("slot {text}"),
        }
    }

    fn post(&mut self, end: &str, slots: &str) {
        let slots: Vec<&str> = slots.split(';').collect();
        let last = slots.len() - 1;
        let words: Vec<_> =
            slots.iter().enumerate().map(|(at, slot)| self.slot(slot, at < last)).collect();
        let number = context(end);
        let queue = self.queues.get_mut(&number).expect("the queue is enabled");
        // The first one last: it publishes the batch.
        let (first, ring) = (queue.submissions.position, queue.submissions.ring);
        for (ahead, slot) in (0u32..).zip(&words).skip(1) {
            ring.write(first.wrapping_add(ahead), *slot);
        }
        queue.submissions.push(words[0]);
        queue.submissions.position = first.wrapping_add(words.len() as u32);
        self.bell(DoorbellKind::Submit, number.into());
    }

    fn done(&mut self, words: &[&str], what: &str) {
        let queue = self.queues.get_mut(&context(words[0])).expect("the queue is enabled");
        let until = Instant::now() + PATIENCE;
        while queue.completions.peek().is_none() {
            assert!(Instant::now() < until, "{what}: no completion");
            std::thread::yield_now();
        }
        let done = Completion::from_words(queue.completions.pop().unwrap());
        let status = Status::from_raw(done.status).map_or("?", Status::name);
        assert_eq!(status, words[1], "{what}: {done:?}");
        for field in &words[2..] {
            let (name, value) = field.split_once('=').expect("FIELD=VALUE");
            let found = match name {
                "bytes" => done.bytes.into(),
                "packets" => done.packets.into(),
                "flags" => u64::from(done.flags),
                _ => panic!("field {name}"),
            };
            assert_eq!(found, number(value), "{what}: {done:?}");
        }
    }
}

impl Fabric {
    pub fn new(hosts: Vec<(SharedMemory, Box<dyn Face>)>) -> Self {
        Self { nodes: hosts.into_iter().map(|(ram, face)| Node::new(ram, face)).collect() }
    }

    pub fn step(&mut self, step: &str, what: &str) {
        let words: Vec<&str> = step.split_whitespace().collect();
        let node = &mut self.nodes[words[1].parse::<usize>().expect("node") - 1];
        let rest = &words[2..];
        let expect = |status: Status, name: &str| assert_eq!(status.name(), name, "{what}");
        match words[0] {
            "write" => {
                let at = node.place(rest[0], rest[1]);
                node.face.write32(at, number(rest[2]) as u32);
            }
            "read" => {
                let at = node.place(rest[0], rest[1]);
                assert_eq!(u64::from(node.face.read32(at)), number(rest[2]), "{what}");
            }
            "command" => {
                let (command, index) = (names::command(rest[0]), number(rest[1]) as u32);
                expect(node.command(command, index), rest[2]);
            }
            "start" => node.link(1),
            "stop" => node.link(0),
            "bus-reset" => node.face.bus_reset(),
            "bell" => {
                let (queue, number) = (2 * u64::from(vc(rest[0])), number(rest[1]));
                node.bell(DoorbellKind::Peer, queue | number << doorbell::NUMBER_SHIFT);
            }
            "ring" => {
                let first = node.face.read32(global::DOORBELL_OFFSET);
                node.face.write64(first + 0x1000 * number(rest[0]) as u32, number(rest[1]));
            }
            "region" => expect(node.region(rest), rest[4]),
            "queue" => expect(node.queue(rest), rest[5]),
            "close" => {
                let number = context(rest[0]);
                assert_eq!(node.command(Command::QueueDisable, number), Status::Ok, "{what}");
                node.queues.remove(&number);
            }
            "post" => node.post(rest[0], step.splitn(4, ' ').nth(3).expect("slots")),
            "done" => node.done(rest, what),
            "nothing" => {
                std::thread::sleep(QUIET);
                let queue = node.queues.get_mut(&context(rest[0])).expect("the queue is enabled");
                assert!(queue.completions.peek().is_none(), "{what}");
            }
            "store" => node.store(number(rest[0]), &bytes(rest[1])),
            "load" => {
                let wanted = bytes(rest[1]);
                assert_eq!(node.load(number(rest[0]), wanted.len()), wanted, "{what}");
            }
            _ => panic!("{what}: no such step"),
        }
    }
}
