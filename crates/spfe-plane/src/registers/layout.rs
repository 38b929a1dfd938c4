//! Offsets of all registers: the linked list of blocks, and the numbers of queue contexts.

use super::target::KEPT_REGIONS;
use super::{EVENTS, Stride};
use spfe_contract::{
    BlockType, QueueKind, broadcast_block as broadcast, event_block as event, fabric_block,
    global_block as global, mib_block as mib, pair_block, peer_block as peer, port_block,
    queue_block as queue, region_block as region, statistics_block as statistics, target_block,
    time_code_block as time_code,
};
use spfe_device::memory::REGIONS;
use spfe_device::message::CONTEXTS;
use spfe_host::topology::PortConfig;

/// Size of a block's header in bytes: {type 16, version 16, size 32, next 32, instance 32}.
pub const HEADER_BYTES: u32 = queue::SIZE;
/// Alignment of blocks in bytes, so that no two share a cache line.
const BLOCK_ALIGN: u32 = 0x100;
/// Minimum number of doorbell pages, one for each client of a driver.
const DOORBELL_PAGES: u32 = 16;
/// Value of register VC of a message context.
pub const NO_VC: u32 = 255;

/// A register block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    kind: BlockType,
    version: u16,
    at: u32,
    /// Size in the header: bytes of the block; for an array, bytes before the first element.
    size: u32,
    next: u32,
    instance: u32,
    stride: u32,
    /// Size of all elements of an array in bytes.
    elements: u32,
}

impl Block {
    fn end(&self) -> u32 {
        self.at + self.size + self.elements
    }

    /// A word of the header, by its byte offset.
    pub fn header(&self, offset: u32) -> u32 {
        match offset {
            0x0 => u32::from(self.kind.raw()) | u32::from(self.version) << 16,
            0x4 => self.size,
            0x8 => self.next,
            _ => self.instance,
        }
    }
}

/// The register at an offset.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A word of a block's header.
    Header(&'a Block, u32),
    /// A register.
    Register(Register),
    /// Byte offset in a doorbell page.
    Doorbell(u32, u32),
}

/// A register of a block, or of one of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Type of the block.
    pub kind: BlockType,
    /// Instance of the block: the port, if each port has a block.
    pub instance: u32,
    /// Element of an array; the instance if the block is not an array.
    pub element: u32,
    /// Offset in the block or in the element.
    pub offset: u32,
}

/// What a queue context sends to or receives from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextUse {
    /// A virtual channel.
    Data(u32),
    /// A message queue of the port.
    Message(usize),
}

/// A queue context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Port.
    pub port: u32,
    /// Virtual channel or message queue.
    pub end: ContextUse,
    /// Whether it transmits.
    pub tx: bool,
}

impl Context {
    /// Value of register VC.
    pub fn vc(&self) -> u32 {
        if let ContextUse::Data(vc) = self.end { vc } else { NO_VC }
    }

    /// Whether the context can be a queue of a kind. `pairs`: the device has queue pairs.
    pub fn can_be(&self, kind: QueueKind, pairs: bool) -> bool {
        match (self.end, self.tx) {
            (ContextUse::Data(_), true) if pairs && kind == QueueKind::Rdma => true,
            (ContextUse::Data(_), false) if pairs && kind == QueueKind::RdmaRx => true,
            (ContextUse::Data(_), true) => kind == QueueKind::Tx,
            (ContextUse::Data(_), false) => matches!(kind, QueueKind::Rx | QueueKind::RxPacked),
            (ContextUse::Message(_), true) => kind == QueueKind::MessageTx,
            (ContextUse::Message(_), false) => kind == QueueKind::MessageRx,
        }
    }
}

/// Number of message queues of a port in each direction.
fn messages_of(port: &PortConfig) -> usize {
    if port.has_messages() { CONTEXTS } else { 0 }
}

/// Number of queue contexts of a port.
pub fn contexts_of(port: &PortConfig) -> u32 {
    2 * (port.vcs + messages_of(port) as u32)
}

