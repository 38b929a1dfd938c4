//! Bits instead of words: symbol synchronisation and the 8b/10b code round a lane (50-11C 5.5.6 to
//! 5.5.9).

use super::Lane;
use crate::code::{Decoder, Encoder, GROUP_BITS, invert_group};
use crate::word::Word;

const GROUP: u64 = (1 << GROUP_BITS) - 1;

/// Finds the word boundary: K28.5 and K28.7, the only symbols with a comma, stand in symbol 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitSync {
    before: u64,
    offset: u32,
}

impl BitSync {
    /// With groups taken as they come, until a comma stands elsewhere.
    pub const fn new() -> Self {
        Self { before: 0, offset: 0 }
    }

    /// Where in the groups words begin, 0 to 39.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// The next 40 bits of the line: the 40 bits of a word that begins in those before, and whether
    /// the boundary moved for it.
    #[inline]
    pub fn receive(&mut self, group: u64) -> (u64, bool) {
        let before = core::mem::replace(&mut self.before, group & GROUP);
        let elsewhere = commas(before | group << GROUP_BITS) & GROUP & !(1 << self.offset);
        if elsewhere != 0 {
            self.offset = elsewhere.trailing_zeros() % GROUP_BITS;
        }
        let word = before >> self.offset | group << (GROUP_BITS - self.offset);
        (word & GROUP, elsewhere != 0)
    }
}

/// Where the pattern 0011111 or 1100000 begins.
#[inline]
const fn commas(bits: u64) -> u64 {
    // Two, four and five bits from each on: all of them ones, and any of them.
    let (two, any_of_two) = (bits & bits >> 1, bits | bits >> 1);
    let (four, any_of_four) = (two & two >> 2, any_of_two | any_of_two >> 2);
    let (five, any_of_five) = (four & bits >> 4, any_of_four | bits >> 4);
    five >> 2 & !any_of_two | two & !(any_of_five >> 2)
}

/// The code between a lane and its line, with `inverts_words` false in the lane's configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coded {
    encoder: Encoder,
    decoder: Decoder,
    bits: BitSync,
    error_symbols: u64,
    realignments: u64,
}

impl Coded {
    /// At negative disparity, without a word boundary.
    pub const fn new() -> Self {
        Self {
            encoder: Encoder::new(crate::code::Disparity::Minus),
            decoder: Decoder::new(crate::code::Disparity::Minus),
            bits: BitSync::new(),
            error_symbols: 0,
            realignments: 0,
        }
    }

    /// The 40 bits of the word that [`Lane::transmit`] gave.
    #[inline]
    pub fn transmit(&mut self, word: Option<Word>) -> Option<u64> {
        word.map(|word| self.encoder.word(word))
    }

    /// 40 bits of the line to the word for [`Lane::receive`], cut at any place. Inverts them if the
    /// lane says so, and tells it when the word boundary moves.
    #[inline]
    pub fn receive(&mut self, lane: &mut Lane, line: Option<u64>) -> Option<Word> {
        let group = line?;
        let group = if lane.invert_rx() { invert_group(group) } else { group };
        let (group, moved) = self.bits.receive(group);
        if moved {
            lane.realign();
            self.realignments += 1;
        }
        let (word, errors) = self.decoder.word(group);
        self.error_symbols += u64::from(errors.count_ones());
        Some(word)
    }

    /// Symbols that were no code or of the wrong disparity.
    pub const fn error_symbols(&self) -> u64 {
        self.error_symbols
    }

    /// Times that the word boundary moved.
    pub const fn realignments(&self) -> u64 {
        self.realignments
    }
}
