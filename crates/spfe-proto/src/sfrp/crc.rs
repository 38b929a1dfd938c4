//! CRCs of SFRP.
//!
//! Headers have a CRC-16 with x^16 + x^12 + x^5 + 1, most significant bit first, seed 0xffff. It
//! differs in bit order from that of SpaceFibre frames. Payloads have a CRC-32C (Castagnoli), for
//! which processors have an instruction.

mod instruction;

const POLY16: u16 = 0x1021;
/// Reflected.
const POLY32: u32 = 0x82f6_3b78;
/// Bytes processed in one step.
const STEP: usize = 8;

const TABLE16: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut rest = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 0x8000 != 0 { rest << 1 ^ POLY16 } else { rest << 1 };
            bit += 1;
        }
        table[index] = rest;
        index += 1;
    }
    table
};

/// `TABLES32[n][byte]`: effect of a byte that is followed by `n` more bytes.
static TABLES32: [[u32; 256]; STEP] = {
    let mut tables = [[0; 256]; STEP];
    let mut index = 0;
    while index < 256 {
        let mut rest = index as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 != 0 { rest >> 1 ^ POLY32 } else { rest >> 1 };
            bit += 1;
        }
        tables[0][index] = rest;
        index += 1;
    }
    let mut n = 1;
    while n < STEP {
        let mut index = 0;
        while index < 256 {
            let before = tables[n - 1][index];
            tables[n][index] = tables[0][(before & 0xff) as usize] ^ before >> 8;
            index += 1;
        }
        n += 1;
    }
    tables
};

/// CRC of a header. Over a header with its CRC it is 0.
pub fn header(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc: u16, byte| {
        let [high, low] = crc.to_be_bytes();
        u16::from_be_bytes([low, 0]) ^ TABLE16[usize::from(high ^ byte)]
    })
}

/// CRC of a payload.
pub fn payload(bytes: &[u8]) -> u32 {
    !instruction::update(!0, bytes).unwrap_or_else(|| by_table(!0, bytes))
}

/// CRC of a payload without the processor's instruction.
pub fn portable(bytes: &[u8]) -> u32 {
    !by_table(!0, bytes)
}

fn by_table(mut crc: u32, bytes: &[u8]) -> u32 {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    for step in steps {
        let word = u64::from_le_bytes(*step) ^ u64::from(crc);
        let bytes = word.to_le_bytes().into_iter().zip(TABLES32.iter().rev());
        crc = bytes.fold(0, |sum, (byte, table)| sum ^ table[usize::from(byte)]);
    }
    rest.iter()
        .fold(crc, |crc, byte| TABLES32[0][usize::from(crc.to_le_bytes()[0] ^ byte)] ^ crc >> 8)
}
