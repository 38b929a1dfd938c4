//! A position in a ring that tight loops keep in registers.
//!
//! A [`Cursor`] holds a byte offset and the phase that goes with it, so that it reaches its entry
//! without the shift, the mask and the bounds check that a free-running position costs. It carries
//! its ring with it: no method takes a ring, so safe code cannot use an offset with a ring of
//! another size. The type parameter says how it holds the ring:
//!
//! | type parameter | use |
//! | --- | --- |
//! | [`Ring`] | a cursor that is stored for long: the host's side |
//! | [`RingPair`] | two rings of one size that advance together, such as posted buffers and their completions |
//! | `&RingCell<Ring>`, `&RingCell<RingPair>` | a loop that loads the ring from memory where it needs it |

use crate::ring::{Ring, RingEntry, SLOT, Slot};
use crate::sync::Ordering;
use core::cell::Cell;

/// Where the phase is in the upper half of an entry's second word.
pub const PHASE_BITS: u32 = 0xffff_0000;
/// Difference of the phases of two consecutive laps, in the same place.
const ONE_LAP: u32 = 1 << 16;

/// Two rings of the same size.
#[derive(Clone, Copy)]
pub struct RingPair {
    first: Ring,
    second: Ring,
}

impl RingPair {
    /// Pairs two rings; `None` if their sizes or the sizes of their entries differ.
    pub const fn new(first: Ring, second: Ring) -> Option<Self> {
        if first.last == second.last { Some(Self { first, second }) } else { None }
    }

    /// The first ring.
    #[inline(always)]
    pub const fn first(&self) -> Ring {
        self.first
    }

    /// The second ring.
    #[inline(always)]
    pub const fn second(&self) -> Ring {
        self.second
    }
}

/// A ring, or a pair, that never changes but is loaded from memory at each use.
///
/// The compiler may not keep the content of a cell in registers across a store to shared memory.
/// A loop that works on several rings has no registers to spare for them.
pub struct RingCell<T>(Cell<T>);

impl<T: Copy> RingCell<T> {
    /// A cell that keeps `rings` for good.
    pub const fn new(rings: T) -> Self {
        Self(Cell::new(rings))
    }

    /// The content.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.0.get()
    }
}

mod sealed {
    use super::{Ring, RingCell, RingPair};

    /// Implementations return the same ring in every call on one value: the offset of a cursor
    /// stays valid because its ring does not change.
    pub trait Rings: Copy {
        fn ring(&self) -> Ring;
    }

    /// Implementations return a ring of the same size as [`Rings::ring`].
    pub trait PairedRings: Rings {
        fn partner(&self) -> Ring;
    }

    impl Rings for Ring {
        #[inline(always)]
        fn ring(&self) -> Ring {
            *self
        }
    }

    impl Rings for RingPair {
        #[inline(always)]
        fn ring(&self) -> Ring {
            self.first
        }
    }

    impl PairedRings for RingPair {
        #[inline(always)]
        fn partner(&self) -> Ring {
            self.second
        }
    }

    // A `RingCell` has no method that changes it, and the reference keeps it from being moved.
    impl<T: Rings> Rings for &RingCell<T> {
        #[inline(always)]
        fn ring(&self) -> Ring {
            self.get().ring()
        }
    }

    impl<T: PairedRings> PairedRings for &RingCell<T> {
        #[inline(always)]
        fn partner(&self) -> Ring {
            self.get().partner()
        }
    }
}

use sealed::{PairedRings, Rings};

/// The place of a cursor without its ring: plain numbers, safe to use with any ring.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Bytes from the first slot.
    pub offset: usize,
    /// The phase, in place ([`PHASE_BITS`]).
    pub phase: u32,
}

impl Ring {
    /// The slots from a mark to the end of the ring, at least one. In a ring of another size than
    /// the mark's cursor has, they are some other slots.
    #[inline(always)]
    pub fn straight(&self, mark: Mark) -> &[Slot] {
        let offset = mark.offset & self.last as usize;
        let count = (self.last as usize - offset) / SLOT + 1;
        // SAFETY: `count` slots from the offset end with the last one of the mapped ring.
        unsafe { core::slice::from_raw_parts(self.slot_ptr(offset).as_ptr(), count) }
    }

