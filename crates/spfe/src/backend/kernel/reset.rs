//! Reset of an open file: all queues stop, all regions are revoked.
//!
//! The driver stops the queues one by one. A device that stops a queue does not complete its pending
//! submissions, so [`flush`] does, from the contents of the rings. The device wakes a waiting thread
//! when its queue stops, which may be earlier; the thread then waits for the lock (`Backend::settle`).

use super::{Kernel, Place, uapi};
use crate::Result;
use spfe_host::flush;

impl Kernel {
    /// Stops every queue, completes what is pending, and revokes all regions.
    pub(super) fn reset_all(&self) -> Result<()> {
        let mut queues = self.queues();
        for Place { queue, .. } in queues.values() {
            let mut argument = uapi::Index { index: *queue, reserved: 0 };
            self.call(&uapi::QUEUE_DESTROY, &mut argument, format_args!("queue {queue}"))?;
        }
        for Place { event, request, .. } in queues.values() {
            flush::complete(request, |key| self.memory().get(&key.0)?.upgrade());
            self.wake_event(*event);
        }
        queues.clear();
        // Drops the events and regions of the file.
        self.call(&uapi::RESET, &mut (), format_args!("reset"))
    }

    /// Wakes the threads that sleep on an event.
    pub(super) fn wake_event(&self, event: u32) {
        let mut argument = uapi::Index { index: event, reserved: 0 };
        // It fails only if the event is gone, and then no thread sleeps on it.
        let _ = uapi::call(&self.device, &uapi::WAKE, &mut argument);
    }
}
