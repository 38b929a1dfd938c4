//! Conversion between N-Chars of a SpaceWire link and words of a virtual channel (50-11C 5.3.7,
//! 5.3.9).
//!
//! A word holds four data characters, or the last ones of a packet with its end marker and Fill.
//! When a packet pauses, up to three data characters wait for more. After [`PAUSE_BITS`] bit times
//! without an N-Char they are delivered with Fill in front. A stream without pauses therefore
//! consists of full words, and no character waits forever. The result does not depend on when words
//! are read.

use crate::time::Ps;
use spfe_link::Word;
use spfe_link::datalink::{WordContent, content};
use spfe_link::packet::n_chars;
use spfe_link::spacewire::NChar;
use spfe_link::word::k;
use std::collections::VecDeque;

/// Bit times to wait for the next N-Char of a word: eight data characters.
pub const PAUSE_BITS: u64 = 80;

const FILLS: u32 = u32::from_le_bytes([k::FILL; 4]);

/// Converts words to N-Chars. An invalid word becomes an EEP and the rest of its packet is dropped,
/// as in SpaceFibre.
#[derive(Clone, Debug, Default)]
pub struct Unpacker {
    /// Words are dropped up to and including the next end marker.
    pub discarding: bool,
}

impl Unpacker {
    /// Converts a word.
    #[inline]
    pub fn take(&mut self, word: Word, mut out: impl FnMut(NChar)) {
        if word.k == 0 && !self.discarding {
            word.symbols().into_iter().for_each(|byte| out(NChar::Data(byte)));
            return;
        }
        let content = content(word);
        if self.discarding {
            self.discarding =
                !matches!(content, WordContent::End | WordContent::Illegal { end: true });
        } else if let WordContent::Illegal { end } = content {
            out(NChar::Eep);
            self.discarding = !end;
        } else {
            n_chars(word).for_each(out);
        }
    }
}

/// Converts N-Chars to words.
#[derive(Clone, Debug)]
pub struct Packer {
    bits: u32,
    count: u32,
    /// Time of the last N-Char.
    last: Ps,
    pause: Ps,
}

impl Packer {
    /// A converter without waiting characters.
    pub const fn new(pause: Ps) -> Self {
        Self { bits: 0, count: 0, last: 0, pause }
    }

    /// Adds an N-Char.
    #[inline]
    pub fn put(&mut self, now: Ps, n_char: NChar, out: &mut VecDeque<Word>) {
        self.flush(now, out);
        let marker = match n_char {
            NChar::Data(byte) => {
                self.bits |= u32::from(byte) << (8 * self.count);
                self.count += 1;
                self.last = now;
                if self.count == 4 {
                    out.push_back(Word::data(self.bits));
                    self.clear();
                }
                return;
            }
            NChar::Eop => k::EOP,
            NChar::Eep => k::EEP,
        };
        let shift = 8 * self.count;
        let rest = FILLS & !0xff | u32::from(marker);
        out.push_back(Word { bits: self.bits | rest << shift, k: 0xf << self.count & 0xf });
        self.clear();
    }

    /// Delivers characters that have waited long enough.
    #[inline]
    pub fn flush(&mut self, now: Ps, out: &mut VecDeque<Word>) {
        if self.count == 0 || now < self.last + self.pause {
            return;
        }
        let fills = 4 - self.count;
        let bits = self.bits << (8 * fills) | FILLS >> (8 * self.count);
        out.push_back(Word { bits, k: (1 << fills) - 1 });
        self.clear();
    }

    /// Number of waiting data characters.
    pub const fn waiting(&self) -> bool {
        self.count != 0
    }

