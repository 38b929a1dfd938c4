//! Entries, phases, and one side's position in a ring.

use crate::sync::{AtomicU64, Ordering};
use core::ptr::NonNull;

/// The two words of an entry. Bits 63:48 of word 1 are the phase.
pub type RingEntry = [u64; 2];

const PHASE_SHIFT: u32 = 48;
const BODY_MASK: u64 = (1 << PHASE_SHIFT) - 1;

/// One ring entry in shared memory.
#[repr(C, align(16))]
#[derive(Default)]
pub struct Slot {
    word0: AtomicU64,
    word1: AtomicU64,
}

impl Slot {
    /// An empty slot: phase 0, which is not valid on the first lap.
    pub fn new() -> Self {
        Self { word0: AtomicU64::new(0), word1: AtomicU64::new(0) }
    }
}

/// A view of a ring: where it is and how long. Copies of it are free.
#[derive(Clone, Copy)]
pub struct Ring {
    slots: NonNull<Slot>,
    log2: u32,
    /// Offset of the last slot, bytes.
    last: u32,
}

// SAFETY: a ring is only atomics behind a pointer whose lifetime the creator promised (`Ring::new`).
unsafe impl Send for Ring {}
// SAFETY: as above; all access through the view is atomic.
unsafe impl Sync for Ring {}

impl Ring {
    /// A ring of `1 << log2` slots.
    ///
    /// # Safety
    /// `slots` points to that many slots, which stay mapped while any copy of the view is used.
    pub const unsafe fn new(slots: NonNull<Slot>, log2: u32) -> Self {
        Self { slots, log2, last: ((1 << log2) - 1) * SLOT as u32 }
    }

    /// Number of entries.
    #[inline(always)]
    pub const fn size(&self) -> u32 {
        1 << self.log2
    }

    /// Offset of a position's slot, bytes.
    #[inline(always)]
    const fn offset(&self, position: u32) -> usize {
        (position.wrapping_mul(SLOT as u32) & self.last) as usize
    }

    /// Lap number of a free-running position, from 1, modulo 65536.
    #[inline(always)]
    pub const fn phase(&self, position: u32) -> u16 {
        ((position >> self.log2) as u16).wrapping_add(1)
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> &Slot {
        // SAFETY: the offset is masked to the ring, which is mapped (`Ring::new`).
        unsafe { &*self.slots.as_ptr().byte_add(self.offset(position)) }
    }

    /// Writes an entry at a position and publishes it.
    ///
    /// The release store of word 1 pairs with the acquire load in [`Ring::read`]: who sees the
    /// phase sees word 0 and everything the writer did before.
    #[inline(always)]
    pub fn write(&self, position: u32, entry: RingEntry) {
        let phase = u64::from(self.phase(position));
        let slot = self.slot(position);
        slot.word0.store(entry[0], Ordering::Relaxed);
        slot.word1.store((entry[1] & BODY_MASK) | phase << PHASE_SHIFT, Ordering::Release);
    }

    /// Makes the entry at a position invalid for its lap again, as it was after the lap before.
    ///
    /// Relaxed: a reader comes here only after it has seen a later release store of the writer.
    pub(crate) fn invalidate(&self, position: u32) {
        let phase = u64::from(self.phase(position).wrapping_sub(1));
        self.slot(position).word1.store(phase << PHASE_SHIFT, Ordering::Relaxed);
    }

    /// The entry at a position, if it is valid for that lap. Read once: the caller owns the copy.
    #[inline(always)]
    pub fn read(&self, position: u32) -> Option<RingEntry> {
        let slot = self.slot(position);
        let word1 = slot.word1.load(Ordering::Acquire);
        if (word1 >> PHASE_SHIFT) as u16 != self.phase(position) {
            return None;
        }
        Some([slot.word0.load(Ordering::Relaxed), word1])
    }

    /// Hints the processor to fetch the entry at a position.
    #[inline(always)]
    pub fn prefetch(&self, position: u32) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // SAFETY: prefetching has no effect on memory; the address is inside the ring.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(self.slot(position)).cast());
        }
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        let _ = position;
    }

    /// Stores the first word of a slot that keeps it for good, before the ring is shared.
    pub fn prepare(&self, position: u32, word0: u64) {
        self.slot(position).word0.store(word0, Ordering::Relaxed);
    }

    /// Makes every slot invalid for the first lap. Only before the ring is shared.
    pub fn clear(&self) {
        for position in 0..self.size() {
            let slot = self.slot(position);
            slot.word0.store(0, Ordering::Relaxed);
            slot.word1.store(0, Ordering::Release);
        }
    }
}

