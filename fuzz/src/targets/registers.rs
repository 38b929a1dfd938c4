//! The registers of an endpoint: any reads, writes, doorbells and commands, with packets and lists of
//! DMA requests in between.

use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, Command, EntryType, NodeState, Operand, PortState, QueueKind, Status,
    Submission, WorkEntry, access, fabric_block, global_block as global, peer_block, port_block,
    queue_block as queue, queue_options, queue_pair, region_block as region, submit_flags as sf,
    work_flags as wf,
};
use crate::memory;
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{LinkRate, Mode, Peer, Topology};
use spfe_plane::arena::DEVICE;
use spfe_plane::view::MessageRunner;
use spfe_plane::{Network, RegisterFile, Runner, Segments, Stride};
use spfe_ring::sync::{FenceMode, set_fence_mode};
use spfe_ring::{Ring, Slot};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

const OPS_MAX: usize = 200;
const SEGMENT_BYTES: usize = 64 << 10;
/// Offset of the rings of a queue in the segment, and the room of each ring.
const PLACE_BYTES: u64 = 1024;
const LOG2: u32 = 2;
/// The fabric port.
const FABRIC_PORT: u32 = 4;

/// An operation of the input.
#[derive(Debug)]
enum Op {
    Read(u32),
    Write(u32, u32),
    Doorbell(u32, u64),
    /// Accesses a register of an element of a block.
    Register(BlockType, u8, u32, u32),
    /// Writes a region context for a segment and issues its command.
    Region(u8, u8, u32, u8),
    /// Writes a queue context of one of some kinds for a region and issues its command.
    Queue(u8, u8, u8),
    Command(u32, u32),
    /// Posts a submission to a queue, or a request of one or more slots to an RDMA queue.
    Post(u8, u16, u16, u8),
    Step,
    Reset,
    Event(u8),
}

fn block(u: &mut Unstructured<'_>) -> Result<BlockType> {
    let all = BlockType::ALL;
    Ok(all[usize::from(u.arbitrary::<u8>()?) % all.len()])
}

fn op(u: &mut Unstructured<'_>) -> Result<Op> {
    let offset = |u: &mut Unstructured<'_>| -> Result<u32> {
        Ok(if u.ratio(7, 8)? { u.int_in_range(0..=0x1ffff)? } else { u.arbitrary()? })
    };
    let value = |u: &mut Unstructured<'_>| -> Result<u32> {
        Ok(if u.ratio(3, 4)? { u.int_in_range(0..=16)? } else { u.arbitrary()? })
    };
    Ok(match u.int_in_range(0..=31u8)? {
        0..=5 => Op::Queue(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
        6..=10 => Op::Region(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
        11..=14 => Op::Register(block(u)?, u.arbitrary()?, value(u)?.wrapping_mul(4), value(u)?),
        15..=18 => Op::Command(u.int_in_range(0..=7)?, value(u)?),
        19..=23 => Op::Post(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
        24 | 25 => Op::Step,
        26 => Op::Read(offset(u)?),
        27 => Op::Write(offset(u)?, value(u)?),
        28 => Op::Doorbell(u.arbitrary()?, u.arbitrary()?),
        29 => Op::Reset,
        30 => Op::Event(u.arbitrary()?),
        _ => Op::Write(global::CFG_SEQ, value(u)?),
    })
}

#[derive(Debug)]
struct Input(Vec<Op>);

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut ops = Vec::new();
        while !u.is_empty() && ops.len() < OPS_MAX {
            ops.push(op(u)?);
        }
        Ok(Self(ops))
    }
}

/// Two SpaceFibre ports with two channels each, joined by a cable, two joined SpaceWire ports, and a
/// fabric port. The other node of the fabric is endpoint 1, whose other ports have no cable.
fn topology() -> Topology {
    let port = |space_wire, vcs, other| PortConfig {
        space_wire,
        vcs,
        rate: LinkRate::Unlimited,
        model: LinkModel::Packet,
        peer: Peer::Port { endpoint: 0, port: other },
    };
    let fabric = Topology::fabric(2, Mode::Thread).endpoints[0][0];
    let mut ports = vec![port(false, 2, 1), port(false, 2, 0), port(true, 1, 3), port(true, 1, 2)];
    let mut others: Vec<_> =
        ports.iter().map(|port| PortConfig { peer: Peer::None, ..*port }).collect();
    ports.push(fabric);
    others.push(fabric);
    Topology {
        endpoints: vec![ports, others],
        mode: Mode::Thread,
        virtual_time: true,
        ..Topology::default()
    }
}

