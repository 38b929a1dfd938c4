//! The bits of a packed struct, from the lowest on.

/// Writes the fields of a packed struct, the last one first.
#[derive(Default)]
pub struct PinWriter {
    words: Vec<u32>,
    bit: usize,
}

impl PinWriter {
    /// Starts again with the last field.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.bit = 0;
    }

    /// Writes a field of up to 64 bits.
    pub fn put(&mut self, value: u64, bits: usize) {
        let mut done = 0;
        while done < bits {
            let (index, at) = (self.bit / 32, self.bit % 32);
            let count = (32 - at).min(bits - done);
            let part = (value >> done) & ((1 << count) - 1);
            if index >= self.words.len() {
                self.words.resize(index + 1, 0);
            }
            self.words[index] |= (part << at) as u32;
            self.bit += count;
            done += count;
        }
    }

    pub fn flag(&mut self, on: bool) {
        self.put(u64::from(on), 1);
    }

    pub fn wide(&mut self, value: u128) {
        self.put(value as u64, 64);
        self.put((value >> 64) as u64, 64);
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }

    pub const fn bits(&self) -> usize {
        self.bit
    }
}

/// Reads the fields of a packed struct, the last one first. Bits behind the end are 0.
pub struct PinReader<'a> {
    words: &'a [u32],
    bit: usize,
}

impl<'a> PinReader<'a> {
    pub const fn new(words: &'a [u32]) -> Self {
        Self { words, bit: 0 }
    }

    /// Reads a field of up to 64 bits.
    pub fn get(&mut self, bits: usize) -> u64 {
        let (mut value, mut done) = (0, 0);
        while done < bits {
            let at = self.bit % 32;
            let count = (32 - at).min(bits - done);
            let word = self.words.get(self.bit / 32).copied().unwrap_or(0);
            value |= (u64::from(word) >> at & ((1 << count) - 1)) << done;
            self.bit += count;
            done += count;
        }
        value
    }

    pub fn flag(&mut self) -> bool {
        self.get(1) != 0
    }

    pub fn wide(&mut self) -> u128 {
        let low = self.get(64);
        u128::from(self.get(64)) << 64 | u128::from(low)
    }

    pub const fn bits(&self) -> usize {
        self.bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let mut packer = PinWriter::default();
        for _again in 0..2 {
            packer.clear();
            packer.put(0x1234_5678_9abc, 48);
            packer.flag(true);
            packer.wide(u128::MAX - 5);
            packer.put(3, 2);
        }
        let mut unpacker = PinReader::new(packer.words());
        assert_eq!(unpacker.get(48), 0x1234_5678_9abc);
        assert!(unpacker.flag());
        assert_eq!(unpacker.wide(), u128::MAX - 5);
        assert_eq!((unpacker.get(2), unpacker.bits(), packer.bits()), (3, 179, 179));
        assert_eq!(unpacker.get(64), 0, "behind the end");
    }
}
