//! Discovery: walks the list of register blocks. Every offset and count that the device states is
//! checked against the size of its registers before use.

use crate::RegisterSpace;
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, CONTRACT_VERSION_MAJOR, DOORBELL_STRIDE, FABRIC_VC_MAX, PortKind,
    REGION_INDEX_BITS, Status, VC_MAX, broadcast_block as broadcast, capability,
    event_block as event, global_block as global, mib_block as mib, pair_block, port_block,
    queue_block as queue, region_block as region, statistics_block as statistics,
    time_code_block as time_code,
};
use spfe_host::{Error, Result};

/// Most blocks in the list; a device with a longer list is broken.
const BLOCKS_MAX: u32 = 1024;
/// Most ports of a device.
const PORTS_MAX: u32 = 256;
/// Most queue contexts: a doorbell names one with 16 bits.
const QUEUES_MAX: u32 = 1 << 16;
/// Most event vectors: those of MSI-X.
const EVENTS_MAX: u32 = 2048;
/// The contract aligns blocks to cache lines.
const BLOCK_ALIGN: u32 = 64;
/// Size of a block's header {type 16, version 16, size 32, next 32, instance 32}.
const HEADER_BYTES: u32 = 16;
/// Words of VC_PRIORITY.
pub const PRIORITY_WORDS: usize = VC_MAX as usize / 8;

/// A port, as found at the start.
#[derive(Clone, Debug)]
pub struct PortMap {
    /// Offset of the block; 0 for none.
    pub at: u32,
    /// Offset of the broadcast or time-code block; 0 for none.
    pub messages_at: u32,
    /// Offset of the first element of the MIB; 0 for none.
    pub mib_at: u32,
    /// Offset of the first element of the counters of queue pairs; 0 for none.
    pub pair_at: u32,
    pub kind: PortKind,
    pub vcs: u32,
    pub lanes: u32,
    pub first_queue: u32,
    pub queue_count: u32,
}

impl PortMap {
    /// A port whose block has not been found.
    const MISSING: Self = Self {
        at: 0,
        messages_at: 0,
        mib_at: 0,
        pair_at: 0,
        kind: PortKind::None,
        vcs: 0,
        lanes: 0,
        first_queue: 0,
        queue_count: 0,
    };

    /// Number of elements of the MIB.
    pub fn elements(&self) -> u32 {
        self.vcs.max(self.lanes)
    }
}

/// Where the registers of a device are, and how many of what it has.
#[derive(Clone, Debug, Default)]
pub struct Map {
    size: u32,
    pub version: u32,
    pub capability: u32,
    pub queues: u32,
    pub regions: u32,
    pub events: u32,
    pub chain_max: u32,
    pub doorbell_at: u32,
    pub queue_at: u32,
    pub region_at: u32,
    pub event_at: u32,
    /// 0 for a device without counters.
    pub statistics_at: u32,
    pub ports: Vec<PortMap>,
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::device(Status::BadField, format!("registers: {what}"))
}

impl Map {
    /// Reads everything that stays the same while the device is open.
    ///
    /// # Errors
    /// DEVICE_GONE if there is no device, BAD_VERSION for another major version of the contract,
    /// BAD_FIELD for registers that make no sense.
    pub fn read(space: &dyn RegisterSpace) -> Result<Self> {
        let mut map = Self { size: space.size(), ..Self::default() };
        if map.size < global::SIZE {
            return Err(broken(format!("{} bytes are no device", map.size)));
        }
        let magic = space.read32(global::MAGIC);
        if magic != CONTRACT_MAGIC {
            let status = if magic == u32::MAX { Status::DeviceGone } else { Status::NotFound };
            let what = format!("registers: MAGIC is {magic:#x}, expected {CONTRACT_MAGIC:#x}");
            return Err(Error::device(status, what));
        }
        let mut at = 0;
        for _ in 0..BLOCKS_MAX {
            map.take_block(space, at)?;
            let next = space.read32(at + 8);
            if next == 0 {
                return map.checked();
            }
            // The list must lead forward, so that the walk ends.
            let fits = next.checked_add(HEADER_BYTES).is_some_and(|end| end <= map.size);
            if next <= at || !next.is_multiple_of(BLOCK_ALIGN) || !fits {
                return Err(broken(format!("the block at {at:#x} names {next:#x} as the next")));
            }
            at = next;
        }
        Err(broken("the list of blocks is too long"))
    }

