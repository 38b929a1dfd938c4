//! Posted transmit queues for code in other languages; see [`crate::FastMemory`].

use super::Tx;
use crate::fast::{FastMemory, FastRegion, FastTxState};
use crate::{Error, Region, Result};
use spfe_contract::submit_flags as sf;
use spfe_ring::Cursor;

const SIGNAL: u64 = ((sf::SIGNAL | sf::LAST) as u64) << 32;

impl Tx {
    /// Where the rings of the queue are.
    pub fn fast_memory(&self) -> FastMemory {
        FastMemory::posted(&self.queue)
    }

    /// Keeps a region until the queue has stopped.
    ///
    /// # Errors
    /// BAD_REGION if it belongs to another device.
    pub fn fast_region(&mut self, region: &Region) -> Result<FastRegion> {
        self.queue.hold(region)
    }

    /// The state of the queue. Nothing is staged.
    pub fn fast_state(&self) -> FastTxState {
        let queue = &self.queue;
        let next = Cursor::new(queue.sq.ring, queue.sq.position).mark();
        FastTxState {
            next,
            done: Cursor::new(queue.cq.ring, queue.cq.position).mark(),
            first: next,
            first_word: 0,
            free: queue.free(),
            posted: queue.outstanding(),
            staged: 0,
            freed: queue.credit.freed,
        }
    }

    /// Continues from a state that began as [`Tx::fast_state`], after `completions` with `bytes` in
    /// all were taken since. Submits what is staged.
    pub fn fast_continue(&mut self, at: &FastTxState, completions: u32, bytes: u64) {
        let queue = &mut self.queue;
        queue.credit.freed = at.freed;
        queue.sq.position = at.freed.wrapping_add(at.posted);
        queue.cq.advance(completions);
        queue.taken_bytes = queue.taken_bytes.wrapping_add(bytes);
        if at.staged != 0 {
            let position = queue.sq.position.wrapping_add(at.staged);
            let mut word = at.first_word;
            if at.staged == 1 {
                word |= SIGNAL;
            } else {
                let next = Cursor::new(queue.sq.ring, position);
                let last = next.slot_before();
                last.publish_word1(last.word1() | SIGNAL);
            }
            Cursor::new(queue.sq.ring, 0).at(at.first).publish(word);
            queue.sq.position = position;
        }
        queue.catch_up();
        // Buffers that a call posted are found by their place, so no more than a lap is looked at.
        let (position, size) = (queue.sq.position, queue.sq.ring.size());
        if position.wrapping_sub(self.taken) > size {
            self.taken = position.wrapping_sub(size);
        }
        if at.staged != 0 {
            self.queue.start_posted();
        }
    }

    /// Makes submissions move that other code has posted.
    #[inline]
    pub fn fast_start(&mut self) {
        self.queue.start_posted();
    }

    /// Why a packet of so many bytes cannot be posted.
    pub fn fast_refuse(&self, bytes: u64) -> Error {
        self.queue.refuse(bytes)
    }
}
