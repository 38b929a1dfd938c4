//! The 8b/10b code with its running disparity (50-11C 5.5.9).
//!
//! Codes are in line order from bit 0: bit 0 of a symbol's ten bits is `a`, bit 9 is `j`; a word is
//! 40 bits with symbol 0 in bits 9:0.

use crate::word::{Word, k};

/// Disparity of what was sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disparity {
    /// More zeros, and the start.
    #[default]
    Minus,
    /// More ones.
    Plus,
}

impl Disparity {
    #[inline(always)]
    const fn from_bit(plus: u32) -> Self {
        if plus & 1 != 0 { Self::Plus } else { Self::Minus }
    }
}

/// Bits of a word on the line.
pub const GROUP_BITS: u32 = 40;
const GROUP_MASK: u64 = (1 << GROUP_BITS) - 1;
const SYMBOL_MASK: u64 = 0x3ff;

/// `abcdei` of D0 to D31 after negative disparity, `a` leftmost.
const SIX: [u8; 32] = [
    0b100111, 0b011101, 0b101101, 0b110001, 0b110101, 0b101001, 0b011001, 0b111000, 0b111001,
    0b100101, 0b010101, 0b110100, 0b001101, 0b101100, 0b011100, 0b010111, 0b011011, 0b100011,
    0b010011, 0b110010, 0b001011, 0b101010, 0b011010, 0b111010, 0b110011, 0b100110, 0b010110,
    0b110110, 0b001110, 0b101110, 0b011110, 0b101011,
];
const SIX_K28: u8 = 0b001111;
/// `fghj` after negative disparity, `f` leftmost: data characters, then K characters.
const FOUR: [u8; 8] = [0b1011, 0b1001, 0b0101, 0b1100, 0b1101, 0b1010, 0b0110, 0b1110];
const FOUR_K: [u8; 8] = [0b1011, 0b0110, 0b1010, 0b1100, 0b1101, 0b0101, 0b1001, 0b0111];
/// `fghj` that takes the place of `.7` where five equal bits in a row would follow otherwise.
const FOUR_ALTERNATE: u8 = 0b0111;

/// Marks a symbol that has no code.
const NONE: u16 = 0xffff;
/// With a code: the disparity after the symbol is positive.
const AFTER_PLUS: u16 = 1 << 10;

const fn is_k_character(value: u8) -> bool {
    value & 0x1f == 28 || matches!(value, 0xf7 | k::FILL | k::EOP | k::EEP)
}

/// A part of a code: (bits, disparity after it).
const fn part(minus: u8, width: u32, complement: bool, plus: bool) -> (u8, bool) {
    let mask = (1 << width) - 1;
    let ones = minus.count_ones();
    let bits = if plus && complement { !minus & mask } else { minus };
    (bits, plus ^ (ones * 2 != width))
}

/// The entry of one symbol: its code in line order from bit 0, and the disparity after it.
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

/// In an index into `ENCODE`: a K character.
const ENCODE_K: u32 = 1 << 9;
/// In an index into `ENCODE`: after positive disparity. In its entries: positive after the symbol,
/// where it can go right into the next index.
const ENCODE_PLUS: u32 = 1 << 8;
/// Where the code is in an entry of `ENCODE`.
const ENCODE_CODE: u32 = 22;

/// The codes of all symbols. A K character that does not exist has zeros, and leaves the disparity.
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
/// In an index into `DECODE`: after positive disparity. In its entries: positive after the symbol,
/// where it can go right into the next index.
const DECODED_PLUS: u16 = 1 << 10;
const DECODED_DISPARITY: u16 = 1 << 11;
const DECODED_ERROR: u16 = DECODED_NOT_IN_TABLE | DECODED_DISPARITY;

/// `DECODE[plus << 10 | code]`.
static DECODE: [u16; 2048] = {
    let mut table = [0; 2048];
    // What is no code moves the disparity by its count of ones.
    let mut index = 0;
    while index < 2048 {
        let ones = (index as u32 & 0x3ff).count_ones();
        let after = ones > 5 || ones == 5 && index >= 1024;
        table[index] = k_error() | DECODED_NOT_IN_TABLE | if after { DECODED_PLUS } else { 0 };
        index += 1;
    }
    // A code of the other disparity is a disparity error; a code of this one then goes over it.
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

/// What became of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its value, 0 with the K flag if it is in error.
    pub value: u8,
    /// Whether it is a K character.
    pub is_k: bool,
    /// The ten bits are no code at all.
    pub not_in_table: bool,
    /// The ten bits are a code of the other disparity only.
    pub disparity_error: bool,
}

impl Symbol {
    /// Whether it is in error, for either reason.
    pub const fn is_error(self) -> bool {
        self.not_in_table || self.disparity_error
    }
}

/// Encoder of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolEncoder {
    disparity: Disparity,
}

impl SymbolEncoder {
    /// One that starts with a disparity.
    pub const fn new(disparity: Disparity) -> Self {
        Self { disparity }
    }

    /// The disparity of what it has made.
    pub const fn disparity(&self) -> Disparity {
        self.disparity
    }

    /// The ten bits of a symbol. A K character that 8b/10b does not have gives ten zeros, which is
    /// no code, and leaves the disparity.
    #[inline]
    pub fn symbol(&mut self, value: u8, is_k: bool) -> u16 {
        let entry = self.entry(u32::from(value), u32::from(is_k));
        (entry >> ENCODE_CODE) as u16
    }

    /// The 40 bits of a word.
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

/// Decoder of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolDecoder {
    disparity: Disparity,
}

impl SymbolDecoder {
    /// One that starts with a disparity.
    pub const fn new(disparity: Disparity) -> Self {
        Self { disparity }
    }

    /// The disparity of what it has seen.
    pub const fn disparity(&self) -> Disparity {
        self.disparity
    }

    #[inline(always)]
    fn entry(&mut self, code: u64) -> u16 {
        let plus = self.disparity as usize * usize::from(DECODED_PLUS);
        let entry = DECODE[(code & SYMBOL_MASK) as usize | plus];
        self.disparity = Disparity::from_bit(u32::from(entry / DECODED_PLUS));
        entry
    }

    /// The symbol of ten bits.
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

    /// The word of 40 bits, and the mask of its symbols in error. Those are K0.0 in the word
    /// (50-11C 5.5.7).
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

    /// A word with K characters or errors.
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

/// The 40 bits that arrive when the wires of the pair are swapped.
#[inline]
pub const fn invert_group(group: u64) -> u64 {
    !group & GROUP_MASK
}

/// `INVERTED[k << 8 | value]`: the symbol (bit 8: K) that a symbol becomes on a swapped pair.
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

/// The word that arrives when the wires of the pair are swapped; symbols whose inverse is no code
/// become K0.0. For lanes that work on words.
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
