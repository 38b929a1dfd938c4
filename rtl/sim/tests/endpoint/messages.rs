//! Message queues from one port to the other: completions, wake-ups, credit and loss.

use std::cell::RefCell;
use std::rc::Rc;

use spfe_contract::{Release, SEEN_OFFSET, completion_flags};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, LinkBroadcast};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::{SpaceFibrePort, Word};

use super::*;

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
