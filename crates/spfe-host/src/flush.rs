//! Completes the pending submissions of a stopped queue with DEVICE_RESET, as a device with the RESET
//! capability does. It does not know the positions of host and device; the phases of the entries in
//! the rings tell them.

use crate::{Address, QueueRequest, RegionKey, SharedMemory};
use spfe_contract::{Completion, QueueKind, QueueState, Status};
use spfe_ring::submission::extent;
use spfe_ring::{AtomicDeviceLine, Cursor, Ring};
use std::ptr::NonNull;
use std::sync::Arc;

/// Offset of the device line from the lines of a queue.
const DEVICE_LINE: usize = 64;

/// Completes the pending submissions of a queue that the device has stopped, and says so in its
/// device line. `memory` finds the memory of a region.
pub fn complete(request: &QueueRequest, memory: impl Fn(RegionKey) -> Option<Arc<SharedMemory>>) {
    let part = |address: u64, bytes: usize| {
        let address = Address(address);
        let memory = memory(address.key())?;
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
    let Some((_lines, lines)) = part(request.lines, DEVICE_LINE + size_of::<AtomicDeviceLine>())
    else {
        return;
    };
    flush(request, &submissions, &completions);
    // SAFETY: inside the memory, which stays mapped here, and aligned to 64; atomics only.
    let line = unsafe { lines.add(DEVICE_LINE).cast::<AtomicDeviceLine>().as_ref() };
    line.set_state(u32::from(QueueState::Disabled.raw()), u32::from(Status::DeviceReset.raw()));
}

/// A pointer to bytes at an offset of the memory, if they lie in it.
fn within(memory: &SharedMemory, offset: u64, bytes: usize) -> Option<NonNull<u8>> {
    let offset = usize::try_from(offset).ok()?;
    let end = offset.checked_add(bytes)?;
    // SAFETY: the offset is inside the memory.
    (end <= memory.size()).then(|| unsafe { memory.base().add(offset) })
}

/// Completes every submission that has no completion yet. Returns their number, at most a ring.
fn flush(queue: &QueueRequest, submissions: &Ring, completions: &Ring) -> u32 {
    let kind = queue.queue_kind();
    // Other queues post RELEASE entries, which get no completion.
    if !matches!(kind, Some(QueueKind::Tx | QueueKind::Rx | QueueKind::MessageTx)) {
        return 0;
    }
    let mut at = next_completion(completions);
    let mut submission = next_submission(submissions, completions, at);
    let mut flushed = 0;
    while flushed < submissions.size() && submissions.read(submission).is_some() {
        let entries = match kind {
            Some(QueueKind::Tx) => extent(submissions, submission).0,
            _ => 1,
        };
        submission = submission.wrapping_add(entries);
        let done = Completion {
            vc: queue.vc as u8,
            status: Status::DeviceReset.raw(),
            position: submission.wrapping_sub(1) as u16,
            ..Completion::default()
        };
        completions.write(at, done.to_words());
        at = at.wrapping_add(1);
        flushed += 1;
    }
    flushed
}

fn log2(ring: &Ring) -> u32 {
    ring.size().trailing_zeros()
}

/// The phase in the slot of a position, whether its entry is valid or not.
fn lap(ring: &Ring, position: u32) -> u16 {
    (Cursor::new(*ring, position).slot().word1() >> 48) as u16
}

/// The position of the entry in a slot, modulo the range of the phase.
fn position_of(ring: &Ring, slot: u32) -> u32 {
    (u32::from(lap(ring, slot).wrapping_sub(1)) << log2(ring)) + (slot & (ring.size() - 1))
}

/// Position of the next completion: behind the last slot with the phase of slot 0.
fn next_completion(ring: &Ring) -> u32 {
    let first = lap(ring, 0);
    let ahead = (1..ring.size()).find(|slot| lap(ring, *slot) != first);
    position_of(ring, 0).wrapping_add(ahead.unwrap_or(ring.size()))
}

/// Position of the first submission without a completion. A completion carries 16 bits of the
/// position of its last entry; the phase of that entry, or of its successor in the slot, has the
/// upper bits.
fn next_submission(submissions: &Ring, completions: &Ring, next: u32) -> u32 {
    let last = completions.read(next.wrapping_sub(1));
    // A ring that was never used has entries of zeros.
    let Some(last) = last.filter(|words| *words != [0, 0]) else { return 0 };
    let done = Completion::from_words(last).position;
    let newest = position_of(submissions, u32::from(done));
    let entry =
        if newest as u16 == done { newest } else { newest.wrapping_sub(submissions.size()) };
    entry.wrapping_add(1)
}

#[cfg(test)]
mod tests;
