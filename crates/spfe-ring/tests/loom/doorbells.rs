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

/// What the device thread waits for: a doorbell for each client, which only that client and the
/// device know. The kernel reports each ring once (edge-triggered), as a change of a count.
#[derive(Default)]
struct Bells([AtomicU32; 2]);

impl Bells {
    fn rings(&self) -> [u32; 2] {
        self.0.each_ref().map(|bell| bell.load(Ordering::Acquire))
    }

    /// Sleeps until a doorbell has rung since the last sleep.
    fn wait(&self, seen: &mut [u32; 2]) {
        while self.rings() == *seen {
            thread::yield_now();
        }
        *seen = self.rings();
    }
}

/// A device that serves two clients with one sleep, and clients that post an entry each. The second
/// also rings `noise` times without reason. Returns how often the device slept.
fn shared_device(noise: u32, heavy: fn()) -> u32 {
    let memories = [Memory::new(LOG2), Memory::new(LOG2)];
    let rings = memories.each_ref().map(Memory::ring);
    let shared = Arc::new(([(); 2].map(|()| AtomicDeviceLine::default()), Bells::default()));
    let clients = [0, 1].map(|client: usize| {
        let (shared, ring) = (shared.clone(), memories[client].ring());
        let noise = if client == 1 { noise } else { 0 };
        thread::spawn(move || {
            let (lines, bells) = &*shared;
            for _ in 0..noise {
                bells.0[client].fetch_add(1, Ordering::Release);
            }
            post(&lines[client], &bells.0[client], ring, 1);
        })
    });
    let (lines, bells) = &*shared;
    let (mut consumers, mut seen, mut sleeps) = (rings.map(Consumer::new), [0; 2], 0);
    while consumers.iter().any(|consumer| consumer.position == 0) {
        for consumer in &mut consumers {
            if consumer.peek().is_some() {
                consumer.advance(1);
            }
        }
        lines.iter().for_each(|line| line.set_need_doorbell(true));
        heavy();
        let idle = consumers.iter_mut().all(|consumer| consumer.peek().is_none());
        if idle && consumers.iter().any(|consumer| consumer.position == 0) {
            bells.wait(&mut seen);
            sleeps += 1;
        }
        lines.iter().for_each(|line| line.set_need_doorbell(false));
    }
    clients.map(|client| client.join().unwrap());
    sleeps
}

#[test]
fn device_of_two_clients_misses_neither() {
    check_cases(|| {
        let sleeps = shared_device(0, full_fence);
        [sleeps == 0, sleeps == 1, sleeps > 1]
    });
}

/// Rings without a packet end sleeps, and take none from the other client.
#[test]
fn rings_of_one_client_take_none_from_the_other() {
    check_cases(|| {
        let sleeps = shared_device(1, full_fence);
        [sleeps == 0, sleeps > 1]
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn device_of_two_clients_needs_its_fence() {
    check(|| {
        shared_device(0, || {});
    });
}
