//! A small driver: it knows only the device's registers, the contract and a piece of memory.

use spfe_contract::{
    BlockType, CONTRACT_VERSION_MINOR, Command, Completion, EntryType, QueueKind, Status,
    Submission, access, doorbell, event_block as event, global_block as global, mib_block as mib,
    pair_block, queue_block as queue, region_block as region, statistics_block as statistics,
    submit_flags,
};
use spfe_host::{LinkRate, Mode, SharedMemory, Topology};
use spfe_lab::Lab;
use spfe_plane::registers::bus::Bus;
use spfe_plane::registers::guest::Rights;
use spfe_plane::{DeviceThread, GuestMemory, Network, RegisterFile, Segments, Stride};
use spfe_ring::{Arm, AtomicDeviceLine, AtomicHostLine, Consumer, Producer, Ring};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of the memory a driver shares with its device.
pub const MEMORY_BYTES: usize = 4 << 20;
/// Entries of every ring, log2.
pub const LOG2: u32 = 6;
/// Bytes of a queue's rings, side array and lines, each on its own pages.
const QUEUE_BYTES: u64 = 0x4000;
/// Offset of the buffers, after the memory of 64 queues.
pub const BUFFERS: u64 = 64 * QUEUE_BYTES;

/// One block of the block list.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub kind: BlockType,
    pub version: u16,
    pub at: u32,
    pub size: u32,
    pub instance: u32,
}

/// Follows the block list from offset 0; fails if it does not end.
pub fn walk(registers: &RegisterFile) -> Vec<Block> {
    let (mut blocks, mut at) = (Vec::new(), 0);
    loop {
        let head = registers.read32(at);
        let kind = BlockType::from_raw(head as u16).expect("block type");
        let (size, instance) = (registers.read32(at + 4), registers.read32(at + 12));
        blocks.push(Block { kind, version: (head >> 16) as u16, at, size, instance });
        assert!(blocks.len() <= 64, "the block list does not end");
        at = match registers.read32(at + 8) {
            0 => return blocks,
            next => next,
        };
    }
}

pub struct Driver {
    lab: Arc<Lab>,
    pub network: Arc<Network>,
    pub registers: RegisterFile,
    pub memory: Arc<SharedMemory>,
    /// Register BASE of a region of all of the memory.
    base: u64,
    blocks: Vec<Block>,
    _device: Option<DeviceThread>,
}

/// The region field of an entry and of an address, from a KEY register.
pub fn region_field(key: u32) -> u16 {
    u16::try_from(key).expect("KEY has 16 bits")
}

impl Driver {
    /// A driver of an endpoint whose ports are joined, with a device thread.
    pub fn new() -> Self {
        Self::of(Topology::looped(LinkRate::Unlimited, Mode::Thread), true)
    }

    /// A driver of endpoint 0 of a network, with or without a device thread.
    pub fn of(topology: Topology, device: bool) -> Self {
        let lab = Arc::new(Lab::new(topology).unwrap());
        let device = device.then(|| lab.start_device().unwrap().expect("mode thread"));
        Self::on(lab, device, CONTRACT_VERSION_MINOR)
    }

    /// A driver whose memory is at a bus address (capability IOVA).
    pub fn behind_bus(address: u64, bus: &Arc<GuestMemory>) -> Self {
        let lab = Arc::new(Lab::new(Topology::looped(LinkRate::Unlimited, Mode::Thread)).unwrap());
        let device = lab.start_device().unwrap();
        let memory = Arc::new(SharedMemory::create("driver", MEMORY_BYTES).unwrap());
        let file = Some((memory.fd().try_clone_to_owned().unwrap(), 0));
        let rights = Rights { read: true, write: true };
        assert_eq!(bus.map(address, MEMORY_BYTES as u64, file, rights).unwrap(), Ok(()));
        Self::with(lab, device, CONTRACT_VERSION_MINOR, memory, bus.clone(), address)
    }

