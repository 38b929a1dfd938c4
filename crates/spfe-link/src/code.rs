//! The 8b/10b code with its running disparity (50-11C 5.5.9).
//!
//! Codes are in line order: bit 0 of the ten bits of a symbol is `a`, bit 9 is `j`. A word has 40
//! bits with symbol 0 in bits 9:0.
//!
//! Most words on a simulated line arrive as they were sent. The bits of a data word are therefore
//! computed only where something looks at them: a [`line group`](uncoded) is the 40 bits, or the
//! data word and the disparity around it. [`bits_of`] has the bits of both.

use crate::word::{Word, k};

/// Running disparity after the symbols so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disparity {
    /// More zeros than ones. Also the initial state.
    #[default]
    Minus,
    /// More ones than zeros.
    Plus,
}

impl Disparity {
    #[inline(always)]
    const fn from_bit(plus: u32) -> Self {
        if plus & 1 != 0 { Self::Plus } else { Self::Minus }
    }
}

/// Bits of a coded word on the line.
pub const GROUP_BITS: u32 = 40;
const GROUP_MASK: u64 = (1 << GROUP_BITS) - 1;
const SYMBOL_MASK: u64 = 0x3ff;

/// `abcdei` of D0 to D31 at negative disparity, `a` leftmost.
const SIX: [u8; 32] = [
    0b100111, 0b011101, 0b101101, 0b110001, 0b110101, 0b101001, 0b011001, 0b111000, 0b111001,
    0b100101, 0b010101, 0b110100, 0b001101, 0b101100, 0b011100, 0b010111, 0b011011, 0b100011,
    0b010011, 0b110010, 0b001011, 0b101010, 0b011010, 0b111010, 0b110011, 0b100110, 0b010110,
    0b110110, 0b001110, 0b101110, 0b011110, 0b101011,
];
const SIX_K28: u8 = 0b001111;
/// `fghj` at negative disparity, `f` leftmost: data characters, then K characters.
const FOUR: [u8; 8] = [0b1011, 0b1001, 0b0101, 0b1100, 0b1101, 0b1010, 0b0110, 0b1110];
const FOUR_K: [u8; 8] = [0b1011, 0b0110, 0b1010, 0b1100, 0b1101, 0b0101, 0b1001, 0b0111];
/// `fghj` that replaces `.7` where five equal bits in a row would follow otherwise.
const FOUR_ALTERNATE: u8 = 0b0111;

/// Marks a symbol that has no code.
const NONE: u16 = 0xffff;
/// With a code: the disparity after the symbol is positive.
const AFTER_PLUS: u16 = 1 << 10;

const fn is_k_character(value: u8) -> bool {
    value & 0x1f == 28 || matches!(value, 0xf7 | k::FILL | k::EOP | k::EEP)
}

/// One of the two sub-blocks of a code: its bits, and the disparity after them.
const fn part(minus: u8, width: u32, complement: bool, plus: bool) -> (u8, bool) {
    let mask = (1 << width) - 1;
    let ones = minus.count_ones();
    let bits = if plus && complement { !minus & mask } else { minus };
    (bits, plus ^ (ones * 2 != width))
}

/// Encoder entry of one symbol: its code in line order from bit 0, and the disparity after it.
const fn entry(value: u8, is_k: bool, plus: bool) -> u16 {
    if is_k && !is_k_character(value) {
        return NONE;
    }
    let (x, y) = (value & 0x1f, value >> 5);
    let six = if is_k && x == 28 { SIX_K28 } else { SIX[x as usize] };
    let (abcdei, between) = part(six, 6, six.count_ones() != 3 || x == 7, plus);
    let alternate = if between { matches!(x, 11 | 13 | 14) } else { matches!(x, 17 | 18 | 20) };
    let (four, complement) = if is_k {
        (FOUR_K[y as usize], true)
    } else if y == 7 && alternate {
        (FOUR_ALTERNATE, true)
    } else {
        (FOUR[y as usize], matches!(y, 0 | 3 | 4 | 7))
    };
    let (fghj, after) = part(four, 4, complement, between);
    let leftmost_first = (abcdei as u16) << 4 | fghj as u16;
    leftmost_first.reverse_bits() >> 6 | if after { AFTER_PLUS } else { 0 }
}

