//! Pooled queues for code in other languages, which posts and polls by itself.
//!
//! The inline functions of the C header work on the mapped rings, as [`PooledTx`] and [`PooledRx`]
//! do. For that they get the addresses of a queue and its state as plain numbers. Before any other
//! call the queue takes the numbers back. Numbers are only checked as far as memory safety needs:
//! an offset is inside its ring, whatever it is.

use super::{Pool, PooledRx, PooledTx};
use crate::queue::Queue;
use spfe_ring::cursor::Mark;
use spfe_ring::sync::fence_mode_byte;

/// Second word of an entry with data, without its length and phase.
pub const FAST_DATA: u64 = super::DATA;

/// Where the memory of a pooled queue is. Valid while the queue is open.
#[derive(Clone, Copy, Debug)]
pub struct FastMemory {
    /// First entry of the submission ring.
    pub sq: *mut u8,
    /// First entry of the completion ring.
    pub cq: *mut u8,
    /// Bytes from the first entry of a ring to its last.
    pub last: u32,
    /// The first slot.
    pub pool: *mut u8,
    /// Bytes from slot to slot.
    pub stride: usize,
    /// Size of a slot in bytes.
    pub slot_bytes: u32,
    /// The word with which a sleeping device asks for doorbells; null where this thread runs the
    /// engine, so that every submission has to be started.
    pub need_doorbell: *const u32,
    /// The fence mode of the process (`spfe_ring::sync::FenceMode`): the fence before a look at
    /// that word.
    pub fence_mode: *const u8,
}

impl FastMemory {
    fn of(queue: &Queue, pool: &Pool) -> Self {
        let slot = |ring: spfe_ring::Ring| ring.first().cast::<u8>().as_ptr();
        Self {
            sq: slot(queue.sq.ring),
            cq: slot(queue.cq.ring),
            last: (queue.sq.ring.size() - 1) * size_of::<spfe_ring::Slot>() as u32,
            pool: pool.region.base().as_ptr(),
            stride: pool.stride,
            slot_bytes: pool.bytes,
            need_doorbell: match queue.runner {
                Some(_) => std::ptr::null(),
                None => queue.device_line().need_doorbell_word(),
            },
            fence_mode: fence_mode_byte(),
        }
    }
}

/// The state of a pooled transmit queue.
#[derive(Clone, Copy, Debug)]
pub struct FastTxState {
    /// The next slot.
    pub next: Mark,
    /// The next completion.
    pub done: Mark,
    /// The first staged entry.
    pub first: Mark,
    /// Its second word.
    pub first_word: u64,
    /// Free slots.
    pub free: u32,
    /// Slots posted and not completed.
    pub posted: u32,
    /// Packets staged.
    pub staged: u32,
    /// Position of the first posted slot, as completions carry it.
    pub freed: u16,
}

impl PooledTx {
    /// Where the memory of the queue is.
    pub fn fast_memory(&self) -> FastMemory {
        FastMemory::of(&self.queue, &self.pool)
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
            freed: self.freed,
        }
    }

    /// Continues from a state that began as [`PooledTx::fast_state`], after `completions` with
    /// `bytes` in all were taken since.
    pub fn fast_continue(&mut self, at: &FastTxState, completions: u32, bytes: u64) {
        self.next = self.next.at(at.next);
        self.done = self.done.at(at.done);
        self.first = (at.first, at.first_word);
        (self.free, self.posted, self.staged, self.freed) =
            (at.free, at.posted, at.staged, at.freed);
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
    /// Second word of the entry that posts a slot again.
    pub buffer: u64,
    /// After a release whose next offset has none of these bits, [`PooledRx::fast_pause`] follows.
    pub mask: u32,
}

impl PooledRx {
    /// Where the memory of the queue is.
    pub fn fast_memory(&self) -> FastMemory {
        FastMemory::of(&self.queue, &self.pool)
    }

    /// The state of the queue.
    pub fn fast_state(&self) -> FastRxState {
        let (buffer, mask) = self.next.posting();
        FastRxState { next: self.next.cursor().mark(), buffer, mask }
    }

    /// Continues at an offset of this lap, or at its end, after slots with `bytes` in all were
    /// released since [`PooledRx::fast_state`].
    pub fn fast_continue(&mut self, offset: usize, bytes: u64) {
        self.next.move_to(offset);
        self.queue.taken_bytes = self.queue.taken_bytes.wrapping_add(bytes);
    }

    /// Offers released slots to a stalled sender.
    pub fn fast_pause(&mut self) {
        self.offer();
    }
}
