//! The seat: a lock that decides which participant runs the engine of a flow.
//!
//! A flow has one *owner*, which runs its engine nearly always: the sender in mode inline, the
//! device thread in mode thread. Other participants need it rarely: a receiver that frees the
//! sender's stalled packet, or the control plane that stops a queue. So the seat is biased. The
//! owner enters with a store, a light fence and a load; the others pay for a heavy fence. This is
//! Dekker's protocol with an asymmetric fence ([`crate::sync`]).
//!
//! Each word of the seat holds the id of a participant, or 0. After a participant has died the
//! control plane finds its id in the seats that it held, and takes them over ([`Seat::take_over`]).

use crate::sync::{AtomicU32, Ordering, light_fence, relax};

/// The seat of a flow, in shared memory. All zero is free.
#[repr(C)]
#[derive(Default)]
pub struct Seat {
    /// The owner, while it is inside or trying to enter.
    busy: AtomicU32,
    /// The participant that has claimed the seat. It is inside once `busy` is 0.
    claim: AtomicU32,
}

impl Seat {
    /// Owner: enters the seat. False if another participant has claimed it.
    ///
    /// Pairs with the heavy fence in [`Seat::claim`]: either the claimer sees `busy`, or the owner
    /// sees `claim`.
    #[inline(always)]
    pub fn enter(&self, id: u32) -> bool {
        self.enter_by(id, light_fence)
    }

    /// The same with a fence of the caller, as strong as the light one.
    #[inline(always)]
    pub fn enter_by(&self, id: u32, fence: impl FnOnce()) -> bool {
        self.busy.store(id, Ordering::Relaxed);
        fence();
        // Acquire pairs with the release in `release`: the owner sees the changes of the claimer.
        if self.claim.load(Ordering::Acquire) == 0 {
            return true;
        }
        self.busy.store(0, Ordering::Release);
        false
    }

    /// Owner: leaves the seat. The release pairs with the acquire load of `busy` in
    /// [`Seat::claim`].
    #[inline(always)]
    pub fn leave(&self) {
        self.busy.store(0, Ordering::Release);
    }

    /// Any other participant: claims the seat and waits for the owner to leave, for at most `spins`
    /// turns. `heavy` is the heavy fence that pairs with the light one in [`Seat::enter`]. On false
    /// the caller holds nothing.
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

    /// Releases a claimed seat.
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

    /// Control plane: claims a seat that dead participants may hold, so that no other participant
    /// gets in before the state is repaired. Waits at most `spins` turns for a living owner.
    ///
    /// `Some` when the caller holds the claim; true if a dead participant may have been inside, and
    /// the state needs repair. `None` if a living participant holds the seat: try again. Until then
    /// a state that needs repair stays claimed in the name of the dead participant.
    pub fn take_over(
        &self,
        id: u32,
        is_dead: impl Fn(u32) -> bool,
        heavy: impl FnOnce(),
        spins: u32,
    ) -> Option<bool> {
        // A dead participant whose work may be unfinished, or 0.
        let mut dead = self.claim.load(Ordering::Acquire);
        if dead != 0 && !is_dead(dead) {
            return None;
        }
        self.claim.compare_exchange(dead, id, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        // Pairs with the light fence in `enter`, as in `claim`.
        heavy();
        for _ in 0..spins.max(1) {
            let owner = self.busy.load(Ordering::Acquire);
            if owner == 0 {
                return Some(dead != 0);
            }
            if is_dead(owner)
                && self.busy.compare_exchange(owner, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                dead = owner;
            }
            relax();
        }
        // Not 0 if something needs repair: then the next owner must not get in.
        self.claim.store(dead, Ordering::Release);
        None
    }
}
