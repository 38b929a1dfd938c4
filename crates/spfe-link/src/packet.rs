//! Packets as words of a virtual channel (50-11C 5.3.7, 5.3.9).
//!
//! A word carries four N-Chars. Fill follows the end marker of a packet up to the end of the word,
//! so every packet begins with a new word. [`PacketWords`] makes the words for
//! [`crate::DataLink::write`], and [`n_chars`] reads those of [`crate::DataLink::read`].
//!
//! ```
//! use spfe_link::packet::{EndMarker, PacketWords, n_chars};
//! use spfe_link::spacewire::NChar;
//!
//! let mut words = PacketWords::new(&[254, 1, 2, 3, 4], EndMarker::Eop);
//! assert_eq!(words.len(), 2);
//! let (first, last) = (words.next().unwrap(), words.next().unwrap());
//! assert_eq!(format!("{first} {last}"), "030201FE/0 FBFBFD04/E");
//!
//! let mut packet = Vec::new();
//! for n_char in [first, last].into_iter().flat_map(n_chars) {
//!     match n_char {
//!         NChar::Data(byte) => packet.push(byte),
//!         NChar::Eop => assert_eq!(packet, [254, 1, 2, 3, 4]),
//!         NChar::Eep => packet.clear(),
//!     }
//! }
//! ```

use crate::spacewire::NChar;
use crate::word::{Word, k};
pub use spfe_contract::EndMarker;

/// The words of a packet, or of a part of one.
///
/// With [`EndMarker::None`] the packet goes on. If the bytes do not fill the last word then, Fill
/// follows them, which receivers skip.
#[derive(Clone, Debug)]
pub struct PacketWords<'a> {
    bytes: &'a [u8],
    /// The end marker that is still to come.
    marker: Option<u8>,
}

impl<'a> PacketWords<'a> {
    /// The words of these bytes and the end marker.
    pub const fn new(bytes: &'a [u8], end: EndMarker) -> Self {
        let marker = match end {
            EndMarker::None => None,
            EndMarker::Eop => Some(k::EOP),
            EndMarker::Eep => Some(k::EEP),
        };
        Self { bytes, marker }
    }
}

impl Iterator for PacketWords<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        if let Some((first, rest)) = self.bytes.split_first_chunk::<4>() {
            self.bytes = rest;
            return Some(Word::from_symbols(*first, 0));
        }
        let count = self.bytes.len();
        if count == 0 && self.marker.is_none() {
            return None;
        }
        let mut symbols = [k::FILL; 4];
        symbols[..count].copy_from_slice(self.bytes);
        symbols[count] = self.marker.take().unwrap_or(k::FILL);
        self.bytes = &[];
        Some(Word::from_symbols(symbols, 0xf << count))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n_chars = self.bytes.len() + usize::from(self.marker.is_some());
        (n_chars.div_ceil(4), Some(n_chars.div_ceil(4)))
    }
}

impl ExactSizeIterator for PacketWords<'_> {}

/// The N-Chars of a word: data characters and end markers, without Fill.
///
/// Other K characters are left out. No virtual channel delivers them: [`crate::DataLink::write`] ends
/// their packet with EEP.
pub fn n_chars(word: Word) -> impl Iterator<Item = NChar> {
    (0..4).filter_map(move |index| match (word.is_k(index), word.symbol(index)) {
        (false, byte) => Some(NChar::Data(byte)),
        (true, k::EOP) => Some(NChar::Eop),
        (true, k::EEP) => Some(NChar::Eep),
        (true, _) => None,
    })
}
