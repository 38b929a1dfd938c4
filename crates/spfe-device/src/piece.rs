//! A packet, or a piece of one, between source and sink.

use crate::CHAIN_MAX;
use crate::copy::{CopySource, CopyTarget, move_bytes};
use crate::memory::Address;
use spfe_contract::{EndMarker, submit_flags};

/// A packet, or a piece of one, gathered from up to [`CHAIN_MAX`] stretches of memory.
pub struct Piece {
    sources: [CopySource; CHAIN_MAX],
    count: usize,
    /// Bytes of the whole piece.
    pub length: u32,
    /// Bytes that the sink has already.
    pub done: u32,
    /// End marker; [`EndMarker::None`] if the packet continues in another piece.
    pub end: EndMarker,
    /// Number of its submission entries. 0 for a packet of a burst that has more to come.
    pub entries: u32,
    /// `submit_flags` of the last entry.
    pub flags: u16,
}

// SAFETY: the pointers are only followed inside a step, by the thread that made them.
unsafe impl Send for Piece {}

impl Default for Piece {
    fn default() -> Self {
        let nowhere = CopySource { at: core::ptr::null(), address: None, length: 0 };
        Self {
            sources: [nowhere; CHAIN_MAX],
            count: 0,
            length: 0,
            done: 0,
            end: EndMarker::Eop,
            entries: 0,
            flags: 0,
        }
    }
}

impl Piece {
    /// Makes one stretch the whole piece.
    #[inline(always)]
    pub fn set_one(&mut self, stretch: CopySource, end: EndMarker, flags: u16) {
        self.sources[0] = stretch;
        self.count = 1;
        self.length = stretch.length;
        self.end = end;
        self.entries = 1;
        self.flags = flags;
    }

    /// Removes all stretches, to gather anew.
    pub fn clear(&mut self) {
        self.count = 0;
        self.length = 0;
    }

    /// Adds a stretch; the caller keeps the count within a chain and the sum within a packet.
    pub fn add(&mut self, stretch: CopySource) {
        self.sources[self.count] = stretch;
        self.count += 1;
        self.length += stretch.length;
    }

    /// Sets end marker, flags and number of entries from the last gathered entry.
    pub fn finish(&mut self, end: EndMarker, flags: u16, entries: u32) {
        self.end = end;
        self.flags = flags;
        self.entries = entries;
    }

    /// Makes the piece end after `most` more bytes, as if the packet continued in another piece. False
    /// if that is all of it.
    #[inline(always)]
    pub fn limit(&mut self, most: u64) -> bool {
        if u64::from(self.rest()) <= most {
            return false;
        }
        // Less than the rest, so it fits.
        self.length = self.done + most as u32;
        self.end = EndMarker::None;
        self.flags &= !(submit_flags::SIGNAL | submit_flags::LAST);
        true
    }

    /// Bytes that the sink does not have yet.
    #[inline(always)]
    pub fn rest(&self) -> u32 {
        self.length - self.done
    }

    /// Appends bytes of the piece to a vector.
    #[cold]
    pub(crate) fn append(&self, range: core::ops::Range<u32>, to: &mut Vec<u8>) {
        let mut start = 0;
        for stretch in &self.sources[..self.count] {
            let end = start + stretch.length;
            let (from, until) = (range.start.max(start), range.end.min(end));
            if from < until {
                let (length, at) = (until - from, to.len());
                to.resize(at + length as usize, 0);
                let source = stretch.plus(from - start).at;
                // SAFETY: the stretch is mapped while its step runs, and `to` was resized.
                unsafe { move_bytes(source, to[at..].as_mut_ptr(), length) };
            }
            start = end;
        }
    }

    /// Copies the next `length` bytes (at most [`Piece::rest`]) to a target.
    ///
    /// # Safety
    /// The target is mapped for `length` bytes.
    #[inline(always)]
    pub unsafe fn take(&mut self, target: CopyTarget, length: u32) {
        if self.count == 1 {
            let whole = self.sources[0];
            let from = whole.plus(self.done);
            // SAFETY: `length` is within the stretch; the target is the caller's promise.
            unsafe { move_bytes(from.at, target.at, length) };
        } else {
            // SAFETY: as above, stretch by stretch.
            unsafe { self.take_gathered(target, length) };
        }
        self.done += length;
    }

    #[cold]
    unsafe fn take_gathered(&self, mut target: CopyTarget, mut length: u32) {
        let mut skip = self.done;
        for stretch in &self.sources[..self.count] {
            if skip >= stretch.length {
                skip -= stretch.length;
                continue;
            }
            let part = (stretch.length - skip).min(length);
            // SAFETY: `part` is within the stretch and within the target.
            unsafe { move_bytes(stretch.plus(skip).at, target.at, part) };
            target = target.plus(part);
            length -= part;
            skip = 0;
            if length == 0 {
                break;
            }
        }
    }
}

impl CopySource {
    /// The same stretch without its first `bytes` bytes.
    #[inline(always)]
    pub fn plus(self, bytes: u32) -> Self {
        Self {
            at: self.at.wrapping_add(bytes as usize),
            address: self.address.map(|a| Address(a.0 + u64::from(bytes))),
            length: self.length - bytes,
        }
    }
}
