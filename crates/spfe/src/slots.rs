//! The buffers of a queue, one for each ring position.

use crate::Buf;
use crate::queue::{Queue, status_of};
use spfe_contract::{Completion, Status};
use std::ops::Range;

/// A buffer that a cancelled queue returns.
#[derive(Debug)]
pub struct Returned {
    /// The buffer. On a receive queue its length is the number of bytes received.
    pub buf: Buf,
    /// CANCELLED if the buffer has not completed: it was not or only partly sent, or nothing was
    /// received. Otherwise the status of its completion; OK if the completion was polled.
    pub status: Status,
}

/// As many slots as the ring has entries.
pub(crate) struct Slots {
    places: Box<[Option<Buf>]>,
    mask: u32,
}

impl Slots {
    /// Slots for a ring of `size` entries, a power of two.
    pub fn new(size: u32) -> Self {
        assert!(size.is_power_of_two());
        Self { places: (0..size).map(|_| None).collect(), mask: size - 1 }
    }

    #[inline(always)]
    fn place(&mut self, position: u32) -> &mut Option<Buf> {
        // SAFETY: the mask is one less than the number of slots.
        unsafe { self.places.get_unchecked_mut((position & self.mask) as usize) }
    }

    /// Stores a buffer at a position and drops one that was never taken.
    #[inline(always)]
    pub fn put(&mut self, position: u32, buf: Buf) {
        let place = self.place(position);
        if place.is_some() {
            Self::drop_old(place);
        }
        // SAFETY: the slot is valid and holds `None`, which needs no drop.
        unsafe { std::ptr::write(place, Some(buf)) };
    }

    #[cold]
    #[inline(never)]
    fn drop_old(place: &mut Option<Buf>) {
        *place = None;
    }

    /// Takes the buffer at a position, if there is one.
    #[inline(always)]
    pub fn take(&mut self, position: u32) -> Option<Buf> {
        self.place(position).take()
    }

    /// Takes all buffers of a stopped queue, oldest first: completed ones, then cancelled ones.
    pub fn take_back(&mut self, queue: &mut Queue, receives: bool) -> Vec<Returned> {
        let produced = queue.sq.position;
        let mut back = Vec::new();
        let mut take = |range: Range<u32>, status, bytes: Option<u32>| {
            for index in 0..range.end.wrapping_sub(range.start) {
                if let Some(mut buf) = self.take(range.start.wrapping_add(index)) {
                    if let Some(bytes) = bytes.filter(|_| receives) {
                        buf.received(bytes);
                    }
                    back.push(Returned { buf, status });
                }
            }
        };
        // Completion polled, buffer not taken.
        take(produced.wrapping_sub(queue.sq.ring.size())..queue.credit.freed, Status::Ok, None);
        // Completion not polled. It counts even if it is not due yet.
        while let Some(words) = queue.cq.peek() {
            let done = Completion::from_words(words);
            let Some(freed) = queue.take(&done) else { break };
            take(freed, status_of(&done), Some(done.bytes));
        }
        take(queue.credit.freed..produced, Status::Cancelled, Some(0));
        back
    }

    /// Takes all buffers.
    pub fn take_all(&mut self) -> Vec<Buf> {
        self.places.iter_mut().filter_map(Option::take).collect()
    }

    /// Whether a buffer at `position` leaves those from position `first` on in place.
    #[inline(always)]
    pub fn fits(&self, first: u32, position: u32) -> bool {
        position.wrapping_sub(first) <= self.mask
    }

    /// The first position whose buffer stays in place when one is put at `position`.
    pub fn first_kept(&self, position: u32) -> u32 {
        position.wrapping_sub(self.mask)
    }
}
