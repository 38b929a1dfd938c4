//! The last blocks of a capture, in bounded memory.

use std::collections::VecDeque;
use std::io::{self, Write};

/// Whole blocks, the oldest first.
pub struct BlockRing {
    bytes: VecDeque<u8>,
    limit: usize,
}

impl BlockRing {
    /// Room for that many bytes; much of it is taken only when it is used.
    pub fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::with_capacity(limit.min(1 << 20)), limit }
    }

    /// Puts a block in and gives back true; the oldest go for it, and `forget` is told the interface
    /// of each. A block longer than the limit is not put in.
    pub fn push(&mut self, block: &[u8], mut forget: impl FnMut(u32)) -> bool {
        if block.len() > self.limit {
            return false;
        }
        while self.bytes.len() + block.len() > self.limit {
            let (length, interface) = (self.word_at(4), self.word_at(8));
            forget(interface);
            self.bytes.drain(..(length as usize).min(self.bytes.len()));
        }
        self.bytes.extend(block);
        true
    }

    fn word_at(&self, at: usize) -> u32 {
        let byte = |index: usize| self.bytes.get(at + index).copied().unwrap_or(0);
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }

    /// Writes all blocks.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (first, second) = self.bytes.as_slices();
        to.write_all(first)?;
        to.write_all(second)
    }
}