/// Index bit of `ENCODE`: the symbol is a K character.
const ENCODE_K: u32 = 1 << 9;
/// In an index into `ENCODE`: the disparity is positive. In an entry: the disparity after the
/// symbol, at the place where the next index needs it.
const ENCODE_PLUS: u32 = 1 << 8;
/// Position of the code in an entry of `ENCODE`.
const ENCODE_CODE: u32 = 22;

/// Codes of all symbols. A K character that does not exist has code 0 and keeps the disparity.
static ENCODE: [u32; 1024] = {
    let mut table = [0; 1024];
    let mut index = 0;
    while index < 1024 {
        let (is_k, plus) = (index & ENCODE_K != 0, index & ENCODE_PLUS != 0);
        let entry = entry(index as u8, is_k, plus);
        table[index as usize] = if entry == NONE {
            index & ENCODE_PLUS
        } else {
            let after = if entry & AFTER_PLUS != 0 { ENCODE_PLUS } else { 0 };
            ((entry & 0x3ff) as u32) << ENCODE_CODE | after
        };
        index += 1;
    }
    table
};

const DECODED_K: u16 = 1 << 8;
const DECODED_NOT_IN_TABLE: u16 = 1 << 9;
/// In an index into `DECODE`: the disparity is positive. In an entry: the disparity after the
/// symbol, at the place where the next index needs it.
const DECODED_PLUS: u16 = 1 << 10;
const DECODED_DISPARITY: u16 = 1 << 11;
const DECODED_ERROR: u16 = DECODED_NOT_IN_TABLE | DECODED_DISPARITY;

/// `DECODE[plus << 10 | code]`.
static DECODE: [u16; 2048] = {
    let mut table = [0; 2048];
    // Bits that are no code move the disparity by their number of ones.
    let mut index = 0;
    while index < 2048 {
        let ones = (index as u32 & 0x3ff).count_ones();
        let after = ones > 5 || ones == 5 && index >= 1024;
        table[index] = k_error() | DECODED_NOT_IN_TABLE | if after { DECODED_PLUS } else { 0 };
        index += 1;
    }
    // First pass: codes of the other disparity, as disparity errors. Second pass: codes of this
    // disparity, which overwrite them.
    let mut pass = 0;
    while pass < 2 {
        let mut plus = 0;
        while plus < 2 {
            let mut index = 0;
            while index < 512 {
                let entry = entry(index as u8, index >= 256, plus == 1);
                if entry != NONE {
                    let code = (entry & 0x3ff) as usize;
                    let after = if entry & AFTER_PLUS != 0 { DECODED_PLUS } else { 0 };
                    if pass == 0 {
                        table[(plus ^ 1) << 10 | code] = k_error() | DECODED_DISPARITY | after;
                    } else {
                        table[plus << 10 | code] = index as u16 | after;
                    }
                }
                index += 1;
            }
            plus += 1;
        }
        pass += 1;
    }
    table
};

const fn k_error() -> u16 {
    DECODED_K | k::ERROR as u16
}

/// A decoded symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Value of the symbol; 0 with the K flag if it is in error.
    pub value: u8,
    /// Whether it is a K character.
    pub is_k: bool,
    /// The ten bits are not a code of either disparity.
    pub not_in_table: bool,
    /// The ten bits are a code of the other disparity only.
    pub disparity_error: bool,
}

impl Symbol {
    /// Whether the symbol is in error for either reason.
    pub const fn is_error(self) -> bool {
        self.not_in_table || self.disparity_error
    }
}

/// Line group of a word period without a signal.
pub const SILENCE: u64 = u64::MAX;

/// Marks a data word without its bits. Bits above 40 of a coded group are 0.
const UNCODED: u64 = 1 << 62;
const UNCODED_BEFORE: u32 = 32;
const UNCODED_AFTER: u32 = 33;

/// For each value of a data symbol, whether its code changes the disparity.
static CHANGES: [u8; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        let entry = entry(value as u8, false, false);
        table[value] = (entry & AFTER_PLUS != 0) as u8;
        value += 1;
    }
    table
};

