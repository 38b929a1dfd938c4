//! Ending a wait from another thread.

use crate::device::Device;
use crate::{Error, Result};
use spfe_host::{Clock, SharedMemory};
use spfe_ring::DeviceLine;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// Where the device line is in a queue's memory: behind the host line.
const DEVICE_LINE: usize = 64;

/// Ends a wait of one queue from any thread.
///
/// Get it from the queue before the queue goes to the thread that waits. It does not keep the queue
/// open; cancelling one that is closed does nothing.
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

/// What a queue and its cancellers share.
pub(crate) struct Shared {
    asked: AtomicBool,
    /// The queue's, for the word it sleeps on.
    memory: Arc<SharedMemory>,
    device: Weak<Device>,
    /// Its event vector now.
    vector: AtomicU32,
}

impl Canceller {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Ends the wait that goes on; if none does, the next one. A wait that finds what it waits for
    /// ends with that, and the one after it is ended. Several calls before a wait ends count as one.
    pub fn cancel(&self) {
        let shared = &*self.shared;
        // Release: a waiter that sees it sees what was done before. It also comes before the new
        // `wake_seq`: a waiter that reads that one finds the flag set (`Queue::sleep`).
        shared.asked.store(true, Ordering::Release);
        // Without a device there is no queue, and nobody waits.
        let Some(device) = shared.device.upgrade() else { return };
        // SAFETY: a queue's memory has its device line there (`Shared::new`); atomics only.
        let line = unsafe { &*shared.memory.base().as_ptr().add(DEVICE_LINE).cast::<DeviceLine>() };
        device.backend().wake(shared.vector.load(Ordering::Acquire), line);
        if let Clock::Virtual(clock) = device.backend().clock() {
            clock.poke();
        }
    }
}

impl Shared {
    /// For a queue whose rings are in this memory.
    pub fn new(memory: Arc<SharedMemory>, device: &Arc<Device>, vector: u32) -> Arc<Self> {
        assert!(memory.size() >= DEVICE_LINE + size_of::<DeviceLine>());
        let (device, vector) = (Arc::downgrade(device), AtomicU32::new(vector));
        Arc::new(Self { asked: AtomicBool::new(false), memory, device, vector })
    }

    /// The queue has another event vector now.
    pub fn set_vector(&self, vector: u32) {
        self.vector.store(vector, Ordering::Release);
    }

    /// Whether the wait is to end. Acquire pairs with the store in `cancel`.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Ends the wait if it was asked for, once.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() && self.asked.swap(false, Ordering::AcqRel) {
            return Err(Error::Cancelled("another thread ended the wait; nothing was consumed"));
        }
        Ok(())
    }
}
