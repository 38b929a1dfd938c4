//! Doorbells: a device that falls asleep and a host that posts.

use super::{LOG2, Memory, check, check_cases, entry, number};
use loom::thread;
use spfe_ring::sync::{AtomicU32, Ordering, full_fence};
use spfe_ring::{AtomicDeviceLine, Consumer, Producer, Ring};
use std::sync::Arc;

/// The device: takes entries, and sleeps on the doorbell word when there are none. `heavy` is the
/// fence between asking for a doorbell and looking at the ring again.
fn serve(
    line: &AtomicDeviceLine,
    doorbell: &AtomicU32,
    submissions: Ring,
    entries: u32,
    heavy: fn(),
) {
    let mut consumer = Consumer::new(submissions);
    while consumer.position < entries {
        if let Some(entry) = consumer.peek() {
            assert_eq!(number(entry), consumer.position);
            consumer.advance(1);
            continue;
        }
        let seen = doorbell.load(Ordering::Acquire);
        line.set_need_doorbell(true);
        heavy();
        if consumer.peek().is_none() {
            while doorbell.load(Ordering::Acquire) == seen {
                thread::yield_now();
            }
        }
        line.set_need_doorbell(false);
    }
}

/// The host posts entries and rings if asked to. Returns how often it rang.
fn post(line: &AtomicDeviceLine, doorbell: &AtomicU32, submissions: Ring, entries: u32) -> u32 {
    let mut producer = Producer::new(submissions);
    let mut rung = 0;
    for number in 0..entries {
        producer.push(entry(number));
        if line.needs_doorbell() {
            doorbell.fetch_add(1, Ordering::Release);
            rung += 1;
        }
    }
    rung
}

/// Runs a device and a host. Returns how often the host rang.
fn doorbells(entries: u32, heavy: fn()) -> u32 {
    let memory = Memory::new(LOG2);
    let ring = memory.ring();
    let shared = Arc::new((AtomicDeviceLine::default(), AtomicU32::new(0)));
    let device = thread::spawn({
        let shared = shared.clone();
        move || serve(&shared.0, &shared.1, ring, entries, heavy)
    });
    let rung = post(&shared.0, &shared.1, ring, entries);
    device.join().unwrap();
    rung
}

#[test]
fn sleeping_device_is_always_rung() {
    const ENTRIES: u32 = 2;
    check_cases(|| {
        let rung = doorbells(ENTRIES, full_fence);
        [rung == 0, rung == ENTRIES]
    });
}

/// Without the fence the device sleeps on and spins for ever in the model.
#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn device_needs_its_fence_before_it_sleeps() {
    check(|| {
        doorbells(1, || {});
    });
}
