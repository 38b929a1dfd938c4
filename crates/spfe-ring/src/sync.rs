//! Atomics (swapped for loom's under `--cfg loom`) and barriers named by purpose.
//!
//! Sleeping and seat changes need a store to be seen before a later load on *both* sides (Dekker).
//! The side that does it for every packet would pay for a full fence; the side that is about to
//! sleep has time. So the fast side calls [`light_fence`], which costs nothing when the slow side
//! can force a fence on every other thread (Linux `membarrier`), and the slow side passes that as
//! `heavy` to whatever needs it. Without `membarrier` both are full fences ([`FenceMode`]).

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU8, compiler_fence};

/// How the two sides of a store-then-load pair are kept apart. All that take part in a pair agree
/// that whoever is light is heard by whoever is heavy.
#[cfg(not(loom))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FenceMode {
    /// Full fences on both sides: right everywhere.
    Full = 0,
    /// The light side is free, the heavy side forces a fence on every thread and process that
    /// takes part.
    Asymmetric = 1,
    /// Some who take part cannot be forced, because they are on the far side of a bus: the light
    /// side is a full fence here, and the heavy side forces those that can be and is a full fence
    /// as well.
    Bus = 2,
}

/// The choice of this process.
#[cfg(not(loom))]
static FENCE_MODE: AtomicU8 = AtomicU8::new(FenceMode::Full as u8);

/// Chooses the barriers of this process.
///
/// `Asymmetric` is for before any thread uses a ring, and only where the heavy side really forces a
/// fence on all that take part. `Bus` may follow it at any time: both its sides are at least as
/// strong.
#[cfg(not(loom))]
pub fn set_fence_mode(mode: FenceMode) {
    FENCE_MODE.store(mode as u8, Ordering::SeqCst);
}

/// The barriers of this process.
#[cfg(not(loom))]
pub fn fence_mode() -> FenceMode {
    match FENCE_MODE.load(Ordering::Relaxed) {
        1 => FenceMode::Asymmetric,
        2 => FenceMode::Bus,
        _ => FenceMode::Full,
    }
}

/// Fast side of a store-then-load pair: pairs with the heavy barrier of the slow side.
#[inline(always)]
pub fn light_fence() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    if FENCE_MODE.load(Ordering::Relaxed) == FenceMode::Asymmetric as u8 {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// A heavy barrier for single-process models and platforms without `membarrier`.
pub fn full_fence() {
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
