//! The buffers a queue holds, one place per ring position.

use crate::Buf;
use crate::queue::{Queue, status_of};
use spfe_contract::{Completion, Status};
use std::ops::Range;

/// A buffer that a cancelled queue gives back.
#[derive(Debug)]
pub struct Returned {
    /// The buffer; of a receive end its length is the number of bytes received.
    pub buf: Buf,
    /// CANCELLED if the device has not completed it: it was not sent, at least not as a whole, or
    /// nothing was received. Else the status it completed with, OK if its completion was polled.
    pub status: Status,
}

/// As many places as the ring has entries; a position is masked to its place.
pub(crate) struct Slots {
    places: Box<[Option<Buf>]>,
    mask: u32,
}

impl Slots {
    /// Places for a ring of `size` entries, a power of two.
    pub fn new(size: u32) -> Self {
        assert!(size.is_power_of_two());
        Self { places: (0..size).map(|_| None).collect(), mask: size - 1 }
    }

    #[inline(always)]
    fn place(&mut self, position: u32) -> &mut Option<Buf> {
        // SAFETY: the mask is one less than the number of places.
        unsafe { self.places.get_unchecked_mut((position & self.mask) as usize) }
    }

    /// Puts a buffer at a position; one nobody took before goes back to its region.
    #[inline(always)]
    pub fn put(&mut self, position: u32, buf: Buf) {
        let place = self.place(position);
        if place.is_some() {
            Self::drop_old(place);
        }
        // SAFETY: the place is valid and holds nothing that needs dropping.
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

    /// Takes all of them, oldest first, from a queue that has stopped: what has completed, and what
    /// is cancelled.
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
        // Polled and not taken.
        take(produced.wrapping_sub(queue.sq.ring.size())..queue.credit.freed, Status::Ok, None);
        // Not polled. A time in the future does not matter any more.
        while let Some(words) = queue.cq.peek() {
            let done = Completion::from_words(words);
            let Some(freed) = queue.take(&done) else { break };
            take(freed, status_of(&done), Some(done.bytes));
        }
        take(queue.credit.freed..produced, Status::Cancelled, Some(0));
        back
    }

    /// Takes all of them.
    pub fn take_all(&mut self) -> Vec<Buf> {
        self.places.iter_mut().filter_map(Option::take).collect()
    }

    /// Number of places.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.mask + 1
    }
}
