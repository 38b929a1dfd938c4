//! The endpoint as a driver sees it: register blocks, commands with their statuses, message queues
//! from one port to the other, interrupts, and a host that writes anything anywhere.

use spfe_contract::{
    BlockType, Command, Status, event_block as event, global_block as global, mib_block as mib,
    port_block, queue_block as queue, region_block as region, statistics_block as statistics,
};
use spfe_rtl_sim::endpoint::{Endpoint, PORTS};

const REGIONS: u32 = 16;
const EVENTS: u32 = 8;
const PAGES: u32 = 64;
const VCS: u32 = 4;
/// Message contexts of a port in each direction.
const CONTEXTS: u32 = 2;
const PORT_QUEUES: u32 = 2 * VCS + 2 * CONTEXTS;
const QUEUES: u32 = PORT_QUEUES * PORTS as u32;

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
        let mut device = Endpoint::new(REGIONS as usize, EVENTS as usize, PAGES as usize, seed);
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

    fn command(&mut self, command: Command, index: u32) -> u32 {
        self.device.command(command.raw().into(), index)
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
    ];
    assert_eq!(kinds, expected);
    let ends = [
        (BlockType::Queue, queue::STRIDE * QUEUES),
        (BlockType::Region, region::STRIDE * REGIONS),
        (BlockType::Event, event::STRIDE * EVENTS),
        (BlockType::Statistics, statistics::STRIDE * QUEUES),
        (BlockType::Mib, mib::STRIDE * VCS),
    ];
    for pair in driver.blocks.windows(2) {
        let bytes = ends.iter().find(|(kind, _)| *kind == pair[0].kind).map_or(0, |end| end.1);
        let end = pair[0].at + pair[0].size + bytes;
        assert_eq!(pair[1].at, end.next_multiple_of(256), "{:?} {:?}", pair[0], pair[1]);
    }
    let last = driver.blocks[driver.blocks.len() - 1];
    let end = last.at + last.size + mib::STRIDE * VCS;
    let device = &mut driver.device;
    for (register, value) in [
        (global::MAGIC, spfe_contract::CONTRACT_MAGIC),
        (global::PORTS, PORTS as u32),
        (global::QUEUES, QUEUES),
        (global::REGIONS, REGIONS),
        (global::EVENTS, EVENTS),
        (global::PAGES_MAX, PAGES),
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
    assert_eq!(driver.command(Command::Nop, 0), u32::from(Status::Ok.raw()));
}
