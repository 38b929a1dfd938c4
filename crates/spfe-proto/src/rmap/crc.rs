//! CRC of RMAP headers and data (50-52C 5.2): x^8 + x^2 + x + 1, least significant bit first, seed
//! 0.

/// Reflected generator polynomial.
const POLY: u8 = 0xe0;
/// Bytes processed in one step.
const STEP: usize = 8;

/// `TABLES[n][byte]`: effect of a byte that is followed by `n` more bytes.
const TABLES: [[u8; 256]; STEP] = {
    let mut tables = [[0; 256]; STEP];
    let mut index = 0;
    while index < 256 {
        let mut rest = index as u8;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 != 0 { rest >> 1 ^ POLY } else { rest >> 1 };
            bit += 1;
        }
        tables[0][index] = rest;
        index += 1;
    }
    let mut n = 1;
    while n < STEP {
        let mut index = 0;
        while index < 256 {
            tables[n][index] = tables[0][tables[n - 1][index] as usize];
            index += 1;
        }
        n += 1;
    }
    tables
};

/// A running CRC. Over data followed by its CRC, the result is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RmapCrc(u8);

impl RmapCrc {
    /// Starts a CRC.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds bytes.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (steps, rest) = bytes.as_chunks::<STEP>();
        let mut value = self.0;
        for step in steps {
            let mut next = TABLES[STEP - 1][(value ^ step[0]) as usize];
            for (index, byte) in step.iter().enumerate().skip(1) {
                next ^= TABLES[STEP - 1 - index][*byte as usize];
            }
            value = next;
        }
        Self(rest.iter().fold(value, |value, byte| TABLES[0][(value ^ byte) as usize]))
    }

    /// The CRC so far.
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// CRC of some bytes; 0 for none.
pub fn crc(bytes: &[u8]) -> u8 {
    RmapCrc::new().bytes(bytes).value()
}
