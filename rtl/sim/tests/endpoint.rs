//! The endpoint as a driver sees it: register blocks, commands with their statuses, message queues
//! from one port to the other, interrupts, and a host that writes anything anywhere.

use std::cell::RefCell;
use std::rc::Rc;

use spfe_contract::{
    BlockType, Command, Completion, Message, MibItem, QueueKind, QueueState, Release, SEEN_OFFSET,
    Status, Submission, access, arm_flags, broadcast_block as broadcast, completion_flags,
    doorbell, event_block as event, global_block as global, mib_block as mib, pair_block,
    port_block, queue_block as queue, queue_options, region_block as region, region_options,
    statistics_block as statistics, submit_flags,
};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, LinkBroadcast};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::{SpaceFibrePort, Word};
use spfe_rtl_sim::endpoint::{Endpoint, Far, PORTS};
use spfe_rtl_sim::seeds;

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

#[test]
fn blocks_are_those_of_the_contract() {
    let mut driver = Driver::new(1);
    let kinds: Vec<_> = driver.blocks.iter().map(|block| (block.kind, block.instance)).collect();
    let expected = [
        (BlockType::Global, 0),
        (BlockType::Port, 0),
        (BlockType::Port, 1),
        (BlockType::Broadcast, 0),
        (BlockType::Broadcast, 1),
        (BlockType::Queue, 0),
        (BlockType::Region, 0),
        (BlockType::Event, 0),
        (BlockType::Statistics, 0),
        (BlockType::Mib, 0),
        (BlockType::Mib, 1),
        (BlockType::Pair, 0),
        (BlockType::Pair, 1),
    ];
    assert_eq!(kinds, expected);
    let ends = [
        (BlockType::Queue, queue::STRIDE * QUEUES),
        (BlockType::Region, region::STRIDE * REGIONS),
        (BlockType::Event, event::STRIDE * EVENTS),
        (BlockType::Statistics, statistics::STRIDE * QUEUES),
        (BlockType::Mib, mib::STRIDE * VCS),
        (BlockType::Pair, pair_block::STRIDE * VCS),
    ];
    for pair in driver.blocks.windows(2) {
        let bytes = ends.iter().find(|(kind, _)| *kind == pair[0].kind).map_or(0, |end| end.1);
        let end = pair[0].at + pair[0].size + bytes;
        assert_eq!(pair[1].at, end.next_multiple_of(256), "{:?} {:?}", pair[0], pair[1]);
    }
    let last = driver.blocks[driver.blocks.len() - 1];
    let end = last.at + last.size + pair_block::STRIDE * VCS;
    let device = &mut driver.device;
    for (register, value) in [
        (global::MAGIC, spfe_contract::CONTRACT_MAGIC),
        (global::PORTS, PORTS as u32),
        (global::QUEUES, QUEUES),
        (global::REGIONS, REGIONS),
        (global::EVENTS, EVENTS),
        (global::PAGES_MAX, PAGES),
        (global::CHAIN_MAX, 24),
        (global::DOORBELL_OFFSET, end.next_multiple_of(4096)),
        (global::CFG_ACK, 0),
    ] {
        assert_eq!(device.read(register), value, "global register {register:#x}");
    }
    for port in 0..PORTS as u32 {
        let at = driver.block(BlockType::Port, port).at;
        for (register, value) in [
            (port_block::VCS, VCS),
            (port_block::LANES, 1),
            (port_block::FIRST_QUEUE, port * PORT_QUEUES),
            (port_block::QUEUE_COUNT, PORT_QUEUES),
        ] {
            assert_eq!(driver.device.read(at + register), value, "port register {register:#x}");
        }
    }
    let at = driver.block(BlockType::Queue, 0);
    for number in 0..QUEUES {
        let element = at.at + at.size + queue::STRIDE * number;
        let (port, place) = (number / PORT_QUEUES, number % PORT_QUEUES);
        let vc = if place < 2 * VCS { place / 2 } else { 255 };
        assert_eq!(driver.device.read(element + queue::PORT), port, "port of queue {number}");
        assert_eq!(driver.device.read(element + queue::VC), vc, "channel of queue {number}");
    }
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
}

#[test]
fn every_command_answers_with_the_status_of_the_contract() {
    let mut driver = Driver::new(2);
    assert_eq!(driver.raw_command(8, 0), Status::BadOpcode);
    assert_eq!(driver.raw_command(u32::MAX, 0), Status::BadOpcode);
    regions(&mut driver);
    queues(&mut driver);
    let change = |driver: &mut Driver, kind, register, value, status| {
        let old = driver.get(kind, 0, register);
        driver.set(kind, 0, register, value);
        assert_eq!(driver.command(Command::PortConfigure, 0), status, "{register:#x}: {value}");
        driver.set(kind, 0, register, old);
    };
    change(&mut driver, BlockType::Port, port_block::LINK_START, 2, Status::BadField);
    change(&mut driver, BlockType::Port, port_block::LINK_VECTOR, EVENTS + 1, Status::BadField);
    change(&mut driver, BlockType::Port, port_block::LINK_VECTOR, EVENTS, Status::Ok);
    change(&mut driver, BlockType::Broadcast, broadcast::CHANNEL, 256, Status::BadField);
    change(&mut driver, BlockType::Broadcast, broadcast::CHANNEL, 255, Status::Ok);
    assert_eq!(driver.command(Command::PortConfigure, PORTS as u32), Status::NotFound);
    assert_eq!(driver.set_mib(PORTS as u32, 6, 0, 1), Status::NotFound);
    for (item, element, value, status) in [
        (MibItem::Priority, 0, 15, Status::Ok),
        (MibItem::Priority, VCS - 1, 16, Status::BadField),
        (MibItem::Priority, VCS, 0, Status::NotFound),
        (MibItem::TxEn, 1, 1, Status::NotFound),
        (MibItem::LaneState, 0, 1, Status::BadOpcode),
        (MibItem::NearEndSerialLoopback, 0, 1, Status::BadOpcode),
        (MibItem::LinkReset, 0, 0, Status::BadField),
        (MibItem::VirtualNetwork, 0, 1, Status::BadField),
        (MibItem::VirtualNetwork, 1, 63, Status::Ok),
        (MibItem::MaxDataSendingLanes, 0, 2, Status::BadField),
        (MibItem::TimeSlots, 1, u64::MAX - 1, Status::Ok),
        (MibItem::ExpectedBandwidth, 1, 0x1_0000, Status::BadField),
    ] {
        let done = driver.set_mib(0, item.raw().into(), element, value);
        assert_eq!(done, status, "{item:?} {element}: {value}");
    }
    assert_eq!(
        driver.set_mib(0, u32::from(MibItem::ScheduleType.raw()) + 1, 0, 1),
        Status::NotFound
    );
    assert_eq!(driver.set_mib(0, u32::MAX, 0, 1), Status::NotFound);
    assert_eq!(driver.mib(0, MibItem::TimeSlots, 1), u64::MAX - 1);
    assert_eq!(driver.mib(0, MibItem::VirtualNetwork, 1), 63);
    assert_eq!(driver.mib(1, MibItem::VirtualNetwork, 1), 1, "the other port");
}

