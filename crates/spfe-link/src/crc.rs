//! CRC-8 of single words and broadcast frames, CRC-16 of data frames (50-11C 5.7.6.4, 5.7.6.5).
//!
//! Both cover the symbol values, least significant bit first, without the K flags.

use crate::word::Word;

/// x^8 + x^2 + x + 1, reflected; seed 0. The same as the CRC of RMAP.
const POLY8: u8 = 0xe0;
/// x^16 + x^12 + x^5 + 1, reflected; seed 0xffff.
const POLY16: u16 = 0x8408;

const TABLE8: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut rest = index as u8;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 != 0 { rest >> 1 ^ POLY8 } else { rest >> 1 };
            bit += 1;
        }
        table[index] = rest;
        index += 1;
    }
    table
};

/// `TABLES16[n][byte]`: effect of a byte that is followed by `n` more bytes of its word.
const TABLES16: [[u16; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 256 {
        let mut rest = index as u16;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 != 0 { rest >> 1 ^ POLY16 } else { rest >> 1 };
            bit += 1;
        }
        tables[0][index] = rest;
        index += 1;
    }
    let mut n = 1;
    while n < 4 {
        let mut index = 0;
        while index < 256 {
            let before = tables[n - 1][index];
            tables[n][index] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            index += 1;
        }
        n += 1;
    }
    tables
};

/// A running CRC-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crc8(u8);

impl Crc8 {
    /// Starts a CRC.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds one symbol.
    #[inline(always)]
    pub const fn byte(self, value: u8) -> Self {
        Self(TABLE8[(self.0 ^ value) as usize])
    }

    /// Adds the first `count` symbols of a word.
    #[inline]
    pub const fn symbols(mut self, word: Word, count: u32) -> Self {
        let mut index = 0;
        while index < count {
            self = self.byte(word.symbol(index));
            index += 1;
        }
        self
    }

    /// Adds bytes.
    pub const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut index = 0;
        while index < bytes.len() {
            self = self.byte(bytes[index]);
            index += 1;
        }
        self
    }

    /// The CRC so far.
    #[inline(always)]
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// A running CRC-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc16(u16);

impl Default for Crc16 {
    fn default() -> Self {
        Self::new()
    }
}

impl Crc16 {
    /// Starts a CRC.
    pub const fn new() -> Self {
        Self(0xffff)
    }

    /// Adds one symbol.
    #[inline(always)]
    pub const fn byte(self, value: u8) -> Self {
        Self(self.0 >> 8 ^ TABLES16[0][((self.0 ^ value as u16) & 0xff) as usize])
    }

    /// Adds a word.
    #[inline(always)]
    pub const fn word(self, word: Word) -> Self {
        let x = word.bits ^ self.0 as u32;
        Self(
            TABLES16[3][(x & 0xff) as usize]
                ^ TABLES16[2][(x >> 8 & 0xff) as usize]
                ^ TABLES16[1][(x >> 16 & 0xff) as usize]
                ^ TABLES16[0][(x >> 24) as usize],
        )
    }

    /// Adds bytes.
    pub const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut index = 0;
        while index < bytes.len() {
            self = self.byte(bytes[index]);
            index += 1;
        }
        self
    }

    /// The CRC so far; its low byte is sent first.
    #[inline(always)]
    pub const fn value(self) -> u16 {
        self.0
    }
}