    /// The first word of the slot behind a mark, in the same lap and valid or not: for prefetching.
    /// In a ring of another size than the mark's cursor has, it is the word of some other slot.
    #[inline(always)]
    pub fn word0_behind(&self, mark: Mark) -> u64 {
        self.slot_at(mark.offset.wrapping_add(SLOT)).word0()
    }
}

/// A position in a ring that moves one entry at a time. See the [module](self) for `R`.
#[derive(Clone, Copy)]
pub struct Cursor<R> {
    rings: R,
    /// Bytes from the start of the ring: a multiple of the slot size, at most that of the last
    /// slot. One slot more is possible between [`Cursor::step`] and [`Cursor::turn`].
    offset: usize,
    /// The lap number, where the upper half of an entry's second word has it.
    phase: u32,
}

impl<R: Rings> Cursor<R> {
    /// A cursor at a free-running position.
    #[inline(always)]
    pub fn new(rings: R, position: u32) -> Self {
        let ring = rings.ring();
        let phase = (position >> ring.log2).wrapping_add(1) << 16;
        Self { rings, offset: ring.offset(position), phase }
    }

    /// Moves to a free-running position.
    #[inline(always)]
    pub fn move_to(&mut self, position: u32) {
        let ring = self.rings.ring();
        self.phase = u32::from(ring.phase(position)) << 16;
        self.offset = ring.offset(position);
    }

    /// Moves on by `count` slots, to a free-running position.
    #[inline(always)]
    pub fn move_by(&mut self, count: u32, position: u32) {
        let offset = self.offset + SLOT * count as usize;
        if offset <= self.rings.ring().last as usize {
            self.offset = offset;
        } else {
            self.move_to(position);
        }
    }

    /// The place of this cursor.
    #[inline(always)]
    pub fn mark(&self) -> Mark {
        Mark { offset: self.offset, phase: self.phase }
    }

    /// A cursor of the same ring at a mark that one of its cursors made.
    #[inline(always)]
    pub fn at(&self, mark: Mark) -> Self {
        let offset = mark.offset & self.rings.ring().last as usize;
        Self { rings: self.rings, offset, phase: mark.phase }
    }

    #[inline(always)]
    fn slot_of(&self, ring: Ring) -> &Slot {
        debug_assert!(self.offset <= ring.last as usize);
        // SAFETY: `ring` is this cursor's ring or its partner of the same size; both are mapped
        // (`Ring::new`) and the offset stays inside (see the field).
        unsafe { &*ring.slots.as_ptr().byte_add(self.offset) }
    }

    /// The slot here, looked up once for several accesses.
    #[inline(always)]
    pub fn slot(&self) -> &Slot {
        self.slot_of(self.rings.ring())
    }

    /// The phase of a valid entry here, in place ([`PHASE_BITS`]).
    #[inline(always)]
    pub fn phase(&self) -> u32 {
        self.phase
    }

