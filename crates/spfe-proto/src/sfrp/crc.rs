//! CRCs of SFRP.
//!
//! Headers have a CRC-16 with x^16 + x^12 + x^5 + 1, most significant bit first, seed 0xffff. It
//! differs in bit order from that of SpaceFibre frames. Payloads have a CRC-32C (Castagnoli) of the
//! crate `crc32c`, which uses the processor's instruction.

const POLY16: u16 = 0x1021;

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

/// CRC of a header. Over a header with its CRC it is 0.
pub fn header(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc: u16, byte| {
        let [high, low] = crc.to_be_bytes();
        u16::from_be_bytes([low, 0]) ^ TABLE16[usize::from(high ^ byte)]
    })
}

/// CRC of a payload.
pub fn payload(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}
