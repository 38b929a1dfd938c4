//! Revoking a region: a runner that remembers where the region is, and a control plane that unmaps it.
//!
//! The runner is `Runner::run` of spfe-plane with the region map of spfe-device; the control plane is
//! `Network::revoke`.

use super::{Bytes, check, check_cases};
use loom::thread;
use spfe_ring::Seat;
use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering, full_fence};
use std::sync::Arc;

const OWNER: u32 = 1;
const CONTROL: u32 = 2;
/// Tag of the region while it is registered.
const TAG: u64 = 0x1001;
/// Content of memory that is not mapped any more.
const UNMAPPED: u32 = 99;

/// A flow and the region that it uses.
struct Flow {
    seat: Seat,
    epoch: AtomicU32,
    tag: AtomicU64,
    /// The memory. Loom fails the model if it is unmapped during an access.
    memory: Arc<Bytes>,
}

impl Flow {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            seat: Seat::default(),
            epoch: AtomicU32::new(1),
            tag: AtomicU64::new(TAG),
            memory: Bytes::new(1),
        })
    }

    /// A step of the owner. `seen` is the epoch of the last step, `known` whether it has found the
    /// region since. Returns whether it used the memory.
    fn step(&self, seen: &mut u32, known: &mut bool) -> bool {
        if !self.seat.enter(OWNER) {
            return false;
        }
        let epoch = self.epoch.load(Ordering::Acquire);
        if epoch != *seen {
            (*seen, *known) = (epoch, false);
        }
        *known = *known || self.tag.load(Ordering::Acquire) == TAG;
        if *known {
            assert_ne!(self.memory.get(0), UNMAPPED, "the device uses unmapped memory");
            self.memory.put(0, 1);
        }
        self.seat.leave();
        *known
    }

    /// Revokes the region and unmaps its memory, leaving out what a model says.
    fn revoke(&self, claims: bool, bumps: bool) {
        self.tag.store(0, Ordering::Release);
        while claims && !self.seat.claim(CONTROL, full_fence, 1) {
            thread::yield_now();
        }
        if bumps {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        if claims {
            self.seat.release();
        }
        self.memory.put(0, UNMAPPED);
    }
}

/// An owner makes this many steps beside a revocation. Returns how many used the memory.
fn revocation(steps: u32, claims: bool, bumps: bool) -> usize {
    let flow = Flow::new();
    let owner = thread::spawn({
        let flow = flow.clone();
        move || {
            let (mut seen, mut known) = (0, false);
            (0..steps).filter(|_| flow.step(&mut seen, &mut known)).count()
        }
    });
    flow.revoke(claims, bumps);
    owner.join().unwrap()
}

#[test]
fn a_revoked_region_is_not_used() {
    const STEPS: u32 = 2;
    check_cases(|| {
        let uses = revocation(STEPS, true, true);
        [uses == 0, uses == 1, uses == STEPS as usize]
    });
}

/// Without the epoch the owner goes on with the place that it remembers.
#[test]
#[should_panic(expected = "Causality violation")]
fn revocation_needs_a_new_epoch() {
    check(|| {
        revocation(2, true, false);
    });
}

/// Without a claim of the seat a step that has begun goes on while the memory is unmapped.
#[test]
#[should_panic(expected = "Causality violation")]
fn revocation_needs_the_seat() {
    check(|| {
        revocation(1, false, true);
    });
}
