//! The doorbell page of a soft device: its first word is what a sleeping device thread waits on.

use crate::os::{self, SharedMemory};
use spfe_ring::sync::{AtomicU32, Ordering};

/// The first word of a doorbell page.
pub fn word(page: &SharedMemory) -> &AtomicU32 {
    // SAFETY: the page is mapped, 4096 bytes, and holds atomics only.
    unsafe { &*page.base().as_ptr().cast::<AtomicU32>() }
}

/// Wakes the device behind a doorbell page.
pub fn ring(page: &SharedMemory) {
    let word = word(page);
    word.fetch_add(1, Ordering::Release);
    os::futex_wake(word);
}
