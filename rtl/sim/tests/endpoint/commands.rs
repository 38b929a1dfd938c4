//! The register blocks, and commands with each of their statuses.

use spfe_contract::{QueueState, pair_block};

use super::*;

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