    /// Index of the slot.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        (self.offset / SLOT) as u32
    }

    /// The entry here, if it is valid; see [`Ring::read`].
    #[inline(always)]
    pub fn read(&self) -> Option<RingEntry> {
        let slot = self.slot();
        let word1 = slot.word1();
        if (word1 >> 32) as u32 & PHASE_BITS != self.phase {
            return None;
        }
        Some([slot.word0(), word1])
    }

    /// Takes the entry here, if it is valid and all its flags are clear. Costs less than
    /// [`Cursor::read`], a look at the flags, and [`Cursor::advance`].
    #[inline(always)]
    pub fn take_plain(&mut self) -> Option<RingEntry> {
        self.take_plain_if(|_| true)
    }

    /// The same if the lower half of its second word is what the caller wants.
    #[inline(always)]
    pub fn take_plain_if(&mut self, wants: impl FnOnce(u32) -> bool) -> Option<RingEntry> {
        // Loaded before the acquire, after which the compiler would load it again.
        let next = self.offset + SLOT;
        let slot = self.slot();
        let word1 = slot.word1();
        if (word1 >> 32) as u32 != self.phase || !wants(word1 as u32) {
            return None;
        }
        let entry = [slot.word0(), word1];
        self.offset = next;
        self.turn();
        Some(entry)
    }

    /// Publishes an entry as [`Cursor::publish`], and moves to the next slot.
    #[inline(always)]
    pub fn publish_next(&mut self, word1: u64) {
        // Loaded before the store, which could change them as far as the compiler knows.
        let next = self.offset + SLOT;
        self.publish(word1);
        self.offset = next;
        self.turn();
    }

    /// Writes an entry, whose phase bits are set, publishes it, and moves to the next slot. True if a
    /// lap begins there. Ordered as [`Ring::write`].
    #[inline(always)]
    pub fn push(&mut self, entry: RingEntry) -> bool {
        // Loaded before the stores, which could change it as far as the compiler knows.
        let next = self.offset + SLOT;
        self.slot().write_entry(entry);
        self.offset = next;
        self.turn()
    }

    /// Publishes an entry whose first word is already in the slot. The phase bits of `word1` are
    /// clear. The release store pairs with the acquire load of the reader (see [`Ring::write`]).
    #[inline(always)]
    pub fn publish(&self, word1: u64) {
        let word1 = word1 | u64::from(self.phase) << 32;
        self.slot().word1.store(word1, Ordering::Release);
    }

    /// Slots from here to the end of the lap: at least 1, and 0 between the last
    /// [`Cursor::step`] and [`Cursor::turn`].
    #[inline(always)]
    pub fn left(&self) -> u32 {
        self.rings.ring().size() - self.index()
    }

    /// The slots from here to the end of the lap, at least one.
    #[inline(always)]
    pub fn straight(&self) -> &[Slot] {
        let count = (self.rings.ring().last as usize - self.offset) / SLOT + 1;
        // SAFETY: from the slot here, so many end with the last one of the mapped ring.
        unsafe { core::slice::from_raw_parts(self.slot(), count) }
    }

    /// Moves to the first slot of the next lap.
    #[inline(always)]
    pub fn next_lap(&mut self) {
        self.offset = 0;
        self.phase = self.phase.wrapping_add(ONE_LAP);
    }

    /// Moves several slots without looking for the end of the lap.
    ///
    /// # Safety
    /// As for [`Cursor::step`], with `count` instead of 1.
    #[inline(always)]
    pub unsafe fn skip(&mut self, count: u32) {
        self.offset += SLOT * count as usize;
    }

    /// Moves to the next slot without looking for the end of the lap.
    ///
    /// # Safety
    /// [`Cursor::left`] is at least 1. If it was 1, [`Cursor::turn`] follows before the cursor is
    /// read, written through or stepped again.
    #[inline(always)]
    pub unsafe fn step(&mut self) {
        self.offset += SLOT;
    }

    /// Begins the next lap, and returns true, if the last slot of this one has been passed.
    #[inline(always)]
    pub fn turn(&mut self) -> bool {
        // A ring has less than 4 GiB.
        let passed = self.offset as u32 > self.rings.ring().last;
        if passed {
            self.offset = 0;
            self.phase = self.phase.wrapping_add(ONE_LAP);
        }
        passed
    }

    /// Moves to the next slot.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.offset += SLOT;
        self.turn();
    }

    /// The slot before this one, which may be in the lap before.
    #[inline(always)]
    pub fn slot_before(&self) -> &Slot {
        let slot = self.rings.ring().slot_ptr(self.offset.wrapping_sub(SLOT));
        // SAFETY: a slot of this cursor's ring, which is mapped (`Ring::new`).
        unsafe { slot.as_ref() }
    }
}

impl<R: PairedRings> Cursor<R> {
    #[inline(always)]
    fn partner_slot(&self) -> &Slot {
        self.slot_of(self.rings.partner())
    }

    /// Writes an entry to the same place of the other ring and publishes it. Its phase bits are
    /// set already ([`Cursor::phase`]). Ordered as [`Ring::write`].
    #[inline(always)]
    pub fn partner_write(&self, entry: RingEntry) {
        self.partner_slot().write_entry(entry);
    }
}

