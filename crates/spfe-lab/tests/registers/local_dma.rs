//! A region of everything that the device can reach on the bus.

use super::driver::{BUFFERS, Driver, MEMORY_BYTES, region_field};
use super::{pair, pattern};
use spfe_contract::{
    BlockType, Command, EntryType, QueueKind, QueueState, Status, access, capability,
    global_block as global, queue_block as queue, region_block as region, region_options,
};
use spfe_host::SharedMemory;
use spfe_plane::GuestMemory;
use spfe_plane::registers::guest::Rights;
use std::sync::Arc;

/// Bus address of the driver's memory.
const BASE: u64 = 3 << 32;
/// Bus address of other memory.
const OTHER: u64 = 5 << 40;
/// Number of the region.
const INDEX: u32 = 7;

/// Requests the region with one register that differs; a 0 changes nothing.
fn ask(driver: &Driver, register: u32, value: u32) -> Status {
    let write = |register, value| driver.write(BlockType::Region, INDEX, register, value);
    for register in [region::BASE_LO, region::BASE_HI, region::SIZE_LO, region::SIZE_HI] {
        write(register, 0);
    }
    for register in [region::PAGE_LIST, region::PAGE_LEVELS, region::DOMAIN] {
        write(register, 0);
    }
    write(region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE);
    write(region::OPTIONS, region_options::LOCAL_DMA);
    if value != 0 {
        write(register, value);
    }
    driver.command(Command::RegionEnable, INDEX)
}

fn key(driver: &Driver) -> u16 {
    region_field(driver.read(BlockType::Region, INDEX, region::KEY))
}

#[test]
fn packets_go_from_and_to_bus_addresses() {
    let bus = Arc::new(GuestMemory::default());
    let driver = Driver::behind_bus(BASE, &bus);
    let capabilities = driver.registers.read32(global::CAPABILITY);
    assert_ne!(capabilities & capability::LOCAL_DMA, 0);
    let rings = driver.enable_region(0);
    assert_eq!(ask(&driver, 0, 0), Status::Ok);
    let everything = key(&driver);
    let (tx, rx) = pair(&driver, 0);
    let mut sender = driver.enable_queue(tx, QueueKind::Tx, rings, 0);
    let mut receiver = driver.enable_queue(rx, QueueKind::Rx, rings, 1);
    let mut transfer = |from: u64, to: u64, size: u32| {
        receiver.post_in(everything, EntryType::Buffer, to, size);
        sender.post_in(everything, EntryType::Data, from, size);
        let sent = sender.complete().status;
        // A packet that is not sent leaves the buffer where it is.
        if sent == 0 { receiver.complete().status } else { sent }
    };
    driver.put(BUFFERS, &pattern(70_000, 1));
    assert_eq!(transfer(BASE + BUFFERS, BASE + BUFFERS + (1 << 20), 70_000), 0);
    assert!(driver.get(BUFFERS + (1 << 20), 70_000) == pattern(70_000, 1));

    // Memory that is mapped after the region was enabled, far away, and taken away again.
    let other = SharedMemory::create("other", 1 << 20).unwrap();
    let file = Some((other.fd().try_clone_to_owned().unwrap(), 0));
    let both = Rights { read: true, write: true };
    assert_eq!(bus.map(OTHER, 1 << 20, file, both).unwrap(), Ok(()));
    assert_eq!(transfer(BASE + BUFFERS, OTHER + 4096, 5000), 0);
    assert_eq!(transfer(OTHER + 4096, BASE + BUFFERS + (2 << 20), 5000), 0);
    assert!(driver.get(BUFFERS + (2 << 20), 5000) == pattern(70_000, 1)[..5000]);
    assert!(bus.unmap(OTHER, 1 << 20).unwrap().is_empty());
    let lost = Status::OutOfBounds.raw();
    assert_eq!(transfer(OTHER + 4096, BASE + BUFFERS, 8), lost);
    assert_ne!(driver.read(BlockType::Region, INDEX, region::KEY), 0, "the region stays");
}