    /// A driver of a device that has an older minor version of the contract.
    pub fn with_older(topology: Topology, minor: u16) -> Self {
        let lab = Arc::new(Lab::new(topology).unwrap());
        let device = lab.start_device().unwrap();
        Self::on(lab, device, minor)
    }

    /// Another driver of the same endpoint.
    pub fn sibling(&self) -> Self {
        Self::on(self.lab.clone(), None, CONTRACT_VERSION_MINOR)
    }

    fn on(lab: Arc<Lab>, device: Option<DeviceThread>, minor: u16) -> Self {
        let memory = Arc::new(SharedMemory::create("driver", MEMORY_BYTES).unwrap());
        let segments = Arc::new(Segments::default());
        let base = segments.add(memory.clone());
        Self::with(lab, device, minor, memory, segments, base.into())
    }

    fn with(
        lab: Arc<Lab>,
        device: Option<DeviceThread>,
        minor: u16,
        memory: Arc<SharedMemory>,
        bus: Arc<dyn Bus>,
        base: u64,
    ) -> Self {
        let network = lab.network().clone();
        let (at, stride) = (network.clone(), Stride::Usual);
        let registers = RegisterFile::with_minor(at, 0, bus, stride, minor).unwrap();
        let blocks = walk(&registers);
        Self { lab, network, registers, memory, base, blocks, _device: device }
    }

    /// Offset of a block's first register; for arrays, of an element.
    pub fn at(&self, kind: BlockType, element: u32) -> u32 {
        let stride = match kind {
            BlockType::Queue => queue::STRIDE,
            BlockType::Region => region::STRIDE,
            BlockType::Event => event::STRIDE,
            BlockType::Statistics => statistics::STRIDE,
            _ => 0,
        };
        let mut of_kind = self.blocks.iter().filter(|block| block.kind == kind);
        let block = of_kind.find(|block| stride != 0 || block.instance == element).unwrap();
        if stride == 0 { block.at } else { block.at + block.size + stride * element }
    }

    pub fn read(&self, kind: BlockType, element: u32, register: u32) -> u32 {
        self.registers.read32(self.at(kind, element) + register)
    }

    pub fn write(&self, kind: BlockType, element: u32, register: u32, value: u32) {
        self.registers.write32(self.at(kind, element) + register, value);
    }

    /// A 64-bit register pair, read HI, LO, HI.
    pub fn read64(&self, kind: BlockType, element: u32, low: u32) -> u64 {
        loop {
            let high = self.read(kind, element, low + 4);
            let value = self.read(kind, element, low);
            if self.read(kind, element, low + 4) == high {
                return u64::from(high) << 32 | u64::from(value);
            }
        }
    }

    /// Offset of an element of a port's management information base.
    pub fn mib_at(&self, port: u32, element: u32) -> u32 {
        let mut of_kind = self.blocks.iter().filter(|block| block.kind == BlockType::Mib);
        let block = of_kind.find(|block| block.instance == port).unwrap();
        block.at + block.size + mib::STRIDE * element
    }

    /// A 64-bit value of a port's management information base, by its offset in the element.
    pub fn mib(&self, port: u32, element: u32, offset: u32) -> u64 {
        let at = self.mib_at(port, element) + offset;
        u64::from(self.registers.read32(at + 4)) << 32 | u64::from(self.registers.read32(at))
    }

    /// A 64-bit value of the counters of the queue pair of a virtual channel, by its offset in the
    /// element.
    pub fn pair_counter(&self, port: u32, vc: u32, offset: u32) -> u64 {
        let mut of_kind = self.blocks.iter().filter(|block| block.kind == BlockType::Pair);
        let block = of_kind.find(|block| block.instance == port).unwrap();
        let at = block.at + block.size + pair_block::STRIDE * vc + offset;
        u64::from(self.registers.read32(at + 4)) << 32 | u64::from(self.registers.read32(at))
    }

