//! The register face, driven by what a driver has: registers, doorbells and memory.

#[path = "registers/driver.rs"]
mod driver;

use driver::{BUFFERS, Driver, LOG2, MEMORY_BYTES, wait, walk};
use proptest::prelude::*;
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, Command, DOORBELL_STRIDE, EndMarker, EntryType, Message,
    MessageKind, PortKind, QueueKind, QueueState, Status, broadcast_block as broadcast,
    completion_flags, doorbell, event_block as event, global_block as global, port_block as port,
    queue_block as queue, region_block as region, statistics_block as statistics,
    time_code_block as time_code,
};
use spfe_net::{LinkRate, Mode, Network, RegisterFile, Topology};

const STATE_ENABLED: u32 = QueueState::Enabled as u32;
const STATE_DISABLED: u32 = QueueState::Disabled as u32;

/// Registers the contract marks "ro", by block.
fn read_only(kind: BlockType) -> Vec<u32> {
    match kind {
        BlockType::Global => (global::MAGIC..=global::PACKET_MAX).step_by(4).collect(),
        BlockType::Port => (port::KIND..=port::QUEUE_COUNT).step_by(4).collect(),
        BlockType::Queue => vec![queue::STATE, queue::ERROR, queue::PORT, queue::VC],
        BlockType::Region => vec![region::KEY],
        BlockType::Event => vec![event::COUNT],
        BlockType::Broadcast => vec![broadcast::SENT, broadcast::RECEIVED, broadcast::DROPPED],
        BlockType::TimeCode => vec![time_code::LAST, time_code::RECEIVED, time_code::INVALID],
        BlockType::Statistics => (0..=statistics::DROPPED_HI).step_by(4).collect(),
        BlockType::End => vec![],
    }
}

/// Elements of a block and the bytes from one to the next; a block that is no array has one.
fn elements(registers: &RegisterFile, kind: BlockType) -> (u32, u32) {
    let count = |register| registers.read32(register);
    match kind {
        BlockType::Queue => (count(global::QUEUES), queue::STRIDE),
        BlockType::Region => (count(global::REGIONS), region::STRIDE),
        BlockType::Event => (count(global::EVENTS), event::STRIDE),
        BlockType::Statistics => (count(global::QUEUES), statistics::STRIDE),
        _ => (1, 0),
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
        let (count, stride) = elements(registers, block.kind);
        let size = match block.kind {
            BlockType::Global => global::SIZE,
            BlockType::Port => port::SIZE,
            BlockType::Broadcast => broadcast::SIZE,
            BlockType::TimeCode => time_code::SIZE,
            _ => queue::SIZE + count * stride,
        };
        assert_eq!((block.size, block.version), (size, 1), "{block:?}");
        end = block.at + block.size;
    }
    assert!(doorbells >= end && u64::from(doorbells).is_multiple_of(DOORBELL_STRIDE));
    assert!(registers.size() > doorbells && registers.size().is_power_of_two());
    let instances = |kind| {
        let of_kind = blocks.iter().filter(move |block| block.kind == kind);
        of_kind.map(|block| block.instance).collect::<Vec<_>>()
    };
    assert_eq!(instances(BlockType::Port), [0, 1, 2, 3]);
    assert_eq!(instances(BlockType::Broadcast), [0, 1]);
    assert_eq!(instances(BlockType::TimeCode), [2, 3]);
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
        let (count, stride) = elements(registers, block.kind);
        for element in 0..count {
            let first = if stride == 0 { block.at } else { block.at + queue::SIZE + element * stride };
            status.extend(read_only(block.kind).into_iter().map(|register| line(first + register)));
        }
    }
    let end = registers.read32(global::DOORBELL_OFFSET);
    let before: Vec<u32> = (0..end).step_by(4).map(|offset| registers.read32(offset)).collect();
    let mut writable = 0;
    for offset in (0..end).step_by(4).filter(|offset| *offset != global::CFG_SEQ) {
        registers.write32(offset, 0x5a5a_0000 | offset / 4);
        if registers.read32(offset) == 0x5a5a_0000 | offset / 4 {
            writable += 1;
            assert!(!status.contains(&line(offset)), "{offset:#x} shares a line with status");
            registers.write32(offset, 0);
        }
    }
    let (queues, regions) = (registers.read32(global::QUEUES), registers.read32(global::REGIONS));
    // global 2 (CFG_SEQ left out), 5 of each port, 1 of each broadcast block, 18, 7 and 1.
    let events = registers.read32(global::EVENTS);
    assert_eq!(writable, 2 + 4 * 5 + 2 + 18 * queues + 7 * regions + events);
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