/// A place in a ring that only moves forward: what a tight loop keeps in registers instead of a
/// position. It is made for one ring and may be used with rings of that size only.
///
/// # Safety contract
/// The methods take any ring and check the place only in debug builds: a mask or a comparison for
/// each entry is what a spot is there to save. So who holds a spot owes this, although the methods
/// are not marked `unsafe`: *every ring a spot is used with has the size of the ring it was made
/// for*. Then the offset is inside the ring at all times: [`Spot::new`] masks it, [`Spot::turn`] and
/// [`Spot::advance`] wrap it at the same size, and [`Spot::step`] is `unsafe` because it does not.
/// Nothing that the other side writes gets into a spot, so nobody outside can break this.
///
/// The users keep it by construction. Host side: `Queue::open` gives both rings of a queue one size.
/// Device side: a spot lives for one loop, in which the rings stay bound, and one that serves both
/// rings of a receive queue is made only where they have one size (`Posted::suits`).
#[derive(Clone, Copy)]
pub struct Spot {
    /// Bytes from the start of the ring.
    offset: usize,
    /// The lap number, where the upper half of an entry's second word has it.
    phase: u32,
}

/// Bytes of a slot.
const SLOT: usize = size_of::<Slot>();
const ONE_LAP: u32 = 1 << 16;

impl Spot {
    /// Where the phase is in the upper half of an entry's second word.
    pub const PHASE: u32 = 0xffff_0000;

    /// The place of a position.
    #[inline(always)]
    pub const fn new(ring: &Ring, position: u32) -> Self {
        Self { offset: ring.offset(position), phase: (position >> ring.log2).wrapping_add(1) << 16 }
    }

    #[inline(always)]
    fn slot<'a>(&self, ring: &'a Ring) -> &'a Slot {
        debug_assert!(self.offset <= ring.last as usize);
        // SAFETY: the offset stays within the ring this spot was made for, or one of its size
        // (the contract of `Spot`), and that ring is mapped (`Ring::new`).
        unsafe { &*ring.slots.as_ptr().byte_add(self.offset) }
    }

    /// The phase of a valid entry here, where the upper half of its second word has it.
    #[inline(always)]
    pub const fn phase(&self) -> u32 {
        self.phase
    }

    /// The second word here, valid or not; see [`Ring::read`]. It comes before the first.
    #[inline(always)]
    pub fn word1(&self, ring: &Ring) -> u64 {
        self.slot(ring).word1.load(Ordering::Acquire)
    }

    /// The first word here, after the second was seen to be valid.
    #[inline(always)]
    pub fn word0(&self, ring: &Ring) -> u64 {
        self.slot(ring).word0.load(Ordering::Relaxed)
    }

    /// The entry here, if it is valid; see [`Ring::read`].
    #[inline(always)]
    pub fn read(&self, ring: &Ring) -> Option<RingEntry> {
        let word1 = self.word1(ring);
        if (word1 >> 32) as u32 & Self::PHASE != self.phase {
            return None;
        }
        Some([self.word0(ring), word1])
    }

    /// Writes an entry here, whose phase bits are clear, and publishes it; see [`Ring::write`].
    #[inline(always)]
    pub fn write(&self, ring: &Ring, entry: RingEntry) {
        let slot = self.slot(ring);
        slot.word0.store(entry[0], Ordering::Relaxed);
        slot.word1.store(entry[1] | u64::from(self.phase) << 32, Ordering::Release);
    }

    /// Index of the slot.
    #[inline(always)]
    pub const fn index(&self) -> u32 {
        (self.offset / SLOT) as u32
    }

    /// Publishes an entry whose first word is already there; the phase bits of `word1` are clear.
    #[inline(always)]
    pub fn publish(&self, ring: &Ring, word1: u64) {
        self.slot(ring).word1.store(word1 | u64::from(self.phase) << 32, Ordering::Release);
    }

    /// The same for the next lap's use of the slot.
    #[inline(always)]
    pub fn publish_next_lap(&self, ring: &Ring, word1: u64) {
        let phase = u64::from(self.phase.wrapping_add(ONE_LAP)) << 32;
        self.slot(ring).word1.store(word1 | phase, Ordering::Release);
    }

    /// Writes an entry whose phase bits are there already, and publishes it; see [`Ring::write`].
    #[inline(always)]
    pub fn write_phased(&self, ring: &Ring, entry: RingEntry) {
        let slot = self.slot(ring);
        slot.word0.store(entry[0], Ordering::Relaxed);
        slot.word1.store(entry[1], Ordering::Release);
    }

    /// Slots from here to the end of the lap, at least 1 (0 behind the last, before the turn).
    #[inline(always)]
    pub const fn left(&self, ring: &Ring) -> u32 {
        ring.size() - self.index()
    }

    /// The first word of the next place of the same lap, whatever it is: for hints.
    #[inline(always)]
    pub fn next_word0(&self, ring: &Ring) -> u64 {
        Self { offset: (self.offset + SLOT) & ring.last as usize, ..*self }.word0(ring)
    }

    /// One place on in the same lap; [`Spot::turn`] follows when none is left.
    ///
    /// # Safety
    /// There is one left ([`Spot::left`]) and it is not used before the turn if it was the last.
    #[inline(always)]
    pub const unsafe fn step(&mut self) {
        self.offset += SLOT;
    }

    /// Begins the next lap if the last slot of this one has been passed.
    #[inline(always)]
    pub const fn turn(&mut self, ring: &Ring) {
        if self.offset > ring.last as usize {
            self.offset = 0;
            self.phase = self.phase.wrapping_add(ONE_LAP);
        }
    }

    /// The place before.
    #[inline]
    pub const fn before(mut self, ring: &Ring) -> Self {
        if self.offset == 0 {
            self.offset = ring.last as usize + SLOT;
            self.phase = self.phase.wrapping_sub(ONE_LAP);
        }
        self.offset -= SLOT;
        self
    }

    /// One place on.
    #[inline(always)]
    pub fn advance(&mut self, ring: &Ring) {
        self.offset += SLOT;
        self.turn(ring);
    }
}