    /// Whether the device has an optional feature.
    pub fn can(&self, capability: u32) -> bool {
        self.capability & capability != 0
    }

    fn checked(self) -> Result<Self> {
        if self.queue_at == 0 || self.region_at == 0 || self.event_at == 0 {
            return Err(broken("queues, regions or events are missing"));
        }
        for (number, port) in self.ports.iter().enumerate() {
            if port.at == 0 {
                return Err(broken(format!("port {number} has no block")));
            }
            // The number of elements may come after the block, with that of the port.
            let fits = |at: u32, stride: u32, count: u32| {
                at == 0 || u64::from(at) + u64::from(stride) * u64::from(count) <= self.size.into()
            };
            if !fits(port.mib_at, mib::STRIDE, port.elements()) {
                return Err(broken(format!("the MIB of port {number} ends behind the registers")));
            }
            if !fits(port.pair_at, pair_block::STRIDE, port.vcs) {
                let what = format!("the pair block of port {number} ends behind the registers");
                return Err(broken(what));
            }
        }
        Ok(self)
    }

    fn take_block(&mut self, space: &dyn RegisterSpace, at: u32) -> Result<()> {
        let word = |offset| space.read32(at + offset);
        let (kind, size, instance) = (word(0) & 0xffff, word(4), word(12));
        let kind = BlockType::from_raw(kind as u16);
        if (kind == Some(BlockType::Global)) != (at == 0) {
            return Err(broken(format!("the block at {at:#x} is of type {kind:?}")));
        }
        if u64::from(at) + u64::from(size.max(HEADER_BYTES)) > u64::from(self.size) {
            return Err(broken(format!("the block at {at:#x} ends behind the registers")));
        }
        if !size.is_multiple_of(4) {
            return Err(broken(format!("the block at {at:#x} has {size} bytes")));
        }
        let array = |stride: u32, count: u32| {
            let end = u64::from(at) + u64::from(size) + u64::from(stride) * u64::from(count);
            if size < HEADER_BYTES || end > u64::from(self.size) {
                return Err(broken(format!("the array at {at:#x} ends behind the registers")));
            }
            Ok(at + size)
        };
        match kind {
            Some(BlockType::Global) => self.take_global(space, size)?,
            Some(BlockType::Port) => self.take_port(space, at, size, instance)?,
            Some(BlockType::Broadcast) => {
                self.port(instance, size, broadcast::SIZE)?.messages_at = at;
            }
            Some(BlockType::TimeCode) => {
                self.port(instance, size, time_code::SIZE)?.messages_at = at;
            }
            Some(BlockType::Mib) => self.port(instance, size, HEADER_BYTES)?.mib_at = at + size,
            Some(BlockType::Pair) => self.port(instance, size, HEADER_BYTES)?.pair_at = at + size,
            Some(BlockType::Queue) => self.queue_at = array(queue::STRIDE, self.queues)?,
            Some(BlockType::Region) => self.region_at = array(region::STRIDE, self.regions)?,
            Some(BlockType::Event) => self.event_at = array(event::STRIDE, self.events)?,
            Some(BlockType::Statistics) => {
                self.statistics_at = array(statistics::STRIDE, self.queues)?;
            }
            // Nodes of a fabric and targets, which nothing here asks for, and blocks of a newer contract.
            Some(BlockType::Fabric | BlockType::Peer | BlockType::Target | BlockType::End)
            | None => {}
        }
        Ok(())
    }