fn pattern(size: usize, seed: usize) -> impl Iterator<Item = u8> {
    (0..size).map(move |at| (at * 31 + seed * 7 + 1) as u8)
}

/// Numbers of the TX context of port 0 and the RX context of port 1 on a virtual channel.
fn pair(driver: &Driver, vc: u32) -> (u32, u32) {
    let first = |index| driver.read(BlockType::Port, index, port::FIRST_QUEUE);
    (first(0) + vc * 2, first(1) + vc * 2 + 1)
}

#[test]
fn packets_go_from_port_to_port_by_registers_alone() {
    let driver = Driver::new();
    let field = driver.enable_region(3);
    let (tx, rx) = pair(&driver, 0);
    let mut sender = driver.enable_queue(tx, QueueKind::Tx, field, 0);
    let mut receiver = driver.enable_queue(rx, QueueKind::Rx, field, 1);
    assert_eq!(driver.read(BlockType::Queue, tx, queue::STATE), STATE_ENABLED);
    assert_eq!(sender.device_state(), (STATE_ENABLED, 0));

    let sizes = [1usize, 3, 64, 255, 256, 4096, 65_536, 100_000];
    let (mut from, mut to) = (BUFFERS, BUFFERS + (1 << 20));
    for (index, &size) in sizes.iter().enumerate() {
        for (byte, value) in driver.bytes(from, size).iter_mut().zip(pattern(size, index)) {
            *byte = value;
        }
        receiver.post(EntryType::Buffer, to, 100_000);
        sender.post(EntryType::Data, from, size as u32);
        (from, to) = (from + 102_400, to + 102_400);
    }
    let mut to = BUFFERS + (1 << 20);
    for (index, &size) in sizes.iter().enumerate() {
        let (sent, got) = (sender.complete(), receiver.complete());
        assert_eq!((sent.status, sent.bytes, sent.packets), (0, size as u32, 1));
        assert_eq!((got.status, got.bytes, got.position), (0, size as u32, index as u16));
        assert_eq!(got.flags & completion_flags::END_MASK, u16::from(EndMarker::Eop.raw()));
        assert!(driver.bytes(to, size).iter().copied().eq(pattern(size, index)), "{size} bytes");
        to += 102_400;
    }
    let total = sizes.iter().sum::<usize>() as u64;
    for context in [tx, rx] {
        let count = |low| driver.read64(BlockType::Statistics, context, low);
        assert_eq!(count(statistics::PACKETS_LO), sizes.len() as u64);
        assert_eq!(count(statistics::BYTES_LO), total);
        assert_eq!(count(statistics::ERRORS_LO), 0);
    }
    assert_eq!(driver.command(Command::QueueDisable, tx), Status::Ok);
    assert_eq!(driver.command(Command::QueueDisable, rx), Status::Ok);
    assert_eq!(driver.read(BlockType::Queue, rx, queue::STATE), STATE_DISABLED);
    assert_eq!(driver.command(Command::RegionDisable, 3), Status::Ok);
    assert_eq!(driver.read(BlockType::Region, 3, region::KEY), 0);
}

#[test]
fn configuration_is_inert_until_its_sequence_number_changes() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    driver.configure_queue(0, QueueKind::Tx, field, 0);
    let registers = &driver.registers;
    let acknowledged = registers.read32(global::CFG_ACK);
    registers.write32(global::CFG_COMMAND, u32::from(Command::QueueEnable.raw()));
    registers.write32(global::CFG_INDEX, 0);
    driver.ring(2, 0, 0);
    registers.write32(global::CFG_SEQ, acknowledged);
    registers.write32(global::CFG_SEQ, 0);
    driver.ring(2, 0, 0);
    assert_eq!(registers.read32(global::CFG_ACK), acknowledged);
    assert_eq!(driver.read(BlockType::Queue, 0, queue::STATE), STATE_DISABLED);
    registers.write32(global::CFG_SEQ, acknowledged + 1);
    assert_eq!(driver.read(BlockType::Queue, 0, queue::STATE), STATE_ENABLED);
    // The same number again is no new command: a second enable would be BUSY.
    registers.write32(global::CFG_SEQ, acknowledged + 1);
    assert_eq!(registers.read32(global::CFG_STATUS), 0);
}

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
    assert_eq!(try_with(queue::DOMAIN, 256), Status::BadField);
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
        driver.write(BlockType::Region, 9, region::PAGE_LIST, 0);
        status
    };
    assert_eq!(try_with(region::BASE_LO, 1), Status::BadField);
    assert_eq!(try_with(region::BASE_HI, 1), Status::BadField);
    assert_eq!(try_with(region::SIZE_LO, 0), Status::BadField);
    assert_eq!(try_with(region::SIZE_LO, MEMORY_BYTES as u32 + 1), Status::OutOfBounds);
    assert_eq!(try_with(region::SIZE_HI, 1), Status::OutOfBounds);
    assert_eq!(try_with(region::DOMAIN, 256), Status::BadField);
    assert_eq!(try_with(region::PAGE_LIST, 12), Status::BadField);
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
    let field = driver::region_field(driver.read(BlockType::Region, 0, region::KEY));
    let try_in = |domain, place| {
        driver.configure_queue(0, QueueKind::Tx, field, place);
        driver.write(BlockType::Queue, 0, queue::DOMAIN, domain);
        driver.command(Command::QueueEnable, 0)
    };
    assert_eq!(try_in(7, 1), Status::OutOfBounds);
    assert_eq!(try_in(6, 0), Status::BadRegion);
    assert_eq!(try_in(7, 0), Status::Ok);
}