/// REGION_ENABLE and REGION_DISABLE.
fn regions(driver: &mut Driver) {
    use Command::{RegionDisable, RegionEnable};
    assert_eq!(driver.command(RegionEnable, REGIONS), Status::NotFound);
    assert_eq!(driver.command(RegionDisable, REGIONS), Status::NotFound);
    assert_eq!(driver.command(RegionDisable, 1), Status::BadRegion);
    // A list of three pages, of which the second is not a multiple of its size.
    let list = 0x8000;
    driver.put(list, [0x2_0000, 0x2_1800]);
    driver.put(list + 16, [0x2_2000, 0]);
    let memory = 1 << 20;
    for (base, bytes, pages, register, value, status) in [
        (BASE, 0, 0, region::OPTIONS, 0, Status::BadField),
        (BASE, BYTES, 0, region::DOMAIN, 256, Status::BadField),
        (BASE, BYTES, 0, region::OPTIONS, 1, Status::BadField),
        (BASE, BYTES, 0, region::PAGE_LEVELS, 1, Status::BadField),
        (BASE + 8, BYTES, 0, region::OPTIONS, 0, Status::BadField),
        (!0xfff, 0x2000, 0, region::OPTIONS, 0, Status::OutOfBounds),
        (0, (1 << 48) + 1, 0, region::OPTIONS, 0, Status::OutOfBounds),
        (list, BYTES, 11, region::OPTIONS, 0, Status::BadField),
        (list, BYTES, 31, region::OPTIONS, 0, Status::BadField),
        (list, BYTES, 12, region::PAGE_LEVELS, 2, Status::BadField),
        (list + 4, BYTES, 12, region::OPTIONS, 0, Status::BadField),
        (list, 0x3000, 12, region::OPTIONS, 0, Status::BadField),
        (memory, 0x3000, 12, region::OPTIONS, 0, Status::OutOfBounds),
        (list, u64::from(PAGES) * 4096 + 1, 12, region::OPTIONS, 0, Status::NoResources),
        (list, 1 << 48, 30, region::OPTIONS, 0, Status::NoResources),
    ] {
        driver.set_region(1, base, bytes, pages);
        driver.set(BlockType::Region, 1, register, value);
        let done = driver.command(RegionEnable, 1);
        assert_eq!(done, status, "{base:#x}, {bytes:#x}, pages {pages}, {register:#x} {value}");
        assert_eq!(driver.get(BlockType::Region, 1, region::KEY), 0);
    }
    everything(driver);
    // All pages, in two regions; a third finds no room, until one of them is gone.
    let all = u64::from(PAGES) / 2;
    for page in 0..all {
        let at = (list + 8 * page) as usize;
        driver.device.memory[at..at + 8].copy_from_slice(&(0x2_0000 + 4096 * page).to_le_bytes());
    }
    let first = driver.region(1, list, all * 4096, 12);
    driver.region(2, list, all * 4096 - 5, 12);
    driver.set_region(3, list, 4096, 12);
    assert_eq!(driver.command(RegionEnable, 3), Status::NoResources);
    assert_eq!(driver.command(RegionEnable, 1), Status::Busy);
    assert_eq!(driver.command(RegionDisable, 1), Status::Ok);
    assert_eq!(driver.command(RegionDisable, 1), Status::BadRegion);
    assert_eq!(driver.command(RegionEnable, 3), Status::Ok);
    // The next key of an index has another generation, and none is 0.
    let mut last = first;
    for _ in 0..20 {
        let key = driver.region(0, BASE, BYTES, 0);
        assert!(key != last && key != 0, "key {key:#x} after {last:#x}");
        last = key;
        assert_eq!(driver.command(RegionDisable, 0), Status::Ok);
    }
    assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
    assert_eq!(driver.get(BlockType::Region, 2, region::KEY), 0);
    assert_eq!(driver.device.read(global::RESETS), 1);
}

