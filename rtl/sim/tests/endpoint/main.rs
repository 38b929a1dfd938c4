//! The endpoint as a driver sees it: register blocks, commands with their statuses, message queues
//! from one port to the other, interrupts, and a host that writes anything anywhere.

mod commands;
mod messages;
mod packets;
mod resets;

use spfe_contract::{
    BlockType, Command, Message, MibItem, QueueKind, Status, access, arm_flags,
    broadcast_block as broadcast, doorbell, event_block as event, global_block as global,
    mib_block as mib, port_block, queue_block as queue, queue_options, region_block as region,
    region_options, statistics_block as statistics, submit_flags,
};
use spfe_rtl_sim::endpoint::{Endpoint, Far, PORTS};

const REGIONS: u32 = 16;
const EVENTS: u32 = 8;
const PAGES: u32 = 64;
const VCS: u32 = 4;
/// Message contexts of a port in each direction.
const CONTEXTS: u32 = 4;
const PORT_QUEUES: u32 = 2 * VCS + 2 * CONTEXTS;
const QUEUES: u32 = PORT_QUEUES * PORTS as u32;
/// First message context of port 0 that transmits, and of port 1 that receives.
const SENDER: u32 = 2 * VCS;
const RECEIVER: u32 = PORT_QUEUES + 2 * VCS + CONTEXTS;
/// log2 of the entries of all rings.
const LOG2: u32 = 2;
/// Where the parts of a queue are, from its address.
const SQ: u64 = 0;
const CQ: u64 = 0x40;
const TIMES: u64 = 0x80;
const LINES: u64 = 0x100;
/// Bytes of all of them.
const QUEUE: u64 = 0x200;
/// Bus address and bytes of a region.
const BASE: u64 = 0x1_0000;
const BYTES: u64 = 0x4000;

/// A register block: what its header says, and where it is.
#[derive(Clone, Copy, Debug)]
struct Block {
    kind: BlockType,
    at: u32,
    size: u32,
    instance: u32,
}

struct Driver {
    device: Endpoint,
    blocks: Vec<Block>,
}

impl Driver {
    /// Walks the list of blocks.
    fn new(seed: u64) -> Self {
        Self::with(None, seed)
    }

