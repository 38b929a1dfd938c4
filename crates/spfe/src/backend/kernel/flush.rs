//! What is pending in a queue completes with DEVICE_RESET, as a device with the RESET capability would
//! complete it. Done on rings that no device uses any more, by who did not write them: where both
//! sides were is read from the laps of the entries.

use spfe_contract::{Completion, QueueKind, Status};
use spfe_host::QueueRequest;
use spfe_ring::submission::extent;
use spfe_ring::{Cursor, Ring};

/// Completes every submission that has no completion yet; their number, at most a ring.
pub fn flush(queue: &QueueRequest, submissions: &Ring, completions: &Ring) -> u32 {
    let kind = queue.queue_kind();
    // What the others post is room: it goes without a completion.
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

/// The lap of the entry in the slot of a position, valid or not.
fn lap(ring: &Ring, position: u32) -> u16 {
    (Cursor::new(*ring, position).slot().word1() >> 48) as u16
}

/// The position of the entry in the slot of a position, as far as laps tell positions apart.
fn position_of(ring: &Ring, slot: u32) -> u32 {
    (u32::from(lap(ring, slot).wrapping_sub(1)) << log2(ring)) + (slot & (ring.size() - 1))
}

/// Where the next completion goes: behind the last slot that is of the lap of the first one.
fn next_completion(ring: &Ring) -> u32 {
    let first = lap(ring, 0);
    let ahead = (1..ring.size()).find(|slot| lap(ring, *slot) != first);
    position_of(ring, 0).wrapping_add(ahead.unwrap_or(ring.size()))
}

/// The first submission without a completion. A completion names the last entry it is for by 16 bits
/// of its position; the lap of that entry, or of the one that replaced it, has the others.
fn next_submission(submissions: &Ring, completions: &Ring, next: u32) -> u32 {
    let last = completions.read(next.wrapping_sub(1));
    // An entry of zeros is one of a ring that was never used.
    let Some(last) = last.filter(|words| *words != [0, 0]) else { return 0 };
    let done = Completion::from_words(last).position;
    let newest = position_of(submissions, u32::from(done));
    let entry =
        if newest as u16 == done { newest } else { newest.wrapping_sub(submissions.size()) };
    entry.wrapping_add(1)
}

#[cfg(test)]
mod tests;
