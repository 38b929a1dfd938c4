//! Devices whose registers lie: clear errors, no panic, no register behind the end, no long wait.

#[path = "common/image.rs"]
mod image;

use image::{Habits, Image, exercise, soft_device};
use spfe_contract::{
    Command, PairCounter, Status, access, capability, global_block as global, pair_block,
    port_block,
};
use spfe_host::{Backend, MibValue};
use spfe_registers::Registers;
use std::sync::Arc;

fn open(patches: &[(u32, u32)], habits: Habits) -> Result<Registers, (Option<Status>, String)> {
    Registers::open(Arc::new(Image::new(patches, habits)), "image:", "image")
        .map_err(|error| (error.status(), error.to_string()))
}

/// The error of a device one register of which has another value.
fn refused(offset: u32, value: u32) -> (Option<Status>, String) {
    open(&[(offset / 4, value)], Habits::default()).map(drop).unwrap_err()
}

/// Type of the block with the counters of queue pairs.
const PAIR: u16 = pair_block::TYPE;

/// Offset of the first block of a type.
fn block(kind: u16) -> u32 {
    let words = soft_device();
    let mut at = 0;
    while words[at as usize / 4] & 0xffff != u32::from(kind) {
        at = words[at as usize / 4 + 2];
    }
    at
}

#[test]
fn an_honest_image_opens() {
    let device = open(&[], Habits::default()).unwrap();
    assert_eq!((device.info().ports, device.is_gone()), (2, false));
    exercise(Image::new(&[], Habits::default()));
}

#[test]
fn registers_that_make_no_sense_are_named() {
    let end = 4 * soft_device().len() as u32;
    let cases = [
        (global::MAGIC, u32::MAX, Status::DeviceGone, "MAGIC"),
        (global::MAGIC, 0, Status::NotFound, "MAGIC"),
        (global::CONTRACT_VERSION, 2 << 16, Status::BadVersion, "2.0"),
        (global::PORTS, 0, Status::BadField, "0 ports"),
        (global::PORTS, 1 << 20, Status::BadField, "out of range"),
        (global::QUEUES, u32::MAX, Status::BadField, "queues"),
        (global::REGIONS, 4097, Status::BadField, "4097 regions"),
        (global::EVENTS, 0, Status::BadField, "0 events"),
        (global::DOORBELL_OFFSET, u32::MAX - 7, Status::BadField, "doorbell"),
        (global::DOORBELL_PAGES, u32::MAX, Status::BadField, "doorbell"),
        (global::DOORBELL_PAGES, 0, Status::BadField, "doorbell"),
        // The list of blocks: a loop, a wild pointer, one that is not aligned, an early end.
        (8, 0x10_0000, Status::BadField, "next"),
        (8, 0x104, Status::BadField, "next"),
        (8, 0, Status::BadField, "missing"),
        (4, 16, Status::BadField, "global block"),
        (block(2) + 8, block(2), Status::BadField, "next"),
        (block(2) + 12, 7, Status::BadField, "port 7"),
        (block(2) + 12, 1, Status::BadField, "two blocks"),
        (block(2) + port_block::VCS, 33, Status::BadField, "33 virtual channels"),
        (block(2) + port_block::FIRST_QUEUE, u32::MAX, Status::BadField, "queues from"),
        (block(PAIR) + 12, 7, Status::BadField, "port 7"),
        (block(PAIR) + 4, 12, Status::BadField, "12 bytes"),
        (block(PAIR) + 4, 17, Status::BadField, "17 bytes"),
        (block(3) + 4, 18, Status::BadField, "18 bytes"),
        (block(PAIR) + 4, end - block(PAIR) - 16, Status::BadField, "pair block of port 0"),
        (block(3) + 4, u32::MAX, Status::BadField, "ends behind"),
        (block(3) + 4, 0, Status::BadField, "ends behind"),
    ];
    for (offset, value, status, word) in cases {
        let (found, text) = refused(offset, value);
        assert_eq!(found, Some(status), "{offset:#x} = {value:#x}: {text}");
        assert!(text.contains(word), "{offset:#x} = {value:#x}: '{text}' does not say {word}");
    }
}