fn contexts(ports: &[PortConfig]) -> Vec<Context> {
    let mut all = Vec::new();
    for (index, port) in (0..).zip(ports) {
        let data = (0..port.vcs)
            .flat_map(|vc| [(ContextUse::Data(vc), true), (ContextUse::Data(vc), false)]);
        let slots = |tx| (0..messages_of(port)).map(move |slot| (ContextUse::Message(slot), tx));
        let ends = data.chain(slots(true)).chain(slots(false));
        all.extend(ends.map(|(end, tx)| Context { port: index, end, tx }));
    }
    all
}

/// Layout of a register space.
pub struct Layout {
    blocks: Vec<Block>,
    /// Queue contexts by number.
    pub contexts: Vec<Context>,
    /// Byte offset of the first doorbell page.
    pub doorbells: u32,
    /// Size of the register space in bytes, a power of two. Doorbell pages fill it from `doorbells`
    /// on.
    pub size: u32,
    /// Bytes from one doorbell page to the next.
    pub stride: u32,
    /// Regions that the host may use.
    pub regions: u32,
    /// Minor version of the contract.
    minor: u16,
}

impl Layout {
    /// The register space of an endpoint with these ports, and perhaps a target of RDMA.
    pub fn new(ports: &[PortConfig], stride: Stride, minor: u16, target: bool) -> Self {
        let contexts = contexts(ports);
        let stride = stride.bytes();
        let regions = (REGIONS - if target { KEPT_REGIONS } else { 0 }) as u32;
        let mut layout =
            Self { blocks: Vec::new(), contexts, doorbells: 0, size: 0, stride, regions, minor };
        let queues = layout.contexts.len() as u32;
        // These blocks have got registers with minor version 2, and the queue with version 3.
        let version = |now: u16| if minor < 2 { 1 } else { now };
        let pairs = if minor < 3 { 1 } else { queue::VERSION };
        layout.add(BlockType::Global, version(global::VERSION), global::SIZE, 0);
        for port in 0..ports.len() as u32 {
            layout.add(BlockType::Port, version(port_block::VERSION), port_block::SIZE, port);
        }
        for (index, port) in (0..).zip(ports) {
            if port.fabric().is_some() {
                if minor >= 5 {
                    layout.add(BlockType::Fabric, fabric_block::VERSION, fabric_block::SIZE, index);
                }
            } else if port.space_wire {
                let (version, size) = (time_code::VERSION, time_code::SIZE);
                layout.add(BlockType::TimeCode, version, size, index);
            } else {
                let (version, size) = (broadcast::VERSION, broadcast::SIZE);
                layout.add(BlockType::Broadcast, version, size, index);
            }
        }
        layout.array(BlockType::Queue, pairs, queue::STRIDE, queues, 0);
        let kept = version(region::VERSION);
        layout.array(BlockType::Region, kept, region::STRIDE, regions, 0);
        layout.array(BlockType::Event, event::VERSION, event::STRIDE, EVENTS, 0);
        layout.array(BlockType::Statistics, statistics::VERSION, statistics::STRIDE, queues, 0);
        for (index, port) in (0..).zip(ports) {
            let elements = port.rate.lanes().max(port.vcs);
            layout.array(BlockType::Mib, mib::VERSION, mib::STRIDE, elements, index);
        }
        for (index, port) in (0..).zip(ports).filter(|_| minor >= 5) {
            if let Some(nodes) = port.fabric() {
                layout.array(BlockType::Peer, peer::VERSION, peer::STRIDE, nodes, index);
            }
        }
        if target && minor >= 6 {
            layout.add(BlockType::Target, target_block::VERSION, target_block::SIZE, 0);
        }
        for (index, port) in (0..).zip(ports).filter(|_| minor >= 8) {
            let (version, stride) = (pair_block::VERSION, pair_block::STRIDE);
            layout.array(BlockType::Pair, version, stride, port.vcs, index);
        }
        layout.doorbells = layout.end().next_multiple_of(stride);
        layout.size = (layout.doorbells + DOORBELL_PAGES * stride).next_power_of_two();
        layout
    }

    fn end(&self) -> u32 {
        self.blocks.last().map_or(0, Block::end)
    }

    fn add(&mut self, kind: BlockType, version: u16, size: u32, instance: u32) {
        let (at, next, stride, elements) = (0, 0, 0, 0);
        self.link(Block { kind, version, at, size, next, instance, stride, elements });
    }

    fn array(&mut self, kind: BlockType, version: u16, stride: u32, count: u32, instance: u32) {
        let (at, size, next) = (0, HEADER_BYTES, 0);
        let elements = stride * count;
        self.link(Block { kind, version, at, size, next, instance, stride, elements });
    }