    /// The same, of an endpoint whose ports have this far end.
    fn with(far: Option<Far>, seed: u64) -> Self {
        println!("seed {seed}");
        let parameters = [
            ("Regions", REGIONS as usize),
            ("Events", EVENTS as usize),
            ("Pages", PAGES as usize),
            ("Pairs", 1),
        ];
        let mut device = Endpoint::with(&parameters, (PORTS, EVENTS as usize), far, seed);
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            assert!(blocks.len() < 32, "the list of blocks does not end");
            let (first, second) = (device.read64(at), device.read64(at + 8));
            let (kind, next) = (BlockType::from_raw(first as u16), second as u32);
            let (size, instance) = ((first >> 32) as u32, (second >> 32) as u32);
            blocks.push(Block { kind: kind.expect("a type of the contract"), at, size, instance });
            if next == 0 {
                return Self { device, blocks };
            }
            at = next;
        }
    }

    /// Offset of a register of a block.
    fn block(&self, kind: BlockType, instance: u32) -> Block {
        let same = |block: &&Block| block.kind == kind && block.instance == instance;
        *self.blocks.iter().find(same).expect("the block is there")
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        self.raw_command(command.raw().into(), index)
    }

    fn raw_command(&mut self, command: u32, index: u32) -> Status {
        let status = self.device.command(command, index);
        u8::try_from(status).ok().and_then(Status::from_raw).expect("a status of the contract")
    }

    /// Writes a register of a block, or of an element of an array.
    fn set(&mut self, kind: BlockType, element: u32, register: u32, value: u32) {
        let at = self.at(kind, element, register);
        self.device.write(at, value);
    }

    fn get(&mut self, kind: BlockType, element: u32, register: u32) -> u32 {
        let at = self.at(kind, element, register);
        self.device.read(at)
    }

    fn at(&self, kind: BlockType, element: u32, register: u32) -> u32 {
        let stride = match kind {
            BlockType::Queue => queue::STRIDE,
            BlockType::Region => region::STRIDE,
            BlockType::Event => event::STRIDE,
            BlockType::Statistics => statistics::STRIDE,
            _ => return self.block(kind, element).at + register,
        };
        let block = self.block(kind, 0);
        block.at + block.size + stride * element + register
    }

    fn mib(&mut self, port: u32, item: MibItem, element: u32) -> u64 {
        let block = self.block(BlockType::Mib, port);
        self.device
            .read64(block.at + block.size + mib::STRIDE * element + 8 * u32::from(item.raw()))
    }

    fn set_mib(&mut self, port: u32, item: u32, element: u32, value: u64) -> Status {
        self.device.write(global::MIB_ITEM, item);
        self.device.write(global::MIB_ELEMENT, element);
        self.device.write64(global::MIB_VALUE_LO, value);
        self.command(Command::MibSet, port)
    }

    fn set_region(&mut self, index: u32, base: u64, bytes: u64, page_list: u32) {
        let at = self.at(BlockType::Region, index, 0);
        self.device.write64(at + region::BASE_LO, base);
        self.device.write64(at + region::SIZE_LO, bytes);
        self.device.write(at + region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE);
        self.device.write(at + region::DOMAIN, 3);
        self.device.write(at + region::PAGE_LIST, page_list);
        self.device.write(at + region::PAGE_LEVELS, 0);
        self.device.write(at + region::OPTIONS, 0);
    }

    /// Writes the entry of a region of all the bus.
    fn set_everything(&mut self, index: u32) {
        self.set_region(index, 0, 0, 0);
        self.set(BlockType::Region, index, region::DOMAIN, 0);
        self.set(BlockType::Region, index, region::OPTIONS, region_options::LOCAL_DMA);
    }

    /// Enables a region. Returns the region field of addresses in it.
    fn region(&mut self, index: u32, base: u64, bytes: u64, page_list: u32) -> u64 {
        self.set_region(index, base, bytes, page_list);
        assert_eq!(self.command(Command::RegionEnable, index), Status::Ok);
        let key = self.get(BlockType::Region, index, region::KEY);
        assert_eq!(key & 0xfff, index, "key of region {index}");
        u64::from(key) << 48
    }

    /// Writes a context whose rings, times and lines are one after the other from an address.
    fn set_queue(&mut self, number: u32, kind: QueueKind, address: u64) {
        let at = self.at(BlockType::Queue, number, 0);
        let words = [
            (queue::KIND, u32::from(kind.raw())),
            (queue::OPTIONS, queue_options::STAMP),
            (queue::DOMAIN, 3),
            (queue::VECTOR, number % EVENTS),
            (queue::SQ_LOG2, LOG2),
            (queue::CQ_LOG2, LOG2),
            (queue::FILTER, 0),
        ];
        for (register, value) in words {
            self.device.write(at + register, value);
        }
        for (register, offset) in [
            (queue::SQ_LO, SQ),
            (queue::CQ_LO, CQ),
            (queue::STAMP_LO, TIMES),
            (queue::LINES_LO, LINES),
        ] {
            self.device.write64(at + register, address + offset);
        }
    }

    fn ring(&mut self, number: u32) {
        let page = self.device.read(global::DOORBELL_OFFSET) + 4096;
        self.device.write64(page, u64::from(number) & doorbell::QUEUE_MASK);
    }

    /// Starts both links, and waits until packets can pass.
    fn start_links(&mut self) {
        for port in 0..PORTS as u32 {
            self.set(BlockType::Port, port, port_block::LINK_START, 1);
            self.set(BlockType::Port, port, port_block::LINK_VECTOR, 0);
            self.set(BlockType::Broadcast, port, broadcast::CHANNEL, 0);
            assert_eq!(self.command(Command::PortConfigure, port), Status::Ok);
        }
        self.device.until("both ports are up", |device| device.up == 3);
    }

    fn put(&mut self, at: u64, words: [u64; 2]) {
        let at = at as usize;
        self.device.memory[at..at + 8].copy_from_slice(&words[0].to_le_bytes());
        self.device.memory[at + 8..at + 16].copy_from_slice(&words[1].to_le_bytes());
    }

    fn word(&self, at: u64) -> u64 {
        let at = at as usize;
        u64::from_le_bytes(self.device.memory[at..at + 8].try_into().expect("eight bytes"))
    }

    fn entry(&self, at: u64) -> [u64; 2] {
        [self.word(at), self.word(at + 8)]
    }

    fn arm(&mut self, lines: u64, sequence: u32, count: u32) {
        let flags = arm_flags::COUNT | arm_flags::EVENT;
        self.put(lines, [u64::from(flags) << 32, u64::from(count)]);
        let word = u64::from(flags) << 32 | u64::from(sequence);
        self.put(lines, [word, u64::from(count)]);
    }
}

/// A message that is sent with a completion.
fn message(data: u64, position: u32) -> [u64; 2] {
    Message {
        data,
        channel: 7,
        r#type: 9,
        kind: 1,
        status: 0,
        flags: 7 | submit_flags::SIGNAL,
        phase: phase(position),
    }
    .to_words()
}

fn phase(position: u32) -> u16 {
    (position >> LOG2) as u16 + 1
}

/// Offset of the entry at a position.
fn slot(position: u32) -> u64 {
    16 * u64::from(position & ((1 << LOG2) - 1))
}

impl Driver {
    /// Enables all vectors, a sender on port 0 and a receiver on port 1 in one region, and starts
    /// the links. Returns the addresses of the queues.
    fn pair(&mut self, key: u64) {
        for vector in 0..EVENTS {
            self.set(BlockType::Event, vector, event::ENABLE, 1);
        }
        self.set_queue(SENDER, QueueKind::MessageTx, key);
        self.set_queue(RECEIVER, QueueKind::MessageRx, key + QUEUE);
        for number in [SENDER, RECEIVER] {
            assert_eq!(self.command(Command::QueueEnable, number), Status::Ok);
        }
        self.start_links();
    }
}
