//! Packed receive queues for code in other languages; see [`crate::FastMemory`].

use super::PackedRx;
use crate::fast::FastMemory;
use spfe_ring::cursor::Mark;
use spfe_ring::{Cursor, PackedReader};

/// The state of a packed receive queue.
#[derive(Clone, Copy, Debug)]
pub struct FastPackedState {
    /// The next completion.
    pub next: Mark,
    /// Offset of the next run in the area.
    pub tail: u32,
    /// Bytes taken and not returned to the device.
    pub owed_bytes: u32,
    /// Runs taken and not returned.
    pub owed_runs: u32,
}

impl PackedRx {
    /// Where the memory of the queue is; the area is the pool.
    pub fn fast_memory(&self) -> FastMemory {
        let pool = self.area.base().as_ptr();
        FastMemory { pool, slot_bytes: self.size, ..FastMemory::posted(&self.queue) }
    }

    /// The state of the queue.
    pub fn fast_state(&self) -> FastPackedState {
        FastPackedState {
            next: Cursor::new(self.queue.cq.ring, self.queue.cq.position).mark(),
            tail: self.reader.tail(),
            owed_bytes: self.owed_bytes,
            owed_runs: self.owed_runs,
        }
    }

    /// Continues from a state that began as [`PackedRx::fast_state`], after `completions` with
    /// `bytes` in all were taken since.
    pub fn fast_continue(&mut self, at: &FastPackedState, completions: u32, bytes: u64) {
        self.reader = PackedReader::at(self.size, at.tail);
        (self.owed_bytes, self.owed_runs) = (at.owed_bytes, at.owed_runs);
        self.queue.cq.advance(completions);
        self.queue.taken_bytes = self.queue.taken_bytes.wrapping_add(bytes);
    }

    /// Returns what was used to the device.
    pub fn fast_pause(&mut self) {
        self.give_back();
    }
}
