//! A bounded queue of N-Chars.

use super::character::NChar;

/// A queue of at most `N` N-Chars.
#[derive(Clone, Debug)]
pub(super) struct CharacterQueue<const N: usize> {
    places: [NChar; N],
    first: usize,
    length: usize,
}

impl<const N: usize> CharacterQueue<N> {
    pub const fn new() -> Self {
        Self { places: [NChar::Eop; N], first: 0, length: 0 }
    }

    pub const fn clear(&mut self) {
        self.length = 0;
    }

    pub const fn len(&self) -> usize {
        self.length
    }

    pub const fn free(&self) -> usize {
        N - self.length
    }

    /// Adds an N-Char. Returns false if the queue is full.
    pub fn push(&mut self, n_char: NChar) -> bool {
        if self.length == N {
            return false;
        }
        let mut at = self.first + self.length;
        if at >= N {
            at -= N;
        }
        self.places[at] = n_char;
        self.length += 1;
        true
    }

    pub fn front(&self) -> Option<NChar> {
        if self.length == 0 { None } else { Some(self.places[self.first]) }
    }

    pub fn pop(&mut self) -> Option<NChar> {
        let n_char = self.front()?;
        self.first = if self.first + 1 == N { 0 } else { self.first + 1 };
        self.length -= 1;
        Some(n_char)
    }
}