struct Driver {
    registers: RegisterFile,
    flows: Vec<Runner>,
    messages: Vec<MessageRunner>,
    /// For each block: offset of the first element, and bytes from one element to the next.
    blocks: HashMap<u16, (u32, u32)>,
    posted: HashMap<u8, u32>,
    kinds: HashMap<u8, QueueKind>,
    sequence: u32,
}

impl Driver {
    fn new() -> Self {
        let network = Network::new(topology()).expect("a network");
        set_fence_mode(FenceMode::Full);
        let view = network.view(DEVICE);
        let mut flows = Vec::new();
        let mut messages = Vec::new();
        for (index, port) in (0..).zip(&network.topology().endpoints[0]) {
            flows.extend((0..port.vcs).map(|vc| view.runner_out(0, index, vc, true)));
            messages.push(view.messages_out(0, index));
        }
        // A library's client starts the other node.
        network.attach(1, "node").expect("room");
        // Another client of the same endpoint.
        let other = network.attach(0, "other").expect("room");
        let foreign = memory::pooled(1, SEGMENT_BYTES);
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        network.add_region(other, foreign, both).expect("room");
        let segment = memory::pooled(0, SEGMENT_BYTES);
        let segments = Arc::new(Segments::default());
        segments.add(segment);
        let registers =
            RegisterFile::new(network.clone(), 0, segments, Stride::Usual).expect("registers");
        let blocks = walk(&registers);
        let (posted, kinds) = (HashMap::new(), HashMap::new());
        Self { registers, flows, messages, blocks, posted, kinds, sequence: 0 }
    }

    /// Puts the device and the memory into the state after power-up.
    fn restart(&mut self) {
        memory::bytes_mut(&memory::pooled(0, SEGMENT_BYTES)).fill(0);
        memory::bytes_mut(&memory::pooled(1, SEGMENT_BYTES)).fill(memory::FOREIGN);
        self.registers.reset().expect("a reset");
        self.posted.clear();
        self.kinds.clear();
    }

    fn at(&self, kind: BlockType, element: u32, register: u32) -> u32 {
        let (first, stride) = self.blocks.get(&kind.raw()).copied().unwrap_or_default();
        first.wrapping_add(stride.wrapping_mul(element)).wrapping_add(register)
    }

    fn read(&self, kind: BlockType, element: u32, register: u32) -> u32 {
        self.registers.read32(self.at(kind, element, register))
    }

    fn write(&self, kind: BlockType, element: u32, register: u32, value: u32) {
        self.registers.write32(self.at(kind, element, register), value);
    }

    fn command(&mut self, command: u32, index: u32) -> Status {
        self.sequence = self.registers.read32(global::CFG_ACK).wrapping_add(1).max(1);
        self.registers.write32(global::CFG_COMMAND, command);
        self.registers.write32(global::CFG_INDEX, index);
        self.registers.write32(global::CFG_SEQ, self.sequence);
        assert_eq!(self.registers.read32(global::CFG_ACK), self.sequence);
        let status = self.registers.read32(global::CFG_STATUS);
        Status::from_raw(status as u8).expect("a status")
    }

    fn region(&mut self, index: u32, segment: u32, bytes: u32, domain: u32) {
        let write = |register, value| self.write(BlockType::Region, index, register, value);
        write(region::BASE_LO, segment);
        write(region::SIZE_LO, bytes);
        let remote = access::REMOTE_READ | access::REMOTE_WRITE;
        write(region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE | remote);
        write(region::DOMAIN, domain);
        self.command(u32::from(Command::RegionEnable.raw()), index);
    }

    /// The region key of an enabled region.
    fn field(&self, index: u32) -> u64 {
        let key = self.read(BlockType::Region, index, region::KEY);
        u64::from(key) << 48
    }

