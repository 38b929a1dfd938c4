//! Everything of an open file ends at once.
//!
//! The driver takes queues off the device one by one, and a device that stops a queue returns nothing
//! of what is in it: that is done here ([`flush`]), from what the rings show. Who waits
//! is woken by the device when its queue stops, which may be before that; then it waits for the lock
//! (`Backend::settle`).

use super::{Kernel, Place, flush, uapi};
use crate::Result;
use spfe_contract::{QueueState, Status};
use spfe_host::{Address, QueueRequest, SharedMemory};
use spfe_ring::{DeviceLine, Ring};
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
        // With what is left of the file: its events and regions.
        self.call(&uapi::RESET, &mut (), format_args!("reset"))
    }

    /// Completes what is pending in a queue that the device has let go of.
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
            // SAFETY: so many slots are in the memory, which is kept as long as the ring is used.
            Some((memory, unsafe { Ring::new(at.cast(), log2) }))
        };
        // A queue whose memory its owner has given up is nobody's.
        let Some((_sq, submissions)) = ring(request.sq, request.sq_log2) else { return };
        let Some((_cq, completions)) = ring(request.cq, request.cq_log2) else { return };
        let Some((_lines, lines)) = part(request.lines, DEVICE_LINE + size_of::<DeviceLine>())
        else {
            return;
        };
        flush::flush(request, &submissions, &completions);
        // SAFETY: inside the memory, which is kept, and aligned as every line; atomics only.
        let line = unsafe { lines.add(DEVICE_LINE).cast::<DeviceLine>().as_ref() };
        line.set_state(u32::from(QueueState::Disabled.raw()), u32::from(Status::DeviceReset.raw()));
    }

    /// Ends the sleeps on an event.
    pub(super) fn wake_event(&self, event: u32) {
        let mut argument = uapi::Index { index: event, reserved: 0 };
        // One that is gone has nobody who sleeps.
        let _ = uapi::call(&self.device, &uapi::WAKE, &mut argument);
    }
}

/// The bytes at an offset of some memory, if they are in it.
fn within(memory: &SharedMemory, offset: u64, bytes: usize) -> Option<NonNull<u8>> {
    let offset = usize::try_from(offset).ok()?;
    let end = offset.checked_add(bytes)?;
    // SAFETY: the offset is inside the memory.
    (end <= memory.size()).then(|| unsafe { memory.base().add(offset) })
}
