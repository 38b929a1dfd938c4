//! Pooled queues for code in other languages; see [`crate::FastMemory`].

use super::{Pool, PooledRx, PooledTx};
use crate::fast::{FastMemory, FastTxState};
use crate::queue::Queue;
use spfe_ring::cursor::Mark;

fn memory(queue: &Queue, pool: &Pool) -> FastMemory {
    let (first, stride, slot_bytes) = (pool.region.base().as_ptr(), pool.stride, pool.bytes);
    FastMemory { pool: first, stride, slot_bytes, ..FastMemory::posted(queue) }
}

impl PooledTx {
    /// Where the memory of the queue is.
    pub fn fast_memory(&self) -> FastMemory {
        memory(&self.queue, &self.pool)
    }

    /// The state of the queue.
    pub fn fast_state(&self) -> FastTxState {
        let (first, first_word) = self.first;
        FastTxState {
            next: self.next.mark(),
            done: self.done.mark(),
            first,
            first_word,
            free: self.free,
            posted: self.posted,
            staged: self.staged,
            freed: self.freed.into(),
        }
    }

    /// Continues from a state that began as [`PooledTx::fast_state`], after `completions` with
    /// `bytes` in all were taken since.
    pub fn fast_continue(&mut self, at: &FastTxState, completions: u32, bytes: u64) {
        self.next = self.next.at(at.next);
        self.done = self.done.at(at.done);
        self.first = (at.first, at.first_word);
        (self.free, self.posted, self.staged, self.freed) =
            (at.free, at.posted, at.staged, at.freed as u16);
        self.queue.cq.advance(completions);
        self.queue.taken_bytes = self.queue.taken_bytes.wrapping_add(bytes);
    }

    /// Makes submissions move that other code has posted.
    #[inline]
    pub fn fast_start(&mut self) {
        self.queue.start_posted();
    }
}

/// The state of a pooled receive queue.
#[derive(Clone, Copy, Debug)]
pub struct FastRxState {
    /// The next completion and, in the other ring, its slot.
    pub next: Mark,
    /// Number of laps before this one.
    pub laps: u32,
    /// Second word of the entry that posts a slot again.
    pub buffer: u64,
    /// After a release whose next offset has none of these bits, [`PooledRx::fast_pause`] follows.
    pub mask: u32,
}

impl PooledRx {
    /// Where the memory of the queue is.
    pub fn fast_memory(&self) -> FastMemory {
        memory(&self.queue, &self.pool)
    }

    /// The state of the queue.
    pub fn fast_state(&self) -> FastRxState {
        let (buffer, mask) = self.next.posting();
        FastRxState { next: self.next.cursor().mark(), laps: self.next.laps(), buffer, mask }
    }

    /// Continues at an offset of a lap, after slots with `bytes` in all were released since
    /// [`PooledRx::fast_state`].
    pub fn fast_continue(&mut self, laps: u32, offset: usize, bytes: u64) {
        self.next.move_to(laps, offset);
        self.queue.taken_bytes = self.queue.taken_bytes.wrapping_add(bytes);
    }

    /// Offers released slots to a stalled sender.
    pub fn fast_pause(&mut self) {
        self.offer();
    }
}
