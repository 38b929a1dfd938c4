//! The seat of a flow: one owner and others that claim it.

use super::{Bytes, check, check_cases};
use loom::thread;
use spfe_ring::Seat;
use spfe_ring::sync::full_fence;
use std::sync::Arc;

pub const OWNER: u32 = 1;

/// A seat and the state it guards. Loom fails the model if two threads use the state at once.
pub struct Guarded {
    pub seat: Seat,
    state: Arc<Bytes>,
}

impl Guarded {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { seat: Seat::default(), state: Bytes::new(1) })
    }

    /// Uses the state. Only the holder of the seat may do so.
    pub fn work(&self) {
        self.state.put(0, self.state.get(0) + 1);
    }

    /// How often the state was used.
    pub fn works(&self) -> u32 {
        self.state.get(0)
    }

    /// The owner works if it gets in. Returns whether it did.
    pub fn own(&self) -> bool {
        let inside = self.seat.enter(OWNER);
        if inside {
            self.work();
            self.seat.leave();
        }
        inside
    }

    /// A claimer works if it gets the seat. Returns whether it did.
    pub fn visit(&self, id: u32, heavy: fn(), spins: u32) -> bool {
        let inside = self.seat.claim(id, heavy, spins);
        if inside {
            self.work();
            self.seat.release();
        }
        inside
    }
}

/// The owner tries to enter `turns` times beside claimers that wait for this many spins each.
/// Returns whether the owner was refused, and whether a claimer gave up.
fn exclusion(turns: u32, claimers: &[u32], heavy: fn()) -> (bool, bool) {
    let guarded = Guarded::new();
    let threads: Vec<_> = (2..)
        .zip(claimers)
        .map(|(id, &spins)| {
            let guarded = guarded.clone();
            thread::spawn(move || guarded.visit(id, heavy, spins))
        })
        .collect();
    let owned = (0..turns).filter(|_| guarded.own()).count();
    let visits: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let visits = visits.into_iter().filter(|&inside| inside).count();
    assert_eq!(guarded.works() as usize, owned + visits);
    assert_eq!((guarded.seat.busy(), guarded.seat.claimed()), (0, 0));
    assert!(guarded.own() && guarded.visit(2, heavy, 1), "the seat is not free");
    (owned < turns as usize, visits < claimers.len())
}

fn exclude_each_other(turns: u32, claimers: &'static [u32]) {
    check_cases(move || {
        let (refused, gave_up) = exclusion(turns, claimers, full_fence);
        [refused, gave_up, !refused && !gave_up]
    });
}

#[test]
fn owner_and_claimer_exclude_each_other() {
    exclude_each_other(2, &[2]);
}

#[test]
fn owner_and_two_claimers_exclude_each_other() {
    exclude_each_other(1, &[1, 2]);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn claimer_needs_its_fence() {
    check(|| {
        exclusion(1, &[2], || {});
    });
}