    fn queue(&mut self, index: u32, region: u32, choice: u8) {
        let vc = self.read(BlockType::Queue, index, queue::VC);
        let (packed, rdma) = (choice & 1 != 0, choice & 6 == 6);
        let kind = match (vc, index % 2) {
            (255, 0) => QueueKind::MessageTx,
            (255, _) => QueueKind::MessageRx,
            (_, 0) if rdma => QueueKind::Rdma,
            (..) if rdma => QueueKind::RdmaRx,
            (_, 0) => QueueKind::Tx,
            (..) if packed => QueueKind::RxPacked,
            (..) => QueueKind::Rx,
        };
        let place = u64::from(index) % 32 * PLACE_BYTES;
        let base = self.field(region) | place;
        let address = |register, offset| {
            self.write(BlockType::Queue, index, register, (base + offset) as u32);
            self.write(BlockType::Queue, index, register + 4, ((base + offset) >> 32) as u32);
        };
        address(queue::LINES_LO, 0);
        address(queue::SQ_LO, 128);
        address(queue::CQ_LO, 256);
        address(queue::STAMP_LO, 512);
        address(queue::AREA_LO, 0);
        let write = |register, value| self.write(BlockType::Queue, index, register, value);
        write(queue::AREA_BYTES, 4096);
        if rdma {
            // Both ends of a cable have the same number, so they are partners.
            let pair: u64 = 5 << queue_pair::OWN_SHIFT
                | 5 << queue_pair::PARTNER_SHIFT
                | 0xfe << queue_pair::ADDRESS_SHIFT
                | 0xfe << queue_pair::TARGET_SHIFT
                | 8 << queue_pair::SEGMENT_LOG2_SHIFT;
            write(queue::PAIR_LO, pair as u32);
            write(queue::PAIR_HI, (pair >> 32) as u32);
            write(queue::LIMITS_LO, 2);
            write(queue::LIMITS_HI, 10);
            write(queue::OPTIONS, queue_options::REMOTE_KEYS);
        }
        write(queue::KIND, u32::from(kind.raw()));
        write(queue::SQ_LOG2, LOG2);
        write(queue::CQ_LOG2, LOG2);
        // Rings must be zero at the start.
        let offset = (u64::from(index) % 32 * PLACE_BYTES) as usize;
        memory::bytes_mut(&memory::pooled(0, SEGMENT_BYTES))[offset..][..640].fill(0);
        self.posted.remove(&(index as u8));
        self.kinds.insert(index as u8, kind);
        self.command(u32::from(Command::QueueEnable.raw()), index);
    }

    /// Writes slots into the ring of a queue, the first one last.
    fn publish(&mut self, index: u8, slots: &[[u64; 2]]) {
        let position = self.posted.entry(index).or_insert(0);
        let place = usize::from(index) % 32 * PLACE_BYTES as usize + 128;
        let memory = memory::pooled(0, SEGMENT_BYTES);
        // SAFETY: inside the segment and aligned to 64 bytes. The pool keeps the memory.
        let ring = unsafe { Ring::new(memory.base().add(place).cast::<Slot>(), LOG2) };
        for (ahead, slot) in slots.iter().enumerate().rev() {
            ring.write(position.wrapping_add(ahead as u32), *slot);
        }
        *position = position.wrapping_add(slots.len() as u32);
    }

    fn post(&mut self, index: u8, offset: u16, length: u16, flags: u8) {
        if self.kinds.get(&index) == Some(&QueueKind::Rdma) {
            return self.request(index, offset, length, flags);
        }
        let kind = if index.is_multiple_of(2) { EntryType::Data } else { EntryType::Buffer };
        let (region, flags) = (u32::from(flags >> 6), u16::from(flags & 0x1f) << 4);
        let entry = Submission {
            length: length.into(),
            flags: u16::from(kind.raw()) | flags & !sf::MBZ_MASK,
            ..Submission::default()
        };
        let [_, word1] = entry.to_words();
        self.publish(index, &[[self.field(region) | u64::from(offset), word1]]);
    }

    /// A request for the far end: any operation, with few keys and addresses, so that some find what
    /// others have bound.
    fn request(&mut self, index: u8, offset: u16, length: u16, flags: u8) {
        let (opcode, operands) = (u16::from(flags & 15), flags >> 4 & 3);
        let work = WorkEntry {
            address: u64::from(offset) % 4096,
            key: 1 + u32::from(length % 6) * 0x800,
            flags: u16::from(EntryType::Rdma.raw()) | wf::SIGNAL | opcode << wf::OPCODE_SHIFT,
            phase: 0,
        };
        let data = Submission {
            length: (length % 2048).into(),
            flags: u16::from(EntryType::Data.raw()),
            ..Submission::default()
        };
        let [_, word1] = data.to_words();
        let region = u32::from(flags >> 6);
        let mut slots = vec![work.to_words(), [self.field(region) | u64::from(offset), word1]];
        slots.extend((0..operands.min(2)).map(|value| {
            let operand = Operand {
                value: value.into(),
                immediate: u32::from(length % 64),
                flags: EntryType::Operand.raw().into(),
                phase: 0,
            };
            operand.to_words()
        }));
        let last = slots.len() - 1;
        for slot in &mut slots[..last] {
            slot[1] |= u64::from(sf::CHAIN) << 32;
        }
        self.publish(index, &slots);
    }

