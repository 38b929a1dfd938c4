//! What queues tell code in other languages, which posts and polls by itself.
//!
//! The inline functions of the C header work on the mapped rings, as the queues here do. For that they
//! get the addresses of a queue and its state as plain numbers. Before any other call the queue takes
//! the numbers back. Numbers are only checked as far as memory safety needs: an offset is inside its
//! ring, whatever it is.

use crate::queue::Queue;
use crate::{Error, Region, Result};
use spfe_contract::{self as contract, EntryType, Status};
use spfe_ring::cursor::Mark;
use spfe_ring::sync::fence_mode_byte;

/// Second word of an entry with data, without its length and phase.
pub const FAST_DATA: u64 = (EntryType::Data.raw() as u64) << 32;
/// Second word of a posted receive buffer, without its length and phase.
pub const FAST_BUFFER: u64 = (EntryType::Buffer.raw() as u64) << 32;

/// Where the memory of a queue is. Valid while the queue is open.
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
    /// Those of a queue without slots.
    pub(crate) fn posted(queue: &Queue) -> Self {
        let slot = |ring: spfe_ring::Ring| ring.first().cast::<u8>().as_ptr();
        Self {
            sq: slot(queue.sq.ring),
            cq: slot(queue.cq.ring),
            last: (queue.sq.ring.size() - 1) * size_of::<spfe_ring::Slot>() as u32,
            pool: std::ptr::null_mut(),
            stride: 0,
            slot_bytes: contract::PACKET_MAX_BYTES as u32,
            need_doorbell: match queue.runner {
                Some(_) => std::ptr::null(),
                None => queue.device_line().need_doorbell_word(),
            },
            fence_mode: fence_mode_byte(),
        }
    }
}

/// A region of which other code posts pieces.
#[derive(Clone, Copy, Debug)]
pub struct FastRegion {
    /// The first byte.
    pub data: *mut u8,
    /// Its address in ring entries; those of the other bytes follow.
    pub address: u64,
    /// Size in bytes.
    pub bytes: usize,
}

impl Queue {
    /// Keeps a region until the queue has stopped.
    pub(crate) fn hold(&mut self, region: &Region) -> Result<FastRegion> {
        if !std::sync::Arc::ptr_eq(region.device(), &self.device) {
            return Err(Error::device(Status::BadRegion, "region of another device"));
        }
        if !self.held.iter().any(|held| held.key() == region.key()) {
            self.held.push(region.clone());
        }
        let (data, bytes) = (region.base().as_ptr(), region.size());
        Ok(FastRegion { data, address: region.address(0), bytes })
    }

    /// Why an entry with so many bytes cannot be posted.
    pub(crate) fn refuse(&self, bytes: u64) -> Error {
        let status = match bytes {
            _ if self.free() == 0 => Status::Busy,
            0 => Status::Empty,
            _ => Status::TooLong,
        };
        let what = format!(
            "entry of {bytes} bytes: 1 to {} allowed; {} of {} entries free",
            contract::PACKET_MAX_BYTES,
            self.free(),
            self.sq.ring.size()
        );
        Error::device(status, what)
    }
}

/// The state of a transmit queue.
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
    /// Position of the first posted slot; completions carry the lower half.
    pub freed: u32,
}