#[test]
fn only_the_driver_has_it_and_only_for_data() {
    let bus = Arc::new(GuestMemory::default());
    let driver = Driver::behind_bus(BASE, &bus);
    for (register, value, status) in [
        (region::BASE_LO, 1 << 12, Status::BadField),
        (region::BASE_HI, 1, Status::BadField),
        (region::SIZE_LO, MEMORY_BYTES as u32, Status::BadField),
        (region::SIZE_HI, 1, Status::BadField),
        (region::PAGE_LIST, 12, Status::BadField),
        (region::PAGE_LEVELS, 1, Status::BadField),
        (region::ACCESS, access::LOCAL_READ | access::REMOTE_READ, Status::BadField),
        (region::OPTIONS, region_options::LOCAL_DMA | 2, Status::BadField),
        (region::DOMAIN, 1, Status::AccessDenied),
    ] {
        assert_eq!(ask(&driver, register, value), status, "register {register:#x}");
        assert_eq!(driver.read(BlockType::Region, INDEX, region::KEY), 0);
    }
    assert_eq!(ask(&driver, 0, 0), Status::Ok);
    let everything = key(&driver);
    // Rings at bus addresses: every one of them in turn is refused.
    let rings = driver.enable_region(0);
    for register in [queue::SQ_HI, queue::CQ_HI, queue::STAMP_HI, queue::LINES_HI] {
        driver.configure_queue(0, QueueKind::Tx, rings, 0);
        driver.write(BlockType::Queue, 0, register, u32::from(everything) << 16);
        assert_eq!(driver.command(Command::QueueEnable, 0), Status::BadRegion);
    }
    // A queue of another domain cannot use it.
    driver.configure_region(1, 3);
    assert_eq!(driver.command(Command::RegionEnable, 1), Status::Ok);
    let theirs = region_field(driver.read(BlockType::Region, 1, region::KEY));
    let (tx, rx) = pair(&driver, 0);
    let mut receiver = driver.enable_queue(rx, QueueKind::Rx, rings, 1);
    receiver.post(EntryType::Buffer, BUFFERS, 8);
    driver.configure_queue(tx, QueueKind::Tx, theirs, 0);
    driver.write(BlockType::Queue, tx, queue::DOMAIN, 3);
    assert_eq!(driver.command(Command::QueueEnable, tx), Status::Ok);
    let mut sender = driver.queue(tx, theirs, 0);
    sender.post_in(everything, EntryType::Data, BASE, 8);
    assert_eq!(sender.complete().status, Status::BadRegion.raw());
}

#[test]
fn it_is_lost_with_the_bus_and_with_a_reset() {
    let bus = Arc::new(GuestMemory::default());
    let driver = Driver::behind_bus(BASE, &bus);
    let rings = driver.enable_region(0);
    assert_eq!(ask(&driver, 0, 0), Status::Ok);
    let (tx, _) = pair(&driver, 0);
    let _sender = driver.enable_queue(tx, QueueKind::Tx, rings, 0);
    let lost = bus.set_on(false).unwrap();
    assert_eq!(driver.registers.withdraw(&lost), (1, 2));
    assert_eq!(driver.read(BlockType::Region, INDEX, region::KEY), 0);
    let state = driver.read(BlockType::Queue, tx, queue::STATE);
    assert_eq!(state, QueueState::Error as u32);
    assert_eq!(ask(&driver, 0, 0), Status::AccessDenied);
    bus.set_on(true).unwrap();
    assert_eq!(ask(&driver, 0, 0), Status::Ok);
    assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
    assert_eq!(driver.read(BlockType::Region, INDEX, region::KEY), 0);
    assert_eq!(ask(&driver, 0, 0), Status::Ok);
    assert_eq!(driver.command(Command::RegionDisable, INDEX), Status::Ok);
}