#[test]
fn priorities_are_those_of_the_port_configuration() {
    let driver = Driver::new();
    let priorities = || {
        let info = driver.network.port_info(0, 1).unwrap();
        info.channels.iter().map(|channel| channel.priority).collect::<Vec<_>>()
    };
    driver.write(BlockType::Port, 1, port::LINK_START, 1);
    driver.write(BlockType::Port, 1, port::VC_PRIORITY_0, 0xf765_4321);
    assert_eq!(priorities(), [0; 8]);
    assert_eq!(driver.command(Command::PortConfigure, 1), Status::Ok);
    assert_eq!(priorities(), [1, 2, 3, 4, 5, 6, 7, 15]);
    assert_eq!(driver.command(Command::PortConfigure, 4), Status::NotFound);
    driver.write(BlockType::Port, 1, port::LINK_START, 2);
    assert_eq!(driver.command(Command::PortConfigure, 1), Status::BadField);
}

#[test]
fn a_reset_under_load_completes_everything_pending() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let (tx, rx) = pair(&driver, 2);
    for round in 0..3 {
        let field = if round == 0 { field } else { driver.enable_region(0) };
        let mut sender = driver.enable_queue(tx, QueueKind::Tx, field, 0);
        let mut receiver = driver.enable_queue(rx, QueueKind::Rx, field, 1);
        let (packets, buffers) = (60, [20, 60, 0][round as usize]);
        for _ in 0..buffers {
            receiver.post(EntryType::Buffer, BUFFERS, 4096);
        }
        for _ in 0..packets {
            sender.post(EntryType::Data, BUFFERS + 4096, 4096);
        }
        assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
        let sent: Vec<u8> = (0..packets).map(|_| sender.complete().status).collect();
        let got: Vec<u8> = (0..buffers).map(|_| receiver.complete().status).collect();
        assert_eq!(sender.completions.peek(), None);
        assert_eq!(receiver.completions.peek(), None);
        let reset = Status::DeviceReset.raw();
        for statuses in [&sent, &got] {
            assert!(statuses.iter().all(|status| [0, reset].contains(status)), "{statuses:?}");
            assert!(statuses.is_sorted(), "something was delivered after the reset");
        }
        let delivered = |statuses: &[u8]| statuses.iter().filter(|status| **status == 0).count();
        assert_eq!(delivered(&sent), delivered(&got));
        for queue in [tx, rx] {
            let read = |register| driver.read(BlockType::Queue, queue, register);
            assert_eq!((read(queue::STATE), read(queue::ERROR)), (STATE_DISABLED, u32::from(reset)));
        }
        assert_eq!(sender.device_state(), (STATE_DISABLED, u32::from(reset)));
        assert_eq!(driver.registers.read32(global::RESETS), round + 1);
        assert_eq!(driver.read(BlockType::Region, 0, region::KEY), 0);
    }
}