/// The region of all the bus (LOCAL_DMA).
fn everything(driver: &mut Driver) {
    use Command::{QueueEnable, RegionDisable, RegionEnable};
    let remote = access::LOCAL_READ | access::REMOTE_READ;
    for (register, value, status) in [
        (region::BASE_LO, 0x1000, Status::BadField),
        (region::BASE_HI, 1, Status::BadField),
        (region::SIZE_LO, 0x4000, Status::BadField),
        (region::SIZE_HI, 1, Status::BadField),
        (region::PAGE_LIST, 12, Status::BadField),
        (region::PAGE_LEVELS, 1, Status::BadField),
        (region::ACCESS, remote, Status::BadField),
        (region::ACCESS, access::REMOTE_WRITE, Status::BadField),
        (region::OPTIONS, region_options::LOCAL_DMA | 2, Status::BadField),
        (region::DOMAIN, 256, Status::BadField),
        (region::DOMAIN, 1, Status::AccessDenied),
    ] {
        driver.set_everything(1);
        driver.set(BlockType::Region, 1, register, value);
        assert_eq!(driver.command(RegionEnable, 1), status, "{register:#x}: {value:#x}");
        assert_eq!(driver.get(BlockType::Region, 1, region::KEY), 0);
    }
    driver.set_everything(1);
    assert_eq!(driver.command(RegionEnable, 1), Status::Ok);
    let key = u64::from(driver.get(BlockType::Region, 1, region::KEY)) << 48;
    // No ring and no line may be in it, whatever its rights.
    driver.set_region(0, BASE, BYTES, 0);
    driver.set(BlockType::Region, 0, region::DOMAIN, 0);
    assert_eq!(driver.command(RegionEnable, 0), Status::Ok);
    let rings = u64::from(driver.get(BlockType::Region, 0, region::KEY)) << 48;
    for register in [queue::SQ_LO, queue::CQ_LO, queue::STAMP_LO, queue::LINES_LO] {
        driver.set_queue(SENDER, QueueKind::MessageTx, rings);
        driver.set(BlockType::Queue, SENDER, queue::DOMAIN, 0);
        let at = driver.at(BlockType::Queue, SENDER, register);
        driver.device.write64(at, key + BASE);
        assert_eq!(driver.command(QueueEnable, SENDER), Status::BadRegion, "{register:#x}");
    }
    for index in 0..2 {
        assert_eq!(driver.command(RegionDisable, index), Status::Ok);
    }
}