    fn link(&mut self, mut block: Block) {
        block.at = self.end().next_multiple_of(BLOCK_ALIGN);
        if let Some(last) = self.blocks.last_mut() {
            last.next = block.at;
        }
        self.blocks.push(block);
    }

    /// Number of doorbell pages.
    pub fn pages(&self) -> u32 {
        (self.size - self.doorbells) / self.stride
    }

    /// The register at an offset; `None` between registers and for offsets not aligned to 4 bytes.
    pub fn find(&self, offset: u32) -> Option<Place<'_>> {
        if !offset.is_multiple_of(4) || offset >= self.size {
            return None;
        }
        if let Some(inside) = offset.checked_sub(self.doorbells) {
            return Some(Place::Doorbell(inside / self.stride, inside % self.stride));
        }
        let after = self.blocks.partition_point(|block| block.at <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        if offset >= block.end() {
            return None;
        }
        let inside = offset - block.at;
        let Some(behind) = inside.checked_sub(HEADER_BYTES) else {
            return Some(Place::Header(block, inside));
        };
        let (element, offset) = match block.stride {
            0 => (block.instance, inside),
            stride => (behind / stride, behind % stride),
        };
        let (kind, instance) = (block.kind, block.instance);
        let register = Register { kind, instance, element, offset };
        (self.minor >= register.since()).then_some(Place::Register(register))
    }

    /// Offset of a register in the register space. `element` selects the element of an array, or the
    /// instance of a block; it must exist.
    pub fn offset(&self, kind: BlockType, element: u32, offset: u32) -> Option<u32> {
        let mut blocks = self.blocks.iter().filter(|block| block.kind == kind);
        let block = blocks.find(|block| block.stride != 0 || block.instance == element)?;
        Some(match block.stride {
            0 => block.at + offset,
            stride => block.at + HEADER_BYTES + stride * element + offset,
        })
    }

    /// Offset of a register of a node in the peer block of a fabric port.
    pub fn peer_offset(&self, port: u32, node: u32, offset: u32) -> Option<u32> {
        let is_of = |block: &&Block| block.kind == BlockType::Peer && block.instance == port;
        let block = self.blocks.iter().find(is_of)?;
        let element = node.checked_sub(1).filter(|index| index * block.stride < block.elements)?;
        Some(block.at + HEADER_BYTES + block.stride * element + offset)
    }

    /// Number of the first queue context of a port.
    pub fn first_queue(&self, port: u32) -> u32 {
        self.contexts.partition_point(|context| context.port < port) as u32
    }
}

impl Register {
    /// Minor version of the contract with which a register that the host writes came.
    fn since(self) -> u16 {
        match self.kind {
            BlockType::Port if self.offset == port_block::LINK_VECTOR => 2,
            BlockType::Region if (region::PAGE_LEVELS..=region::OPTIONS).contains(&self.offset) => {
                2
            }
            BlockType::Queue if self.offset >= queue::PAIR_LO => 3,
            _ => 0,
        }
    }

    /// Whether the host writes the register: access `rw` in the contract.
    pub fn is_configuration(self) -> bool {
        match self.kind {
            BlockType::Global => {
                let latch = global::CFG_COMMAND..=global::MIB_ELEMENT;
                let value = global::MIB_VALUE_LO..=global::MIB_VALUE_HI;
                latch.contains(&self.offset) || value.contains(&self.offset)
            }
            BlockType::Port => {
                (port_block::LINK_START..=port_block::LINK_VECTOR).contains(&self.offset)
            }
            BlockType::Queue => (queue::KIND..=queue::REPLY_HI).contains(&self.offset),
            BlockType::Region => (region::BASE_LO..=region::OPTIONS).contains(&self.offset),
            BlockType::Event => self.offset == event::ENABLE,
            BlockType::Broadcast => self.offset == broadcast::CHANNEL,
            BlockType::Fabric => self.offset == fabric_block::BELL_VECTOR,
            BlockType::Peer => self.offset >= peer::OUTWARD,
            BlockType::Target => {
                (target_block::KEY..=target_block::NOTE_VECTOR).contains(&self.offset)
            }
            _ => false,
        }
    }
}
