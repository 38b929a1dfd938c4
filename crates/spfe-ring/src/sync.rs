//! Atomics (swapped for loom's under `--cfg loom`) and barriers named by purpose.
//!
//! Sleeping and seat changes need a store to be seen before a later load on *both* sides (Dekker).
//! The side that does it for every packet would pay for a full fence; the side that is about to
//! sleep has time. So the fast side calls [`light_barrier`], which costs nothing when the slow side
//! can force a fence on every other thread (Linux `membarrier`), and the slow side passes that as
//! `heavy` to whatever needs it. Without `membarrier` both are full fences.

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(not(loom))]
use core::sync::atomic::{AtomicBool, compiler_fence};

/// True once the host has found that `membarrier` works for every participant.
#[cfg(not(loom))]
static ASYMMETRIC: AtomicBool = AtomicBool::new(false);

/// Chooses between the asymmetric barrier pair and full fences on both sides.
///
/// Call before any thread uses a ring, and only with `true` when the heavy side really forces a
/// fence on every thread and process that takes part.
#[cfg(not(loom))]
pub fn set_asymmetric(on: bool) {
    ASYMMETRIC.store(on, Ordering::SeqCst);
}

/// Whether [`light_barrier`] is free.
#[cfg(not(loom))]
pub fn is_asymmetric() -> bool {
    ASYMMETRIC.load(Ordering::Relaxed)
}

/// Fast side of a store-then-load pair: pairs with the heavy barrier of the slow side.
#[inline(always)]
pub fn light_barrier() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    if ASYMMETRIC.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// A heavy barrier for single-process models and platforms without `membarrier`.
pub fn fence_barrier() {
    fence(Ordering::SeqCst);
}

/// One turn of a short wait.
#[inline(always)]
pub fn relax() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    core::hint::spin_loop();
}