/// QUEUE_ENABLE and QUEUE_DISABLE.
fn queues(driver: &mut Driver) {
    use Command::{QueueDisable, QueueEnable, RegionDisable};
    assert_eq!(driver.command(QueueEnable, QUEUES), Status::NotFound);
    assert_eq!(driver.command(QueueDisable, QUEUES), Status::NotFound);
    assert_eq!(driver.command(QueueDisable, SENDER), Status::NotFound);
    let key = driver.region(0, BASE, BYTES, 0);
    let old = key ^ 1 << 60;
    let outside = key + BYTES - 0x20;
    for (register, value, status) in [
        (queue::KIND, u64::from(QueueKind::None.raw()), Status::BadField),
        (queue::KIND, u64::from(QueueKind::MessageRx.raw()), Status::BadField),
        (queue::KIND, 0x104, Status::BadField),
        (queue::VECTOR, u64::from(EVENTS), Status::BadField),
        (queue::DOMAIN, 256, Status::BadField),
        (queue::FILTER, 1 << 18, Status::BadField),
        (queue::SQ_LOG2, 1, Status::BadRing),
        (queue::SQ_LOG2, 3, Status::BadRing),
        (queue::CQ_LOG2, 16, Status::BadRing),
        (queue::SQ_LO, key + 0x20, Status::BadRing),
        (queue::LINES_LO, key + 0x20, Status::BadRing),
        (queue::STAMP_LO, key + 4, Status::BadRing),
        (queue::SQ_LO, old, Status::BadRegion),
        (queue::CQ_LO, 5 << 48, Status::BadRegion),
        (queue::DOMAIN, 4, Status::BadRegion),
        (queue::STAMP_LO, outside + 8, Status::OutOfBounds),
        (queue::LINES_LO, (outside + 0x40) & !0x3f, Status::OutOfBounds),
        (queue::CQ_LO, key | 0xffff_ffff_ffc0, Status::OutOfBounds),
        (queue::CQ_LO, key | 1 << 40, Status::OutOfBounds),
    ] {
        driver.set_queue(SENDER, QueueKind::MessageTx, key);
        let at = driver.at(BlockType::Queue, SENDER, register);
        if matches!(register, queue::SQ_LO | queue::CQ_LO | queue::STAMP_LO | queue::LINES_LO) {
            driver.device.write64(at, value);
        } else {
            driver.device.write(at, value as u32);
        }
        let done = driver.command(QueueEnable, SENDER);
        assert_eq!(done, status, "{register:#x}: {value:#x}");
        assert_eq!(driver.get(BlockType::Queue, SENDER, queue::STATE), 0);
    }
    driver.set_queue(SENDER, QueueKind::MessageTx, key);
    assert_eq!(driver.command(QueueEnable, SENDER), Status::Ok);
    assert_eq!(driver.command(QueueEnable, SENDER), Status::Busy);
    assert_eq!(
        driver.get(BlockType::Queue, SENDER, queue::STATE),
        QueueState::Enabled.raw().into()
    );
    assert_eq!(driver.command(RegionDisable, 0), Status::Busy);
    assert_eq!(driver.command(QueueDisable, SENDER), Status::Ok);
    assert_eq!(driver.get(BlockType::Queue, SENDER, queue::STATE), 0);
    assert_eq!(driver.command(RegionDisable, 0), Status::Ok);
    // A region that the device may only read.
    driver.set_region(0, BASE, BYTES, 0);
    driver.set(BlockType::Region, 0, region::ACCESS, access::LOCAL_READ);
    assert_eq!(driver.command(Command::RegionEnable, 0), Status::Ok);
    let key = u64::from(driver.get(BlockType::Region, 0, region::KEY)) << 48;
    driver.set_queue(SENDER, QueueKind::MessageTx, key);
    assert_eq!(driver.command(QueueEnable, SENDER), Status::AccessDenied);
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

#[test]
fn messages_go_from_ring_to_ring() {
    let mut driver = Driver::new(3);
    let key = driver.region(4, BASE, BYTES, 0);
    driver.pair(key);
    let (to, from) = (BASE, BASE + QUEUE);
    assert_eq!(driver.word(to + LINES + 64) >> 32, 1, "the device wants doorbells");
    assert_eq!(driver.word(to + LINES + 72), 1, "state in the device line");
    let (mut seen, mut vectors) = (0, [0; 2]);
    for position in 0..10u32 {
        let data = 0x0102_0304_0506_0708 * u64::from(position + 1);
        driver.arm(from + LINES, 2 * position + 1, position + 1);
        driver.put(to + SQ + slot(position), message(data, position));
        driver.ring(SENDER);
        let at = from + CQ + slot(position);
        driver.device.until("a message comes", |device| {
            let word =
                u64::from_le_bytes(device.memory[at as usize + 8..][..8].try_into().unwrap());
            word >> 48 == u64::from(phase(position))
        });
        let came = Message::from_words(driver.entry(at));
        assert_eq!((came.data, came.channel, came.r#type, came.kind), (data, 7, 9, 1));
        assert_eq!(came.flags, completion_flags::STAMPED, "position {position}");
        let time = driver.word(from + TIMES + slot(position) / 2);
        assert!(time > seen, "time {time} after {seen}");
        seen = time;
        driver.device.run(2000);
        let done = driver.entry(to + CQ + slot(position));
        assert_eq!(done[1] >> 48, u64::from(phase(position)), "completion {position}");
        assert_eq!((done[0] >> 56, done[1] as u16), (0, position as u16), "completion");
        // Armed: one wake-up and one event for each message; the sender was not armed.
        assert_eq!(driver.word(from + LINES + 64) as u32, position + 1, "wake-ups");
        vectors[1] += 1;
        let vector = RECEIVER % EVENTS;
        assert_eq!(driver.get(BlockType::Event, vector, event::COUNT), position + 1);
        assert_eq!(driver.device.messages[vector as usize], position + 1);
        assert_eq!(driver.device.messages[(SENDER % EVENTS) as usize], vectors[0]);
        // The line is high until the host has stored the count.
        assert_eq!(driver.device.lines, 1 << vector);
        let page = driver.device.read(global::DOORBELL_OFFSET);
        driver.device.write(page + SEEN_OFFSET as u32 + 4 * vector, position);
        assert_eq!(driver.device.lines, 1 << vector, "an old count");
        driver.device.write(page + 4096 + SEEN_OFFSET as u32 + 4 * vector, position + 1);
        assert_eq!(driver.device.lines, 1 << vector, "only page 0 takes counts");
        driver.device.write(page + SEEN_OFFSET as u32 + 4 * vector, position + 1);
        driver.device.run(20);
        assert_eq!(driver.device.lines, 0);
        // Each message gives its credit back.
        let back =
            Release { bytes: 0, completions: 1, reserved0: 0, flags: 6, phase: phase(position) };
        driver.put(from + SQ + slot(position), back.to_words());
        driver.ring(RECEIVER);
        driver.device.run(500);
    }
    assert_eq!(driver.get(BlockType::Broadcast, 0, broadcast::SENT), 10);
    assert_eq!(driver.get(BlockType::Broadcast, 1, broadcast::RECEIVED), 10);
    assert_eq!(driver.get(BlockType::Broadcast, 1, broadcast::DROPPED), 0);
    for (number, register, value) in [
        (SENDER, statistics::PACKETS_LO, 10),
        (SENDER, statistics::BYTES_LO, 80),
        (RECEIVER, statistics::PACKETS_LO, 10),
        (RECEIVER, statistics::WAKES_LO, 10),
        (RECEIVER, statistics::ERRORS_LO, 0),
    ] {
        assert_eq!(driver.get(BlockType::Statistics, number, register), value, "{register:#x}");
    }
}

/// A receiver without credit loses messages, and the next one says so. A bad entry is answered, and
/// a bad RELEASE counts as an error.
#[test]
fn a_full_ring_loses_messages_and_says_so() {
    let mut driver = Driver::new(4);
    let key = driver.region(4, BASE, BYTES, 0);
    driver.pair(key);
    let (to, from) = (BASE, BASE + QUEUE);
    let send = |driver: &mut Driver, position: u32, words: [u64; 2]| {
        driver.put(to + SQ + slot(position), words);
        driver.ring(SENDER);
        driver.device.run(2000);
        let done = driver.entry(to + CQ + slot(position));
        assert_eq!((done[1] >> 48, done[1] as u16), (phase(position).into(), position as u16));
        Status::from_raw((done[0] >> 56) as u8).expect("a status")
    };
    for position in 0..7 {
        assert_eq!(send(&mut driver, position, message(position.into(), position)), Status::Ok);
    }
    assert_eq!(driver.get(BlockType::Broadcast, 1, broadcast::DROPPED), 3);
    assert_eq!(driver.get(BlockType::Statistics, RECEIVER, statistics::DROPPED_LO), 3);
    // Three bad releases, of more credits than there are, of none, and of another type.
    let release = |completions, flags, position| {
        Release { bytes: 0, completions, reserved0: 0, flags, phase: phase(position) }.to_words()
    };
    for (position, completions, flags) in [(0, 5, 6), (1, 0, 6), (2, 1, 5), (3, 4, 6)] {
        driver.put(from + SQ + slot(position), release(completions, flags, position));
    }
    driver.ring(RECEIVER);
    driver.device.run(3000);
    assert_eq!(driver.get(BlockType::Statistics, RECEIVER, statistics::ERRORS_LO), 3);
    assert_eq!(send(&mut driver, 7, message(70, 7)), Status::Ok);
    let came = Message::from_words(driver.entry(from + CQ + slot(4)));
    assert_eq!((came.data, came.phase), (70, 2));
    assert_eq!(came.flags, completion_flags::STAMPED | completion_flags::LOST);
    for (position, change, status) in
        [(8, 1, Status::BadOpcode), (9, 0x8000, Status::BadField), (10, 0, Status::Ok)]
    {
        let mut words = message(80, position);
        words[1] ^= change << 32;
        assert_eq!(send(&mut driver, position, words), status, "flags ^ {change:#x}");
    }
    let mut words = message(1 << 8, 11);
    words[1] ^= 3 << 16;
    assert_eq!(send(&mut driver, 11, words), Status::BadField, "a time-code of 9 bits");
    let mut words = message(1, 12);
    words[1] ^= 3 << 16;
    assert_eq!(send(&mut driver, 12, words), Status::BadOpcode, "a time-code");
}

/// A host need not ring for a RELEASE: the device looks for one before it loses a message. A bad one
/// found then returns nothing.
#[test]
fn releases_are_found_without_a_doorbell() {
    let mut driver = Driver::new(10);
    let key = driver.region(4, BASE, BYTES, 0);
    driver.pair(key);
    let (to, from) = (BASE, BASE + QUEUE);
    let lost = 8;
    for position in 0..20 {
        driver.put(to + SQ + slot(position), message(position.into(), position));
        driver.ring(SENDER);
        driver.device.run(2000);
        if position == lost {
            continue;
        }
        let at = position - u32::from(position > lost);
        let came = Message::from_words(driver.entry(from + CQ + slot(at)));
        assert_eq!((came.data, came.phase), (position.into(), phase(at)));
        let flag = if position == lost + 1 { completion_flags::LOST } else { 0 };
        assert_eq!(came.flags, completion_flags::STAMPED | flag, "message {position}");
        // The device looks for the release of message 4 when message 8 comes.
        let completions = u32::from(at != 4);
        let phase = phase(at);
        let back = Release { bytes: 0, completions, reserved0: 0, flags: 6, phase };
        driver.put(from + SQ + slot(at), back.to_words());
    }
    assert_eq!(driver.get(BlockType::Broadcast, 1, broadcast::DROPPED), 1);
    assert_eq!(driver.get(BlockType::Statistics, RECEIVER, statistics::ERRORS_LO), 1);
}

/// Messages that come faster than the device can write them are lost and counted, and the next one
/// that was kept says so. Until then the device takes all of them.
#[test]
fn a_burst_of_messages_is_counted() {
    const MESSAGES: u64 = 40;
    const RING: u32 = 6;
    let buffers = Buffers {
        output: std::array::from_fn(|_| vec![Word::default(); 512]),
        input: std::array::from_fn(|_| vec![Word::default(); 512]),
        recovery: vec![Word::default(); 512],
    };
    let link = DataLink::new(DataLinkConfig::default(), buffers).expect("is valid");
    let lanes = MultiLane::new(&MultiLaneConfig::new());
    let model: SpaceFibrePort<Vec<Word>, 1, { VCS as usize }> =
        SpaceFibrePort::new_starting(link, lanes);
    let model = Rc::new(RefCell::new(model));
    let near = model.clone();
    let far: Far = Box::new(move |said| {
        let mut model = near.borrow_mut();
        let [word] = model.transmit();
        model.receive([said[0]]);
        vec![word, None]
    });
    let mut driver = Driver::with(Some(far), 11);
    let key = driver.region(4, BASE, BYTES, 0);
    let receiver = SENDER + CONTEXTS;
    driver.set_queue(receiver, QueueKind::MessageRx, key);
    let rings = [(queue::SQ_LO, 0), (queue::CQ_LO, 0x400), (queue::STAMP_LO, 0x800)];
    for (register, offset) in rings {
        let at = driver.at(BlockType::Queue, receiver, register);
        driver.device.write64(at, key + 0x1000 + offset);
    }
    driver.set(BlockType::Queue, receiver, queue::SQ_LOG2, RING);
    driver.set(BlockType::Queue, receiver, queue::CQ_LOG2, RING);
    assert_eq!(driver.command(Command::QueueEnable, receiver), Status::Ok);
    driver.set(BlockType::Port, 0, port_block::LINK_START, 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    driver.device.until("the port is up", |device| device.up & 1 != 0);
    driver.device.until("a far end that may send many messages", |_| {
        u64::from(model.borrow().link.broadcast_credit()) > MESSAGES
    });
    // The last one comes after a pause.
    for number in 0..=MESSAGES {
        driver.device.run(if number == MESSAGES { 20_000 } else { 0 });
        let message = LinkBroadcast { data: number.to_le_bytes(), ..LinkBroadcast::default() };
        driver.device.until("the far end takes a message", |_| {
            model.borrow_mut().link.send_broadcast(message)
        });
    }
    driver.device.run(5000);
    let (mut next, mut lost, mut position) = (0, 0, 0);
    while next <= MESSAGES {
        let entry = driver.entry(BASE + 0x1400 + 16 * position);
        let came = Message::from_words(entry);
        assert_eq!(came.phase, 1, "message {position}");
        let gap = came.flags & completion_flags::LOST != 0;
        assert_eq!(gap, came.data != next, "message {position}: {} after {next}", came.data);
        lost += came.data - next;
        (next, position) = (came.data + 1, position + 1);
    }
    println!("{lost} of {MESSAGES} messages were lost");
    assert!(lost > 10 && position > 8);
    let counted = driver.get(BlockType::Broadcast, 0, broadcast::DROPPED);
    assert_eq!(u64::from(counted), lost);
}

/// Rings in scattered pages; the page of the lines is the last and is not whole.
#[test]
fn rings_may_be_in_scattered_pages() {
    let mut driver = Driver::new(5);
    let (list, pages) = (0x8000u64, [0x7000u64, 0x3000, 0x5_0000]);
    driver.put(list, [pages[0], pages[1]]);
    driver.put(list + 16, [pages[2], !0]);
    let key = driver.region(9, list, 0x2000 + QUEUE, 12);
    // The device has copied the list.
    driver.put(list, [!0, !0]);
    for vector in 0..EVENTS {
        driver.set(BlockType::Event, vector, event::ENABLE, 1);
    }
    driver.set_queue(SENDER, QueueKind::MessageTx, key + 0x1000);
    driver.set_queue(RECEIVER, QueueKind::MessageRx, key + 0x2000);
    for number in [SENDER, RECEIVER] {
        assert_eq!(driver.command(Command::QueueEnable, number), Status::Ok);
    }
    driver.start_links();
    driver.put(pages[1] + SQ, message(0xabcd, 0));
    driver.ring(SENDER);
    driver.device.run(3000);
    assert_eq!(Message::from_words(driver.entry(pages[2] + CQ)).data, 0xabcd);
    // A ring that ends behind the region.
    driver.set_queue(SENDER + 1, QueueKind::MessageTx, key + 0x2000 + LINES);
    assert_eq!(driver.command(Command::QueueEnable, SENDER + 1), Status::OutOfBounds);
}

/// RESET while messages are posted and the links work: queues and regions end, links stay.
#[test]
fn reset_while_busy() {
    let mut driver = Driver::new(6);
    let mut old = 0;
    for round in 1..=3 {
        let key = driver.region(4, BASE, BYTES, 0);
        assert_ne!(key, old);
        driver.device.memory[BASE as usize..(BASE + BYTES) as usize].fill(0);
        driver.pair(key);
        for position in 0..4 {
            driver.put(BASE + SQ + slot(position), message(position.into(), position));
        }
        driver.ring(SENDER);
        assert_eq!(driver.command(Command::Reset, 77), Status::Ok);
        assert_eq!(driver.device.read(global::RESETS), round);
        assert_eq!(driver.device.up, 3, "a reset ends queues, not links");
        for number in [SENDER, RECEIVER] {
            assert_eq!(driver.get(BlockType::Queue, number, queue::STATE), 0);
        }
        assert_eq!(driver.get(BlockType::Region, 4, region::KEY), 0);
        // The memory belongs to the host again.
        driver.device.run(100);
        let before = driver.device.memory.clone();
        driver.ring(SENDER);
        driver.device.run(3000);
        assert_eq!(before, driver.device.memory, "the device wrote after the reset");
        driver.set_queue(SENDER, QueueKind::MessageTx, key);
        assert_eq!(driver.command(Command::QueueEnable, SENDER), Status::BadRegion);
        old = key;
    }
}

/// A link goes down and up: the vector in LINK_VECTOR counts, and CHANGES rises.
#[test]
fn links_signal_their_changes() {
    let mut driver = Driver::new(7);
    driver.start_links();
    let state = |driver: &mut Driver| driver.get(BlockType::Port, 0, port_block::STATE);
    assert_eq!(state(&mut driver), 2);
    driver.set(BlockType::Port, 0, port_block::LINK_VECTOR, 3);
    driver.set(BlockType::Event, 2, event::ENABLE, 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    let changes = driver.get(BlockType::Port, 0, port_block::CHANGES);
    assert_eq!(
        driver.get(BlockType::Event, 2, event::COUNT),
        0,
        "changes before are not signalled"
    );
    driver.device.plugged = false;
    driver.device.until("the link goes down", |device| device.messages[2] == 1);
    assert_eq!(state(&mut driver), 0);
    driver.device.plugged = true;
    driver.device.until("the link comes back", |device| device.up == 3);
    driver.device.run(10);
    assert_eq!(state(&mut driver), 2);
    assert!(driver.get(BlockType::Port, 0, port_block::CHANGES) > changes + 1);
    assert!(driver.get(BlockType::Event, 2, event::COUNT) >= 2);
    assert_eq!(driver.mib(0, MibItem::LaneState, 0), 7);
    assert_eq!(driver.set_mib(0, u32::from(MibItem::LinkReset.raw()), 0, 1), Status::Ok);
    driver.device.until("both ends reset", |device| device.up == 0);
    driver.device.until("the link comes back", |device| device.up == 3);
    assert_eq!(driver.mib(1, MibItem::FarEndLinkReset, 0), 1);
    // A disabled vector counts, and does not interrupt.
    driver.set(BlockType::Event, 2, event::ENABLE, 0);
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
    let (count, messages) =
        (driver.get(BlockType::Event, 2, event::COUNT), driver.device.messages[2]);
    driver.device.plugged = false;
    driver.device.until("the link goes down", |device| device.up == 0);
    driver.device.run(100);
    assert!(driver.get(BlockType::Event, 2, event::COUNT) > count);
    assert_eq!((driver.device.messages[2], driver.device.lines), (messages, 0));
}

/// A host that writes anything anywhere, in any width, with commands and doorbells: the device
/// answers, its own registers stay, and a RESET makes it work again.
#[test]
fn a_hostile_host_breaks_nothing() {
    for seed in seeds(1) {
        let mut driver = Driver::new(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let end = driver.device.read(global::DOORBELL_OFFSET);
        let fixed: Vec<u32> = driver.blocks.iter().map(|block| block.at).collect();
        let headers: Vec<u64> = fixed.iter().map(|at| driver.device.read64(*at)).collect();
        let key = driver.region(4, BASE, BYTES, 0);
        driver.pair(key);
        for _ in 0..3000 {
            let value = match rng.u8(..4) {
                0 => rng.u64(..16),
                1 => key + rng.u64(..BYTES),
                _ => rng.u64(..),
            };
            let offset = if rng.u8(..4) == 0 { end + rng.u32(..0x3000) } else { rng.u32(..end) };
            match rng.u8(..5) {
                0 => driver.device.write(offset & !3, value as u32),
                1 => driver.device.write64(offset & !7, value),
                2 => driver.device.write_bytes(offset & !7, value, rng.u8(..)),
                3 => {
                    // What the rings hold is the host's business, too.
                    let at = (BASE + rng.u64(..BYTES / 16) * 16) as usize;
                    driver.device.memory[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
                _ => {
                    let command = rng.u32(..10);
                    let index = if rng.bool() { rng.u32(..QUEUES + 2) } else { rng.u32(..) };
                    driver.raw_command(command, index);
                }
            }
        }
        let now: Vec<u64> = fixed.iter().map(|at| driver.device.read64(*at)).collect();
        assert_eq!(headers, now, "seed {seed}");
        assert_eq!(driver.device.read(global::QUEUES), QUEUES);
        driver.device.write64(global::CFG_COMMAND, 0);
        assert_eq!(driver.command(Command::Reset, 0), Status::Ok, "seed {seed}");
        for number in 0..QUEUES {
            assert_eq!(driver.get(BlockType::Queue, number, queue::STATE), 0, "queue {number}");
        }
        driver.device.memory.fill(0);
        let key = driver.region(4, BASE, BYTES, 0);
        for port in 0..PORTS as u32 {
            let done = driver.set_mib(port, MibItem::InterfaceReset.raw().into(), 0, 1);
            assert_eq!(done, Status::Ok);
        }
        driver.pair(key);
        driver.put(BASE + SQ, message(5, 0));
        driver.ring(SENDER);
        driver.device.run(3000);
        assert_eq!(Message::from_words(driver.entry(BASE + QUEUE + CQ)).data, 5, "seed {seed}");
    }
}

/// An entry of a ring of packets.
fn entry(key: u64, offset: u64, length: u32, flags: u16, position: u32) -> [u64; 2] {
    Submission { offset, region: (key >> 48) as u16, length, flags, phase: phase(position) }
        .to_words()
}

impl Driver {
    fn enable(&mut self, number: u32, kind: QueueKind, address: u64) {
        self.set_queue(number, kind, address);
        assert_eq!(self.command(Command::QueueEnable, number), Status::Ok, "queue {number}");
    }

    /// Waits for the completion at a position of the queue at an address of the bus.
    fn completion(&mut self, at: u64, position: u32) -> Completion {
        let word = at + CQ + slot(position) + 8;
        self.device.until("a completion comes", |device| {
            let bytes = device.memory[word as usize..][..8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes) >> 48 == u64::from(phase(position))
        });
        Completion::from_words(self.entry(at + CQ + slot(position)))
    }
}

/// Packets on two channels, in both directions, from memory to memory.
#[test]
fn packets_go_from_port_to_port() {
    for seed in seeds(1) {
        let mut driver = Driver::new(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let key = driver.region(2, BASE, BYTES, 0);
        // {transmit context, receive context, place of both queues}
        let flows =
            [(0, PORT_QUEUES + 1, 0), (6, PORT_QUEUES + 7, 0x400), (PORT_QUEUES + 2, 3, 0x800)];
        for (tx, rx, at) in flows {
            driver.enable(tx, QueueKind::Tx, key + at);
            driver.enable(rx, QueueKind::Rx, key + at + QUEUE);
        }
        driver.start_links();
        for position in 0..12 {
            for (tx, rx, at) in flows {
                let length = if rng.bool() { rng.u32(1..40) } else { rng.u32(1..0x400) };
                let (from, to) = (0x1000 + rng.u64(..32), 0x2000 + rng.u64(..32));
                let bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
                let place = (BASE + from) as usize;
                driver.device.memory[place..][..bytes.len()].copy_from_slice(&bytes);
                let data = entry(key, from, length, 1 | submit_flags::SIGNAL, position);
                driver.put(
                    BASE + at + QUEUE + SQ + slot(position),
                    entry(key, to, 0x400, 5, position),
                );
                driver.ring(rx);
                driver.put(BASE + at + SQ + slot(position), data);
                // A doorbell without content rings all queues.
                driver.ring(if rng.bool() { tx } else { 0 });
                let got = driver.completion(BASE + at + QUEUE, position);
                assert_eq!((got.status, got.bytes, got.packets), (0, length, 1), "seed {seed}");
                let place = (BASE + to) as usize;
                assert_eq!(driver.device.memory[place..][..bytes.len()], bytes, "seed {seed}");
                let sent = driver.completion(BASE + at, position);
                assert_eq!((sent.status, sent.bytes), (0, length), "seed {seed}");
            }
        }
        for (tx, rx, _) in flows {
            assert_eq!(driver.get(BlockType::Statistics, tx, statistics::PACKETS_LO), 12);
            assert_eq!(driver.get(BlockType::Statistics, rx, statistics::PACKETS_LO), 12);
        }
        // The region is held until all queues are gone.
        assert_eq!(driver.command(Command::RegionDisable, 2), Status::Busy);
        for (tx, rx, _) in flows {
            assert_eq!(driver.command(Command::QueueDisable, tx), Status::Ok);
            assert_eq!(driver.command(Command::QueueDisable, rx), Status::Ok);
        }
        assert_eq!(driver.command(Command::RegionDisable, 2), Status::Ok);
    }
}

/// Hosts that wait for a whole group at both ends are interrupted once for it at each.
#[test]
fn a_group_of_packets_interrupts_once() {
    let mut driver = Driver::new(11);
    let key = driver.region(2, BASE, BYTES, 0);
    let receiver = PORT_QUEUES + 1;
    let ends = [(0, QueueKind::Tx, BASE), (receiver, QueueKind::Rx, BASE + QUEUE)];
    for (number, kind, at) in ends {
        driver.enable(number, kind, key + at - BASE);
        driver.set(BlockType::Event, number % EVENTS, event::ENABLE, 1);
    }
    driver.start_links();
    let count = 1 << LOG2;
    for group in 0..10 {
        let positions = group * count..(group + 1) * count;
        for (number, kind, at) in ends {
            driver.arm(at + LINES, 2 * group + 1, positions.end);
            for position in positions.clone() {
                let words = match kind {
                    QueueKind::Rx => entry(key, 0x2000, 0x100, 5, position),
                    _ => entry(key, 0x1000, 0x100, 1 | submit_flags::SIGNAL, position),
                };
                driver.put(at + SQ + slot(position), words);
            }
            driver.ring(number);
        }
        for (_, _, at) in ends {
            for position in positions.clone() {
                assert_eq!(driver.completion(at, position).status, 0, "packet {position}");
            }
        }
        driver.device.run(2000);
        for (number, _, at) in ends {
            let messages = driver.device.messages[(number % EVENTS) as usize];
            assert_eq!(messages, group + 1, "queue {number}, group {group}");
            assert_eq!(driver.word(at + LINES + 64) as u32, group + 1, "wake-ups");
        }
    }
}

/// Data at addresses of the bus (LOCAL_DMA), from one end to the other, in domain 0 alone.
#[test]
fn packets_go_from_and_to_bus_addresses() {
    let mut driver = Driver::new(10);
    driver.set_region(2, BASE, BYTES, 0);
    driver.set(BlockType::Region, 2, region::DOMAIN, 0);
    driver.set_everything(1);
    let [rings, whole] = [2, 1].map(|index| {
        assert_eq!(driver.command(Command::RegionEnable, index), Status::Ok);
        u64::from(driver.get(BlockType::Region, index, region::KEY)) << 48
    });
    let receiver = PORT_QUEUES + 1;
    for (queue, kind, at) in [(0, QueueKind::Tx, 0), (receiver, QueueKind::Rx, QUEUE)] {
        driver.set_queue(queue, kind, rings + at);
        driver.set(BlockType::Queue, queue, queue::DOMAIN, 0);
        assert_eq!(driver.command(Command::QueueEnable, queue), Status::Ok);
    }
    driver.start_links();
    // Behind the region of the rings.
    let (from, to) = (BASE + BYTES + 0x1234, BASE + BYTES + 0x3001);
    let bytes: Vec<u8> = (0..300).map(|byte| byte as u8 ^ 0x5a).collect();
    driver.device.memory[from as usize..][..bytes.len()].copy_from_slice(&bytes);
    driver.put(BASE + QUEUE + SQ, entry(whole, to, 300, 5, 0));
    driver.ring(receiver);
    driver.put(BASE + SQ, entry(whole, from, 300, 1 | submit_flags::SIGNAL, 0));
    driver.ring(0);
    let got = driver.completion(BASE + QUEUE, 0);
    assert_eq!((got.status, got.bytes), (0, 300));
    assert_eq!(driver.device.memory[to as usize..][..bytes.len()], bytes);
    assert_eq!(driver.completion(BASE, 0).status, 0);
    // An address has 48 bits.
    let end = (1 << 48) - 8;
    driver.put(BASE + SQ + slot(1), entry(whole, end, 9, 1 | submit_flags::SIGNAL, 1));
    driver.ring(0);
    assert_eq!(driver.completion(BASE, 1).status, Status::OutOfBounds.raw());
    // A queue of another domain has rings in one of its regions, and cannot name this one.
    let theirs = driver.region(3, BASE, BYTES, 0);
    let other = PORT_QUEUES + 2;
    driver.enable(other, QueueKind::Tx, theirs + 2 * QUEUE);
    driver.put(BASE + 2 * QUEUE + SQ, entry(whole, from, 8, 1 | submit_flags::SIGNAL, 0));
    driver.ring(other);
    assert_eq!(driver.completion(BASE + 2 * QUEUE, 0).status, Status::BadRegion.raw());
}

/// A buffer in a region that is revoked while its queue works: later entries fail, and nothing is
/// written there any more.
#[test]
fn a_revoked_region_is_not_touched() {
    let mut driver = Driver::new(9);
    let rings = driver.region(2, BASE, BYTES, 0);
    let buffers = driver.region(3, BASE + BYTES, BYTES, 0);
    driver.enable(0, QueueKind::Tx, rings);
    driver.enable(PORT_QUEUES + 1, QueueKind::Rx, rings + QUEUE);
    driver.start_links();
    driver.put(BASE + QUEUE + SQ, entry(buffers, 0, 64, 5, 0));
    driver.ring(PORT_QUEUES + 1);
    driver.device.run(1000);
    assert_eq!(driver.command(Command::RegionDisable, 3), Status::Ok);
    let before = driver.device.memory[(BASE + BYTES) as usize..].to_vec();
    driver.put(BASE + SQ, entry(rings, 0x1000, 64, 1 | submit_flags::SIGNAL, 0));
    driver.ring(0);
    let failed = driver.completion(BASE + QUEUE, 0);
    // The engine had read the entry, which was right then.
    assert_eq!(failed.status, Status::BadRegion.raw());
    assert_eq!(driver.completion(BASE, 0).status, 0);
    // The next buffer is good. What had been written to the bad one is lost, and was told.
    driver.put(BASE + QUEUE + SQ + slot(1), entry(rings, 0x2000, 64, 5, 1));
    driver.ring(PORT_QUEUES + 1);
    driver.put(BASE + SQ + slot(1), entry(rings, 0x1000, 64, 1 | submit_flags::SIGNAL, 1));
    driver.ring(0);
    let got = driver.completion(BASE + QUEUE, 1);
    assert_eq!((got.status, got.bytes), (0, 64));
    assert_eq!(driver.completion(BASE, 1).status, 0);
    driver.put(BASE + SQ + slot(2), entry(buffers, 0, 64, 1, 2));
    driver.ring(0);
    assert_eq!(driver.completion(BASE, 2).status, Status::BadRegion.raw());
    assert_eq!(before, driver.device.memory[(BASE + BYTES) as usize..]);
}