    /// Sets an item of a port's management information base.
    pub fn mib_set(&self, port: u32, item: u32, element: u32, value: u64) -> Status {
        self.registers.write32(global::MIB_ITEM, item);
        self.registers.write32(global::MIB_ELEMENT, element);
        self.registers.write32(global::MIB_VALUE_LO, value as u32);
        self.registers.write32(global::MIB_VALUE_HI, (value >> 32) as u32);
        self.command(Command::MibSet, port)
    }

    /// Runs a command as the contract says: command, index, new CFG_SEQ, doorbell, CFG_ACK.
    pub fn command_raw(&self, command: u32, index: u32) -> Status {
        let sequence = self.registers.read32(global::CFG_ACK).wrapping_add(1).max(1);
        self.registers.write32(global::CFG_COMMAND, command);
        self.registers.write32(global::CFG_INDEX, index);
        self.registers.write32(global::CFG_SEQ, sequence);
        self.ring(2, 0, 0);
        wait("CFG_ACK", || self.registers.read32(global::CFG_ACK) == sequence);
        Status::from_raw(self.registers.read32(global::CFG_STATUS) as u8).unwrap()
    }

    pub fn command(&self, command: Command, index: u32) -> Status {
        self.command_raw(u32::from(command.raw()), index)
    }

    pub fn ring(&self, kind: u64, queue: u32, position: u32) {
        let value = kind << doorbell::KIND_SHIFT | u64::from(queue) | u64::from(position) << 32;
        self.registers.doorbell(0, value);
    }

    /// Writes a region entry: the whole segment, readable and writable.
    pub fn configure_region(&self, index: u32, domain: u32) {
        let write = |register, value| self.write(BlockType::Region, index, register, value);
        write(region::BASE_LO, self.base as u32);
        write(region::BASE_HI, (self.base >> 32) as u32);
        write(region::SIZE_LO, MEMORY_BYTES as u32);
        write(region::SIZE_HI, 0);
        write(region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE);
        write(region::DOMAIN, domain);
    }

    /// Enables a region over the whole segment. Returns its region field.
    pub fn enable_region(&self, index: u32) -> u16 {
        self.configure_region(index, 0);
        assert_eq!(self.command(Command::RegionEnable, index), Status::Ok);
        let key = self.read(BlockType::Region, index, region::KEY);
        assert_eq!(key & 0xfff, index, "the key's index is the entry's");
        region_field(key)
    }

    /// Writes a queue context whose rings are in `place` of a region.
    pub fn configure_queue(&self, index: u32, kind: QueueKind, region: u16, place: u64) {
        let write = |register, value| self.write(BlockType::Queue, index, register, value);
        let address = |low, offset: u64| {
            let value = u64::from(region) << 48 | (place * QUEUE_BYTES + offset);
            write(low, value as u32);
            write(low + 4, (value >> 32) as u32);
        };
        write(queue::KIND, u32::from(kind.raw()));
        write(queue::DOMAIN, 0);
        write(queue::SQ_LOG2, LOG2);
        write(queue::CQ_LOG2, LOG2);
        address(queue::SQ_LO, 0);
        address(queue::CQ_LO, 0x1000);
        address(queue::STAMP_LO, 0x2000);
        address(queue::LINES_LO, 0x3000);
    }