    fn port(&mut self, number: u32, size: u32, needed: u32) -> Result<&mut PortMap> {
        let count = self.ports.len();
        if size < needed {
            return Err(broken(format!("a block of port {number} has {size} bytes")));
        }
        let port = self.ports.get_mut(number as usize);
        port.ok_or_else(|| broken(format!("a block names port {number} of {count}")))
    }

    fn take_global(&mut self, space: &dyn RegisterSpace, size: u32) -> Result<()> {
        if size < global::SIZE {
            return Err(broken(format!("the global block has {size} bytes")));
        }
        let read = |offset| space.read32(offset);
        self.version = read(global::CONTRACT_VERSION);
        if self.version >> 16 != u32::from(CONTRACT_VERSION_MAJOR) {
            let what = format!(
                "the device has contract version {}.{}; version {CONTRACT_VERSION_MAJOR} is needed",
                self.version >> 16,
                self.version & 0xffff
            );
            return Err(Error::device(Status::BadVersion, what));
        }
        self.capability = read(global::CAPABILITY);
        let ports = read(global::PORTS);
        self.queues = read(global::QUEUES);
        self.regions = read(global::REGIONS);
        self.events = read(global::EVENTS);
        self.doorbell_at = read(global::DOORBELL_OFFSET);
        // 0 on devices of version 1.1; a packet never has more pieces than the largest ring.
        self.chain_max = read(global::CHAIN_MAX)
            .clamp(spfe_contract::CHAIN_MAX as u32, 1 << spfe_contract::RING_LOG2_MAX);
        let in_range = |value, most| (1..=most).contains(&value);
        if !in_range(ports, PORTS_MAX)
            || !in_range(self.queues, QUEUES_MAX)
            || !in_range(self.regions, 1 << REGION_INDEX_BITS)
            || !in_range(self.events, EVENTS_MAX)
        {
            return Err(broken(format!(
                "out of range: {ports} ports, {} queues, {} regions, {} events",
                self.queues, self.regions, self.events
            )));
        }
        let stride = if self.can(capability::DOORBELL_64K) { 65536 } else { DOORBELL_STRIDE };
        let pages = u64::from(read(global::DOORBELL_PAGES));
        let end = u64::from(self.doorbell_at).saturating_add(stride.saturating_mul(pages));
        if pages == 0 || !self.doorbell_at.is_multiple_of(8) || end > u64::from(self.size) {
            let at = self.doorbell_at;
            return Err(broken(format!("{pages} doorbell pages at {at:#x} do not fit")));
        }
        self.ports = vec![PortMap::MISSING; ports as usize];
        Ok(())
    }

    fn take_port(
        &mut self,
        space: &dyn RegisterSpace,
        at: u32,
        size: u32,
        number: u32,
    ) -> Result<()> {
        let queues = self.queues;
        let port = self.port(number, size, port_block::SIZE)?;
        if port.at != 0 {
            return Err(broken(format!("port {number} has two blocks")));
        }
        let read = |offset| space.read32(at + offset);
        port.at = at;
        port.kind = u8::try_from(read(port_block::KIND))
            .ok()
            .and_then(PortKind::from_raw)
            .unwrap_or(PortKind::None);
        port.vcs = read(port_block::VCS);
        port.lanes = read(port_block::LANES);
        port.first_queue = read(port_block::FIRST_QUEUE);
        port.queue_count = read(port_block::QUEUE_COUNT);
        let most = if port.kind == PortKind::Fabric { FABRIC_VC_MAX } else { VC_MAX };
        let fits = port.vcs <= most as u32
            && port.lanes <= VC_MAX as u32
            && port.queue_count >= 2 * port.vcs
            && port.first_queue.checked_add(port.queue_count).is_some_and(|end| end <= queues);
        if !fits {
            return Err(broken(format!(
                "port {number}: {} virtual channels, {} lanes, {} queues from {} of {queues}",
                port.vcs, port.lanes, port.queue_count, port.first_queue
            )));
        }
        Ok(())
    }
}
