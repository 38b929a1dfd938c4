//! CFG_STATUS says what is wrong with a configuration.

use crate::STATE_DISABLED;
use crate::driver::{Driver, LOG2, MEMORY_BYTES, region_field};
use spfe_contract::{
    BlockType, Command, QueueKind, Status, broadcast_block as broadcast, event_block as event,
    global_block as global, port_block as port, queue_block as queue, region_block as region,
    region_options,
};

#[test]
fn wrong_queue_configurations_get_their_status() {
    let driver = Driver::new();
    let field = driver.enable_region(1);
    let try_with = |register, value| {
        driver.configure_queue(0, QueueKind::Tx, field, 0);
        driver.write(BlockType::Queue, 0, register, value);
        let status = driver.command(Command::QueueEnable, 0);
        assert_eq!(driver.read(BlockType::Queue, 0, queue::STATE), STATE_DISABLED);
        driver.write(BlockType::Queue, 0, queue::VECTOR, 0);
        status
    };
    assert_eq!(try_with(queue::SQ_LOG2, 1), Status::BadRing);
    assert_eq!(try_with(queue::SQ_LOG2, LOG2 + 1), Status::BadRing);
    assert_eq!(try_with(queue::CQ_LOG2, 16), Status::BadRing);
    assert_eq!(try_with(queue::CQ_LOG2, u32::MAX), Status::BadRing);
    assert_eq!(try_with(queue::SQ_LO, 8), Status::BadRing);
    assert_eq!(try_with(queue::SQ_LO, MEMORY_BYTES as u32), Status::OutOfBounds);
    assert_eq!(try_with(queue::SQ_HI, 0x0fff_0000), Status::BadRegion);
    assert_eq!(try_with(queue::LINES_HI, u32::from(field ^ 0x1000) << 16), Status::BadRegion);
    assert_eq!(try_with(queue::DOMAIN, 1), Status::BadRegion);
    let domains = driver.registers.read32(global::DOMAINS);
    assert_eq!(try_with(queue::DOMAIN, domains - 1), Status::BadRegion);
    assert_eq!(try_with(queue::DOMAIN, domains), Status::BadField);
    assert_eq!(try_with(queue::KIND, u32::from(QueueKind::Rx.raw())), Status::BadField);
    assert_eq!(try_with(queue::KIND, 0x102), Status::BadField);
    assert_eq!(try_with(queue::KIND, 77), Status::BadField);
    assert_eq!(try_with(queue::VECTOR, 1000), Status::BadField);

    let _queue = driver.enable_queue(0, QueueKind::Tx, field, 0);
    assert_eq!(driver.command(Command::QueueEnable, 0), Status::Busy);
    assert_eq!(driver.command(Command::RegionDisable, 1), Status::Busy);
    assert_eq!(driver.command(Command::QueueDisable, 2), Status::NotFound);
    let queues = driver.registers.read32(global::QUEUES);
    for command in [Command::QueueEnable, Command::QueueDisable] {
        assert_eq!(driver.command(command, queues), Status::NotFound);
        assert_eq!(driver.command(command, u32::MAX), Status::NotFound);
    }
    assert_eq!(driver.command_raw(99, 0), Status::BadOpcode);
    assert_eq!(driver.command_raw(0x100, 0), Status::BadOpcode);
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
}

#[test]
fn wrong_port_configurations_get_their_status() {
    let driver = Driver::new();
    let configure = |port| driver.command(Command::PortConfigure, port);
    assert_eq!(configure(driver.registers.read32(global::PORTS)), Status::NotFound);
    driver.write(BlockType::Broadcast, 1, broadcast::CHANNEL, 256);
    assert_eq!(configure(1), Status::BadField);
    assert_eq!(configure(0), Status::Ok, "its own CHANNEL is right");
    driver.write(BlockType::Broadcast, 1, broadcast::CHANNEL, 255);
    assert_eq!(configure(1), Status::Ok);
    driver.write(BlockType::Port, 1, port::LINK_START, 2);
    assert_eq!(configure(1), Status::BadField);
    driver.write(BlockType::Port, 1, port::LINK_START, 1);
    let events = driver.registers.read32(global::EVENTS);
    for (vector, status) in
        [(events, Status::Ok), (events + 1, Status::BadField), (u32::MAX, Status::BadField)]
    {
        driver.write(BlockType::Port, 1, port::LINK_VECTOR, vector);
        assert_eq!(configure(1), status, "LINK_VECTOR {vector}");
    }
}

