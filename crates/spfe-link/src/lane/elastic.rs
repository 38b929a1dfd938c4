//! Receive elastic buffer: deletes or repeats SKIP words to absorb the difference between two
//! clocks (50-11C 5.5.5).

use crate::control::ControlWord;
use crate::word::Word;

const SKIP: Word = ControlWord::Skip.encode();
/// Capacity in words.
pub const DEPTH: usize = 8;
const MIDDLE: usize = DEPTH / 2;

/// A buffer that is written at the rate of the far end and read at the rate of the near end.
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
    /// Creates a buffer that is half full of SKIP words.
    pub const fn new() -> Self {
        let words = [SKIP; DEPTH];
        Self { words, first: 0, count: MIDDLE, lost: false, deleted: 0, repeated: 0, slips: 0 }
    }

    /// Writes a word from the line. A SKIP is deleted while the buffer is more than half full. If
    /// the buffer is full the word is lost, and the next one becomes an RXERR.
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

    /// Reads a word for the lane. A SKIP is repeated while the buffer is less than half full. An
    /// empty buffer returns an RXERR.
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

    /// Writes words and reads as many, in turn; each place gets the word read. `written_first`: each
    /// word is written before the read, otherwise after it.
    pub fn pass(&mut self, words: &mut [Word], written_first: bool) {
        let held = (0..self.count).any(|place| self.words[(self.first + place) % DEPTH] == SKIP);
        let plain = !held && !self.lost && (1..DEPTH).contains(&self.count);
        if plain && !words.contains(&SKIP) {
            for word in words {
                let last = (self.first + self.count) % DEPTH;
                self.words[last] = core::mem::replace(word, self.words[self.first % DEPTH]);
                self.first = (self.first + 1) % DEPTH;
            }
            return;
        }
        for word in words {
            if written_first {
                self.write(*word);
                *word = self.read();
            } else {
                let next = core::mem::replace(word, self.read());
                self.write(next);
            }
        }
    }

    /// Number of words in the buffer.
    pub const fn fill(&self) -> usize {
        self.count
    }

    /// Number of SKIP words deleted.
    pub const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// Number of SKIP words repeated.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Number of words lost or inserted because no SKIP came in time.
    pub const fn slips(&self) -> u64 {
        self.slips
    }
}