    /// What the registers say of the fabric must fit together.
    fn check_fabric(&self) {
        let fabric = |register| self.read(BlockType::Fabric, 0, register);
        assert_eq!((fabric(fabric_block::NODE), fabric(fabric_block::NODES)), (1, 2));
        let peer = |element, register| self.read(BlockType::Peer, element, register);
        let state = self.read(BlockType::Port, FABRIC_PORT, port_block::STATE);
        let ready = peer(1, peer_block::STATE) == u32::from(NodeState::Ready.raw());
        assert_eq!(state == u32::from(PortState::Up.raw()), ready);
        assert_eq!(peer(0, peer_block::RINGS), 0, "nobody rings its own doorbells");
    }

    fn step(&mut self) {
        for flow in &mut self.flows {
            flow.run(64);
        }
        for messages in &mut self.messages {
            messages.run(64);
        }
    }

    fn take(&mut self, op: Op) {
        match op {
            Op::Read(offset) => drop(self.registers.read32(offset)),
            Op::Write(offset, value) => self.registers.write32(offset, value),
            Op::Doorbell(page, value) => {
                self.registers.doorbell(page, value);
                let told = self.registers.take_refusal();
                assert!(told.is_none_or(|what| what.len() < 400), "a message of one line");
            }
            Op::Register(kind, element, register, value) => {
                self.write(kind, element.into(), register, value);
                self.read(kind, element.into(), register);
            }
            Op::Region(index, segment, bytes, domain) => {
                let bytes = if bytes & 3 == 0 { bytes } else { SEGMENT_BYTES as u32 };
                self.region(
                    (index % 4).into(),
                    (segment / 128).into(),
                    bytes,
                    (domain / 64).into(),
                );
            }
            Op::Queue(index, region, choice) => {
                self.queue((index % 48).into(), (region % 4).into(), choice);
            }
            Op::Command(command, index) => drop(self.command(command, index)),
            Op::Post(index, offset, length, flags) => self.post(index % 48, offset, length, flags),
            Op::Step => self.step(),
            Op::Reset => self.registers.reset().expect("a reset"),
            Op::Event(vector) => drop(self.registers.take_event(vector.into())),
        }
    }
}

fn walk(registers: &RegisterFile) -> HashMap<u16, (u32, u32)> {
    let mut blocks = HashMap::new();
    let mut at = 0;
    for _ in 0..64 {
        let head = registers.read32(at);
        let kind = BlockType::from_raw(head as u16).expect("a block type");
        let (stride, first) = match kind {
            BlockType::Queue => (queue::STRIDE, queue::SIZE),
            BlockType::Region => (region::STRIDE, region::SIZE),
            BlockType::Event => (spfe_contract::event_block::STRIDE, 16),
            BlockType::Statistics => (spfe_contract::statistics_block::STRIDE, 16),
            BlockType::Peer => (spfe_contract::peer_block::STRIDE, 16),
            // One block after the other.
            BlockType::Port => (spfe_contract::port_block::SIZE, 0),
            _ => (0, 0),
        };
        blocks.entry(kind.raw()).or_insert((at + first, stride));
        at = registers.read32(at + 8);
        if at == 0 {
            return blocks;
        }
    }
    panic!("the block list does not end");
}

thread_local! {
    /// The device that the last input has left; none after a failure.
    static DRIVER: RefCell<Option<Driver>> = const { RefCell::new(None) };
}

crate::target!(|input: Input| {
    let mut driver = DRIVER.take().unwrap_or_else(Driver::new);
    driver.restart();
    let blocks = driver.blocks.clone();
    for op in input.0 {
        driver.take(op);
    }
    driver.step();
    driver.check_fabric();
    assert_eq!(driver.registers.read32(global::MAGIC), CONTRACT_MAGIC);
    assert_eq!(walk(&driver.registers), blocks);
    assert_eq!(driver.command(u32::from(Command::Reset.raw()), 0), Status::Ok);
    driver.step();
    let foreign = memory::pooled(1, SEGMENT_BYTES);
    let whole = memory::is_all(memory::bytes(&foreign), memory::FOREIGN);
    assert!(whole, "the device wrote to memory of another client");
    DRIVER.set(Some(driver));
});
