//! Packets alike: of one length and with the same flags, into buffers of one size.
//!
//! Most groups and all bursts are such packets. What is the same for all of them is checked once:
//! an entry that is equal to one that was checked needs no other check but that of its address.

use super::{BUFFER, FastState, RX_CHECK};
use crate::copy::{copy_ends, move_bytes};
use crate::memory::FixedWindow;
use spfe_ring::Slot;
use spfe_ring::cursor::Mark;

/// Where the packets of a run come from.
trait Packets {
    /// Number of packets that there can be.
    fn most(&self) -> usize;
    /// Memory of the packet at an index, counted from 0. `None` if the run ends before it.
    ///
    /// # Safety
    /// The index is less than [`Packets::most`].
    unsafe fn at(&mut self, index: usize) -> Option<*const u8>;
}

/// Packets of one DATA entry each.
struct Entries<'a> {
    slots: &'a [Slot],
    /// Second word of all entries.
    word1: u64,
    window: FixedWindow,
}

impl Packets for Entries<'_> {
    #[inline(always)]
    fn most(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    unsafe fn at(&mut self, index: usize) -> Option<*const u8> {
        // SAFETY: the caller's promise.
        let slot = unsafe { self.slots.get_unchecked(index) };
        if slot.word1() != self.word1 {
            return None;
        }
        self.window.at(slot.word0()).map(<*mut u8>::cast_const)
    }
}

/// Packets of a burst.
struct Strides {
    next: *const u8,
    stride: usize,
}

impl Packets for Strides {
    #[inline(always)]
    fn most(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    unsafe fn at(&mut self, _: usize) -> Option<*const u8> {
        let this = self.next;
        self.next = this.wrapping_add(self.stride);
        Some(this)
    }
}

/// Posted buffers from a place on, and their completions.
struct Buffers<'a> {
    posted: &'a [Slot],
    done: &'a [Slot],
    /// Second word of all entries.
    word1: u64,
    window: FixedWindow,
}

impl<'a> Buffers<'a> {
    /// Buffers and their completions, all like the first one. `None` if that is not a buffer in the
    /// window of `fast` with room for `length` bytes.
    #[inline(always)]
    fn new(
        fast: &FastState,
        (posted, done): (&'a [Slot], &'a [Slot]),
        phase: u32,
        length: u32,
    ) -> Option<Self> {
        let word1 = posted.first()?.word1();
        let (flags, room) = ((word1 >> 32) as u32, word1 as u32);
        if (flags ^ (phase | BUFFER)) & RX_CHECK != 0 || length > room {
            return None;
        }
        Some(Self { posted, done, word1, window: fast.target.fixed(room)? })
    }

    /// Fills buffers with at most `most` packets. Returns the number of packets.
    #[inline(always)]
    fn fill(
        &self,
        mut packets: impl Packets,
        word0: u64,
        done: u64,
        most: u32,
        copy: impl Fn(*const u8, *mut u8),
    ) -> u32 {
        let most = self.posted.len().min(self.done.len()).min(packets.most()).min(most as usize);
        for index in 0..most {
            // SAFETY: the index is less than both lengths, and less than `packets.most()`.
            let (slot, filled) =
                unsafe { (self.posted.get_unchecked(index), self.done.get_unchecked(index)) };
            let known = slot.word1() == self.word1;
            let Some(target) = self.window.at(slot.word0()).filter(|_| known) else {
                return index as u32;
            };
            // SAFETY: as above.
            let Some(source) = (unsafe { packets.at(index) }) else { return index as u32 };
            copy(source, target);
            // The position is in the low 16 bits. It cannot carry into the phase before the lap
            // ends, because the ring size divides 65536.
            filled.write_entry([word0, done + index as u64]);
        }
        most as u32
    }

    /// The same, with a copy that fits the length.
    #[inline(always)]
    fn fill_by_length(&self, packets: impl Packets, run: Run, vc: u64) -> u32 {
        let (length, done, most) = (run.length, run.done, run.most);
        let word0 = u64::from(length) | vc;
        // The windows are checked for at least `length` bytes, and both regions stay mapped until the
        // end of the step.
        match length {
            8..=16 => self.fill(packets, word0, done, most, |from, to| {
                // SAFETY: as above.
                unsafe { copy_ends::<8>(from, to, length) };
            }),
            17..=32 => self.fill(packets, word0, done, most, |from, to| {
                // SAFETY: as above.
                unsafe { copy_ends::<16>(from, to, length) };
            }),
            33..=64 => self.fill(packets, word0, done, most, |from, to| {
                // SAFETY: as above.
                unsafe { copy_ends::<32>(from, to, length) };
            }),
            _ => self.fill(packets, word0, done, most, |from, to| {
                // SAFETY: as above.
                unsafe { move_bytes(from, to, length) };
            }),
        }
    }
}

/// What a run of packets has in common.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// Bytes of each packet.
    pub length: u32,
    /// Maximum number of packets.
    pub most: u32,
    /// Second word of the first completion.
    pub done: u64,
}

impl Run {
    /// Phase of the buffers, in place.
    fn phase(&self) -> u32 {
        (self.done >> 32) as u32
    }
}

/// Moves packets of one DATA entry each, from a mark on, whose second words equal `word1`. Returns
/// their number.
#[inline(never)]
pub(super) fn entries(fast: &FastState, from: Mark, word1: u64, to: Mark, run: Run) -> u32 {
    let (rings, posted) = (fast.receive.get(), fast.posted.get());
    let (buffers, done) = (rings.first(), rings.second());
    let window = fast.source.fixed(run.length);
    let rings = (buffers.straight(to), done.straight(to));
    let buffers = Buffers::new(fast, rings, run.phase(), run.length);
    let (Some(window), Some(buffers)) = (window, buffers) else { return 0 };
    let slots = posted.straight(from);
    buffers.fill_by_length(Entries { slots, word1, window }, run, fast.vc.get().1)
}

/// Moves packets of a burst. The caller has checked that they are all in one mapped region. Returns
/// their number.
#[inline(never)]
pub(super) fn strides(fast: &FastState, next: *const u8, stride: usize, to: Mark, run: Run) -> u32 {
    let (buffers, done) = (fast.receive.get().first(), fast.receive.get().second());
    let rings = (buffers.straight(to), done.straight(to));
    match Buffers::new(fast, rings, run.phase(), run.length) {
        Some(buffers) => buffers.fill_by_length(Strides { next, stride }, run, fast.vc.get().1),
        None => 0,
    }
}
