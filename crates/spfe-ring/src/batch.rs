//! Batches: many entries that are published together.
//!
//! The first entry of a batch is stored last. A reader that finds its phase finds the whole batch.
//! Entries in the cache line of the first one are held back too, because a polling reader watches
//! that line: an early store would take the line from the reader without giving it an entry.

use crate::ring::{Producer, RingEntry};

/// Entries in a cache line.
const PER_LINE: u32 = 4;

/// A batch being filled. The other side sees none of it before [`EntryBatch::publish`].
#[must_use = "a batch ends with `publish` or `cancel`"]
pub struct EntryBatch {
    /// Entries not stored yet.
    held: [RingEntry; PER_LINE as usize],
    /// Number of entries to hold back: up to the end of the first cache line.
    hold: u32,
    count: u32,
    limit: u32,
}

impl EntryBatch {
    /// Starts a batch of at most `limit` entries at the producer's position. The caller knows that
    /// so many entries are free.
    #[inline(always)]
    pub fn new(producer: &Producer, limit: u32) -> Self {
        let hold = PER_LINE - (producer.position & (PER_LINE - 1));
        Self { held: [[0; 2]; PER_LINE as usize], hold, count: 0, limit }
    }

    /// Number of entries in the batch.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether the batch has no entries.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of entries that may still be added.
    #[inline(always)]
    pub const fn space(&self) -> u32 {
        self.limit - self.count
    }

    /// Adds an entry. False if the batch is full.
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

    /// Replaces the entry added `back` entries ago; 1 is the last one. For flags that are known
    /// only at the end. An entry that is in the ring already is stored again, which no reader can
    /// see yet.
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

    /// Abandons the batch. Dropping it is not enough: entries after the held ones are in the ring
    /// already, and a reader that gets to their slots would take them. They become invalid again.
    pub fn cancel(self, producer: &Producer) {
        for index in self.hold..self.count {
            producer.ring.invalidate(producer.position.wrapping_add(index));
        }
    }

    /// Publishes the batch: stores the held entries from last to first. Returns the number of
    /// entries.
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
