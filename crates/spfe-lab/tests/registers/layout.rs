//! The block list and the numbers of ports and contexts.

use crate::driver::{Driver, walk};
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, DOORBELL_STRIDE, PortKind, broadcast_block as broadcast,
    event_block as event, fabric_block as fabric, global_block as global, mib_block as mib,
    pair_block, peer_block as peer, port_block as port, queue_block as queue,
    region_block as region, statistics_block as statistics, time_code_block as time_code,
};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_plane::RegisterFile;

/// Registers of a block that the contract marks "ro".
fn read_only(kind: BlockType) -> Vec<u32> {
    match kind {
        BlockType::Global => (global::MAGIC..=global::PAGES_MAX).step_by(4).collect(),
        BlockType::Port => (port::KIND..=port::CHANGES).step_by(4).collect(),
        BlockType::Queue => vec![queue::STATE, queue::ERROR, queue::PORT, queue::VC],
        BlockType::Region => vec![region::KEY],
        BlockType::Event => vec![event::COUNT],
        BlockType::Broadcast => vec![broadcast::SENT, broadcast::RECEIVED, broadcast::DROPPED],
        BlockType::TimeCode => vec![time_code::LAST, time_code::RECEIVED, time_code::INVALID],
        BlockType::Statistics => (0..=statistics::DROPPED_HI).step_by(4).collect(),
        BlockType::Mib => (0..mib::STRIDE).step_by(4).collect(),
        BlockType::Pair => (0..pair_block::STRIDE).step_by(4).collect(),
        BlockType::Fabric => (fabric::NODE..=fabric::REFUSED_STATUS).step_by(4).collect(),
        BlockType::Peer => (0..peer::OUTWARD).step_by(4).collect(),
        // The soft device has none.
        BlockType::Target | BlockType::End => vec![],
    }
}

/// Number of elements of a block and the bytes from one to the next; a block without array has one.
fn elements(registers: &RegisterFile, kind: BlockType, instance: u32) -> (u32, u32) {
    let count = |register| registers.read32(register);
    match kind {
        BlockType::Queue => (count(global::QUEUES), queue::STRIDE),
        BlockType::Region => (count(global::REGIONS), region::STRIDE),
        BlockType::Event => (count(global::EVENTS), event::STRIDE),
        BlockType::Statistics => (count(global::QUEUES), statistics::STRIDE),
        // Ports of one virtual channel and one lane, and of 8 and 1.
        BlockType::Mib if instance >= 2 => (1, mib::STRIDE),
        BlockType::Mib => (8, mib::STRIDE),
        BlockType::Pair if instance >= 2 => (1, pair_block::STRIDE),
        BlockType::Pair => (8, pair_block::STRIDE),
        _ => (0, 0),
    }
}

#[test]
fn the_block_list_ends_and_blocks_do_not_overlap() {
    let driver = Driver::of(Topology::looped(LinkRate::Unlimited, Mode::Thread), false);
    let registers = &driver.registers;
    assert_eq!(registers.read32(global::MAGIC), CONTRACT_MAGIC);
    let blocks = walk(registers);
    let doorbells = registers.read32(global::DOORBELL_OFFSET);
    let mut end = 0;
    for block in &blocks {
        assert!(block.at >= end && block.at.is_multiple_of(64), "{block:?}");
        let (count, stride) = elements(registers, block.kind, block.instance);
        let size = match block.kind {
            BlockType::Global => global::SIZE,
            BlockType::Port => port::SIZE,
            BlockType::Broadcast => broadcast::SIZE,
            BlockType::TimeCode => time_code::SIZE,
            // For an array: the part before its elements.
            _ => queue::SIZE,
        };
        let version = match block.kind {
            BlockType::Global => global::VERSION,
            BlockType::Port => port::VERSION,
            BlockType::Region => region::VERSION,
            BlockType::Queue => queue::VERSION,
            _ => 1,
        };
        assert_eq!((block.size, block.version), (size, version), "{block:?}");
        end = block.at + block.size + count * stride;
    }
    let pages = registers.read32(global::DOORBELL_PAGES);
    assert!(pages >= 1);
    assert_eq!(u64::from(registers.size() - doorbells), u64::from(pages) * DOORBELL_STRIDE);
    assert!(doorbells >= end && u64::from(doorbells).is_multiple_of(DOORBELL_STRIDE));
    assert!(registers.size() > doorbells && registers.size().is_power_of_two());
    let instances = |kind| {
        let of_kind = blocks.iter().filter(move |block| block.kind == kind);
        of_kind.map(|block| block.instance).collect::<Vec<_>>()
    };
    assert_eq!(instances(BlockType::Port), [0, 1, 2, 3]);
    assert_eq!(instances(BlockType::Broadcast), [0, 1]);
    assert_eq!(instances(BlockType::TimeCode), [2, 3]);
    assert_eq!(instances(BlockType::Mib), [0, 1, 2, 3]);
    assert_eq!(instances(BlockType::Pair), [0, 1, 2, 3]);
    for kind in [BlockType::Queue, BlockType::Region, BlockType::Event, BlockType::Statistics] {
        assert_eq!(instances(kind).len(), 1, "{kind:?}");
    }
}

