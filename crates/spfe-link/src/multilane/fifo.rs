//! The alignment buffer of a lane (50-11C 5.6.4.5).

use crate::word::Word;

/// Capacity in words: lanes may be up to one word less apart.
pub const DEPTH: usize = 4;

/// Words of a lane that wait for the words of the other lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fifo {
    words: [Word; DEPTH],
    first: usize,
    count: usize,
}

impl Fifo {
    pub const fn flush(&mut self) {
        self.count = 0;
    }

    /// Adds a word. Returns false if the buffer is full.
    #[inline]
    pub const fn push(&mut self, word: Word) -> bool {
        if self.count == DEPTH {
            return false;
        }
        self.words[(self.first + self.count) % DEPTH] = word;
        self.count += 1;
        true
    }

    #[inline]
    pub const fn head(&self) -> Option<Word> {
        if self.count == 0 { None } else { Some(self.words[self.first % DEPTH]) }
    }

    #[inline]
    pub const fn pop(&mut self) -> Option<Word> {
        let head = self.head();
        if head.is_some() {
            self.first = (self.first + 1) % DEPTH;
            self.count -= 1;
        }
        head
    }

    /// Whether a word can be added and the word that leaves for it is data.
    #[inline(always)]
    pub const fn passes_data(&self) -> bool {
        self.count == 0 || self.count < DEPTH && self.words[self.first % DEPTH].k == 0
    }

    /// Adds one word and removes one.
    #[inline(always)]
    pub const fn pass(&mut self, word: Word) -> Word {
        if self.count == 0 {
            return word;
        }
        let head = self.words[self.first % DEPTH];
        self.words[(self.first + self.count) % DEPTH] = word;
        self.first = (self.first + 1) % DEPTH;
        head
    }

    /// Adds data words and removes as many, all of them data; each place gets the word removed.
    #[inline]
    pub fn pass_all(&mut self, words: &mut [Word]) {
        if self.count != 0 {
            words.iter_mut().for_each(|word| *word = self.pass(*word));
        }
    }

    /// Whether all words in the buffer are data, and another one can be added.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.count < DEPTH
            && (0..self.count).all(|place| self.words[(self.first + place) % DEPTH].k == 0)
    }
}
