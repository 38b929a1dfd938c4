//! Wake-ups: a host that waits for completions, for room or for the end of its queue.

use super::{LOG2, Memory, check, check_cases, entry, number};
use loom::thread;
use spfe_ring::sync::{Ordering, full_fence};
use spfe_ring::{Arm, AtomicDeviceLine, AtomicHostLine, Consumer, Producer, Ring};
use std::sync::Arc;

#[derive(Default)]
struct Lines {
    host: AtomicHostLine,
    device: AtomicDeviceLine,
}

impl Lines {
    fn wake_seq(&self) -> u32 {
        self.device.wake_seq.load(Ordering::Acquire)
    }
}

/// The device: writes a completion for each packet of this many bytes. It wakes the host when what
/// the host waits for is there.
fn complete(lines: &Lines, completions: Ring, bytes: &[u32]) {
    let mut producer = Producer::new(completions);
    let (mut total, mut answered) = (0, 0);
    for &bytes in bytes {
        producer.push(entry(bytes));
        total += u64::from(bytes);
        if let Some(sequence) = lines.host.armed()
            && sequence != answered
            && lines.host.threshold().is_met(producer.position, total)
        {
            answered = sequence;
            lines.device.bump();
        }
    }
}

/// The host, and what it has seen of its completions.
struct Waiter {
    lines: Arc<Lines>,
    completions: Consumer,
    bytes: u64,
    sequence: u32,
    /// The fence between arming and looking again.
    heavy: fn(),
}

impl Waiter {
    fn new(lines: &Arc<Lines>, ring: Ring, heavy: fn()) -> Self {
        let completions = Consumer::new(ring);
        Self { lines: lines.clone(), completions, bytes: 0, sequence: 0, heavy }
    }

    fn look(&mut self, arm: &Arm) -> bool {
        while let Some(entry) = self.completions.pop() {
            self.bytes += u64::from(number(entry));
        }
        arm.is_met(self.completions.position, self.bytes)
    }

    /// Arms and looks again. `Some` is the value of the futex word to sleep on.
    fn arm(&mut self, arm: &Arm) -> Option<u32> {
        let seen = self.lines.wake_seq();
        self.sequence = self.sequence.wrapping_add(2) | 1;
        self.lines.host.arm(self.sequence, arm, self.heavy);
        (!self.look(arm)).then_some(seen)
    }

    /// Waits without spinning first.
    fn wait(&mut self, arm: &Arm) {
        while !self.look(arm) {
            if let Some(seen) = self.arm(arm) {
                while self.lines.wake_seq() == seen {
                    thread::yield_now();
                }
            }
            self.lines.host.disarm();
        }
    }
}

/// A host arms once while the device completes. If it decides to sleep, the device must have woken
/// it by the time the device has ended. Returns whether the host sleeps.
fn armed_once(arm: &Arm, bytes: &'static [u32], heavy: fn()) -> bool {
    let memory = Memory::new(LOG2);
    let ring = memory.ring();
    let lines = Arc::new(Lines::default());
    let device = thread::spawn({
        let lines = lines.clone();
        move || complete(&lines, ring, bytes)
    });
    let mut host = Waiter::new(&lines, ring, heavy);
    let sleeps = host.arm(arm);
    device.join().unwrap();
    if let Some(seen) = sleeps {
        assert_ne!(lines.wake_seq(), seen, "the host sleeps for ever");
        assert!(host.look(arm), "the device woke the host too early");
    }
    sleeps.is_some()
}

fn no_wake_up_is_lost(arm: Arm, bytes: &'static [u32]) {
    check_cases(move || {
        let sleeps = armed_once(&arm, bytes, full_fence);
        [sleeps, !sleeps]
    });
}

#[test]
fn no_wake_up_is_lost_by_count() {
    no_wake_up_is_lost(Arm { count: Some(1), ..Arm::default() }, &[10]);
    no_wake_up_is_lost(Arm { count: Some(2), ..Arm::default() }, &[10, 10, 10]);
}

#[test]
fn no_wake_up_is_lost_by_bytes() {
    no_wake_up_is_lost(Arm { bytes: Some(25), ..Arm::default() }, &[10, 20]);
    no_wake_up_is_lost(Arm { bytes: Some(10), count: Some(4), ..Arm::default() }, &[10, 20]);
}

