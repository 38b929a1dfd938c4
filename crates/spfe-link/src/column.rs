//! A lane's share of a data frame: its own scrambler and its own CRC-16 (50-11C 5.6.4.2, 5.7.6.2,
//! 5.7.6.4).

use crate::control::edf;
use crate::crc::Crc16;
use crate::prbs::{Scrambler, data_bits};
use crate::word::Word;

/// One column of a data frame, in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    crc: Crc16,
    scrambler: Scrambler,
    scrambled: bool,
    crc_covers_scrambled: bool,
}

impl Column {
    /// Creates a column outside a frame. `crc_covers_scrambled`: the CRC covers the words on the
    /// line; otherwise it covers the words before scrambling.
    pub const fn new(crc_covers_scrambled: bool) -> Self {
        Self {
            crc: Crc16::new(),
            scrambler: Scrambler::new(),
            scrambled: false,
            crc_covers_scrambled,
        }
    }

    /// Starts a frame with its SDF.
    #[inline]
    pub const fn start(&mut self, sdf: Word, scrambled: bool) {
        self.crc = Crc16::new().word(sdf);
        self.scrambler = Scrambler::new();
        self.scrambled = scrambled;
    }

    /// Converts a data word to the word on the line.
    #[inline]
    pub const fn send(&mut self, plain: Word) -> Word {
        let sent = if self.scrambled { self.scrambler.word(plain) } else { plain };
        self.crc = self.crc.word(if self.crc_covers_scrambled { sent } else { plain });
        sent
    }

    /// Converts a word on the line to the data word.
    #[inline]
    pub const fn receive(&mut self, sent: Word) -> Word {
        let plain = if self.scrambled { self.scrambler.word(sent) } else { sent };
        self.crc = self.crc.word(if self.crc_covers_scrambled { sent } else { plain });
        plain
    }

    /// Converts data words to the words on the line.
    pub fn send_all(&mut self, words: &mut [Word]) {
        self.convert(words, self.crc_covers_scrambled, Self::send);
    }

    /// Converts words on the line to the data words.
    pub fn receive_all(&mut self, words: &mut [Word]) {
        self.convert(words, !self.crc_covers_scrambled, Self::receive);
    }

    /// Converts words as `single` does. `crc_covers_result`: otherwise it covers the words before.
    #[inline(always)]
    fn convert(
        &mut self,
        words: &mut [Word],
        crc_covers_result: bool,
        single: fn(&mut Self, Word) -> Word,
    ) {
        if !self.scrambled {
            self.crc = words.iter().fold(self.crc, |crc, word| crc.word(*word));
            return;
        }
        let Some(masks) = self.scrambler.masks(words.len()) else {
            words.iter_mut().for_each(|word| *word = single(self, *word));
            return;
        };
        let mut crc = self.crc;
        for (word, mask) in words.iter_mut().zip(masks) {
            let before = *word;
            word.bits ^= mask & data_bits(*word);
            crc = crc.word(if crc_covers_result { *word } else { before });
        }
        self.crc = crc;
    }

    /// The EDF of this column.
    pub const fn end(&self, seq: u8) -> Word {
        edf(self.crc, seq)
    }

    /// Whether the EDF carries the CRC of the received words.
    pub fn is_good(&self, received: Word) -> bool {
        received == self.end(received.symbol(1))
    }
}