#[test]
fn status_and_configuration_never_share_a_cache_line() {
    let driver = Driver::of(Topology::looped(LinkRate::Unlimited, Mode::Thread), false);
    let registers = &driver.registers;
    let line = |offset: u32| offset / 64;
    let mut status = std::collections::HashSet::new();
    for block in walk(registers) {
        status.insert(line(block.at));
        let (count, stride) = elements(registers, block.kind, block.instance);
        let firsts: Vec<u32> = match count {
            0 => vec![block.at],
            _ => (0..count).map(|index| block.at + block.size + index * stride).collect(),
        };
        for first in firsts {
            let registers = read_only(block.kind).into_iter();
            status.extend(registers.map(|register| line(first + register)));
        }
    }
    let end = registers.read32(global::DOORBELL_OFFSET);
    let before: Vec<u32> = (0..end).step_by(4).map(|offset| registers.read32(offset)).collect();
    let mut writable = 0;
    for offset in (0..end).step_by(4).filter(|offset| *offset != global::CFG_SEQ) {
        registers.write32(offset, 0x5a5a_0000 + offset);
        if registers.read32(offset) == 0x5a5a_0000 + offset {
            writable += 1;
            assert!(!status.contains(&line(offset)), "{offset:#x} shares a line with status");
            registers.write32(offset, 0);
        }
    }
    let (queues, regions) = (registers.read32(global::QUEUES), registers.read32(global::REGIONS));
    // global 6 (CFG_SEQ left out), 6 of each port, 1 of each broadcast block, 26, 9 and 1.
    let events = registers.read32(global::EVENTS);
    assert_eq!(writable, 6 + 4 * 6 + 2 + 26 * queues + 9 * regions + events);
    let volatile = [global::HEARTBEAT, global::TIME_LO, global::TIME_HI];
    for (offset, was) in (0..end).step_by(4).zip(before) {
        if !volatile.contains(&offset) {
            assert_eq!(registers.read32(offset), was, "{offset:#x} took a write");
        }
    }
}

#[test]
fn ports_and_contexts_are_numbered_as_the_contract_says() {
    let paced = LinkRate::SpaceFibre { lanes: 4, mbps: 7500 };
    let driver = Driver::of(Topology::looped(paced, Mode::Thread), false);
    let port = |index, register| driver.read(BlockType::Port, index, register);
    assert_eq!(driver.registers.read32(global::PORTS), 4);
    assert_eq!(port(0, port::KIND), u32::from(PortKind::Spacefibre.raw()));
    assert_eq!((port(0, port::VCS), port(0, port::LANES)), (8, 4));
    assert_eq!(port(0, port::LANE_RATE_MBPS), 7500);
    assert!((22_900_000..23_000_000).contains(&port(0, port::USER_RATE_KBPS)));
    assert_eq!(port(2, port::KIND), u32::from(PortKind::Spacewire.raw()));
    assert_eq!((port(2, port::VCS), port(2, port::USER_RATE_KBPS)), (1, 160_000));
    assert_eq!((port(1, port::FIRST_QUEUE), port(1, port::QUEUE_COUNT)), (24, 24));
    assert_eq!((port(3, port::FIRST_QUEUE), port(3, port::QUEUE_COUNT)), (58, 10));
    assert_eq!(driver.registers.read32(global::QUEUES), 68);
    let context = |index| {
        let read = |register| driver.read(BlockType::Queue, index, register);
        (read(queue::PORT), read(queue::VC))
    };
    assert_eq!((context(0), context(1), context(3)), ((0, 0), (0, 0), (0, 1)));
    assert_eq!((context(15), context(16), context(23)), ((0, 7), (0, 255), (0, 255)));
    assert_eq!((context(24), context(67)), ((1, 0), (3, 255)));
}
