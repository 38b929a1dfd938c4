//! The control plane takes over the seat of a flow from participants that died.
//!
//! A dead participant is a thread that stops inside the seat, with the state half changed
//! ([`Flow::torn`]), and marks itself dead as its last act. The control plane must repair the state
//! before any other participant uses it.

use super::seat::{Guarded, OWNER};
use super::{check, check_cases};
use loom::thread;
use spfe_ring::sync::{AtomicU32, Ordering, full_fence};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const CLAIMER: u32 = 2;
const CONTROL: u32 = 3;
const IDS: usize = 4;

struct Flow {
    guarded: Arc<Guarded>,
    /// Participants known to be dead, by id. The release store of the death pairs with the acquire
    /// load of the control plane, as the exit of a process does.
    dead: [AtomicU32; IDS],
    /// A participant died inside and the state is not repaired. Loom does not see this atomic, so
    /// it orders nothing. Only the holder of the seat reads it.
    torn: AtomicBool,
}

impl Flow {
    fn new() -> Arc<Self> {
        let dead = std::array::from_fn(|_| AtomicU32::new(0));
        Arc::new(Self { guarded: Guarded::new(), dead, torn: AtomicBool::new(false) })
    }

    fn is_dead(&self, id: u32) -> bool {
        self.dead[id as usize].load(Ordering::Acquire) != 0
    }

    /// Works and dies before it leaves the seat.
    fn die_inside(&self, id: u32) {
        self.assert_whole();
        self.guarded.work();
        self.torn.store(true, Ordering::SeqCst);
        self.die(id);
    }

    fn die(&self, id: u32) {
        self.dead[id as usize].store(1, Ordering::Release);
    }

    fn assert_whole(&self) {
        assert!(!self.torn.load(Ordering::SeqCst), "used a state that was not repaired");
    }

    /// The owner tries to enter. Returns whether it got in.
    fn own(&self) -> bool {
        let inside = self.guarded.seat.enter(OWNER);
        if inside {
            self.assert_whole();
            self.guarded.work();
            self.guarded.seat.leave();
        }
        inside
    }

    /// A claimer tries to get the seat. Returns whether it did.
    fn visit(&self, id: u32) -> bool {
        let inside = self.guarded.seat.claim(id, full_fence, 1);
        if inside {
            self.assert_whole();
            self.guarded.work();
            self.guarded.seat.release();
        }
        inside
    }

    /// One attempt of the control plane. It repairs the state if told to. Returns whether it got
    /// the seat.
    fn take_over(&self, heavy: fn(), spins: u32) -> bool {
        let is_dead = |id| self.is_dead(id);
        let Some(repair) = self.guarded.seat.take_over(CONTROL, is_dead, heavy, spins) else {
            return false;
        };
        if repair {
            self.torn.store(false, Ordering::SeqCst);
        }
        self.assert_whole();
        self.guarded.work();
        self.guarded.seat.release();
        true
    }

    /// Attempts until one succeeds.
    fn take_over_at_last(&self) {
        while !self.take_over(full_fence, 1) {
            thread::yield_now();
        }
    }

    /// The seat is free and every use of the state was counted.
    fn assert_free(&self, works: usize) {
        self.assert_whole();
        assert_eq!(self.guarded.works() as usize, works);
        assert_eq!((self.guarded.seat.busy(), self.guarded.seat.claimed()), (0, 0));
    }
}

fn spawn<T: Send + 'static>(
    flow: &Arc<Flow>,
    body: impl FnOnce(&Flow) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let flow = flow.clone();
    thread::spawn(move || body(&flow))
}

fn count(uses: &[bool]) -> usize {
    uses.iter().filter(|&&used| used).count()
}

/// The owner dies inside while a claimer tries to get the seat.
#[test]
fn state_of_a_dead_owner_is_repaired_first() {
    check_cases(|| {
        let flow = Flow::new();
        let owner = spawn(&flow, |flow| {
            let inside = flow.guarded.seat.enter(OWNER);
            if inside {
                flow.die_inside(OWNER);
            } else {
                flow.die(OWNER);
            }
            inside
        });
        let claimer = spawn(&flow, |flow| flow.visit(CLAIMER));
        // The control plane acts when it has heard of the death.
        let died_inside = owner.join().unwrap();
        flow.take_over_at_last();
        let visited = claimer.join().unwrap();
        flow.assert_free(1 + count(&[died_inside, visited]));
        [died_inside, visited, died_inside && visited]
    });
}

/// A claimer dies inside while the owner keeps trying to enter.
#[test]
fn state_of_a_dead_claimer_is_repaired_first() {
    check_cases(|| {
        let flow = Flow::new();
        assert!(flow.guarded.seat.claim(CLAIMER, full_fence, 1));
        let owner = spawn(&flow, |flow| [flow.own(), flow.own()]);
        flow.die_inside(CLAIMER);
        flow.take_over_at_last();
        let [first, second] = owner.join().unwrap();
        flow.assert_free(2 + count(&[first, second]));
        [first, second, !first && !second]
    });
}

/// A claimer dies after it has claimed the seat and before the owner has left. The body of the
/// model runs in place of the claimer's fence, so the claimer never gets further than that.
#[test]
fn claimer_that_dies_waiting_does_not_disturb_the_owner() {
    check_cases(|| {
        let flow = Flow::new();
        let owner = spawn(&flow, |flow| [flow.own(), flow.own()]);
        let (mut owned, dying) = ([false; 2], flow.clone());
        let body = || {
            dying.die(CLAIMER);
            dying.take_over_at_last();
            owned = owner.join().unwrap();
            dying.assert_free(1 + count(&owned));
        };
        flow.guarded.seat.claim(CLAIMER, body, 1);
        let [first, second] = owned;
        [first, second, !first && !second]
    });
}

/// No participant is dead: the control plane gets the seat like any claimer, or gives up.
#[test]
fn living_owner_keeps_its_seat() {
    check_cases(|| {
        let flow = Flow::new();
        let owner = spawn(&flow, |flow| [flow.own(), flow.own()]);
        let taken = flow.take_over(full_fence, 1);
        let [first, second] = owner.join().unwrap();
        flow.assert_free(count(&[taken, first, second]));
        [taken, !taken, taken && first && second]
    });
}

#[test]
fn living_claimer_keeps_its_seat() {
    check_cases(|| {
        let flow = Flow::new();
        let claimer = spawn(&flow, |flow| flow.visit(CLAIMER));
        let taken = flow.take_over(full_fence, 1);
        let visited = claimer.join().unwrap();
        flow.assert_free(count(&[taken, visited]));
        [taken && visited, !taken, !visited]
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn take_over_needs_its_fence() {
    check(|| {
        let flow = Flow::new();
        let owner = spawn(&flow, |flow| flow.own());
        flow.take_over(|| {}, 1);
        owner.join().unwrap();
    });
}

/// When the control plane gives up it must not forget that a dead participant was inside. Here the
/// seat is freed instead, and the owner gets in.
#[test]
#[should_panic(expected = "used a state that was not repaired")]
fn take_over_must_not_free_a_torn_state() {
    check(|| {
        let flow = Flow::new();
        assert!(flow.guarded.seat.claim(CLAIMER, full_fence, 1));
        let owner = spawn(&flow, |flow| flow.own());
        flow.die_inside(CLAIMER);
        flow.guarded.seat.release();
        flow.take_over_at_last();
        owner.join().unwrap();
    });
}