/// A data word as a line group without its bits, `before` and `after` the disparity around it.
#[inline(always)]
fn uncoded(bits: u32, before: u64, after: u64) -> u64 {
    UNCODED | after << UNCODED_AFTER | before << UNCODED_BEFORE | u64::from(bits)
}

/// Whether a line group is a data word without its bits.
#[inline(always)]
pub const fn is_uncoded(group: u64) -> bool {
    group >> 62 == 1
}

/// The 40 bits of a line group.
#[inline]
pub fn bits_of(group: u64) -> u64 {
    if !is_uncoded(group) {
        return group;
    }
    let disparity = Disparity::from_bit((group >> UNCODED_BEFORE) as u32);
    SymbolEncoder { disparity }.word(Word::data(group as u32))
}

/// 8b/10b encoder of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolEncoder {
    disparity: Disparity,
}

impl SymbolEncoder {
    /// Creates an encoder that starts at a disparity.
    pub const fn new(disparity: Disparity) -> Self {
        Self { disparity }
    }

    /// Running disparity.
    pub const fn disparity(&self) -> Disparity {
        self.disparity
    }

    /// Encodes a symbol to ten bits. A K character that 8b/10b does not have becomes ten zeros,
    /// which is no code, and keeps the disparity.
    #[inline]
    pub fn symbol(&mut self, value: u8, is_k: bool) -> u16 {
        let entry = self.entry(u32::from(value), u32::from(is_k));
        (entry >> ENCODE_CODE) as u16
    }

    /// Ten bits that a decoder in step reports as one disparity error. They contain no comma, and the
    /// symbols after them are good again.
    pub fn violation(&mut self) -> u16 {
        // D21.3 of the other disparity. It is neutral, so the disparity has to be moved by hand.
        let (code, after) = match self.disparity {
            Disparity::Minus => (0b11_0001_0101, Disparity::Plus),
            Disparity::Plus => (0b00_1101_0101, Disparity::Minus),
        };
        self.disparity = after;
        code
    }

    /// Encodes a word to a line group: a data word keeps its bits for later.
    #[inline(always)]
    pub fn group(&mut self, word: Word) -> u64 {
        if word.k != 0 {
            return self.word_with_k(word);
        }
        let [a, b, c, d] = word.symbols().map(|symbol| CHANGES[usize::from(symbol)]);
        let before = self.disparity as u64;
        let after = before ^ u64::from(a ^ b ^ c ^ d);
        self.disparity = Disparity::from_bit(after as u32);
        uncoded(word.bits, before, after)
    }

    /// Encodes a word to 40 bits.
    #[inline(always)]
    pub fn word(&mut self, word: Word) -> u64 {
        if word.k == 0 { self.symbols(word.bits, 0) } else { self.word_with_k(word) }
    }

    #[inline(never)]
    fn word_with_k(&mut self, word: Word) -> u64 {
        self.symbols(word.bits, word.k)
    }

    #[inline(always)]
    fn symbols(&mut self, bits: u32, k: u8) -> u64 {
        let mut group = 0;
        for index in 0..4 {
            let entry = self.entry(bits >> (8 * index) & 0xff, u32::from(k >> index & 1));
            group |= u64::from(entry >> ENCODE_CODE) << (10 * index);
        }
        group
    }

    #[inline(always)]
    fn entry(&mut self, value: u32, k: u32) -> u32 {
        let (plus, k) = (self.disparity as u32 * ENCODE_PLUS, k * ENCODE_K);
        let entry = ENCODE[(value | plus | k) as usize];
        self.disparity = Disparity::from_bit(entry / ENCODE_PLUS);
        entry
    }
}

/// 8b/10b decoder of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolDecoder {
    disparity: Disparity,
}

impl SymbolDecoder {
    /// Creates a decoder that starts at a disparity.
    pub const fn new(disparity: Disparity) -> Self {
        Self { disparity }
    }

    /// Running disparity.
    pub const fn disparity(&self) -> Disparity {
        self.disparity
    }

    /// Whether a line group is a data word without its bits that continues the disparity.
    #[inline(always)]
    pub const fn is_in_step(&self, group: u64) -> bool {
        is_uncoded(group) && (group >> UNCODED_BEFORE) as u32 & 1 == self.disparity as u32
    }

