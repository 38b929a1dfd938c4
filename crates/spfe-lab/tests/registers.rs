//! The register interface, used like a driver uses it: registers, doorbells and memory.

#[path = "registers/beside.rs"]
mod beside;
#[path = "registers/counters.rs"]
mod counters;
#[path = "registers/driver.rs"]
mod driver;
#[path = "registers/events.rs"]
mod events;
#[path = "registers/hostile.rs"]
mod hostile;
#[path = "registers/layout.rs"]
mod layout;
#[path = "registers/local_dma.rs"]
mod local_dma;
#[path = "registers/mib.rs"]
mod mib;
#[path = "registers/pairs.rs"]
mod pairs;
#[path = "registers/refusals.rs"]
mod refusals;

use driver::{BUFFERS, Driver, wait};
use spfe_contract::{
    BlockType, Command, EndMarker, EntryType, Message, MessageKind, QueueKind, QueueState, Status,
    broadcast_block as broadcast, capability, completion_flags, event_block as event,
    global_block as global, message_filter, port_block as port, queue_block as queue,
    region_block as region, statistics_block as statistics, time_code_block as time_code,
};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_plane::{Network, RegisterFile, Segments, Stride};
use std::sync::Arc;

const STATE_ENABLED: u32 = QueueState::Enabled as u32;
const STATE_DISABLED: u32 = QueueState::Disabled as u32;

fn pattern(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 + seed * 7 + 1) as u8).collect()
}

/// Numbers of the TX context of port 0 and the RX context of port 1 on a virtual channel.
fn pair(driver: &Driver, vc: u32) -> (u32, u32) {
    let first = |index| driver.read(BlockType::Port, index, port::FIRST_QUEUE);
    (first(0) + vc * 2, first(1) + vc * 2 + 1)
}

#[test]
fn packets_are_sent_with_registers_only() {
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
        driver.put(from, &pattern(size, index));
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
        assert!(driver.get(to, size) == pattern(size, index), "{size} bytes");
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
fn a_command_runs_when_its_sequence_number_changes() {
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
    // The same number again is no new command: a second enable would return BUSY.
    registers.write32(global::CFG_SEQ, acknowledged + 1);
    assert_eq!(registers.read32(global::CFG_STATUS), 0);
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
            assert_eq!(
                (read(queue::STATE), read(queue::ERROR)),
                (STATE_DISABLED, u32::from(reset))
            );
        }
        assert_eq!(sender.device_state(), (STATE_DISABLED, u32::from(reset)));
        assert_eq!(driver.registers.read32(global::RESETS), round + 1);
        assert_eq!(driver.read(BlockType::Region, 0, region::KEY), 0);
    }
}

#[test]
fn messages_use_their_own_contexts() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    // After the 16 contexts of 8 VCs come 4 that send and 4 that receive. Not the first of each.
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

/// Kind and data of messages.
type Codes = Vec<(u8, u64)>;

/// Posts codes at port 2, and shows what two queues of port 3 get: one without a filter, and one for
/// interrupts, if there is such a queue.
fn codes(driver: &Driver, filtered: bool) -> (Codes, Codes) {
    let field = driver.enable_region(0);
    // After the contexts of one virtual channel come 4 that send and 4 that receive.
    let first = |port| driver.read(BlockType::Port, port, port::FIRST_QUEUE) + 2;
    let mut sender = driver.enable_queue(first(2), QueueKind::MessageTx, field, 0);
    let mut all = driver.enable_queue(first(3) + 4, QueueKind::MessageRx, field, 1);
    driver.write(BlockType::Queue, first(3) + 5, queue::FILTER, message_filter::INTERRUPTS);
    let mut some =
        filtered.then(|| driver.enable_queue(first(3) + 5, QueueKind::MessageRx, field, 2));
    let mut messages = vec![(MessageKind::TimeCode, 5), (MessageKind::TimeCode, 0xbf)];
    if filtered {
        messages.extend([(MessageKind::Interrupt, 0x21), (MessageKind::Interrupt, 0)]);
    }
    let count = messages.len();
    for (kind, data) in messages {
        let (kind, flags) = (kind.raw(), u16::from(EntryType::Message.raw()));
        sender.push(Message { data, kind, flags, ..Message::default() }.to_words());
    }
    let shown = |words| {
        let message = Message::from_words(words);
        (message.kind, message.data)
    };
    let all = (0..count).map(|_| shown(all.pop())).collect();
    let some = some.iter_mut().flat_map(|queue| (1..count).map(|_| shown(queue.pop())));
    (all, some.collect())
}