/// The writing side of a ring.
#[derive(Clone, Copy)]
pub struct Producer {
    /// The ring.
    pub ring: Ring,
    /// Free-running position of the next entry to write.
    pub position: u32,
}

impl Producer {
    /// Starts at position 0 of a fresh ring.
    pub const fn new(ring: Ring) -> Self {
        Self { ring, position: 0 }
    }

    /// Writes and publishes one entry.
    #[inline(always)]
    pub fn push(&mut self, entry: RingEntry) {
        self.ring.write(self.position, entry);
        self.position = self.position.wrapping_add(1);
    }
}

/// The reading side of a ring.
#[derive(Clone, Copy)]
pub struct Consumer {
    /// The ring.
    pub ring: Ring,
    /// Free-running position of the next entry to read.
    pub position: u32,
}

impl Consumer {
    /// Starts at position 0 of a fresh ring.
    pub const fn new(ring: Ring) -> Self {
        Self { ring, position: 0 }
    }

    /// The next entry, left in place.
    #[inline(always)]
    pub fn peek(&self) -> Option<RingEntry> {
        self.ring.read(self.position)
    }

    /// The entry `ahead` places after the next one, left in place.
    #[inline(always)]
    pub fn peek_at(&self, ahead: u32) -> Option<RingEntry> {
        self.ring.read(self.position.wrapping_add(ahead))
    }

    /// Takes the next entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<RingEntry> {
        let entry = self.peek()?;
        self.advance(1);
        Some(entry)
    }

    /// Steps over entries that were peeked at.
    #[inline(always)]
    pub fn advance(&mut self, count: u32) {
        self.position = self.position.wrapping_add(count);
    }
}

/// Host-side credit of a submission ring: how many entries completions have freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCredit {
    /// Free-running position up to which entries are free again.
    pub freed: u32,
}

impl RingCredit {
    /// Entries that may be written now.
    #[inline(always)]
    pub const fn free(&self, size: u32, produced: u32) -> u32 {
        size.wrapping_sub(produced.wrapping_sub(self.freed))
    }

    /// Takes a completion's 16-bit position; returns the positions it freed, oldest first, or
    /// `None` if the device named a position that is not outstanding (a broken device).
    #[inline(always)]
    pub fn free_to(&mut self, position: u16, produced: u32) -> Option<core::ops::Range<u32>> {
        let count = u32::from(position.wrapping_sub(self.freed as u16).wrapping_add(1));
        if count == 0 || count > produced.wrapping_sub(self.freed) {
            return None;
        }
        let start = self.freed;
        self.freed = start.wrapping_add(count);
        Some(start..self.freed)
    }
}
