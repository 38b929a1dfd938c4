//! Foreign ends: one end of an exact link is another simulator or a board.
//!
//! Both sides exchange messages of the same number of word periods. What a side sends in one message
//! arrives at the other in the next one, so both simulate at the same time, and the same words come
//! out however fast each of them runs. `docs/foreign-ends.md` describes the stream.
//!
//! A word period of a lane is a *cell* of 64 bits. Its bit 63 says that there is a signal. Bits 31:0
//! of a word are its symbols, bits 35:32 their K flags, and bits 39:36 mark damaged symbols. A group
//! has the 40 bits of the line in bits 39:0, the first in bit 0.

use spfe_link::code::SymbolEncoder;
use spfe_link::lane::LineDecoder;
use spfe_link::word::{Word, k};
use spfe_topology::{ForeignStream, StreamKind};
use std::time::Duration;

/// There is a signal.
pub const SIGNAL: u64 = 1 << 63;

const GROUP: u64 = (1 << 40) - 1;

/// The cell of a word; `None` for no signal. K0.0 is a damaged symbol.
pub fn cell_of_word(word: Option<Word>) -> u64 {
    let Some(word) = word else { return 0 };
    let damaged = |index: &u32| word.is_k(*index) && word.symbol(*index) == k::ERROR;
    let errors = if word.k == 0 { 0 } else { mask((0..4).filter(damaged)) };
    SIGNAL | errors << 36 | u64::from(word.k) << 32 | u64::from(word.bits)
}

/// The word of a cell; `None` for no signal. A damaged symbol becomes K0.0.
pub fn word_of_cell(cell: u64) -> Option<Word> {
    if cell & SIGNAL == 0 {
        return None;
    }
    let (mut bits, errors) = (cell as u32, (cell >> 36) as u8 & 0xf);
    for index in (0..4).filter(|index| errors >> index & 1 != 0) {
        bits &= !(0xff << (8 * index));
    }
    Some(Word { bits, k: (cell >> 32) as u8 & 0xf | errors })
}

fn mask(bits: impl Iterator<Item = u32>) -> u64 {
    bits.fold(0, |mask, bit| mask | 1 << bit)
}

/// A stream of messages to a foreign end.
///
/// A message has [`FarStream::words`] word periods: the cells of all lanes of the first, then those
/// of the second, and so on.
pub trait FarStream: Send {
    /// Contents of the cells.
    fn kind(&self) -> StreamKind;

    /// Number of lanes.
    fn lanes(&self) -> usize;

    /// Word periods in a message.
    fn words(&self) -> usize;

    /// Whether a foreign end is connected. Accepts one that waits.
    fn is_connected(&mut self) -> bool;

    /// Whether [`FarStream::receive`] would return without waiting. Waits for at most `wait` until
    /// it would.
    fn is_ready(&mut self, wait: Duration) -> bool;

    /// Sends a message. False if the foreign end is gone.
    fn send(&mut self, cells: &[u64]) -> bool;

    /// Waits for a message. False if the foreign end is gone.
    fn receive(&mut self, cells: &mut [u64]) -> bool;
}

/// The stream that a link with a foreign end needs.
#[derive(Clone, Copy, Debug)]
pub struct WantedStream<'a> {
    /// Name of the link.
    pub link: &'a str,
    /// Where the foreign end is.
    pub stream: &'a ForeignStream,
    /// Number of lanes.
    pub lanes: u32,
    /// Signalling rate of a lane in bit/s.
    pub rate_bps: u64,
}

/// Opens the stream of a link.
pub type OpenStream<'a> = dyn FnMut(&WantedStream<'_>) -> Result<Box<dyn FarStream>, String> + 'a;

/// Converts between the cells of a lane and the bits of its wires.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Border {
    encoder: SymbolEncoder,
    /// Decodes what the foreign end sends, if that is groups.
    sent: LineDecoder,
    /// Decodes what arrives at the foreign end.
    received: LineDecoder,
}

impl Border {
    /// The group that a cell puts on the wire, and its word for observers. `None` for no signal.
    pub fn enter(&mut self, kind: StreamKind, cell: u64) -> Option<(u64, Word)> {
        let word = word_of_cell(cell)?;
        match kind {
            StreamKind::Groups => {
                let group = cell & GROUP;
                Some((group, self.sent.receive(group).word))
            }
            StreamKind::Words if word.k == 0 => Some((self.encoder.word(word), word)),
            StreamKind::Words => Some((self.encode(word), word)),
        }
    }

    fn encode(&mut self, word: Word) -> u64 {
        (0..4).fold(0, |group, index| {
            let (value, is_k) = (word.symbol(index), word.is_k(index));
            let code = match is_k && !is_code(value) {
                true => self.encoder.violation(),
                false => self.encoder.symbol(value, is_k),
            };
            group | u64::from(code) << (10 * index)
        })
    }

    /// The cell of a group from the wire, and its word for observers. `None` for no signal.
    pub fn leave(&mut self, kind: StreamKind, group: Option<u64>) -> (u64, Option<Word>) {
        let Some(group) = group else { return (0, None) };
        let decoded = self.received.receive(group);
        let cell = match kind {
            StreamKind::Groups => SIGNAL | group,
            // The word in which the boundary moved is lost.
            StreamKind::Words if decoded.moved => cell_of_word(Some(Word { bits: 0, k: 0xf })),
            StreamKind::Words => cell_of_word(Some(decoded.word)),
        };
        (cell, Some(decoded.word))
    }
}

/// Whether 8b/10b has this K character.
const fn is_code(value: u8) -> bool {
    value & 0x1f == 28 || matches!(value, 0xf7 | k::FILL | k::EOP | k::EEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spfe_link::ControlWord;

    #[test]
    fn cells_hold_words() {
        let skip = ControlWord::Skip.encode();
        assert_eq!(cell_of_word(Some(skip)), 0x8000_0001_7f7f_cefc);
        let damaged = Word { bits: 0x1100_3300, k: 0b0101 };
        assert_eq!(cell_of_word(Some(damaged)), 0x8000_0055_1100_3300);
        assert_eq!(word_of_cell(0x8000_0055_1122_3344), Some(damaged));
        assert_eq!(word_of_cell(cell_of_word(Some(skip))), Some(skip));
        assert_eq!((cell_of_word(None), word_of_cell(0x1_7f7f_cefc)), (0, None));
    }

    #[test]
    fn words_cross_the_border_in_both_kinds() {
        let words = [
            ControlWord::Init1.encode(),
            Word::data(0x0102_0304),
            Word { bits: 0, k: 0b0010 },
            Word { bits: 0x0000_55aa, k: 0b1000 },
            Word { bits: 0xfbfb_fbfd, k: 0xf },
            ControlWord::Idle.encode(),
        ];
        for kind in [StreamKind::Words, StreamKind::Groups] {
            let (mut near, mut far) = (Border::default(), Border::default());
            let mut out = Vec::new();
            for word in words.into_iter().chain([ControlWord::Idle.encode()]) {
                let (group, shown) =
                    near.enter(StreamKind::Words, cell_of_word(Some(word))).unwrap();
                assert_eq!(shown, word);
                let (cell, word) = far.leave(kind, Some(group));
                out.extend(word);
                if kind == StreamKind::Words {
                    assert_eq!(word_of_cell(cell), word);
                } else {
                    assert_eq!(cell, SIGNAL | group);
                }
            }
            // A word comes out with the group after it.
            assert_eq!(out[1..], words);
        }
        assert_eq!(Border::default().leave(StreamKind::Words, None), (0, None));
        assert_eq!(Border::default().enter(StreamKind::Groups, 0), None);
    }
}
