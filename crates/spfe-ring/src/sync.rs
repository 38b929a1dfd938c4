//! Atomics, which are those of loom under `--cfg loom`, and fences named by their purpose.
//!
//! Wake-ups and seats need a fence between a store and a later load on *both* sides (Dekker). One
//! side does this for every packet and must be fast. The other side is about to sleep, or to wait,
//! and has time. So the fast side uses [`light_fence`], and the slow side a heavy fence that its
//! caller passes in. Where the heavy fence forces a fence on every other thread (Linux
//! `membarrier`), the light one costs nothing. Otherwise both are full fences ([`FenceMode`]).

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU8, compiler_fence};

/// How the light and the heavy side of a pair are ordered. All participants of a pair must use
/// modes that fit together.
#[cfg(not(loom))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FenceMode {
    /// Full fences on both sides. Correct everywhere.
    Full = 0,
    /// The light side costs nothing. The heavy side forces a fence on every thread and process that
    /// takes part.
    Asymmetric = 1,
    /// Some participants are across a bus and cannot be forced. The light side is a full fence. The
    /// heavy side is a full fence too, and forces those participants that can be forced.
    Bus = 2,
}

/// The fence mode of this process.
#[cfg(not(loom))]
static FENCE_MODE: AtomicU8 = AtomicU8::new(FenceMode::Full as u8);

/// Sets the fence mode of this process.
///
/// `Asymmetric` may be set only before any thread uses a ring, and only if the heavy side does
/// force a fence on all participants. `Bus` may be set later at any time, because both its sides
/// are at least as strong.
#[cfg(not(loom))]
pub fn set_fence_mode(mode: FenceMode) {
    FENCE_MODE.store(mode as u8, Ordering::SeqCst);
}

/// The fence mode of this process.
#[cfg(not(loom))]
pub fn fence_mode() -> FenceMode {
    match FENCE_MODE.load(Ordering::Relaxed) {
        1 => FenceMode::Asymmetric,
        2 => FenceMode::Bus,
        _ => FenceMode::Full,
    }
}

/// Address of the fence mode, for code in other languages: [`light_fence`] costs nothing while it is
/// `Asymmetric`.
#[cfg(not(loom))]
pub fn fence_mode_byte() -> *const u8 {
    FENCE_MODE.as_ptr()
}

/// The fence of the fast side. It pairs with the heavy fence of the slow side.
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

/// A heavy fence for loom models and for platforms without `membarrier`.
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