/// The receiver of buffers that never change: takes completions in order, and posts each buffer
/// again, one lap after its completion.
pub struct Recycler {
    /// Completions and buffers.
    at: Cursor<RingPair>,
    /// Second word of a buffer posted again.
    buffer: u64,
    /// Bytes of slots between two pauses, less one.
    mask: usize,
    /// Number of laps since position 0.
    laps: u32,
}

impl Recycler {
    /// Starts at position 0, with every buffer posted. `buffer` is the second word of all of them,
    /// without phase. There is a pause after `every` slots, a power of two, and after half a lap.
    pub fn new(completions: Ring, buffers: Ring, buffer: u64, every: u32) -> Option<Self> {
        let at = Cursor::new(RingPair::new(completions, buffers)?, 0);
        let again = u64::from(at.phase.wrapping_add(ONE_LAP)) << 32;
        let every = every.next_power_of_two().min(completions.size() / 2);
        Some(Self { at, buffer: buffer | again, mask: SLOT * every as usize - 1, laps: 0 })
    }

    /// The next completion, and the index of its buffer.
    #[inline(always)]
    pub fn cursor(&self) -> &Cursor<RingPair> {
        &self.at
    }

    /// Free-running position of the next completion.
    pub fn position(&self) -> u32 {
        let log2 = self.at.rings.first.log2;
        (self.laps << log2).wrapping_add(self.at.index())
    }

    /// The second word of a buffer posted again, and the mask of offsets that are pauses.
    pub fn posting(&self) -> (u64, u32) {
        (self.buffer, self.mask as u32)
    }

    /// Moves on to an offset of a lap, up to which others posted buffers again.
    pub fn move_to(&mut self, laps: u32, offset: usize) {
        let ahead = ONE_LAP.wrapping_mul(laps.wrapping_sub(self.laps));
        self.at.offset = offset & (self.at.rings.first.last as usize & !(SLOT - 1));
        self.at.phase = self.at.phase.wrapping_add(ahead);
        self.buffer = self.buffer.wrapping_add(u64::from(ahead) << 32);
        self.laps = laps;
    }

    /// Number of laps before this one.
    pub fn laps(&self) -> u32 {
        self.laps
    }

    /// Takes the next completion, if it is valid and all its flags are clear: passes it and the
    /// index of its buffer to `using`, and posts the buffer again. True for a pause.
    #[inline(always)]
    pub fn take_plain<T>(&mut self, using: impl FnOnce(RingEntry, u32) -> T) -> Option<(T, bool)> {
        // Loaded before the acquire, after which the compiler would load it again.
        let offset = self.at.offset;
        let slot = self.at.slot();
        let word1 = slot.word1();
        if (word1 >> 32) as u32 != self.at.phase {
            return None;
        }
        let result = using([slot.word0(), word1], (offset / SLOT) as u32);
        Some((result, self.post(offset)))
    }

    /// Takes the next completion, whatever its flags, and posts its buffer again. True for a pause.
    #[inline(always)]
    pub fn recycle(&mut self) -> bool {
        self.post(self.at.offset)
    }

    /// Posts the buffer at the cursor, whose offset the caller has loaded.
    #[inline(always)]
    fn post(&mut self, offset: usize) -> bool {
        let next = offset + SLOT;
        debug_assert_eq!(offset, self.at.offset);
        // SAFETY: the offset of the cursor, which is inside both rings.
        let slot = unsafe { self.at.rings.second.slots.byte_add(offset).as_ref() };
        slot.word1.store(self.buffer, Ordering::Release);
        self.at.offset = next;
        // A lap ends with a pause.
        let pause = next & self.mask == 0;
        if pause {
            self.turn();
        }
        pause
    }

    #[inline(never)]
    fn turn(&mut self) {
        let phase = self.at.phase;
        self.at.turn();
        if self.at.phase != phase {
            self.laps = self.laps.wrapping_add(1);
            // The phase is at the top, so it wraps.
            self.buffer = self.buffer.wrapping_add(u64::from(ONE_LAP) << 32);
        }
    }
}
