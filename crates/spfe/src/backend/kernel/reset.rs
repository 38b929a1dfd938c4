//! Reset of an open file: all queues stop, all regions are revoked.
//!
//! The driver stops the queues one by one. A device that stops a queue does not complete its pending
//! submissions, so [`flush`] does, from the contents of the rings. The device wakes a waiting thread
//! when its queue stops, which may be earlier; the thread then waits for the lock (`Backend::settle`).

use super::{Kernel, Place, flush, uapi};
use crate::Result;
use spfe_contract::{QueueState, Status};
use spfe_host::{Address, QueueRequest, SharedMemory};
use spfe_ring::{AtomicDeviceLine, Ring};
use std::ptr::NonNull;

/// Offset of the device line from the lines of a queue.
const DEVICE_LINE: usize = 64;

impl Kernel {
    /// Stops every queue, completes what is pending, and revokes all regions.
    pub(super) fn reset_all(&self) -> Result<()> {
        let mut queues = self.queues();
        for Place { queue, .. } in queues.values() {
            let mut argument = uapi::Index { index: *queue, reserved: 0 };
            self.call(&uapi::QUEUE_DESTROY, &mut argument, format_args!("queue {queue}"))?;
        }
        for Place { event, request, .. } in queues.values() {
            self.complete(request);
            self.wake_event(*event);
        }
        queues.clear();
        // Drops the events and regions of the file.
        self.call(&uapi::RESET, &mut (), format_args!("reset"))
    }

    /// Completes the pending submissions of a queue that the device has stopped.
    fn complete(&self, request: &QueueRequest) {
        let part = |address: u64, bytes: usize| {
            let address = Address(address);
            let memory = self.memory().get(&address.key().0)?.upgrade()?;
            let at = within(&memory, address.offset(), bytes)?;
            Some((memory, at))
        };
        let ring = |address, log2: u32| {
            let bytes = size_of::<spfe_ring::Slot>().checked_shl(log2)?;
            let (memory, at) = part(address, bytes)?;
            // SAFETY: `part` checked that the slots lie in the memory, which outlives the ring.
            Some((memory, unsafe { Ring::new(at.cast(), log2) }))
        };
        // If its memory has been revoked, the queue has no user any more.
        let Some((_sq, submissions)) = ring(request.sq, request.sq_log2) else { return };
        let Some((_cq, completions)) = ring(request.cq, request.cq_log2) else { return };
        let Some((_lines, lines)) =
            part(request.lines, DEVICE_LINE + size_of::<AtomicDeviceLine>())
        else {
            return;
        };
        flush::flush(request, &submissions, &completions);
        // SAFETY: inside the memory, which stays mapped here, and aligned to 64; atomics only.
        let line = unsafe { lines.add(DEVICE_LINE).cast::<AtomicDeviceLine>().as_ref() };
        line.set_state(u32::from(QueueState::Disabled.raw()), u32::from(Status::DeviceReset.raw()));
    }

    /// Wakes the threads that sleep on an event.
    pub(super) fn wake_event(&self, event: u32) {
        let mut argument = uapi::Index { index: event, reserved: 0 };
        // It fails only if the event is gone, and then no thread sleeps on it.
        let _ = uapi::call(&self.device, &uapi::WAKE, &mut argument);
    }
}

/// A pointer to bytes at an offset of the memory, if they lie in it.
fn within(memory: &SharedMemory, offset: u64, bytes: usize) -> Option<NonNull<u8>> {
    let offset = usize::try_from(offset).ok()?;
    let end = offset.checked_add(bytes)?;
    // SAFETY: the offset is inside the memory.
    (end <= memory.size()).then(|| unsafe { memory.base().add(offset) })
}
