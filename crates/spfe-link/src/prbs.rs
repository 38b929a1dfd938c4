//! The pseudo-random sequence of idle frames and of the scrambler (50-11C 5.7.6.2).

use crate::word::Word;

/// Feedback taps of the polynomial x^16 + x^5 + x^4 + x^3 + 1.
const TAPS: u16 = 0x0039;

/// For each upper byte of the state: its contribution to the state after eight steps, and the eight
/// output bits, the first in bit 0.
const STEP8: [(u16, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut index = 0;
    while index < 256 {
        let mut state = (index as u16) << 8;
        let mut out = 0;
        let mut bit = 0;
        while bit < 8 {
            let msb = state >> 15;
            out |= (msb as u8) << bit;
            state = state << 1 ^ if msb != 0 { TAPS } else { 0 };
            bit += 1;
        }
        table[index] = (state, out);
        index += 1;
    }
    table
};

/// Effect of 32 steps on the upper byte of a state: the new state in bits 47:32, and the 32 output
/// bits in bits 31:0, the first in bit 0. The sequence is linear, so the effects of the two bytes
/// add up.
static UPPER: [u64; 256] = steps32(8);
/// Effect of 32 steps on the lower byte.
static LOWER: [u64; 256] = steps32(0);

const fn steps32(shift: u32) -> [u64; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut prbs = Prbs { state: (index as u16) << shift };
        let bytes = [prbs.byte(), prbs.byte(), prbs.byte(), prbs.byte()];
        table[index] = (prbs.state as u64) << 32 | u32::from_le_bytes(bytes) as u64;
        index += 1;
    }
    table
}

/// Generator of the pseudo-random sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prbs {
    state: u16,
}

impl Default for Prbs {
    fn default() -> Self {
        Self::new()
    }
}

impl Prbs {
    /// The seed: used after a link reset for idle frames, and at each SDF for the scrambler.
    pub const fn new() -> Self {
        Self { state: 0xffff }
    }

    /// The generator after it produced `word`. The word alone determines what follows.
    pub const fn after(word: u32) -> Self {
        let (mut state, mut bit) = (0, 16);
        while bit < 32 {
            state = state << 1 ^ if word >> bit & 1 != 0 { TAPS } else { 0 };
            bit += 1;
        }
        Self { state }
    }

    /// Current state.
    pub const fn state(&self) -> u16 {
        self.state
    }

    /// Next eight bits, the first in bit 0.
    #[inline(always)]
    pub const fn byte(&mut self) -> u8 {
        let (rest, out) = STEP8[(self.state >> 8) as usize];
        self.state = self.state << 8 ^ rest;
        out
    }

    /// Next 32 bits, the first in bit 0.
    #[inline(always)]
    pub const fn word(&mut self) -> u32 {
        let steps = UPPER[(self.state >> 8) as usize] ^ LOWER[(self.state & 0xff) as usize];
        self.state = (steps >> 32) as u16;
        steps as u32
    }

    /// Scrambles or unscrambles a word. Only data characters change; the sequence advances for all.
    #[inline(always)]
    pub const fn scramble(&mut self, word: Word) -> Word {
        Word { bits: word.bits ^ (self.word() & data_bits(word)), k: word.k }
    }
}

/// Words of [`SEQUENCE`]: four times those of a frame of one lane.
const SEQUENCE_WORDS: usize = 256;

/// What the scrambler of a frame adds to its first words. Longer frames exist only where data that
/// was cut for many lanes goes over few.
static SEQUENCE: [u32; SEQUENCE_WORDS] = {
    let mut words = [0; SEQUENCE_WORDS];
    let mut prbs = Prbs::new();
    let mut index = 0;
    while index < SEQUENCE_WORDS {
        words[index] = prbs.word();
        index += 1;
    }
    words
};

/// The scrambler of a data frame: the sequence from its seed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrambler {
    /// Words so far.
    place: usize,
    /// What comes behind the table.
    rest: Prbs,
}

impl Scrambler {
    /// The scrambler at the start of a frame.
    pub const fn new() -> Self {
        Self { place: 0, rest: const { Prbs::after(SEQUENCE[SEQUENCE_WORDS - 1]) } }
    }

    /// Scrambles or unscrambles the next word.
    #[inline(always)]
    pub const fn word(&mut self, word: Word) -> Word {
        if self.place == SEQUENCE_WORDS {
            return self.rest.scramble(word);
        }
        let bits = word.bits ^ (SEQUENCE[self.place] & data_bits(word));
        self.place += 1;
        Word { bits, k: word.k }
    }

    /// What it adds to the data characters of the next words. `None` behind the table.
    pub fn masks(&mut self, words: usize) -> Option<&'static [u32]> {
        let masks = SEQUENCE.get(self.place..self.place + words)?;
        self.place += words;
        Some(masks)
    }
}

impl Default for Scrambler {
    fn default() -> Self {
        Self::new()
    }
}

/// Bits of the data characters of a word.
#[inline(always)]
pub const fn data_bits(word: Word) -> u32 {
    BYTES[(word.k & 0xf) as usize]
}

/// Bits of the data characters, for each K mask.
const BYTES: [u32; 16] = {
    let mut table = [0; 16];
    let mut k = 0;
    while k < 16 {
        let mut index = 0;
        while index < 4 {
            if k >> index & 1 == 0 {
                table[k] |= 0xff << (8 * index);
            }
            index += 1;
        }
        k += 1;
    }
    table
};
