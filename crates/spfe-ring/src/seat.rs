//! Who may run the engine of a flow.
//!
//! A flow has one *owner* that runs its engine nearly always (the sender, when it is the sender
//! that copies) and others that need it rarely (a receiver that frees the sender's stalled packet,
//! a control plane that stops a queue). The owner's way in is a store, a free barrier and a load;
//! the others pay for a heavy barrier. This is Dekker's protocol with an asymmetric fence.
//!
//! Ids are not zero. An owner or claimer that died is broken out by id (`break_dead`).

use crate::sync::{AtomicU32, Ordering, light_fence, relax};

/// The seat. All zero is free.
#[repr(C)]
#[derive(Default)]
pub struct Seat {
    busy: AtomicU32,
    claim: AtomicU32,
}

impl Seat {
    /// Owner: takes the seat; false if another has claimed it. Pairs with the heavy barrier in
    /// [`Seat::claim`]: either the claimer sees `busy`, or we see `claim`.
    #[inline(always)]
    pub fn enter(&self, id: u32) -> bool {
        self.busy.store(id, Ordering::Relaxed);
        light_fence();
        if self.claim.load(Ordering::Acquire) == 0 {
            return true;
        }
        self.busy.store(0, Ordering::Release);
        false
    }

    /// Owner: leaves the seat. The release pairs with the claimer's acquire of `busy`.
    #[inline(always)]
    pub fn leave(&self) {
        self.busy.store(0, Ordering::Release);
    }

    /// Anyone else: claims the seat and waits for the owner to leave, at most `spins` turns.
    /// On false nothing is held.
    pub fn claim(&self, id: u32, heavy: impl FnOnce(), spins: u32) -> bool {
        if self.claim.compare_exchange(0, id, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        heavy();
        for _ in 0..spins.max(1) {
            if self.busy.load(Ordering::Acquire) == 0 {
                return true;
            }
            relax();
        }
        self.claim.store(0, Ordering::Release);
        false
    }

    /// Gives a claimed seat back.
    pub fn release(&self) {
        self.claim.store(0, Ordering::Release);
    }

    /// Id of the owner inside, or 0.
    pub fn busy(&self) -> u32 {
        self.busy.load(Ordering::Acquire)
    }

    /// Id of the claimer, or 0.
    pub fn claimed(&self) -> u32 {
        self.claim.load(Ordering::Acquire)
    }

    /// Control plane: claims a seat that dead participants hold, so that nobody else gets in before
    /// what they were doing is put right. `Some` when it is claimed; true if one of the dead may have
    /// been inside. `None` if somebody alive has it.
    pub fn take_over(
        &self,
        id: u32,
        is_dead: impl Fn(u32) -> bool,
        heavy: impl FnOnce(),
        spins: u32,
    ) -> Option<bool> {
        let claimer = self.claim.load(Ordering::Acquire);
        let mut torn = claimer != 0;
        if torn && !is_dead(claimer) {
            return None;
        }
        self.claim.compare_exchange(claimer, id, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        heavy();
        for _ in 0..spins.max(1) {
            let owner = self.busy.load(Ordering::Acquire);
            if owner == 0 {
                return Some(torn);
            }
            if is_dead(owner) {
                let free = &self.busy;
                torn |=
                    free.compare_exchange(owner, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            }
            relax();
        }
        self.claim.store(0, Ordering::Release);
        None
    }

    /// Control plane: a participant is dead; whatever it held is free. True if it held anything.
    pub fn break_dead(&self, id: u32) -> bool {
        let mut held = false;
        for word in [&self.busy, &self.claim] {
            held |= word.compare_exchange(id, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        }
        held
    }
}
