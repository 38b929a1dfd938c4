//! Bits instead of words: symbol synchronisation and the 8b/10b code of a lane (50-11C 5.5.6 to
//! 5.5.9).

use super::{Lane, LaneParameters};
use crate::code::{self, GROUP_BITS, SILENCE, SymbolDecoder, SymbolEncoder, bits_of, invert_group};
use crate::word::Word;

const GROUP: u64 = (1 << GROUP_BITS) - 1;

/// Finds the word boundary. Only K28.5 and K28.7 contain a comma, and both are always symbol 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitSync {
    /// The line group before.
    before: u64,
    offset: u32,
}

impl BitSync {
    /// Initial state: groups of 40 bits count as words until a comma is found elsewhere.
    pub const fn new() -> Self {
        Self { before: 0, offset: 0 }
    }

    /// Bit at which words begin in the groups, 0 to 39.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Processes the next 40 bits of the line. Returns the 40 bits of the word that begins in the
    /// group before, and whether the word boundary moved.
    #[inline(always)]
    pub fn receive(&mut self, group: u64) -> (u64, bool) {
        let kept = if code::is_uncoded(group) { group } else { group & GROUP };
        let before = bits_of(core::mem::replace(&mut self.before, kept));
        let group = bits_of(kept);
        let elsewhere = commas(before | group << GROUP_BITS) & GROUP & !(1 << self.offset);
        if elsewhere != 0 {
            self.offset = elsewhere.trailing_zeros() % GROUP_BITS;
        }
        let word = before >> self.offset | group << (GROUP_BITS - self.offset);
        (word & GROUP, elsewhere != 0)
    }

    /// Processes a data word without its bits that follows another one, and returns that one. Data
    /// in the same code has no comma, so the word boundary stays.
    #[inline(always)]
    fn uncoded(&mut self, group: u64) -> Option<u64> {
        if self.offset != 0 || !code::follows(group, self.before) {
            return None;
        }
        Some(core::mem::replace(&mut self.before, group))
    }
}

/// Position of the pattern 0011111 or 1100000.
#[inline(always)]
const fn commas(bits: u64) -> u64 {
    // Bits that differ from the bit before them; then groups of two and of four bits where one
    // differs.
    let differs = bits ^ bits >> 1;
    let of_two = differs | differs >> 1;
    let of_four = of_two | of_two >> 2;
    differs >> 1 & !(differs | of_four >> 2)
}

/// Finds the words in the bits of a line and decodes them, for a lane or for an observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineDecoder {
    decoder: SymbolDecoder,
    bits: BitSync,
}

/// A word from a [`LineDecoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedWord {
    /// The word, with K0.0 in place of each damaged symbol.
    pub word: Word,
    /// Mask of the damaged symbols.
    pub errors: u8,
    /// The word boundary moved.
    pub moved: bool,
}

impl LineDecoder {
    /// Initial state: negative disparity, no word boundary.
    pub const fn new() -> Self {
        Self { decoder: SymbolDecoder::new(crate::code::Disparity::Minus), bits: BitSync::new() }
    }

    /// Decodes the next 40 bits of the line, cut at any place.
    #[inline(always)]
    pub fn receive(&mut self, group: u64) -> AlignedWord {
        if let Some(before) = self.bits.uncoded(group) {
            let (word, errors) = match self.decoder.uncoded(before) {
                Some(word) => (word, 0),
                None => self.decoder.word(bits_of(before)),
            };
            return AlignedWord { word, errors, moved: false };
        }
        self.receive_bits(group)
    }

    /// Decodes groups up to silence, an error or another word boundary. Returns their number.
    #[inline]
    fn receive_all(&mut self, groups: &[u64], words: &mut [Word]) -> usize {
        let mut before = self.bits.before;
        // The last group was a data word without its bits, in step with this decoder.
        let mut in_step = self.bits.offset == 0 && self.decoder.is_in_step(before);
        for (place, (group, word)) in groups.iter().zip(words).enumerate() {
            if in_step && code::follows(*group, before) {
                *word = Word::data(before as u32);
                before = *group;
                continue;
            }
            self.catch_up(before);
            if *group == SILENCE {
                return place;
            }
            let kept = *self;
            let AlignedWord { word: other, errors, moved } = self.receive_bits(*group);
            if moved || errors != 0 {
                *self = kept;
                return place;
            }
            *word = other;
            before = *group;
            in_step = self.bits.offset == 0 && self.decoder.is_in_step(before);
        }
        self.catch_up(before);
        groups.len()
    }

    /// Goes on after groups without their bits, the last of which is `before`.
    #[inline(always)]
    fn catch_up(&mut self, before: u64) {
        if self.bits.before != before {
            self.decoder.step_to(before);
            self.bits.before = before;
        }
    }

