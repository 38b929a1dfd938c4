//! Entries and phases, and the positions of both sides in a ring.

use crate::sync::{AtomicU64, Ordering};
use core::ptr::NonNull;
use spfe_contract::wide_completion;

/// The two words of an entry. Bits 63:48 of word 1 are the phase, which [`Ring::write`] sets.
pub type RingEntry = [u64; 2];

const PHASE_SHIFT: u32 = 48;
const BODY_MASK: u64 = (1 << PHASE_SHIFT) - 1;

/// One ring entry in shared memory. The default is an empty slot: its phase 0 is not valid in the
/// first lap.
#[repr(C, align(16))]
#[derive(Default)]
pub struct Slot {
    pub(crate) word0: AtomicU64,
    pub(crate) word1: AtomicU64,
}

/// Bytes of a slot.
pub(crate) const SLOT: usize = size_of::<Slot>();
/// Bytes of a wide completion.
const WIDE: usize = 4 * SLOT;

impl Slot {
    /// The second word, valid or not. Load it before the first word: the acquire pairs with the
    /// release store of the writer ([`Ring::write`]).
    #[inline(always)]
    pub fn word1(&self) -> u64 {
        self.word1.load(Ordering::Acquire)
    }

    /// Stores the second word, phase bits included. The release pairs with [`Slot::word1`].
    #[inline(always)]
    pub fn publish_word1(&self, word1: u64) {
        self.word1.store(word1, Ordering::Release);
    }

    /// Writes an entry whose phase bits are set already. Ordered as [`Ring::write`].
    #[inline(always)]
    pub fn write_entry(&self, entry: RingEntry) {
        self.word0.store(entry[0], Ordering::Relaxed);
        self.word1.store(entry[1], Ordering::Release);
    }

    /// The first word. It belongs to an entry only if [`Slot::word1`] had the phase of that entry.
    #[inline(always)]
    pub fn word0(&self) -> u64 {
        self.word0.load(Ordering::Relaxed)
    }
}

/// A view of a ring in shared memory: address and size. It can be copied freely.
#[derive(Clone, Copy)]
pub struct Ring {
    pub(crate) slots: NonNull<Slot>,
    pub(crate) log2: u32,
    /// Offset of the last entry, bytes.
    pub(crate) last: u32,
    /// log2 of the bytes from one entry to the next.
    stride_log2: u32,
}

// SAFETY: the slots are atomics, and the creator keeps them mapped (`Ring::new`).
unsafe impl Send for Ring {}
// SAFETY: as above; every access through the view is atomic.
unsafe impl Sync for Ring {}

impl Ring {
    /// A ring of `1 << log2` slots.
    ///
    /// # Safety
    /// `slots` points to that many slots. They stay mapped while any copy of the view is used.
    pub const unsafe fn new(slots: NonNull<Slot>, log2: u32) -> Self {
        let stride_log2 = SLOT.trailing_zeros();
        Self { slots, log2, last: ((1 << log2) - 1) << stride_log2, stride_log2 }
    }

    /// A ring of `1 << log2` wide completions. No [`crate::Cursor`] finds its entries.
    ///
    /// # Safety
    /// `slots` points to four slots for each entry. They stay mapped while any copy of the view is
    /// used.
    pub const unsafe fn wide(slots: NonNull<Slot>, log2: u32) -> Self {
        let stride_log2 = WIDE.trailing_zeros();
        Self { slots, log2, last: ((1 << log2) - 1) << stride_log2, stride_log2 }
    }

    /// Whether the entries are wide completions.
    #[inline(always)]
    pub const fn is_wide(&self) -> bool {
        self.stride_log2 != SLOT.trailing_zeros()
    }

    /// The data of the wide completion at a position, 40 bytes. Its writer comes before
    /// [`Ring::write`], its reader after [`Ring::read`]. `None` in a ring of other entries.
    #[inline(always)]
    pub fn beside(&self, position: u32) -> Option<NonNull<u8>> {
        // SAFETY: a wide completion is 64 bytes, of which the data are the last 40.
        self.is_wide()
            .then(|| unsafe { self.entry(position).cast().add(wide_completion::DATA0_OFFSET) })
    }

    /// Address of the first slot.
    pub const fn first(&self) -> NonNull<Slot> {
        self.slots
    }

    /// Address of the entry at a position.
    pub fn entry(&self, position: u32) -> NonNull<Slot> {
        NonNull::from(self.slot(position))
    }

    /// Number of entries.
    #[inline(always)]
    pub const fn size(&self) -> u32 {
        1 << self.log2
    }

    /// Offset of the slot of a position, bytes.
    #[inline(always)]
    pub(crate) const fn offset(&self, position: u32) -> usize {
        ((position << self.stride_log2) & self.last) as usize
    }

