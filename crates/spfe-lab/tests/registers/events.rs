//! Link events, level-sensitive lines, the order of count and interrupt, and a device that has none
//! of them.

use crate::driver::{Driver, wait, walk};
use spfe_contract::{
    BlockType, CONTRACT_VERSION_MINOR, Command, MibItem, PortState, SEEN_OFFSET, Status,
    capability, event_block as event, global_block as global, port_block as port,
    region_block as region,
};
use spfe_host::{LinkModel, LinkRate, Mode, Topology};

const VECTOR: u32 = 7;
const UP: u32 = PortState::Up as u32;

fn exact() -> Topology {
    let rate = LinkRate::SpaceFibre { lanes: 1, mbps: 6250 };
    let mut topology = Topology::pairs(2, rate, Mode::Thread);
    for ports in &mut topology.endpoints {
        ports[0].model = LinkModel::Exact;
    }
    topology
}

/// Starts or stops the only lane of port 0.
fn start_lane(driver: &Driver, on: bool) {
    for item in [MibItem::LaneStart, MibItem::AutoStart] {
        let done = driver.mib_set(0, u32::from(item.raw()), 0, u64::from(on));
        assert_eq!(done, Status::Ok);
    }
}

fn state(driver: &Driver) -> u32 {
    driver.read(BlockType::Port, 0, port::STATE)
}

fn count(driver: &Driver) -> u32 {
    driver.read(BlockType::Event, VECTOR, event::COUNT)
}

fn changes(driver: &Driver) -> u32 {
    driver.read(BlockType::Port, 0, port::CHANGES)
}

fn signal(driver: &Driver) {
    let descriptor = driver.registers.event_descriptor(VECTOR).unwrap();
    rustix::io::write(descriptor, &1u64.to_ne_bytes()).unwrap();
}

fn enable(driver: &Driver, on: bool) {
    driver.write(BlockType::Event, VECTOR, event::ENABLE, u32::from(on));
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
}

/// Tells the device on a doorbell page that the host has seen a count.
fn see(driver: &Driver, page: u32, count: u32) {
    let first = driver.registers.read32(global::DOORBELL_OFFSET);
    let at = first + page * 4096 + SEEN_OFFSET as u32 + 4 * VECTOR;
    driver.registers.write32(at, count);
}

fn has(driver: &Driver, bit: u32) -> bool {
    driver.registers.read32(global::CAPABILITY) & bit != 0
}

