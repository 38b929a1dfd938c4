//! Values that a forked child must not drop.
//!
//! A child shares queues, regions and the daemon's socket with its parent. Dropping them there would
//! stop the parent's queues, so the child leaks them, and every use is refused.

use crate::error::fault;
use pyo3::PyResult;
use spfe::Status;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of forks in the history of this process.
static EPOCH: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// Epoch of a value that was taken out.
const LEAK: u32 = u32::MAX;

fn epoch() -> u32 {
    static WATCH: Once = Once::new();
    // SAFETY: the function only adds to an atomic, which a child may do after any fork.
    WATCH.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forked));
    });
    EPOCH.load(Ordering::Relaxed)
}

/// A value of this process.
pub struct Held<T> {
    value: ManuallyDrop<T>,
    epoch: u32,
}

impl<T> Held<T> {
    pub fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), epoch: epoch() }
    }

    /// The value, if it is of this process.
    pub fn into_inner(mut self) -> Option<T> {
        if !self.is_ours() {
            return None;
        }
        self.epoch = LEAK;
        // SAFETY: the epoch says that nothing is left to drop.
        Some(unsafe { ManuallyDrop::take(&mut self.value) })
    }

    pub fn is_ours(&self) -> bool {
        self.epoch == epoch()
    }

    /// Refuses a value from before a fork.
    pub fn check(&self, what: &str) -> PyResult<()> {
        if self.is_ours() {
            return Ok(());
        }
        let what = format!("{what}: opened before a fork; open the endpoint again in this process");
        Err(fault(Status::BadField, what))
    }
}

impl<T> Deref for Held<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: the value is dropped here only, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