    /// Address of the slot at an offset in bytes, which wraps at the end of the ring.
    #[inline(always)]
    pub(crate) fn slot_ptr(&self, offset: usize) -> NonNull<Slot> {
        // SAFETY: the mask keeps the offset inside the ring and a multiple of the slot size.
        unsafe { self.slots.byte_add(offset & self.last as usize) }
    }

    /// The slot at an offset in bytes, which wraps at the end of the ring.
    #[inline(always)]
    pub(crate) fn slot_at(&self, offset: usize) -> &Slot {
        // SAFETY: a slot of the ring, which is mapped (`Ring::new`).
        unsafe { self.slot_ptr(offset).as_ref() }
    }

    /// Lap number of a free-running position, from 1, modulo 65536.
    #[inline(always)]
    pub const fn phase(&self, position: u32) -> u16 {
        ((position >> self.log2) as u16).wrapping_add(1)
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> &Slot {
        self.slot_at(self.offset(position))
    }

    /// Writes an entry at a position and publishes it.
    ///
    /// The release store of word 1 pairs with the acquire load in [`Ring::read`]: a reader that
    /// sees the phase sees word 0 and everything that the writer did before.
    #[inline(always)]
    pub fn write(&self, position: u32, entry: RingEntry) {
        let phase = u64::from(self.phase(position));
        let slot = self.slot(position);
        slot.word0.store(entry[0], Ordering::Relaxed);
        slot.word1.store((entry[1] & BODY_MASK) | phase << PHASE_SHIFT, Ordering::Release);
    }

    /// Makes the entry at a position invalid again, as it was after the lap before.
    ///
    /// Relaxed: a reader gets to this slot only after it has seen a later release store.
    pub(crate) fn invalidate(&self, position: u32) {
        let phase = u64::from(self.phase(position).wrapping_sub(1));
        self.slot(position).word1.store(phase << PHASE_SHIFT, Ordering::Relaxed);
    }

    /// The entry at a position, if it is valid for its lap. Each word is read once.
    #[inline(always)]
    pub fn read(&self, position: u32) -> Option<RingEntry> {
        let slot = self.slot(position);
        let word1 = slot.word1();
        if (word1 >> PHASE_SHIFT) as u16 != self.phase(position) {
            return None;
        }
        Some([slot.word0(), word1])
    }

    /// Prefetches the entry at a position.
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

    /// Stores the first word of a slot that never changes it. Only before the ring is shared.
    pub fn prepare(&self, position: u32, word0: u64) {
        self.slot(position).word0.store(word0, Ordering::Relaxed);
    }

    /// Empties the ring for a first lap. Only before the ring is shared.
    pub fn clear(&self) {
        for position in 0..self.size() {
            let slot = self.slot(position);
            slot.word0.store(0, Ordering::Relaxed);
            slot.word1.store(0, Ordering::Release);
        }
    }
}

/// The writing side of a ring.
#[derive(Clone, Copy)]
pub struct Producer {
    /// The ring of this side.
    pub ring: Ring,
    /// Free-running position of the next entry to write.
    pub position: u32,
}

impl Producer {
    /// Starts at position 0 of an empty ring.
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
    /// The ring of this side.
    pub ring: Ring,
    /// Free-running position of the next entry to read.
    pub position: u32,
}

impl Consumer {
    /// Starts at position 0 of an empty ring.
    pub const fn new(ring: Ring) -> Self {
        Self { ring, position: 0 }
    }

    /// The next entry. It stays in place.
    #[inline(always)]
    pub fn peek(&self) -> Option<RingEntry> {
        self.ring.read(self.position)
    }

    /// The entry `ahead` positions after the next one. It stays in place.
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

    /// Takes entries that were peeked at.
    #[inline(always)]
    pub fn advance(&mut self, count: u32) {
        self.position = self.position.wrapping_add(count);
    }
}

/// Credit of a submission ring at the host: the entries that completions have freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCredit {
    /// Free-running position up to which entries are freed.
    pub freed: u32,
}

impl RingCredit {
    /// Number of entries that may be written, for a ring of `size` entries with the producer at
    /// position `produced`.
    #[inline(always)]
    pub const fn free(&self, size: u32, produced: u32) -> u32 {
        size.wrapping_sub(produced.wrapping_sub(self.freed))
    }

    /// Frees the entries up to a 16-bit position that a completion names. Returns their positions,
    /// oldest first. `None`, and no change, if no outstanding entry has that position: a broken
    /// device.
    #[inline(always)]
    pub fn free_to(&mut self, position: u16, produced: u32) -> Option<core::ops::Range<u32>> {
        let start = self.freed;
        let count = u32::from(position.wrapping_sub(start as u16).wrapping_add(1));
        if count == 0 || count > produced.wrapping_sub(start) {
            return None;
        }
        self.freed = start.wrapping_add(count);
        Some(start..self.freed)
    }
}
