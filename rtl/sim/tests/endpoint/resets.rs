//! RESET, links that go down and come back, and a host that writes anything anywhere.

use spfe_rtl_sim::seeds;

use super::*;

/// RESET while messages are posted and the links work: queues and regions end, links stay.
#[test]
fn reset_while_busy() {
    let mut driver = Driver::new(6);
    let mut old = 0;
    for round in 1..=3 {
        let key = driver.region(4, BASE, BYTES, 0);
        assert_ne!(key, old);
        driver.device.memory[BASE as usize..(BASE + BYTES) as usize].fill(0);
        driver.pair(key);
        for position in 0..4 {
            driver.put(BASE + SQ + slot(position), message(position.into(), position));
        }
        driver.ring(SENDER);
        assert_eq!(driver.command(Command::Reset, 77), Status::Ok);
        assert_eq!(driver.device.read(global::RESETS), round);
        assert_eq!(driver.device.up, 3, "a reset ends queues, not links");
        for number in [SENDER, RECEIVER] {
            assert_eq!(driver.get(BlockType::Queue, number, queue::STATE), 0);
        }
        assert_eq!(driver.get(BlockType::Region, 4, region::KEY), 0);
        // The memory belongs to the host again.
        driver.device.run(100);
        let before = driver.device.memory.clone();
        driver.ring(SENDER);
        driver.device.run(3000);
        assert_eq!(before, driver.device.memory, "the device wrote after the reset");
        driver.set_queue(SENDER, QueueKind::MessageTx, key);
        assert_eq!(driver.command(Command::QueueEnable, SENDER), Status::BadRegion);
        old = key;
    }
}

/// A link goes down and up: the vector in LINK_VECTOR counts, and CHANGES rises.
#[test]
fn links_signal_their_changes() {
    let mut driver = Driver::new(7);
    driver.start_links();
    let state = |driver: &mut Driver| driver.get(BlockType::Port, 0, port_block::STATE);
    assert_eq!(state(&mut driver), 2);
    driver.set(BlockType::Port, 0, port_block::LINK_VECTOR, 3);
    driver.set(BlockType::Event, 2, event::ENABLE, 1);
    assert_eq!(driver.command(Command::PortConfigure, 0), Status::Ok);
    let changes = driver.get(BlockType::Port, 0, port_block::CHANGES);
    assert_eq!(
        driver.get(BlockType::Event, 2, event::COUNT),
        0,
        "changes before are not signalled"
    );
    driver.device.plugged = false;
    driver.device.until("the link goes down", |device| device.messages[2] == 1);
    assert_eq!(state(&mut driver), 0);
    driver.device.plugged = true;
    driver.device.until("the link comes back", |device| device.up == 3);
    driver.device.run(10);
    assert_eq!(state(&mut driver), 2);
    assert!(driver.get(BlockType::Port, 0, port_block::CHANGES) > changes + 1);
    assert!(driver.get(BlockType::Event, 2, event::COUNT) >= 2);
    assert_eq!(driver.mib(0, MibItem::LaneState, 0), 7);
    assert_eq!(driver.set_mib(0, u32::from(MibItem::LinkReset.raw()), 0, 1), Status::Ok);
    driver.device.until("both ends reset", |device| device.up == 0);
    driver.device.until("the link comes back", |device| device.up == 3);
    assert_eq!(driver.mib(1, MibItem::FarEndLinkReset, 0), 1);
    // A disabled vector counts, and does not interrupt.
    driver.set(BlockType::Event, 2, event::ENABLE, 0);
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
    let (count, messages) =
        (driver.get(BlockType::Event, 2, event::COUNT), driver.device.messages[2]);
    driver.device.plugged = false;
    driver.device.until("the link goes down", |device| device.up == 0);
    driver.device.run(100);
    assert!(driver.get(BlockType::Event, 2, event::COUNT) > count);
    assert_eq!((driver.device.messages[2], driver.device.lines), (messages, 0));
}

/// A host that writes anything anywhere, in any width, with commands and doorbells: the device
/// answers, its own registers stay, and a RESET makes it work again.
#[test]
fn a_hostile_host_breaks_nothing() {
    for seed in seeds(1) {
        let mut driver = Driver::new(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let end = driver.device.read(global::DOORBELL_OFFSET);
        let fixed: Vec<u32> = driver.blocks.iter().map(|block| block.at).collect();
        let headers: Vec<u64> = fixed.iter().map(|at| driver.device.read64(*at)).collect();
        let key = driver.region(4, BASE, BYTES, 0);
        driver.pair(key);
        for _ in 0..3000 {
            let value = match rng.u8(..4) {
                0 => rng.u64(..16),
                1 => key + rng.u64(..BYTES),
                _ => rng.u64(..),
            };
            let offset = if rng.u8(..4) == 0 { end + rng.u32(..0x3000) } else { rng.u32(..end) };
            match rng.u8(..5) {
                0 => driver.device.write(offset & !3, value as u32),
                1 => driver.device.write64(offset & !7, value),
                2 => driver.device.write_bytes(offset & !7, value, rng.u8(..)),
                3 => {
                    // What the rings hold is the host's business, too.
                    let at = (BASE + rng.u64(..BYTES / 16) * 16) as usize;
                    driver.device.memory[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
                _ => {
                    let command = rng.u32(..10);
                    let index = if rng.bool() { rng.u32(..QUEUES + 2) } else { rng.u32(..) };
                    driver.raw_command(command, index);
                }
            }
        }
        let now: Vec<u64> = fixed.iter().map(|at| driver.device.read64(*at)).collect();
        assert_eq!(headers, now, "seed {seed}");
        assert_eq!(driver.device.read(global::QUEUES), QUEUES);
        driver.device.write64(global::CFG_COMMAND, 0);
        assert_eq!(driver.command(Command::Reset, 0), Status::Ok, "seed {seed}");
        for number in 0..QUEUES {
            assert_eq!(driver.get(BlockType::Queue, number, queue::STATE), 0, "queue {number}");
        }
        driver.device.memory.fill(0);
        let key = driver.region(4, BASE, BYTES, 0);
        for port in 0..PORTS as u32 {
            let done = driver.set_mib(port, MibItem::InterfaceReset.raw().into(), 0, 1);
            assert_eq!(done, Status::Ok);
        }
        driver.pair(key);
        driver.put(BASE + SQ, message(5, 0));
        driver.ring(SENDER);
        driver.device.run(3000);
        assert_eq!(Message::from_words(driver.entry(BASE + QUEUE + CQ)).data, 5, "seed {seed}");
    }
}