#[test]
#[should_panic(expected = "the host sleeps for ever")]
fn host_needs_its_fence_before_it_sleeps() {
    let arm = Arm { count: Some(1), ..Arm::default() };
    check(move || {
        armed_once(&arm, &[10], || {});
    });
}

#[test]
fn arming_again_loses_no_wake_up() {
    check(|| {
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let lines = Arc::new(Lines::default());
        let device = thread::spawn({
            let lines = lines.clone();
            move || complete(&lines, ring, &[10, 20])
        });
        let mut host = Waiter::new(&lines, ring, full_fence);
        host.wait(&Arm { count: Some(1), ..Arm::default() });
        host.wait(&Arm { bytes: Some(30), ..Arm::default() });
        device.join().unwrap();
        assert_eq!(host.completions.position, 2);
    });
}

#[test]
fn device_that_sees_an_arming_sees_its_threshold() {
    check(|| {
        let line = Arc::new(AtomicHostLine::default());
        let host = thread::spawn({
            let line = line.clone();
            move || {
                for sequence in [1, 3] {
                    let position = 10 * sequence;
                    let count = Some(position);
                    let arm = Arm { count, first_position: position, ..Arm::default() };
                    line.arm(sequence, &arm, full_fence);
                }
            }
        });
        if let Some(sequence) = line.armed() {
            let threshold = line.threshold();
            // The threshold is that of this arming or of a later one that is being written.
            assert!(threshold.count.expect("a count") >= 10 * sequence);
            assert!(threshold.first_position >= 10 * sequence);
        }
        host.join().unwrap();
    });
}

/// A device without room for the next packet, and a host that waits for more packets than it has
/// buffers for. The host must either see that the queue is full or be woken. `marks` is whether the
/// device marks the queue as full. Returns whether the host sleeps.
fn full_queue(marks: bool, heavy: fn()) -> bool {
    const PACKETS: u32 = 2;
    let memory = Memory::new(LOG2);
    let ring = memory.ring();
    let lines = Arc::new(Lines::default());
    let device = thread::spawn({
        let lines = lines.clone();
        move || {
            let mut producer = Producer::new(ring);
            (0..PACKETS).for_each(|number| producer.push(entry(number)));
            if marks {
                lines.device.set_full(PACKETS, PACKETS);
            }
            if lines.host.armed().is_some() && lines.host.threshold().has_first(PACKETS) {
                lines.device.bump();
            }
        }
    });
    let mut host = Waiter::new(&lines, ring, heavy);
    let sleeps = host.arm(&Arm { count: Some(PACKETS + 1), ..Arm::default() });
    let sleeps = sleeps.filter(|_| !lines.device.is_full(host.completions.position, PACKETS));
    device.join().unwrap();
    if let Some(seen) = sleeps {
        assert_ne!(lines.wake_seq(), seen, "the host sleeps for ever");
    }
    sleeps.is_some()
}

#[test]
fn host_of_a_full_queue_sees_the_mark_or_is_woken() {
    check_cases(|| {
        let sleeps = full_queue(true, full_fence);
        [sleeps, !sleeps]
    });
}

#[test]
#[should_panic(expected = "the host sleeps for ever")]
fn host_of_a_full_queue_needs_the_mark() {
    check(|| {
        full_queue(false, full_fence);
    });
}

#[test]
#[should_panic(expected = "the host sleeps for ever")]
fn host_of_a_full_queue_needs_its_fence() {
    check(|| {
        full_queue(true, || {});
    });
}

/// A device that stops a queue: it publishes state and status, then wakes the host whatever the
/// host waits for.
#[test]
fn host_sees_why_its_queue_stopped() {
    const STOPPED: u32 = 3;
    const STATUS: u32 = 0x41;
    check_cases(|| {
        let lines = Arc::new(Lines::default());
        let device = thread::spawn({
            let lines = lines.clone();
            move || {
                lines.device.set_state(STOPPED, STATUS);
                lines.device.bump();
            }
        });
        let seen = lines.wake_seq();
        let (state, status) = lines.device.state();
        assert!(state != STOPPED || status == STATUS, "a state without its status");
        let woken_first = seen != 0;
        assert!(!woken_first || state == STOPPED, "a wake-up without its reason");
        device.join().unwrap();
        assert!(state == STOPPED || lines.wake_seq() != seen, "the host sleeps for ever");
        [state == STOPPED, state != STOPPED, woken_first]
    });
}
