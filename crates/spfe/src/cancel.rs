//! Handles with which one thread ends the wait of another.

use crate::device::Device;
use crate::{Error, Result};
use spfe_host::{Clock, SharedMemory};
use spfe_ring::AtomicDeviceLine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Offset of the device line in a queue's memory, behind the host line.
const DEVICE_LINE: usize = 64;

/// Ends a wait of one queue from any thread.
///
/// Take it from the queue before you move the queue to the thread that waits. It does not keep the
/// queue open. Cancelling a closed queue does nothing.
///
/// ```
/// use spfe::{Deadline, Endpoint};
/// let endpoint = Endpoint::open("virtual:")?;
/// let mut rx = endpoint.port(1)?.vc(0)?.rx()?;
/// let canceller = rx.canceller();
/// let waiter = std::thread::spawn(move || rx.recv(Deadline::NEVER).map(drop));
/// canceller.cancel();
/// assert!(waiter.join().unwrap().unwrap_err().is_cancelled());
/// # Ok::<(), spfe::Error>(())
/// ```
#[derive(Clone)]
pub struct Canceller {
    shared: Arc<Shared>,
}

/// State that a queue shares with its cancellers.
pub(crate) struct Shared {
    /// The next check of a wait fails.
    asked: AtomicBool,
    device: Weak<Device>,
    sleeps_on: Mutex<SleepsOn>,
}

/// What wakes a wait.
struct SleepsOn {
    /// The queue's memory, which has the word that a wait sleeps on.
    memory: Arc<SharedMemory>,
    /// The queue's event vector.
    vector: u32,
}

impl Canceller {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Ends the current wait, or the next one if no thread is waiting. A wait that meets its goal
    /// first succeeds, and the wait after it ends. Calls that come before a wait ends count once.
    pub fn cancel(&self) {
        let shared = &*self.shared;
        // Release pairs with the acquire load in `is_asked`. The store also comes before the
        // increment of `wake_seq` below, so a waiter that sleeps on the old value sees the flag.
        shared.asked.store(true, Ordering::Release);
        // Without a device there is no queue to wait on.
        let Some(device) = shared.device.upgrade() else { return };
        let on = shared.sleeps_on.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `SleepsOn::new` checked that the device line lies in the memory; atomics only.
        let line =
            unsafe { &*on.memory.base().as_ptr().add(DEVICE_LINE).cast::<AtomicDeviceLine>() };
        device.backend().wake(on.vector, line);
        if let Clock::Virtual(clock) = device.backend().clock() {
            clock.poke();
        }
    }
}

impl SleepsOn {
    /// # Panics
    /// If the memory is too small for the lines of a queue.
    fn new(memory: &Arc<SharedMemory>, vector: u32) -> Self {
        assert!(memory.size() >= DEVICE_LINE + size_of::<AtomicDeviceLine>());
        Self { memory: memory.clone(), vector }
    }
}

impl Shared {
    /// State for a queue with this memory and event vector.
    pub fn new(memory: &Arc<SharedMemory>, device: &Arc<Device>, vector: u32) -> Arc<Self> {
        let sleeps_on = Mutex::new(SleepsOn::new(memory, vector));
        Arc::new(Self { asked: AtomicBool::new(false), device: Arc::downgrade(device), sleeps_on })
    }

    /// Later waits sleep on another queue, or on this one with another vector. A cancellation that
    /// does not see this has asked before, so that the wait sees it.
    pub fn moves_to(&self, memory: &Arc<SharedMemory>, vector: u32) {
        *self.sleeps_on.lock().unwrap_or_else(PoisonError::into_inner) =
            SleepsOn::new(memory, vector);
    }

    /// Whether the wait must end. Acquire pairs with the store in `cancel`.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Fails once for each cancellation.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() && self.asked.swap(false, Ordering::AcqRel) {
            return Err(Error::Cancelled("another thread ended the wait"));
        }
        Ok(())
    }
}
