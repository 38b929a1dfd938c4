//! Ten-bit symbols of a lane to words: comma alignment (50-11C 5.5.6, 5.5.7) and 8b/10b.

pub use spfe_link::code::SymbolEncoder;
use spfe_link::code::{Disparity, SymbolDecoder};
use spfe_link::word::{Word, k};

/// A word decoded from symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedWord {
    /// The word; damaged symbols are K0.0.
    pub word: Word,
    /// Mask of symbols that are not a code at all: bit 0 for symbol 0.
    pub not_in_table: u8,
    /// Mask of symbols that are codes of the other disparity.
    pub disparity: u8,
    /// Number of symbols before an unexpected comma that belong to no word.
    pub dropped: u8,
}

/// Assembles the words of one lane from its symbols.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordAssembler {
    decoder: SymbolDecoder,
    /// Whether the disparity of the sender is known.
    started: bool,
    symbols: [u8; 4],
    mask: u8,
    not_in_table: u8,
    disparity: u8,
    dropped: u8,
    count: u8,
}

impl WordAssembler {
    /// Creates an assembler before the first symbol.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of symbols of the word in progress, 0 to 3.
    pub const fn held(&self) -> u8 {
        self.count
    }

    /// Processes ten bits. Bit 0 is first on the line, as in [`spfe_link::code`]; bits above 9 are
    /// ignored.
    ///
    /// A recording may begin at either disparity; the first symbol shows which.
    pub fn push(&mut self, code: u16) -> Option<DecodedWord> {
        let code = code & 0x3ff;
        if !core::mem::replace(&mut self.started, true) {
            let mut minus = SymbolDecoder::new(Disparity::Minus);
            if minus.symbol(code).disparity_error {
                self.decoder = SymbolDecoder::new(Disparity::Plus);
            }
        }
        let symbol = self.decoder.symbol(code);
        let comma = symbol.is_k && matches!(symbol.value, k::COMMA | k::INIT_COMMA);
        if comma && self.count != 0 {
            let dropped = self.count;
            self.clear();
            self.dropped = dropped;
        }
        self.take(symbol.value, symbol.is_k, symbol.not_in_table, symbol.disparity_error)
    }

    /// Processes a symbol that is already decoded.
    pub fn push_symbol(&mut self, value: u8, is_k: bool) -> Option<DecodedWord> {
        self.take(value, is_k, false, false)
    }

    fn clear(&mut self) {
        self.symbols = [0; 4];
        (self.mask, self.not_in_table, self.disparity) = (0, 0, 0);
        (self.dropped, self.count) = (0, 0);
    }

    fn take(
        &mut self,
        value: u8,
        is_k: bool,
        not_in_table: bool,
        disparity: bool,
    ) -> Option<DecodedWord> {
        if let Some(slot) = self.symbols.get_mut(usize::from(self.count)) {
            *slot = value;
        }
        self.mask |= u8::from(is_k) << self.count;
        self.not_in_table |= u8::from(not_in_table) << self.count;
        self.disparity |= u8::from(disparity) << self.count;
        self.count += 1;
        if self.count < 4 {
            return None;
        }
        let decoded = DecodedWord {
            word: Word::from_symbols(self.symbols, self.mask),
            not_in_table: self.not_in_table,
            disparity: self.disparity,
            dropped: self.dropped,
        };
        self.clear();
        Some(decoded)
    }
}
