//! The receive elastic buffer: takes up the difference of two clocks in SKIP words (50-11C 5.5.5).

use crate::control::ControlWord;
use crate::word::Word;

const SKIP: Word = ControlWord::Skip.encode();
/// Words it has room for.
pub const DEPTH: usize = 8;
const MIDDLE: usize = DEPTH / 2;

/// A buffer that is written at the rate of the far end and read at that of the near end.
#[derive(Clone, Debug)]
pub struct ElasticBuffer {
    words: [Word; DEPTH],
    first: usize,
    count: usize,
    lost: bool,
    deleted: u64,
    repeated: u64,
    slips: u64,
}

impl Default for ElasticBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl ElasticBuffer {
    /// Half full of SKIP words.
    pub const fn new() -> Self {
        let words = [SKIP; DEPTH];
        Self { words, first: 0, count: MIDDLE, lost: false, deleted: 0, repeated: 0, slips: 0 }
    }

    /// A word from the line. A SKIP is deleted while the buffer is more than half full. With no
    /// room left the word is lost, and the next one becomes an RXERR.
    pub fn write(&mut self, word: Word) {
        if word == SKIP && self.count > MIDDLE {
            self.deleted += 1;
        } else if let Some(slot) = self.slot() {
            self.words[slot] = if self.lost { Word::RXERR } else { word };
            self.lost = false;
            self.count += 1;
        } else {
            self.lost = true;
            self.slips += 1;
        }
    }

    fn slot(&self) -> Option<usize> {
        (self.count < DEPTH).then(|| (self.first + self.count) % DEPTH)
    }

    /// A word for the lane. A SKIP is repeated while the buffer is less than half full; an empty
    /// buffer gives an RXERR.
    pub fn read(&mut self) -> Word {
        if self.count == 0 {
            self.slips += 1;
            return Word::RXERR;
        }
        let word = self.words[self.first % DEPTH];
        if word == SKIP && self.count < MIDDLE {
            self.repeated += 1;
        } else {
            self.first = (self.first + 1) % DEPTH;
            self.count -= 1;
        }
        word
    }

    /// Words inside.
    pub const fn fill(&self) -> usize {
        self.count
    }

    /// SKIP words deleted.
    pub const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// SKIP words repeated.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Words lost or invented for want of a SKIP.
    pub const fn slips(&self) -> u64 {
        self.slips
    }
}