/// Every command takes the ENABLE bits of the vectors over, also a command that fails.
#[test]
fn enabling_a_vector_takes_effect_with_the_next_command() {
    let driver = Driver::new();
    let signal = || {
        let descriptor = driver.registers.event_descriptor(5).unwrap();
        rustix::io::write(descriptor, &1u64.to_ne_bytes()).unwrap();
    };
    driver.write(BlockType::Event, 5, event::ENABLE, 1);
    signal();
    assert!(!driver.registers.take_event(5), "not latched yet");
    assert_eq!(driver.command_raw(99, 0), Status::BadOpcode);
    assert!(!driver.registers.take_event(5), "an earlier event is not delivered later");
    signal();
    assert!(driver.registers.take_event(5));
    driver.write(BlockType::Event, 5, event::ENABLE, 0);
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
    signal();
    assert!(!driver.registers.take_event(5));
    assert_eq!(driver.read(BlockType::Event, 5, event::COUNT), 3);
}

#[test]
fn a_context_another_client_holds_is_busy() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let _queue = driver.enable_queue(0, QueueKind::Tx, field, 0);
    let other = driver.sibling();
    other.configure_region(0, 0);
    assert_eq!(other.command(Command::RegionEnable, 0), Status::Busy);
    let field = other.enable_region(1);
    other.configure_queue(0, QueueKind::Tx, field, 0);
    assert_eq!(other.command(Command::QueueEnable, 0), Status::Busy);
    assert_eq!(other.command(Command::QueueDisable, 0), Status::NotFound);
    assert_eq!(driver.command(Command::QueueDisable, 0), Status::Ok);
    assert_eq!(other.command(Command::QueueEnable, 0), Status::Ok);
}

#[test]
fn wrong_region_configurations_get_their_status() {
    let driver = Driver::new();
    let try_with = |register, value| {
        driver.configure_region(9, 0);
        driver.write(BlockType::Region, 9, register, value);
        let status = driver.command(Command::RegionEnable, 9);
        assert_eq!(driver.read(BlockType::Region, 9, region::KEY), 0);
        for register in [region::PAGE_LIST, region::PAGE_LEVELS, region::OPTIONS] {
            driver.write(BlockType::Region, 9, register, 0);
        }
        status
    };
    assert_eq!(try_with(region::BASE_LO, 1), Status::BadField);
    assert_eq!(try_with(region::BASE_HI, 1), Status::BadField);
    assert_eq!(try_with(region::SIZE_LO, 0), Status::BadField);
    assert_eq!(try_with(region::SIZE_LO, MEMORY_BYTES as u32 + 1), Status::OutOfBounds);
    assert_eq!(try_with(region::SIZE_HI, 1), Status::OutOfBounds);
    assert_eq!(try_with(region::DOMAIN, 256), Status::BadField);
    assert_eq!(try_with(region::PAGE_LIST, 12), Status::BadField);
    // Without bus addresses there are neither page lists nor local DMA.
    assert_eq!(try_with(region::PAGE_LEVELS, 2), Status::BadField);
    assert_eq!(try_with(region::OPTIONS, region_options::LOCAL_DMA), Status::BadField);
    assert_eq!(try_with(region::OPTIONS, 1 << 31), Status::BadField);
    let regions = driver.registers.read32(global::REGIONS);
    assert_eq!(driver.command(Command::RegionEnable, regions), Status::NotFound);
    assert_eq!(driver.command(Command::RegionDisable, regions), Status::NotFound);
    assert_eq!(driver.command(Command::RegionDisable, 9), Status::BadRegion);
    driver.enable_region(9);
    assert_eq!(driver.command(Command::RegionEnable, 9), Status::Busy);
}

#[test]
fn a_region_is_as_long_as_its_size_register_says_and_of_its_domain() {
    let driver = Driver::new();
    driver.configure_region(0, 7);
    driver.write(BlockType::Region, 0, region::SIZE_LO, 0x4000);
    assert_eq!(driver.command(Command::RegionEnable, 0), Status::Ok);
    let field = region_field(driver.read(BlockType::Region, 0, region::KEY));
    let try_in = |domain, place| {
        driver.configure_queue(0, QueueKind::Tx, field, place);
        driver.write(BlockType::Queue, 0, queue::DOMAIN, domain);
        driver.command(Command::QueueEnable, 0)
    };
    assert_eq!(try_in(7, 1), Status::OutOfBounds);
    assert_eq!(try_in(6, 0), Status::BadRegion);
    assert_eq!(try_in(7, 0), Status::Ok);
}
