//! Wide completions, from registers and memory alone.

use super::driver::{BUFFERS, Driver, Queue, wait};
use super::pair;
use spfe_contract::{
    BESIDE_BYTES, BlockType, Command, Completion, EntryType, QueueKind, Status, capability,
    completion_flags as cf, global_block as global, queue_block as queue, queue_options,
    wide_completion as wide,
};
use spfe_host::{LinkRate, Mode, Topology};

const VC: u32 = 1;
/// Offset of the completion ring of the queue in place 1.
const RING: u64 = 0x4000 + 0x1000;

fn driver(minor: u16) -> Driver {
    Driver::with_older(Topology::looped(LinkRate::Unlimited, Mode::Thread), minor)
}

/// A transmit queue, and a receive queue with the option.
fn queues(driver: &Driver, region: u16, option: u32) -> (Queue<'_>, Queue<'_>) {
    let (tx, rx) = pair(driver, VC);
    let into = driver.queue(rx, region, 1);
    driver.configure_queue(rx, QueueKind::Rx, region, 1);
    driver.write(BlockType::Queue, rx, queue::OPTIONS, queue_options::BESIDE | option);
    assert_eq!(driver.command(Command::QueueEnable, rx), Status::Ok);
    (driver.enable_queue(tx, QueueKind::Tx, region, 0), into)
}

/// The words, time and data of a wide completion.
fn completion(driver: &Driver, position: u64) -> (Completion, u64, Vec<u8>) {
    let at = RING + wide::SIZE as u64 * position;
    let word =
        |offset: usize| u64::from_le_bytes(driver.get(at + offset as u64, 8).try_into().unwrap());
    wait("a wide completion", || word(wide::WORD1_OFFSET) >> 48 == 1);
    let done = Completion::from_words([word(wide::WORD0_OFFSET), word(wide::WORD1_OFFSET)]);
    let data = driver.get(at + wide::DATA0_OFFSET as u64, BESIDE_BYTES as usize);
    (done, word(wide::TIME_OFFSET), data)
}

#[test]
fn short_packets_are_in_their_completions() {
    let driver = driver(7);
    assert_ne!(driver.registers.read32(global::CAPABILITY) & capability::BESIDE, 0);
    let region = driver.enable_region(2);
    let (mut from, mut into) = queues(&driver, region, queue_options::STAMP);
    for (position, length) in [1u32, 8, 40, 41, 39].into_iter().enumerate() {
        let (buffer, packet) =
            (BUFFERS + 0x1000 + 0x100 * position as u64, vec![7; length as usize]);
        driver.put(buffer, &[0xee; 64]);
        driver.put(BUFFERS, &packet);
        into.post(EntryType::Buffer, buffer, 64);
        from.post(EntryType::Data, BUFFERS, length);
        let (done, time, data) = completion(&driver, position as u64);
        let beside = u64::from(length) <= BESIDE_BYTES;
        assert_eq!((done.bytes, done.position, done.status), (length, position as u16, 0));
        assert_eq!(done.flags, cf::STAMPED | if beside { cf::BESIDE } else { 0 }, "{length}");
        assert_ne!(time, 0);
        let kept = driver.get(buffer, length as usize);
        if beside {
            assert_eq!(data[..length as usize], packet);
            assert!(kept.iter().all(|byte| *byte == 0xee), "the buffer of {length} bytes changed");
        } else {
            assert_eq!(kept, packet);
        }
        assert_eq!(from.complete().status, 0);
    }
}

#[test]
fn only_queues_with_buffers_have_wide_completions() {
    let driver = driver(7);
    let region = driver.enable_region(2);
    let (tx, rx) = pair(&driver, VC);
    for (index, kind) in [(tx, QueueKind::Tx), (rx, QueueKind::RxPacked)] {
        driver.configure_queue(index, kind, region, 0);
        driver.write(BlockType::Queue, index, queue::OPTIONS, queue_options::BESIDE);
        assert_eq!(driver.command(Command::QueueEnable, index), Status::BadField, "{kind:?}");
    }
}

/// A device one minor version older does not know the option, and behaves as before.
#[test]
fn a_device_of_version_1_6_has_no_wide_completions() {
    let driver = driver(6);
    assert_eq!(driver.registers.read32(global::CAPABILITY) & capability::BESIDE, 0);
    let region = driver.enable_region(2);
    let (mut from, mut into) = queues(&driver, region, 0);
    for number in 0..3 {
        into.post(EntryType::Buffer, BUFFERS + 0x1000, 64);
        driver.put(BUFFERS, b"as before");
        from.post(EntryType::Data, BUFFERS, 9);
        let done = into.complete();
        assert_eq!((done.bytes, done.position, done.flags), (9, number, 0));
        assert_eq!(driver.get(BUFFERS + 0x1000, 9), b"as before");
    }
}
