//! Units that a switch moves: words of a virtual channel (50-11C 5.3.7), or N-Chars (50-12C 5.4.2).

use crate::spacewire::NChar;
use crate::word::{Word, k};

/// The smallest piece of a packet that a switch moves.
pub trait PacketUnit: Copy {
    /// A unit that holds only an error end of packet.
    const EEP: Self;

    /// First data character of the unit, unless an end marker comes before it.
    fn address(self) -> Option<u8>;

    /// The unit without its first data character; `None` if no N-Char is left.
    fn without_address(self) -> Option<Self>;

    /// Whether the unit contains an EOP or EEP.
    fn is_end(self) -> bool;

    /// Whether the unit contains an EEP.
    fn is_error_end(self) -> bool;

    /// Whether the unit contains no N-Char and need not be sent.
    fn is_empty(self) -> bool;

    /// Number of data characters in the unit.
    fn data_chars(self) -> u32;
}

impl PacketUnit for NChar {
    const EEP: Self = Self::Eep;

    fn address(self) -> Option<u8> {
        match self {
            Self::Data(byte) => Some(byte),
            Self::Eop | Self::Eep => None,
        }
    }

    fn without_address(self) -> Option<Self> {
        self.is_end().then_some(self)
    }

    fn is_end(self) -> bool {
        Self::is_end(self)
    }

    fn is_error_end(self) -> bool {
        self == Self::Eep
    }

    fn is_empty(self) -> bool {
        false
    }

    fn data_chars(self) -> u32 {
        u32::from(!self.is_end())
    }
}

/// Removing a character from a word leaves a Fill, so Fills may stand before the first data
/// character.
impl PacketUnit for Word {
    const EEP: Self = Self::from_symbols([k::EEP, k::FILL, k::FILL, k::FILL], 0xf);

    fn address(self) -> Option<u8> {
        first_data(self).map(|index| self.symbol(index))
    }

    fn without_address(self) -> Option<Self> {
        let Some(index) = first_data(self) else {
            return (!self.is_empty()).then_some(self);
        };
        let bits = self.bits & !(0xff << (8 * index)) | u32::from(k::FILL) << (8 * index);
        let rest = Self { bits, k: self.k | 1 << index };
        (!rest.is_empty()).then_some(rest)
    }

    fn is_end(self) -> bool {
        (0..4).any(|index| self.is_k(index) && matches!(self.symbol(index), k::EOP | k::EEP))
    }

    fn is_error_end(self) -> bool {
        (0..4).any(|index| self.is_k(index) && self.symbol(index) == k::EEP)
    }

    fn is_empty(self) -> bool {
        (0..4).all(|index| self.is_k(index) && self.symbol(index) == k::FILL)
    }

    fn data_chars(self) -> u32 {
        4 - (self.k & 0xf).count_ones()
    }
}

/// Index of the first data character, if only Fills stand before it.
fn first_data(word: Word) -> Option<u32> {
    let index = (0..4).find(|index| !word.is_k(*index) || word.symbol(*index) != k::FILL)?;
    (!word.is_k(index)).then_some(index)
}
