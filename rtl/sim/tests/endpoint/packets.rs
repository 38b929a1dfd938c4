//! Packets from memory to memory.

use spfe_contract::{Completion, Submission};
use spfe_rtl_sim::seeds;

use super::*;

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
