//! Loom models of the ring protocols. Loom runs each model in every order of events, and with
//! every value that weak memory lets a load return, up to a few preemptions.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test -p spfe-ring --release --test loom
//! ```
//!
//! Data that two threads use in turn is in [`Bytes`]: loom fails a model in which two accesses are
//! not ordered. A lost wake-up leaves a thread spinning, which loom reports as too many branches.
//!
//! Tests with `should_panic` leave out one fence or one rule and show that the model then fails.
//! The crate documentation lists the models of each protocol.
#![cfg(loom)]

mod batches;
mod board;
mod doorbells;
mod lock;
mod packed;
mod revocation;
mod rings;
mod seat;
mod takeover;
mod wakes;

use loom::cell::UnsafeCell;
use loom::thread;
use spfe_ring::ring::RingEntry;
use spfe_ring::sync::Ordering;
use spfe_ring::{Consumer, Ring, Slot};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The smallest ring: 4 entries.
const LOG2: u32 = 2;
const SIZE: u32 = 1 << LOG2;

/// Runs a model with at most three preemptions, unless the environment sets another limit.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}

/// Runs a model that reports which of its cases occurred in a run. Over all runs each case has to
/// occur at least once, so that no assertion holds only because its case was never reached.
fn check_cases<const CASES: usize>(model: impl Fn() -> [bool; CASES] + Sync + Send + 'static) {
    // Atomics of the standard library are invisible to loom and keep their value between runs.
    let seen: Arc<[AtomicBool; CASES]> = Arc::new([const { AtomicBool::new(false) }; CASES]);
    let cases = seen.clone();
    check(move || {
        for (case, occurred) in cases.iter().zip(model()) {
            case.fetch_or(occurred, Ordering::SeqCst);
        }
    });
    let seen = seen.each_ref().map(|case| case.load(Ordering::SeqCst));
    assert_eq!(seen, [true; CASES], "a case of the model never occurred");
}

/// Memory of a ring. Its owner joins every thread that uses the ring before dropping it.
struct Memory(Box<[Slot]>);

impl Memory {
    fn new(log2: u32) -> Self {
        Self((0..1 << log2).map(|_| Slot::default()).collect())
    }

    fn ring(&self) -> Ring {
        // SAFETY: the slice has a power of two of slots, which outlive the threads of the model.
        unsafe { Ring::new(NonNull::from(&*self.0).cast(), self.0.len().trailing_zeros()) }
    }
}

/// Data that threads use in turn. Loom fails the model if two accesses are not ordered.
struct Bytes(Box<[UnsafeCell<u32>]>);

// SAFETY: loom fails the model at the first pair of accesses that are not ordered.
unsafe impl Sync for Bytes {}

impl Bytes {
    fn new(count: u32) -> Arc<Self> {
        Arc::new(Self((0..count).map(|_| UnsafeCell::new(0)).collect()))
    }

    fn put(&self, at: u32, value: u32) {
        // SAFETY: loom has just checked that every other access is before or after this one.
        self.0[at as usize].with_mut(|cell| unsafe { *cell = value });
    }

    fn get(&self, at: u32) -> u32 {
        // SAFETY: as in `put`.
        self.0[at as usize].with(|cell| unsafe { *cell })
    }
}

/// An entry with its number in both words.
fn entry(number: u32) -> RingEntry {
    [0xa000_0000 | u64::from(number), u64::from(number)]
}

/// The number of an entry. Fails if its two words belong to different entries.
fn number(entry: RingEntry) -> u32 {
    let number = entry[1] as u32;
    assert_eq!(entry[0], 0xa000_0000 | u64::from(number), "words of two laps in one entry");
    number
}

fn pop_waiting(consumer: &mut Consumer) -> RingEntry {
    loop {
        if let Some(entry) = consumer.pop() {
            return entry;
        }
        thread::yield_now();
    }
}