    /// A queue that is enabled already.
    pub fn queue(&self, index: u32, region: u16, place: u64) -> Queue<'_> {
        Queue::new(self, index, region, place)
    }

    /// Configures and enables a queue in an unused place.
    pub fn enable_queue(&self, index: u32, kind: QueueKind, region: u16, place: u64) -> Queue<'_> {
        let queue = Queue::new(self, index, region, place);
        self.configure_queue(index, kind, region, place);
        assert_eq!(self.command(Command::QueueEnable, index), Status::Ok);
        queue
    }

    /// Writes bytes to a buffer that the device does not own.
    pub fn put(&self, offset: u64, bytes: &[u8]) {
        assert!(offset as usize + bytes.len() <= MEMORY_BYTES);
        // SAFETY: inside the mapping, which nothing else in this process refers to.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.at_memory(offset), bytes.len()) };
    }

    /// Bytes of a buffer that the device has returned.
    pub fn get(&self, offset: u64, length: usize) -> Vec<u8> {
        assert!(offset as usize + length <= MEMORY_BYTES);
        let mut bytes = vec![0; length];
        // SAFETY: as for `put`.
        unsafe { std::ptr::copy(self.at_memory(offset), bytes.as_mut_ptr(), length) };
        bytes
    }

    fn at_memory(&self, offset: u64) -> *mut u8 {
        self.memory.base().as_ptr().wrapping_add(offset as usize)
    }
}

/// A queue as its driver uses it.
pub struct Queue<'a> {
    driver: &'a Driver,
    index: u32,
    region: u16,
    place: u64,
    pub submissions: Producer,
    pub completions: Consumer,
}

impl<'a> Queue<'a> {
    fn new(driver: &'a Driver, index: u32, region: u16, place: u64) -> Self {
        let ring = |offset| {
            let slots =
                std::ptr::NonNull::new(driver.at_memory(place * QUEUE_BYTES + offset)).unwrap();
            // SAFETY: inside the driver's memory, which outlives the queue.
            unsafe { Ring::new(slots.cast(), LOG2) }
        };
        let (submissions, completions) = (ring(0), ring(0x1000));
        submissions.clear();
        completions.clear();
        let (submissions, completions) = (Producer::new(submissions), Consumer::new(completions));
        Self { driver, index, region, place, submissions, completions }
    }

    /// Posts a buffer to send from or to receive into.
    pub fn post(&mut self, kind: EntryType, offset: u64, length: u32) {
        self.post_in(self.region, kind, offset, length);
    }

    /// Posts a buffer of another region.
    pub fn post_in(&mut self, region: u16, kind: EntryType, offset: u64, length: u32) {
        let mut flags = u16::from(kind.raw());
        if kind == EntryType::Data {
            flags |= submit_flags::SIGNAL | submit_flags::LAST;
        }
        let entry = Submission { offset, region, length, flags, phase: 0 };
        self.push(entry.to_words());
    }

    pub fn push(&mut self, entry: [u64; 2]) {
        self.submissions.push(entry);
        self.driver.ring(0, self.index, self.submissions.position);
    }

    /// Waits for the next entry of the completion ring.
    pub fn pop(&mut self) -> [u64; 2] {
        wait("a completion", || self.completions.peek().is_some());
        self.completions.pop().unwrap()
    }

    pub fn complete(&mut self) -> Completion {
        Completion::from_words(self.pop())
    }

    fn line(&self, offset: u64) -> *mut u8 {
        self.driver.at_memory(self.place * QUEUE_BYTES + 0x3000 + offset)
    }

    /// Arms the queue for its next completion and an event.
    pub fn arm(&self, sequence: u32) {
        // SAFETY: the line lies in the driver's memory, aligned; all its fields are atomics.
        let line = unsafe { &*self.line(0).cast::<AtomicHostLine>() };
        let count = Some(self.completions.position.wrapping_add(1));
        let arm = Arm { count, event: true, ..Arm::default() };
        line.arm(sequence, &arm, spfe_host::os::heavy_barrier);
        self.driver.ring(1, self.index, sequence);
    }

    /// State and error that the device has written to the queue's line.
    pub fn device_state(&self) -> (u32, u32) {
        // SAFETY: as for `arm`.
        unsafe { &*self.line(64).cast::<AtomicDeviceLine>() }.state()
    }
}

/// Waits until `come` holds, at most 10 s.
pub fn wait(what: &str, mut come: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !come() {
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::yield_now();
    }
}
