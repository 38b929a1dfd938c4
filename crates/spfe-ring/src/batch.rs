//! Many entries, one publication.
//!
//! The first entry of a batch is stored last, so its phase is the doorbell: a reader that finds it
//! finds the whole batch. The entries that share the first one's cache line are held back with it,
//! because that is the line a polling reader watches; touching it early would tear it away from
//! the reader for nothing.

use crate::ring::{Producer, RingEntry};

const PER_LINE: u32 = 4;

/// A batch being filled. Nothing is visible to the other side before [`EntryBatch::publish`].
#[must_use = "a batch ends with `publish` or `cancel`"]
pub struct EntryBatch {
    held: [RingEntry; PER_LINE as usize],
    hold: u32,
    count: u32,
    limit: u32,
}

impl EntryBatch {
    /// Starts a batch of at most `limit` entries at the producer's position.
    #[inline(always)]
    pub fn new(producer: &Producer, limit: u32) -> Self {
        let hold = PER_LINE - (producer.position & (PER_LINE - 1));
        Self { held: [[0; 2]; PER_LINE as usize], hold, count: 0, limit }
    }

    /// Entries in the batch.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether the batch has no entries.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Entries that may still be added.
    #[inline(always)]
    pub const fn space(&self) -> u32 {
        self.limit - self.count
    }

    /// Adds an entry; false if the batch is full.
    #[inline(always)]
    pub fn push(&mut self, producer: &Producer, entry: RingEntry) -> bool {
        if self.count == self.limit {
            return false;
        }
        if self.count < self.hold {
            self.held[self.count as usize & (PER_LINE as usize - 1)] = entry;
        } else {
            producer.ring.write(producer.position.wrapping_add(self.count), entry);
        }
        self.count += 1;
        true
    }

    /// Replaces the entry added `back` entries ago (1 is the last one), to set flags that are known
    /// only at the end. Costs a second store if it is already in the ring; it is not visible there.
    #[inline(always)]
    pub fn amend(&mut self, producer: &Producer, back: u32, entry: RingEntry) {
        debug_assert!(back >= 1 && back <= self.count);
        let index = self.count - back;
        if index < self.hold {
            self.held[index as usize & (PER_LINE as usize - 1)] = entry;
        } else {
            producer.ring.write(producer.position.wrapping_add(index), entry);
        }
    }

    /// Gives the batch up; dropping it is not enough. The entries past the held ones are in the ring
    /// and would be taken for published when later ones reach them, so they become invalid again.
    pub fn cancel(self, producer: &Producer) {
        for index in self.hold..self.count {
            producer.ring.invalidate(producer.position.wrapping_add(index));
        }
    }

    /// Publishes the batch: the held entries from last to first. Returns how many entries it had.
    #[inline(always)]
    pub fn publish(self, producer: &mut Producer) -> u32 {
        let held = self.count.min(self.hold);
        for index in (0..held).rev() {
            let position = producer.position.wrapping_add(index);
            producer.ring.write(position, self.held[index as usize & (PER_LINE as usize - 1)]);
        }
        producer.position = producer.position.wrapping_add(self.count);
        self.count
    }
}