    #[inline(never)]
    fn receive_bits(&mut self, group: u64) -> AlignedWord {
        let (group, moved) = self.bits.receive(group);
        let (word, errors) = self.decoder.word(group);
        AlignedWord { word, errors, moved }
    }
}

/// Coder between a lane and its line. It corrects swapped wires on bits unless the lane does so on
/// words ([`super::LaneConfig::inverts_words`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneCoder {
    encoder: SymbolEncoder,
    decoder: LineDecoder,
    error_symbols: u64,
    realignments: u64,
    /// Bits sent last, for the near-end serial loopback.
    sent: Option<u64>,
    /// While the far-end serial loopback is on: the received bits to send back.
    back: Option<Option<u64>>,
}

impl LaneCoder {
    /// Initial state: negative disparity, no word boundary.
    pub const fn new() -> Self {
        Self {
            encoder: SymbolEncoder::new(crate::code::Disparity::Minus),
            decoder: LineDecoder::new(),
            error_symbols: 0,
            realignments: 0,
            sent: None,
            back: None,
        }
    }

    /// Encodes the word that [`Lane::transmit`] returned to 40 bits.
    #[inline]
    pub fn transmit(&mut self, word: Option<Word>) -> Option<u64> {
        self.transmit_group(word).map(bits_of)
    }

    /// Encodes the word that [`Lane::transmit`] returned to a [line group](crate::code).
    #[inline(always)]
    pub fn transmit_group(&mut self, word: Option<Word>) -> Option<u64> {
        let Some(word) = word else {
            self.sent = None;
            return self.back.flatten();
        };
        let group = self.encoder.group(word);
        self.sent = Some(group);
        match self.back {
            None => Some(group),
            Some(back) => back,
        }
    }

    /// Decodes a line group, cut at any place, to the word for [`Lane::receive`]. Inverts
    /// the bits if the lane asks for it, and tells the lane when the word boundary moves.
    #[inline(always)]
    pub fn receive(&mut self, lane: &mut Lane, line: Option<u64>) -> Option<Word> {
        let LaneParameters { near_end_serial_loopback, far_end_serial_loopback, .. } =
            lane.parameters;
        let looped = near_end_serial_loopback || far_end_serial_loopback || self.back.is_some();
        let group = match line {
            Some(group) if !looped => group,
            _ => self.loop_back(&lane.parameters, line)?,
        };
        let inverts = lane.invert_rx() && !lane.config().inverts_words;
        let group = if inverts { invert_group(bits_of(group)) } else { group };
        let AlignedWord { word, errors, moved } = self.decoder.receive(group);
        if moved {
            lane.realign();
            self.realignments += 1;
        }
        if errors != 0 {
            self.error_symbols += u64::from(errors.count_ones());
        }
        Some(word)
    }

    /// Encodes the words of a lane that runs.
    pub fn transmit_all(&mut self, words: &[Word], groups: &mut [u64]) {
        for (word, group) in words.iter().zip(&mut *groups) {
            *group = self.encoder.group(*word);
        }
        self.sent = groups.last().copied().or(self.sent);
    }

    /// Decodes groups of the line for a lane that runs, up to the first that needs
    /// [`LaneCoder::receive`]. Returns their number.
    pub fn receive_all(&mut self, lane: &Lane, groups: &[u64], words: &mut [Word]) -> usize {
        let LaneParameters { near_end_serial_loopback, far_end_serial_loopback, .. } =
            lane.parameters;
        let looped = near_end_serial_loopback || far_end_serial_loopback || self.back.is_some();
        if looped || lane.invert_rx() {
            return 0;
        }
        self.decoder.receive_all(groups, words)
    }

    /// The receiving half, to go back to where [`LaneCoder::receive_all`] began.
    #[inline(always)]
    pub const fn decoder(&self) -> LineDecoder {
        self.decoder
    }

    /// Goes back.
    #[inline(always)]
    pub const fn set_decoder(&mut self, decoder: LineDecoder) {
        self.decoder = decoder;
    }

    /// Applies the serial loopbacks. Returns the bits to receive.
    #[inline(never)]
    fn loop_back(&mut self, parameters: &LaneParameters, line: Option<u64>) -> Option<u64> {
        self.back = parameters.far_end_serial_loopback.then_some(line);
        if parameters.near_end_serial_loopback { self.sent } else { line }
    }

    /// Number of symbols that were no code or had the wrong disparity.
    pub const fn error_symbols(&self) -> u64 {
        self.error_symbols
    }

    /// Number of times that the word boundary moved.
    pub const fn realignments(&self) -> u64 {
        self.realignments
    }
}
