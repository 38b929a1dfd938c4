//! Words of four symbols.

use core::fmt;

/// Values of K characters (50-11C table 5-1 and following).
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
    /// Stands for a damaged symbol inside a receiver. Never sent.
    pub const ERROR: u8 = 0x00;
}

/// Four symbols. Symbol 0 is sent first and is in bits 7:0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Word {
    /// Values of the symbols.
    pub bits: u32,
    /// Mask of symbols that are K characters: bit 0 for symbol 0.
    pub k: u8,
}

impl Word {
    /// A word was lost or damaged. Exists only inside a receiver.
    pub const RXERR: Self = Self { bits: 0, k: 1 };

    /// Makes a word of four data characters.
    #[inline(always)]
    pub const fn data(bits: u32) -> Self {
        Self { bits, k: 0 }
    }

    /// Makes a control word: symbol 0 is a K character, the others are data.
    #[inline(always)]
    pub const fn control(bits: u32) -> Self {
        Self { bits, k: 1 }
    }

    /// Makes a word of symbols and the mask of K characters.
    #[inline(always)]
    pub const fn from_symbols(symbols: [u8; 4], k: u8) -> Self {
        Self { bits: u32::from_le_bytes(symbols), k: k & 0xf }
    }

    /// Values of the symbols, symbol 0 first.
    #[inline(always)]
    pub const fn symbols(self) -> [u8; 4] {
        self.bits.to_le_bytes()
    }

    /// Value of symbol 0 to 3.
    #[inline(always)]
    pub const fn symbol(self, index: u32) -> u8 {
        (self.bits >> (8 * (index & 3))) as u8
    }

    /// Whether symbol 0 to 3 is a K character.
    #[inline(always)]
    pub const fn is_k(self, index: u32) -> bool {
        self.k >> (index & 3) & 1 != 0
    }

    /// Whether the word may be part of a virtual channel: only data characters, EOP, EEP and Fill.
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
    /// Format of the standard's tables: symbols 3 to 0 in hexadecimal, a slash, the K mask.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}/{:X}", self.bits, self.k)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
