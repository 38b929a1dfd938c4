//! A lock in shared memory that knows its holder.

use crate::sync::{AtomicU32, Ordering};

/// A lock that holds the id of the participant that has taken it, or 0. All zero is free.
///
/// After a participant has died, the control plane finds its id in the locks that it held, and
/// takes them over.
#[repr(transparent)]
#[derive(Default)]
pub struct HolderLock(AtomicU32);

impl HolderLock {
    /// Takes the lock for participant `id`, if it is free. The acquire pairs with the release in
    /// [`HolderLock::unlock`].
    #[must_use]
    pub fn try_lock(&self, id: u32) -> bool {
        self.0.compare_exchange(0, id, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the lock. Calls `pause` again and again while another participant holds it.
    pub fn lock(&self, id: u32, mut pause: impl FnMut()) {
        while !self.try_lock(id) {
            pause();
        }
    }

    /// Releases the lock. Only its holder may do so.
    pub fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Id of the participant that holds the lock, or 0.
    pub fn holder(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Control plane: takes the lock from a dead participant. False if it does not hold the lock.
    #[must_use]
    pub fn take_over(&self, dead: u32, id: u32) -> bool {
        self.0.compare_exchange(dead, id, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
