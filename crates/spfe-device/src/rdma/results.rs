//! What became of the requests of a queue pair, and their completions.

use crate::queue::{CompletionTime, QueueView, completion};
use crate::shared::{Positions, QueueCounters, bump};
use spfe_contract::{Status, completion_flags as cf};
use std::collections::VecDeque;

/// Requests and bytes that one completion reports: its fields have room for no more.
const REQUESTS_MAX: u32 = 0xf000;
const BYTES_MAX: u64 = 0x8000_0000;

/// A completion to be written.
struct Done {
    position: u32,
    status: Status,
    bytes: u32,
    requests: u16,
    flags: u16,
}

/// WorkResults that the host does not know yet.
#[derive(Default)]
pub struct WorkResults {
    done: VecDeque<Done>,
    /// Requests and bytes that succeeded without SIGNAL and are not reported yet.
    pending: (u32, u64),
    /// Position of the last request of `pending`.
    position: u32,
}

impl WorkResults {
    /// Number of completions to be written.
    pub fn waiting(&self) -> usize {
        self.done.len()
    }

    /// Requests of one length, not 0, that can succeed in a row before they have to be reported.
    #[inline]
    pub fn room(&self, length: u32) -> u32 {
        let bytes = (BYTES_MAX - self.pending.1.min(BYTES_MAX)) / u64::from(length);
        (REQUESTS_MAX - self.pending.0).min(bytes as u32 + 1)
    }

    /// A request has succeeded.
    pub fn succeed(&mut self, position: u32, bytes: u32, signal: bool) {
        self.succeed_all(position, 1, bytes.into(), signal);
    }

    /// Requests have succeeded in a row, no more than there is [room](WorkResults::room) for. The last one
    /// is at this position, and the others have no SIGNAL.
    #[inline]
    pub fn succeed_all(&mut self, position: u32, requests: u32, bytes: u64, signal: bool) {
        self.pending.0 += requests;
        self.pending.1 += bytes;
        self.position = position;
        // Without a signal too: the counts of a completion would overflow.
        if signal || self.pending.0 >= REQUESTS_MAX || self.pending.1 > BYTES_MAX {
            self.report();
        }
    }

    /// Reports what has succeeded.
    pub fn report(&mut self) {
        let (requests, bytes) = std::mem::take(&mut self.pending);
        if requests == 0 {
            return;
        }
        self.done.push_back(Done {
            position: self.position,
            status: Status::Ok,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            requests: requests as u16,
            flags: 0,
        });
    }

    /// A request has failed. Earlier successes are reported first.
    pub fn end(&mut self, position: u32, status: Status, detail: u32, unknown: bool) {
        self.report();
        let flags = if unknown { cf::UNKNOWN } else { 0 };
        self.done.push_back(Done { position, status, bytes: detail, requests: 1, flags });
    }

    /// Writes completions.
    pub fn publish(
        &mut self,
        view: &QueueView,
        at: &mut Positions,
        count: &QueueCounters,
        time: CompletionTime,
    ) {
        while let Some(done) = self.done.pop_front() {
            let mut entry = completion(&view.config, done.position, done.status);
            (entry.bytes, entry.packets, entry.flags) = (done.bytes, done.requests, done.flags);
            let position = at.completion;
            at.completion = position.wrapping_add(1);
            if done.status != Status::Ok {
                at.urgent = 1;
                bump(&count.errors, 1);
            }
            // The host counts the bytes of every completion.
            at.reported_bytes = at.reported_bytes.wrapping_add(done.bytes.into());
            view.complete_at(position, entry, time);
        }
    }
}