#[test]
fn messages_have_contexts_of_their_own() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    // Behind the 16 contexts of 8 VCs: 4 that send, 4 that receive. Not the first free of each.
    let first = |index| driver.read(BlockType::Port, index, port::FIRST_QUEUE);
    let (tx, rx) = (first(0) + 16 + 2, first(1) + 16 + 4 + 3);
    let mut sender = driver.enable_queue(tx, QueueKind::MessageTx, field, 0);
    let mut receiver = driver.enable_queue(rx, QueueKind::MessageRx, field, 1);
    let flags = u16::from(EntryType::Message.raw());
    let message = Message {
        data: 0x0123_4567_89ab_cdef,
        channel: 5,
        r#type: 6,
        kind: MessageKind::Broadcast.raw(),
        flags,
        ..Message::default()
    };
    sender.push(message.to_words());
    let got = Message::from_words(receiver.pop());
    assert_eq!((got.data, got.channel, got.r#type), (message.data, 5, 6));
    assert_eq!(driver.read(BlockType::Broadcast, 0, broadcast::SENT), 1);
    assert_eq!(driver.read(BlockType::Broadcast, 1, broadcast::RECEIVED), 1);
    assert_eq!(driver.read64(BlockType::Statistics, tx, statistics::PACKETS_LO), 1);
    assert_eq!(driver.read64(BlockType::Statistics, rx, statistics::BYTES_LO), 8);
    assert_eq!(driver.command(Command::RegionDisable, 0), Status::Busy);
    assert_eq!(driver.command(Command::QueueEnable, tx), Status::Busy);
    driver.configure_queue(tx - 1, QueueKind::MessageRx, field, 2);
    assert_eq!(driver.command(Command::QueueEnable, tx - 1), Status::BadField);
    for queue in [tx, rx] {
        assert_eq!(driver.command(Command::QueueDisable, queue), Status::Ok);
        assert_eq!(driver.command(Command::QueueDisable, queue), Status::NotFound);
    }
    assert_eq!(driver.command(Command::RegionDisable, 0), Status::Ok);
}

#[test]
fn time_codes_are_counted_at_their_port() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let tx = driver.read(BlockType::Port, 2, port::FIRST_QUEUE) + 2;
    let mut sender = driver.enable_queue(tx, QueueKind::MessageTx, field, 0);
    for time in [1, 2, 9] {
        let kind = MessageKind::TimeCode.raw();
        let flags = u16::from(EntryType::Message.raw());
        sender.push(Message { data: time, kind, flags, ..Message::default() }.to_words());
    }
    let read = |register| driver.read(BlockType::TimeCode, 3, register);
    wait("time-codes", || read(time_code::RECEIVED) == 3);
    wait("the last one", || read(time_code::LAST) == 9);
    assert_eq!(read(time_code::INVALID), 1);
    assert_eq!(driver.read(BlockType::TimeCode, 2, time_code::RECEIVED), 0);
}

#[test]
fn an_armed_queue_signals_its_event_vector() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let (tx, rx) = pair(&driver, 0);
    driver.write(BlockType::Event, 3, event::ENABLE, 1);
    driver.write(BlockType::Queue, rx, queue::VECTOR, 3);
    let mut receiver = driver.enable_queue(rx, QueueKind::Rx, field, 1);
    let mut sender = driver.enable_queue(tx, QueueKind::Tx, field, 0);
    for round in 0..3 {
        let count = driver.read(BlockType::Event, 3, event::COUNT);
        receiver.arm(2 * round + 1);
        receiver.post(EntryType::Buffer, BUFFERS, 4096);
        sender.post(EntryType::Data, BUFFERS + 4096, 100);
        wait("an event", || driver.read(BlockType::Event, 3, event::COUNT) > count);
        assert!(driver.registers.take_event(3), "reading the count took the interrupt");
        receiver.complete();
        sender.complete();
    }
    assert_eq!(driver.read(BlockType::Event, 0, event::COUNT), 0);
    assert!(!driver.registers.take_event(0) && !driver.registers.take_event(1000));
    assert!(driver.registers.event_descriptor(3).is_some());
    assert!(driver.registers.event_descriptor(1000).is_none());
}

#[test]
fn a_bus_reset_forgets_the_configuration() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let queue = driver.enable_queue(0, QueueKind::Tx, field, 0);
    driver.registers.reset().unwrap();
    assert_eq!(queue.device_state().0, STATE_DISABLED);
    assert_eq!(driver.read(BlockType::Queue, 0, queue::KIND), 0);
    assert_eq!(driver.registers.read32(global::CFG_ACK), 0);
    assert_eq!(driver.registers.read32(global::CFG_SEQ), 0);
    let field = driver.enable_region(0);
    driver.enable_queue(0, QueueKind::Tx, field, 0);
}

#[test]
fn time_and_heartbeat_go_on() {
    let driver = Driver::new();
    let (time, beat) = (|| driver.read64(BlockType::Global, 0, global::TIME_LO), global::HEARTBEAT);
    let (then, beat_then) = (time(), driver.registers.read32(beat));
    wait("time", || time() > then);
    wait("a heartbeat", || driver.registers.read32(beat) > beat_then);
}

