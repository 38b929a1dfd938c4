//! Link events: counts changes of a port's state, and signals an event vector.

use crate::event::Event;
use crate::links::LinkWatcher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Observer of the state of one port.
#[derive(Default)]
pub struct PortWatch {
    changes: AtomicU32,
    /// Event to signal: register LINK_VECTOR, as latched.
    event: Mutex<Option<Arc<Event>>>,
}

impl PortWatch {
    fn event(&self) -> MutexGuard<'_, Option<Arc<Event>>> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of changes so far.
    pub fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    /// Sets the event to signal; `None` for none.
    pub fn set_event(&self, event: Option<Arc<Event>>) {
        *self.event() = event;
    }
}

impl LinkWatcher for PortWatch {
    fn changed(&self) {
        // The count rises first, so a host that gets the event sees the change.
        self.changes.fetch_add(1, Ordering::Release);
        if let Some(event) = &*self.event() {
            event.signal();
        }
    }
}
