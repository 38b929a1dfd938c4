//! Words of four symbols.

use core::fmt;

/// Symbol values with the K flag (50-11C table 5-1 and following).
pub mod k {
    /// K28.7: first symbol of most control words.
    pub const COMMA: u8 = 0xfc;
    /// K28.5: first symbol of INIT1, INIT2 and INIT3.
    pub const INIT_COMMA: u8 = 0xbc;
    /// K28.0: end of data frame.
    pub const EDF: u8 = 0x1c;
    /// K28.2: end of broadcast frame.
    pub const EBF: u8 = 0x5c;
    /// K28.3: flow control token.
    pub const FCT: u8 = 0x7c;
    /// K27.7: fills words after an end marker; symbols 1 to 3 of PAD.
    pub const FILL: u8 = 0xfb;
    /// K29.7: end of packet.
    pub const EOP: u8 = 0xfd;
    /// K30.7: error end of packet.
    pub const EEP: u8 = 0xfe;
    /// Never sent: an erroneous symbol, inside the receiver.
    pub const ERROR: u8 = 0x00;
}

/// Four symbols. Symbol 0 goes first on the line and is in bits 7:0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Word {
    /// The symbols' values.
    pub bits: u32,
    /// Which symbols are K characters: bit 0 for symbol 0.
    pub k: u8,
}

impl Word {
    /// Only inside a receiver: a word was lost or damaged.
    pub const RXERR: Self = Self { bits: 0, k: 1 };

    /// Four data characters.
    #[inline(always)]
    pub const fn data(bits: u32) -> Self {
        Self { bits, k: 0 }
    }

    /// A control word: symbol 0 is a K character, the others are not.
    #[inline(always)]
    pub const fn control(bits: u32) -> Self {
        Self { bits, k: 1 }
    }

    /// From symbols, and the mask of those that are K characters.
    #[inline(always)]
    pub const fn from_symbols(symbols: [u8; 4], k: u8) -> Self {
        Self { bits: u32::from_le_bytes(symbols), k: k & 0xf }
    }

    /// The symbols' values, symbol 0 first.
    #[inline(always)]
    pub const fn symbols(self) -> [u8; 4] {
        self.bits.to_le_bytes()
    }

    /// The value of a symbol, 0 to 3.
    #[inline(always)]
    pub const fn symbol(self, index: u32) -> u8 {
        (self.bits >> (8 * (index & 3))) as u8
    }

    /// Whether a symbol, 0 to 3, is a K character.
    #[inline(always)]
    pub const fn is_k(self, index: u32) -> bool {
        self.k >> (index & 3) & 1 != 0
    }

    /// Whether it can stand in a virtual channel: data characters, EOP, EEP and Fill.
    pub const fn is_n_chars(self) -> bool {
        let mut index = 0;
        while index < 4 {
            if self.is_k(index) && !matches!(self.symbol(index), k::FILL | k::EOP | k::EEP) {
                return false;
            }
            index += 1;
        }
        true
    }
}

impl fmt::Debug for Word {
    /// As in the tables: symbols 3 to 0 in hexadecimal, a slash, the K mask.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}/{:X}", self.bits, self.k)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
