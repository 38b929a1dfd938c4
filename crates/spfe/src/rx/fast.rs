//! Posted receive queues for code in other languages; see [`crate::FastMemory`].

use super::{Rx, end};
use crate::fast::{FastMemory, FastRegion};
use crate::queue::status_of;
use crate::tx::End;
use crate::{Error, Region, Result};
use spfe_contract::Status;
use spfe_ring::Cursor;
use spfe_ring::cursor::Mark;

/// The state of a posted receive queue.
#[derive(Clone, Copy, Debug)]
pub struct FastPostedState {
    /// The next buffer to post.
    pub next: Mark,
    /// The next completion.
    pub done: Mark,
    /// Number of buffers that can be posted.
    pub free: u32,
    /// Position of the first posted buffer, as completions carry it.
    pub freed: u16,
}

/// A received packet, or the part of one that filled a buffer.
#[derive(Clone, Copy, Debug)]
pub struct FastReceived {
    /// Number of bytes received, as the device says.
    pub bytes: u32,
    /// How the packet ended.
    pub end: End,
    /// OK, PACKET_CUT, or why the device could not use the buffer.
    pub status: Status,
}

impl Rx {
    /// Where the rings of the queue are.
    pub fn fast_memory(&self) -> FastMemory {
        FastMemory::posted(&self.queue)
    }

    /// Keeps a region until the queue has stopped, as [`crate::Tx::fast_region`].
    ///
    /// # Errors
    /// BAD_REGION if it belongs to another device.
    pub fn fast_region(&mut self, region: &Region) -> Result<FastRegion> {
        self.queue.hold(region)
    }

    /// The state of the queue.
    pub fn fast_state(&self) -> FastPostedState {
        let queue = &self.queue;
        FastPostedState {
            next: Cursor::new(queue.sq.ring, queue.sq.position).mark(),
            done: Cursor::new(queue.cq.ring, queue.cq.position).mark(),
            free: queue.free(),
            freed: queue.credit.freed as u16,
        }
    }

    /// Continues after other code has taken `completions` with `bytes` in all, of one buffer each,
    /// since [`Rx::fast_state`], and has left `posted` buffers.
    pub fn fast_continue(&mut self, posted: u32, completions: u32, bytes: u64) {
        let queue = &mut self.queue;
        queue.credit.freed = queue.credit.freed.wrapping_add(completions);
        queue.sq.position = queue.credit.freed.wrapping_add(posted);
        queue.cq.advance(completions);
        queue.taken_bytes = queue.taken_bytes.wrapping_add(bytes);
        queue.catch_up();
    }

    /// Offers posted buffers to a stalled sender.
    pub fn fast_pause(&mut self) {
        self.queue.offer_buffers(true);
        self.queue.help_stalled();
    }

    /// The next packet or part of one, whose buffer other code has posted.
    pub fn fast_poll(&mut self) -> Option<FastReceived> {
        let (done, _) = self.queue.pop()?;
        self.queue.settle(&done)?;
        Some(FastReceived { bytes: done.bytes, end: end(&done), status: status_of(&done) })
    }

    /// Why a buffer of so many bytes cannot be posted.
    pub fn fast_refuse(&self, bytes: u64) -> Error {
        self.queue.refuse(bytes)
    }
}