    /// Discards the waiting characters.
    pub const fn clear(&mut self) {
        self.bits = 0;
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_n_char() -> impl Strategy<Value = NChar> {
        prop_oneof![
            8 => any::<u8>().prop_map(NChar::Data),
            2 => Just(NChar::Eop),
            1 => Just(NChar::Eep),
        ]
    }

    fn unpacked(words: &[Word]) -> Vec<NChar> {
        let mut unpacker = Unpacker::default();
        let mut n_chars = Vec::new();
        words.iter().for_each(|word| unpacker.take(*word, |n_char| n_chars.push(n_char)));
        n_chars
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// N-Chars arrive up to twice the pause apart; the reader reads at random times.
        #[test]
        fn any_sequence_survives(
            steps in prop::collection::vec((any_n_char(), 0u64..200, any::<bool>()), 0..200),
        ) {
            let mut now = 0;
            let (mut lazy, mut keen) = (Packer::new(100), Packer::new(100));
            let (mut words, mut others) = (VecDeque::new(), VecDeque::new());
            for (n_char, after, look) in &steps {
                if *look {
                    keen.flush(now + after, &mut others);
                }
                now += after;
                lazy.put(now, *n_char, &mut words);
                keen.put(now, *n_char, &mut others);
            }
            lazy.flush(now + 100, &mut words);
            keen.flush(now + 100, &mut others);
            prop_assert!(!lazy.waiting());
            // Reading more often changes nothing.
            prop_assert_eq!(&words, &others);
            let n_chars: Vec<_> = steps.iter().map(|(n_char, ..)| *n_char).collect();
            prop_assert_eq!(unpacked(words.make_contiguous()), n_chars);
            for word in &words {
                prop_assert!(matches!(content(*word), WordContent::Data | WordContent::End), "{:?}", word);
            }
        }

        /// Without pauses every word but the last of a packet is full.
        #[test]
        fn full_words_without_pauses(n_chars in prop::collection::vec(any_n_char(), 0..200)) {
            let mut packer = Packer::new(100);
            let mut words = VecDeque::new();
            for (index, n_char) in n_chars.iter().enumerate() {
                packer.put(99 * index as u64, *n_char, &mut words);
            }
            for word in words.iter().filter(|word| word.k != 0) {
                prop_assert_eq!(content(*word), WordContent::End);
            }
        }

        /// Arbitrary words: valid packets pass, others end with an EEP.
        #[test]
        fn any_words(words in prop::collection::vec((any::<u32>(), any::<u8>()), 0..100)) {
            let words: Vec<_> = words.iter().map(|(bits, k)| Word { bits: *bits, k: k & 0xf }).collect();
            let n_chars = unpacked(&words);
            prop_assert!(n_chars.len() <= 4 * words.len());
            let illegal =
                words.iter().any(|word| matches!(content(*word), WordContent::Illegal { .. }));
            prop_assert!(!illegal || n_chars.contains(&NChar::Eep));
        }
    }

    #[test]
    fn fill_precedes_the_first_characters_after_a_pause() {
        let mut words = VecDeque::new();
        let mut packer = Packer::new(100);
        for byte in [1, 2, 3, 4, 5, 6] {
            packer.put(0, NChar::Data(byte), &mut words);
        }
        packer.flush(99, &mut words);
        assert_eq!(words, [Word::data(0x0403_0201)]);
        packer.flush(100, &mut words);
        packer.put(100, NChar::Data(7), &mut words);
        packer.put(101, NChar::Eop, &mut words);
        packer.put(101, NChar::Eep, &mut words);
        let rest = [
            Word::from_symbols([k::FILL, k::FILL, 5, 6], 0b0011),
            Word::from_symbols([7, k::EOP, k::FILL, k::FILL], 0b1110),
            Word::from_symbols([k::EEP, k::FILL, k::FILL, k::FILL], 0b1111),
        ];
        assert_eq!(words.make_contiguous()[1..], rest);
    }

    #[test]
    fn invalid_characters_end_a_packet() {
        let data = Word::data(0x0403_0201);
        let end = Word::from_symbols([9, k::EOP, k::FILL, k::FILL], 0b1110);
        let comma = Word::control(0xfc);
        let n_chars = unpacked(&[data, comma, data, end, end]);
        let mut expected: Vec<_> = [1, 2, 3, 4].map(NChar::Data).to_vec();
        expected.extend([NChar::Eep, NChar::Data(9), NChar::Eop]);
        assert_eq!(n_chars, expected);
        // The character after an end marker is invalid, so the packet is cut there.
        let late = Word::from_symbols([9, k::EOP, 8, 7], 0b0010);
        assert_eq!(unpacked(&[late, end]), [NChar::Eep, NChar::Data(9), NChar::Eop]);
    }
}
