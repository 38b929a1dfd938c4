//! The bits of the structs at the ports of a top.

use spfe_link::Word;

/// Writes the fields of a packed struct, the last one first.
#[derive(Debug, Default)]
pub struct Packer {
    words: Vec<u32>,
    bit: usize,
}

impl Packer {
    /// Starts again with the last field.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.bit = 0;
    }

    /// Writes a field of up to 64 bits.
    pub fn put(&mut self, value: u64, bits: usize) -> &mut Self {
        let mut done = 0;
        while done < bits {
            let (index, at) = (self.bit / 32, self.bit % 32);
            let count = (32 - at).min(bits - done);
            let part = (value >> done) & ((1 << count) - 1);
            if index == self.words.len() {
                self.words.push(0);
            }
            self.words[index] |= (part << at) as u32;
            self.bit += count;
            done += count;
        }
        self
    }

    /// Writes a field of one bit.
    pub fn flag(&mut self, on: bool) -> &mut Self {
        self.put(u64::from(on), 1)
    }

    /// Writes a word with its K flags.
    pub fn word(&mut self, word: Word) -> &mut Self {
        self.put(u64::from(word.k) << 32 | u64::from(word.bits), 36)
    }

    /// The struct.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

/// Reads the fields of a packed struct, the last one first.
#[derive(Debug)]
pub struct Unpacker<'a> {
    words: &'a [u32],
    bit: usize,
}

impl<'a> Unpacker<'a> {
    /// Starts with the last field.
    #[must_use]
    pub fn new(words: &'a [u32]) -> Self {
        Self { words, bit: 0 }
    }

    /// Reads a field of up to 64 bits.
    ///
    /// # Panics
    /// The struct ends before the field.
    pub fn get(&mut self, bits: usize) -> u64 {
        let (mut value, mut done) = (0, 0);
        while done < bits {
            let at = self.bit % 32;
            let count = (32 - at).min(bits - done);
            let part = u64::from(self.words[self.bit / 32]) >> at & ((1 << count) - 1);
            value |= part << done;
            self.bit += count;
            done += count;
        }
        value
    }

    /// Reads a field of one bit.
    pub fn flag(&mut self) -> bool {
        self.get(1) != 0
    }

    /// Reads a word with its K flags.
    pub fn word(&mut self) -> Word {
        let value = self.get(36);
        Word { bits: value as u32, k: (value >> 32) as u8 }
    }

    /// Bits read so far.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let mut packer = Packer::default();
        for _again in 0..2 {
            packer.clear();
            packer.put(0x1234_5678_9abc, 48).flag(true).word(Word { bits: !0, k: 5 }).put(3, 2);
        }
        let mut unpacker = Unpacker::new(packer.words());
        assert_eq!(unpacker.get(48), 0x1234_5678_9abc);
        assert!(unpacker.flag());
        assert_eq!(unpacker.word(), Word { bits: !0, k: 5 });
        assert_eq!((unpacker.get(2), unpacker.bits()), (3, 87));
    }
}