#[test]
fn a_port_signals_that_its_link_came_up_or_went_down() {
    let driver = Driver::of(exact(), true);
    assert!(has(&driver, capability::LINK_EVENT));
    wait("the link", || state(&driver) == UP);
    assert_eq!(count(&driver), 0, "nobody has asked for events");
    let before = changes(&driver);
    driver.write(BlockType::Port, 0, port::LINK_VECTOR, VECTOR + 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    enable(&driver, true);
    for turn in 0..3 {
        start_lane(&driver, false);
        wait("the event of a link that goes down", || count(&driver) == 2 * turn + 1);
        assert_ne!(state(&driver), UP, "the event comes after the change");
        start_lane(&driver, true);
        wait("the event of a link that comes up", || count(&driver) == 2 * turn + 2);
        assert_eq!(state(&driver), UP);
        assert!(driver.registers.take_event(VECTOR));
    }
    assert_eq!(changes(&driver), before + 6);
    // A reset leaves the vector; 0 takes it away, and so does a reset of the bus.
    assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
    start_lane(&driver, false);
    wait("the event after RESET", || count(&driver) == 7);
    driver.write(BlockType::Port, 0, port::LINK_VECTOR, 0);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    start_lane(&driver, true);
    wait("the link", || state(&driver) == UP && changes(&driver) == before + 8);
    assert_eq!(count(&driver), 7);
}

#[test]
fn a_bus_reset_takes_link_events_away() {
    let driver = Driver::of(exact(), true);
    wait("the link", || state(&driver) == UP);
    driver.write(BlockType::Port, 0, port::LINK_VECTOR, VECTOR + 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    driver.registers.reset().unwrap();
    assert_eq!(driver.read(BlockType::Port, 0, port::LINK_VECTOR), 0);
    let before = changes(&driver);
    start_lane(&driver, false);
    wait("the change", || changes(&driver) > before);
    assert_eq!(count(&driver), 0);
}

#[test]
fn a_packet_level_link_never_signals() {
    let driver = Driver::new();
    driver.write(BlockType::Port, 0, port::LINK_VECTOR, VECTOR + 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    assert_eq!((state(&driver), changes(&driver), count(&driver)), (UP, 0, 0));
}

#[test]
fn the_line_follows_the_count_that_the_host_has_seen() {
    let driver = Driver::new();
    assert!(has(&driver, capability::LEVEL));
    signal(&driver);
    assert!(!driver.registers.line(), "the vector is disabled");
    enable(&driver, true);
    assert!(!driver.registers.line(), "what was counted before is not replayed");
    signal(&driver);
    assert!(driver.registers.line());
    assert!(driver.registers.take_event(VECTOR) && driver.registers.line());
    let seen = count(&driver);
    // An event between the read of the count and the store keeps the line high.
    signal(&driver);
    see(&driver, 0, seen);
    assert!(driver.registers.line());
    // Another page than the driver's own has no effect.
    let seen = count(&driver);
    see(&driver, 1, seen);
    assert!(driver.registers.line());
    see(&driver, 0, seen);
    assert!(!driver.registers.line());
    assert!(driver.registers.take_event(VECTOR), "messages do not depend on the count seen");
    enable(&driver, false);
    signal(&driver);
    assert!(!driver.registers.line());
    // Any command latches ENABLE, and none but the first after 0 changes the count seen.
    enable(&driver, true);
    signal(&driver);
    enable(&driver, true);
    assert!(driver.registers.line());
    driver.registers.reset().unwrap();
    assert!(!driver.registers.line());
}

#[test]
fn the_count_has_risen_when_the_interrupt_is_due() {
    let driver = Driver::new();
    assert!(has(&driver, capability::COUNT_FIRST));
    enable(&driver, true);
    for turn in 1..50 {
        signal(&driver);
        wait("the interrupt", || driver.registers.take_event(VECTOR));
        assert_eq!(count(&driver), turn);
    }
}

/// A device one minor version older: its bits and registers are 0, and it behaves as before.
#[test]
fn a_device_of_version_1_1_has_none_of_it() {
    let driver = Driver::with_older(exact(), 1);
    let old = &driver.registers;
    assert_eq!(old.read32(global::CONTRACT_VERSION), 1 << 16 | 1);
    let since = capability::COUNT_FIRST | capability::LINK_EVENT | capability::LEVEL;
    let all = since | capability::LOCAL_DMA | capability::PAGE_LEVELS;
    assert_eq!(old.read32(global::CAPABILITY) & all, 0);
    assert!(has(&driver, capability::MIB));
    assert_eq!([global::CHAIN_MAX, global::PAGES_MAX].map(|at| old.read32(at)), [0, 0]);
    for block in walk(old) {
        assert_eq!(block.version, 1, "{block:?}");
    }
    // What was reserved is ignored.
    driver.write(BlockType::Port, 0, port::LINK_VECTOR, VECTOR + 1);
    driver.write(BlockType::Region, 3, region::OPTIONS, 1);
    driver.write(BlockType::Region, 3, region::PAGE_LEVELS, 7);
    assert_eq!(driver.read(BlockType::Port, 0, port::LINK_VECTOR), 0);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    driver.enable_region(3);
    wait("the link", || state(&driver) == UP);
    start_lane(&driver, false);
    wait("the change", || state(&driver) != UP);
    assert_eq!((changes(&driver), count(&driver)), (0, 0));
    // An interrupt may be due before the count has risen.
    enable(&driver, true);
    signal(&driver);
    assert!(old.take_event(VECTOR) && !old.line());
    assert_eq!((count(&driver), count(&driver)), (0, 1));
    // Today's device shows today's version.
    let new = Driver::new();
    let version = new.registers.read32(global::CONTRACT_VERSION);
    assert_eq!(version, 1 << 16 | u32::from(CONTRACT_VERSION_MINOR));
    assert!(new.registers.read32(global::CHAIN_MAX) >= 19);
}