    /// Takes over the disparity before a data word without its bits.
    #[inline(always)]
    pub const fn step_to(&mut self, group: u64) {
        self.disparity = Disparity::from_bit((group >> UNCODED_BEFORE) as u32);
    }

    /// Decodes a line group that is a data word without its bits, if it continues the disparity of
    /// this decoder.
    #[inline(always)]
    pub fn uncoded(&mut self, group: u64) -> Option<Word> {
        if !self.is_in_step(group) {
            return None;
        }
        self.disparity = Disparity::from_bit((group >> UNCODED_AFTER) as u32);
        Some(Word::data(group as u32))
    }

    #[inline(always)]
    fn entry(&mut self, code: u64) -> u16 {
        let plus = self.disparity as usize * usize::from(DECODED_PLUS);
        let entry = DECODE[(code & SYMBOL_MASK) as usize | plus];
        self.disparity = Disparity::from_bit(u32::from(entry / DECODED_PLUS));
        entry
    }

    /// Decodes ten bits.
    #[inline]
    pub fn symbol(&mut self, code: u16) -> Symbol {
        let entry = self.entry(u64::from(code));
        Symbol {
            value: entry as u8,
            is_k: entry & DECODED_K != 0,
            not_in_table: entry & DECODED_NOT_IN_TABLE != 0,
            disparity_error: entry & DECODED_DISPARITY != 0,
        }
    }

    /// Decodes 40 bits. Returns the word and the mask of its damaged symbols, which are K0.0 in the
    /// word (50-11C 5.5.7).
    #[inline(always)]
    pub fn word(&mut self, group: u64) -> (Word, u8) {
        let before = *self;
        let (mut bits, mut all) = (0, 0);
        for index in 0..4 {
            let entry = self.entry(group >> (10 * index));
            bits |= u32::from(entry as u8) << (8 * index);
            all |= entry;
        }
        if all & (DECODED_K | DECODED_ERROR) == 0 {
            return (Word::data(bits), 0);
        }
        *self = before;
        self.word_with_k(group)
    }

    /// Decodes a word that has K characters or errors.
    #[inline(never)]
    fn word_with_k(&mut self, group: u64) -> (Word, u8) {
        let (mut bits, mut k, mut errors) = (0, 0, 0);
        for index in 0..4 {
            let entry = self.entry(group >> (10 * index));
            bits |= u32::from(entry as u8) << (8 * index);
            k |= u8::from(entry & DECODED_K != 0) << index;
            errors |= u8::from(entry & DECODED_ERROR != 0) << index;
        }
        (Word { bits, k }, errors)
    }
}

/// Whether a data word without its bits follows another one in the same code.
#[inline(always)]
pub const fn follows(group: u64, before: u64) -> bool {
    is_uncoded(before)
        && is_uncoded(group)
        && (before >> UNCODED_AFTER ^ group >> UNCODED_BEFORE) & 1 == 0
}

/// Inverts the 40 bits of a word, as a pair with swapped wires does.
#[inline]
pub const fn invert_group(group: u64) -> u64 {
    !group & GROUP_MASK
}

/// `INVERTED[k << 8 | value]`: the symbol (bit 8: K) that a swapped pair makes of a symbol.
static INVERTED: [u16; 512] = {
    let mut table = [k_error(); 512];
    let mut index = 0;
    while index < 512 {
        let code = entry(index as u8, index >= 256, false);
        if code != NONE {
            let other = DECODE[1 << 10 | (!code & 0x3ff) as usize];
            if other & DECODED_ERROR == 0 {
                table[index] = other & 0x1ff;
            }
        }
        index += 1;
    }
    table
};

/// Inverts the code of each symbol, for lanes that work on words. A symbol whose inverse is no code
/// becomes K0.0.
pub fn invert_word(word: Word) -> Word {
    let (mut bits, mut k) = (0, 0);
    for index in 0..4 {
        let at = usize::from(word.is_k(index)) << 8 | usize::from(word.symbol(index));
        let symbol = INVERTED[at];
        bits |= u32::from(symbol as u8) << (8 * index);
        k |= ((symbol >> 8) as u8 & 1) << index;
    }
    Word { bits, k }
}