#[test]
fn a_device_that_is_gone_reads_all_ones() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    let queue = driver.enable_queue(0, QueueKind::Tx, field, 0);
    driver.registers.detach().unwrap();
    for offset in [0, 3, global::MAGIC, global::CFG_SEQ, driver.registers.size(), u32::MAX] {
        assert_eq!(driver.registers.read32(offset), u32::MAX);
        driver.registers.write32(offset, 1);
    }
    driver.ring(2, 0, 0);
    assert_eq!(queue.device_state().0, STATE_DISABLED);
    assert!(driver.network.clients().is_empty());
    driver.registers.detach().unwrap();
}

#[test]
fn an_endpoint_that_does_not_exist_has_no_registers() {
    let network = Network::new(Topology::looped(LinkRate::Unlimited, Mode::Thread)).unwrap();
    let error = RegisterFile::new(network, 1).err().unwrap();
    assert_eq!(error.status(), Status::NotFound);
}

/// What a hostile host does. Offsets and values come from everywhere, and often from where they
/// do something.
#[derive(Clone, Debug)]
enum Step {
    Read(u32),
    Write(u32, u32),
    Doorbell(u32, u64),
    Region(u32, u32),
    Queue(u32, u32),
    Command(u32, u32),
    Register(u32, u32, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offset = prop_oneof![any::<u32>(), 0u32..0x20000, Just(global::CFG_SEQ)];
    let value = prop_oneof![any::<u32>(), 0u32..8];
    let small = prop_oneof![4 => 0u32..70, 1 => any::<u32>()];
    let step = prop_oneof![
        offset.clone().prop_map(Step::Read),
        (offset, value.clone()).prop_map(|(offset, value)| Step::Write(offset, value)),
        (any::<u32>(), any::<u64>()).prop_map(|(page, value)| Step::Doorbell(page, value)),
        (0u32..3, 0u32..8).prop_map(|(page, kind)| {
            Step::Doorbell(page, u64::from(kind) << doorbell::KIND_SHIFT)
        }),
        (0u32..4, 0u32..2).prop_map(|(index, domain)| Step::Region(index, domain)),
        (0u32..68, 0u32..4).prop_map(|(index, region)| Step::Queue(index, region)),
        (0u32..8, small).prop_map(|(command, index)| Step::Command(command, index)),
        (0u32..68, 0u32..18, value).prop_map(|(i, word, value)| Step::Register(i, word, value)),
    ];
    proptest::collection::vec(step, 1..100)
}

fn take(driver: &Driver, step: Step) {
    match step {
        Step::Read(offset) => drop(driver.registers.read32(offset)),
        Step::Write(offset, value) => driver.registers.write32(offset, value),
        Step::Doorbell(page, value) => driver.registers.doorbell(page, value),
        Step::Region(index, domain) => {
            driver.configure_region(index, domain);
            driver.command(Command::RegionEnable, index);
        }
        Step::Queue(index, region) => {
            let kind = match (driver.read(BlockType::Queue, index, queue::VC), index % 2) {
                (255, 0) => QueueKind::MessageTx,
                (255, _) => QueueKind::MessageRx,
                (_, 0) => QueueKind::Tx,
                (..) => QueueKind::RxPacked,
            };
            let field = driver::region_field(driver.read(BlockType::Region, region, region::KEY));
            driver.configure_queue(index, kind, field, u64::from(index % 64));
            let area = u64::from(field) << 48 | BUFFERS;
            driver.write(BlockType::Queue, index, queue::AREA_LO, area as u32);
            driver.write(BlockType::Queue, index, queue::AREA_HI, (area >> 32) as u32);
            driver.write(BlockType::Queue, index, queue::AREA_BYTES, 65_536);
            driver.command(Command::QueueEnable, index);
        }
        Step::Command(command, index) => drop(driver.command_raw(command, index)),
        Step::Register(index, word, value) => {
            driver.write(BlockType::Queue, index, queue::KIND + 4 * word, value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_accesses_harms_the_device(steps in steps()) {
        let driver = Driver::new();
        let blocks = walk(&driver.registers).len();
        for step in steps {
            take(&driver, step);
        }
        prop_assert_eq!(driver.registers.read32(global::MAGIC), CONTRACT_MAGIC);
        prop_assert_eq!(walk(&driver.registers).len(), blocks);
        prop_assert_eq!(driver.command(Command::Reset, 0), Status::Ok);
        let field = driver.enable_region(0);
        driver.enable_queue(0, QueueKind::Tx, field, 0);
    }
}
