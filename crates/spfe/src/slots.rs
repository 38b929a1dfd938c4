//! The buffers of a queue, one for each ring position.

use crate::Buf;
use crate::queue::{Queue, status_of};
use spfe_contract::{Completion, Status};
use spfe_ring::{Cursor, Ring, RingEntry};
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

    /// Stores a buffer at a position that has none.
    #[inline(always)]
    pub fn put(&mut self, position: u32, buf: Buf) {
        Self::fill(self.place(position), buf);
    }

    #[inline(always)]
    fn fill(place: &mut Option<Buf>, buf: Buf) {
        debug_assert!(place.is_none());
        // SAFETY: the slot is valid and holds `None`, which needs no drop.
        unsafe { std::ptr::write(place, Some(buf)) };
    }

    /// Moves the first `count` buffers to the places from `next` on, which have none, and writes the
    /// entries that `entry` makes, the last one with the flags `last`. Last to first: the phase of the
    /// first entry makes all of them visible.
    #[inline(always)]
    pub fn put_all(
        &mut self,
        next: Cursor<Ring>,
        bufs: &mut Vec<Buf>,
        count: usize,
        last: u64,
        entry: impl Fn(&Buf) -> RingEntry + Copy,
    ) {
        let rest = bufs.len().checked_sub(count).expect("as many buffers");
        let from = bufs.as_mut_ptr();
        // SAFETY: 0 is less than the capacity. Each buffer has one owner, whatever happens below.
        unsafe { bufs.set_len(0) };
        let row = next.straight().len();
        if count > row {
            let mut lap = next;
            lap.next_lap();
            self.put_row(&lap, from.wrapping_add(row), count - row, last, entry);
            self.put_row(&next, from, row, 0, entry);
        } else {
            self.put_row(&next, from, count, last, entry);
        }
        if rest != 0 {
            // SAFETY: the buffers behind those that were moved, to the front of the vector.
            unsafe { std::ptr::copy(from.add(count), from, rest) };
        }
        // SAFETY: so many are at the front.
        unsafe { bufs.set_len(rest) };
    }

    /// Moves `count` buffers, which are read once, to places of one lap.
    #[inline(always)]
    fn put_row(
        &mut self,
        next: &Cursor<Ring>,
        from: *const Buf,
        count: usize,
        mut last: u64,
        entry: impl Fn(&Buf) -> RingEntry,
    ) {
        let phase = u64::from(next.phase()) << 32;
        let slots = &next.straight()[..count];
        let places = &mut self.row(next.index())[..count];
        // SAFETY: buffers of the vector of `put_all`.
        let bufs = unsafe { std::slice::from_raw_parts(from, count) };
        for ((place, slot), buf) in places.iter_mut().zip(slots).zip(bufs).rev() {
            let [word0, word1] = entry(buf);
            // SAFETY: as above.
            Self::fill(place, unsafe { std::ptr::read(buf) });
            slot.write_entry([word0, word1 | phase | std::mem::take(&mut last)]);
        }
    }

    /// The places from a position to the end of the lap.
    #[inline(always)]
    pub fn row(&mut self, position: u32) -> &mut [Option<Buf>] {
        // SAFETY: the mask is one less than the number of slots.
        unsafe { self.places.get_unchecked_mut((position & self.mask) as usize..) }
    }

    /// Takes the buffer at a position, if there is one.
    #[inline(always)]
    pub fn take(&mut self, position: u32) -> Option<Buf> {
        self.place(position).take()
    }

    /// Drops the buffers from a position to before another.
    #[cold]
    #[inline(never)]
    pub fn drop_between(&mut self, first: u32, end: u32) {
        (0..end.wrapping_sub(first)).for_each(|index| drop(self.take(first.wrapping_add(index))));
    }

    /// Moves the buffers from a position to before another to the end of a vector.
    pub fn take_into(&mut self, first: u32, end: u32, bufs: &mut Vec<Buf>) {
        let count = (end.wrapping_sub(first) as usize).min(self.places.len());
        bufs.reserve(count);
        let start = (first & self.mask) as usize;
        let this_lap = count.min(self.places.len() - start);
        let spare = bufs.spare_capacity_mut().as_mut_ptr();
        let mut to = spare;
        for (start, count) in [(start, this_lap), (0, count - this_lap)] {
            for place in &mut self.places[start..][..count] {
                if let Some(buf) = place.take() {
                    // SAFETY: at most as many buffers as there is room for.
                    unsafe {
                        (*to).write(buf);
                        to = to.add(1);
                    }
                }
            }
        }
        // SAFETY: so many were written behind those that were there.
        unsafe { bufs.set_len(bufs.len() + to.offset_from_unsigned(spare)) };
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