/// A receive queue with the filter for interrupts is refused, and works without it.
fn refuses_the_filter(driver: &Driver, rx: u32, field: u16) {
    driver.configure_queue(rx, QueueKind::MessageRx, field, 4);
    driver.write(BlockType::Queue, rx, queue::FILTER, message_filter::INTERRUPTS);
    assert_eq!(driver.command(Command::QueueEnable, rx), Status::BadField);
    driver.write(BlockType::Queue, rx, queue::FILTER, 0);
    assert_eq!(driver.command(Command::QueueEnable, rx), Status::Ok);
}

#[test]
fn a_filter_shows_interrupts_as_such() {
    let (code, interrupt) = (MessageKind::TimeCode.raw(), MessageKind::Interrupt.raw());
    let driver = Driver::new();
    assert_ne!(driver.registers.read32(global::CAPABILITY) & capability::INTERRUPTS, 0);
    let (all, some) = codes(&driver, true);
    assert_eq!(all, [(code, 5), (code, 0xbf), (code, 0xa1), (code, 0x80)]);
    assert_eq!(some, [(interrupt, 0x3f), (interrupt, 0x21), (interrupt, 0)]);
    let read = |register| driver.read(BlockType::TimeCode, 3, register);
    assert_eq!((read(time_code::LAST), read(time_code::INVALID)), (5, 1));
}

#[test]
fn wrong_interrupts_are_refused() {
    let driver = Driver::new();
    let field = driver.enable_region(0);
    for (port, contexts, data, expected) in
        [(2, 2, 0x40, Status::BadField), (0, 16, 0, Status::BadOpcode)]
    {
        let tx = driver.read(BlockType::Port, port, port::FIRST_QUEUE) + contexts;
        let mut sender = driver.enable_queue(tx, QueueKind::MessageTx, field, port.into());
        let (kind, flags) = (MessageKind::Interrupt.raw(), u16::from(EntryType::Message.raw()));
        sender.push(Message { data, kind, flags, ..Message::default() }.to_words());
        assert_eq!(sender.complete().status, expected.raw());
    }
    // Broadcast messages have other filters.
    refuses_the_filter(&driver, driver.read(BlockType::Port, 0, port::FIRST_QUEUE) + 16 + 4, field);
}

/// A device one minor version older has interrupts only as time-codes.
#[test]
fn a_device_of_version_1_8_has_no_interrupts() {
    let driver = Driver::with_older(Topology::looped(LinkRate::Unlimited, Mode::Thread), 8);
    let can = driver.registers.read32(global::CAPABILITY);
    assert_eq!(
        can & (capability::INTERRUPTS | capability::PAIR_COUNTERS),
        capability::PAIR_COUNTERS
    );
    let code = MessageKind::TimeCode.raw();
    assert_eq!(codes(&driver, false).0, [(code, 5), (code, 0xbf)]);
    let driver = Driver::with_older(Topology::looped(LinkRate::Unlimited, Mode::Thread), 8);
    let field = driver.enable_region(0);
    refuses_the_filter(&driver, driver.read(BlockType::Port, 3, port::FIRST_QUEUE) + 2 + 5, field);
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
fn a_bus_reset_clears_the_configuration() {
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
fn time_and_heartbeat_advance() {
    let driver = Driver::new();
    let (time, beat) = (|| driver.read64(BlockType::Global, 0, global::TIME_LO), global::HEARTBEAT);
    let (then, beat_then) = (time(), driver.registers.read32(beat));
    wait("time", || time() > then);
    wait("a heartbeat", || driver.registers.read32(beat) > beat_then);
}

#[test]
fn a_removed_device_reads_all_ones() {
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
    let error =
        RegisterFile::new(network, 1, Arc::new(Segments::default()), Stride::Usual).err().unwrap();
    assert_eq!(error.status(), Status::NotFound);
}
