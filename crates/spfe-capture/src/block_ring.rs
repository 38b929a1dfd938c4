//! The last blocks of a capture, in bounded memory.

use std::collections::VecDeque;
use std::io::{self, Write};

/// A queue of whole packet blocks, oldest first, with a limit on their total size.
pub struct BlockRing {
    bytes: VecDeque<u8>,
    limit: usize,
}

impl BlockRing {
    /// Makes an empty ring for at most `limit` bytes. It reserves at most 1 MiB now and grows later.
    pub fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::with_capacity(limit.min(1 << 20)), limit }
    }

    /// Adds a block and returns true, or returns false if the block alone exceeds the limit.
    ///
    /// Removes the oldest blocks to make room, and calls `removed` with the interface of each.
    pub fn push(&mut self, block: &[u8], mut removed: impl FnMut(u32)) -> bool {
        if block.len() > self.limit {
            return false;
        }
        while self.bytes.len() + block.len() > self.limit {
            // In a packet block the length is at byte 4 and the interface at byte 8.
            let (length, interface) = (self.word_at(4), self.word_at(8));
            removed(interface);
            self.bytes.drain(..(length as usize).min(self.bytes.len()));
        }
        self.bytes.extend(block);
        true
    }

    fn word_at(&self, at: usize) -> u32 {
        let byte = |index: usize| self.bytes.get(at + index).copied().unwrap_or(0);
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }

    /// Writes all blocks, oldest first. The ring keeps them.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (first, second) = self.bytes.as_slices();
        to.write_all(first)?;
        to.write_all(second)
    }
}