/// What a device counts of queue pairs, with these registers in the element of VC 1 of port 0.
fn counters(patches: &[(u32, u32)], capable: bool) -> Vec<(String, Option<u32>, MibValue)> {
    let element = block(PAIR) + pair_block::SIZE + pair_block::STRIDE;
    let mut patches: Vec<_> =
        patches.iter().map(|(offset, value)| ((element + offset) / 4, *value)).collect();
    if !capable {
        let all = soft_device()[global::CAPABILITY as usize / 4];
        patches.push((global::CAPABILITY / 4, all & !capability::PAIR_COUNTERS));
    }
    let device = open(&patches, Habits::default()).unwrap();
    let entries = device.port_mib(0).unwrap().into_iter();
    let pairs = entries.filter(|entry| entry.layer == "queue pair");
    pairs.map(|entry| (entry.name, entry.index, entry.value)).collect()
}

#[test]
fn counters_of_queue_pairs_are_those_that_the_device_names() {
    let at = |counter: PairCounter| u32::from(counter.raw()) * 8;
    let (few, many) = (at(PairCounter::Stale), at(PairCounter::TargetBadKey));
    let unknown = 62 * 8;
    let values = [(few, 5), (many, 7), (many + 4, 1), (unknown, 9)];
    let masks = |low, high| [(pair_block::PRESENT_LO, low), (pair_block::PRESENT_HI, high)];
    let entry = |name: &str, count| (name.to_owned(), Some(1), MibValue::Number(count));
    let [stale, bad_key] = [entry("stale", 5), entry("target bad key", (1 << 32) + 7)];
    let with = |masks: [(u32, u32); 2], capable| counters(&[&values[..], &masks].concat(), capable);
    assert_eq!(with(masks(u32::MAX, u32::MAX), true), [stale.clone(), bad_key]);
    // A device may have fewer, and without a queue pair it has none.
    assert_eq!(with(masks(1 << PairCounter::Stale.raw(), 0), true), [stale]);
    assert_eq!(with(masks(0, 0), true), []);
    assert_eq!(with(masks(u32::MAX, u32::MAX), false), []);
}

#[test]
fn a_device_that_does_not_answer_is_gone() {
    let (status, text) =
        open(&[], Habits { deaf_from: 1, ..Habits::default() }).map(drop).unwrap_err();
    assert_eq!(status, Some(Status::DeviceGone), "{text}");
    assert!(text.contains(Command::Reset.name()), "{text}");
    // The commands at the start are one for the reset and one for each port.
    let device = open(&[], Habits { deaf_from: 4, ..Habits::default() }).unwrap();
    let error = device.add_memory("test", 4096, access::LOCAL_READ).map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::DeviceGone));
    assert!(device.is_gone());
    assert_eq!(device.port_info(0).unwrap_err().status(), Some(Status::DeviceGone));
}

#[test]
fn statuses_and_keys_without_a_meaning_are_errors() {
    let (status, text) =
        open(&[], Habits { status: 0x7777, ..Habits::default() }).map(drop).unwrap_err();
    assert_eq!(status, Some(Status::BadField), "{text}");
    assert!(text.contains("0x7777"), "{text}");
    for key_off in [1, 0x1_0000, 0u32.wrapping_sub(0x1000)] {
        let device = open(&[], Habits { key_off, ..Habits::default() }).unwrap();
        let error = device.add_memory("test", 4096, access::LOCAL_READ).map(drop).unwrap_err();
        assert!(error.to_string().contains("impossible key"), "{key_off:#x}: {error}");
    }
}

/// Random contents in all places that the driver reads, with a seed for each run.
#[test]
fn random_registers_do_no_harm() {
    let words = soft_device();
    // Registers in front of the doorbells.
    let last = words[global::DOORBELL_OFFSET as usize / 4] / 4;
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32
    };
    for _ in 0..300 {
        let patches: Vec<(u32, u32)> = (0..1 + random() % 4)
            .map(|_| {
                // Half of them in the global block and the first port.
                let at = if random() % 2 == 0 { random() % 128 } else { random() % last };
                let value = match random() % 4 {
                    0 => random(),
                    1 => random() % 64,
                    2 => words[at as usize].wrapping_add(1),
                    _ => u32::MAX,
                };
                (at, value)
            })
            .collect();
        let habits = Habits {
            deaf_from: if random() % 4 == 0 { (random() % 20) as u8 } else { 0 },
            status: if random() % 4 == 0 { random() % 0x50 } else { 0 },
            key_off: if random() % 8 == 0 { random() } else { 0 },
        };
        exercise(Image::new(&patches, habits));
    }
}
