//! Blocks of a pcapng file, built in a buffer that is used again.

pub const SECTION: u32 = 0x0a0d_0d0a;
pub const INTERFACE: u32 = 1;
pub const STATISTICS: u32 = 5;
pub const PACKET: u32 = 6;
pub const BYTE_ORDER: u32 = 0x1a2b_3c4d;
pub const VERSION: (u16, u16) = (1, 0);

/// Option codes. A code means different things in different blocks.
pub mod option {
    pub const END: u16 = 0;
    pub const COMMENT: u16 = 1;
    pub const IF_NAME: u16 = 2;
    pub const IF_DESCRIPTION: u16 = 3;
    pub const IF_SPEED: u16 = 8;
    pub const IF_TSRESOL: u16 = 9;
    pub const IF_TSOFFSET: u16 = 14;
    pub const USER_APPLICATION: u16 = 4;
    pub const PACKET_FLAGS: u16 = 2;
    pub const STATISTICS_START: u16 = 2;
    pub const STATISTICS_END: u16 = 3;
    pub const STATISTICS_RECEIVED: u16 = 4;
    pub const STATISTICS_DROPPED: u16 = 5;
}

/// Unit of the blocks' time stamps, as the exponent of `if_tsresol`: 10^-9 s. Wireshark 4.0 computes
/// wrong times from stamps in picoseconds after 18.4 ms.
pub const RESOLUTION: u8 = 9;
/// Picoseconds in a unit of the time stamps. Records have the remainder in their pseudo-header.
pub const UNIT_PS: u64 = 1000;
/// Maximum length of an option's value in bytes.
pub const OPTION_MAX: usize = 65_535;

/// A time as a time stamp: whole units, rounded down. The upper half comes first in either byte order.
pub fn stamp(time_ps: u64) -> [u8; 8] {
    (time_ps / UNIT_PS).rotate_left(32).to_le_bytes()
}

/// A block that is being built. The buffer holds the block from its first byte.
pub struct BlockBuilder<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> BlockBuilder<'a> {
    /// Clears the buffer and starts a block of the given type.
    pub fn new(bytes: &'a mut Vec<u8>, kind: u32) -> Self {
        bytes.clear();
        // `finish` fills in the length.
        Self { bytes }.u32(kind).u32(0)
    }

    pub fn u16(self, value: u16) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a time stamp: whole units, rounded down.
    pub fn time(self, time_ps: u64) -> Self {
        self.bytes(&stamp(time_ps))
    }

    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// The whole buffer, so that a caller can append content without an extra copy.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    /// Appends zeros up to a multiple of 4 bytes.
    pub fn pad(self) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// Appends an option whose value is the concatenation of `parts`, cut at [`OPTION_MAX`] bytes.
    pub fn option(self, code: u16, parts: &[&[u8]]) -> Self {
        let length = parts.iter().map(|part| part.len()).sum::<usize>().min(OPTION_MAX);
        let mut left = length;
        let mut block = self.u16(code).u16(length as u16);
        for part in parts {
            let part = part.get(..left).unwrap_or(part);
            left -= part.len();
            block = block.bytes(part);
        }
        block.pad()
    }

    /// Ends the list of options and writes the block's length to both of its places.
    pub fn finish(self) {
        let bytes = self.u16(option::END).u16(0).bytes;
        let length = (bytes.len() as u32 + 4).to_le_bytes();
        bytes.extend_from_slice(&length);
        if let Some(place) = bytes.get_mut(4..8) {
            place.copy_from_slice(&length);
        }
    }
}

/// Builds a section header block.
pub fn section(bytes: &mut Vec<u8>, comment: &str) {
    let application = concat!("spfe-capture ", env!("CARGO_PKG_VERSION"));
    let mut block = BlockBuilder::new(bytes, SECTION)
        .u32(BYTE_ORDER)
        .u16(VERSION.0)
        .u16(VERSION.1)
        // The section's length is not specified.
        .bytes(&(-1i64).to_le_bytes());
    if !comment.is_empty() {
        block = block.option(option::COMMENT, &[comment.as_bytes()]);
    }
    block.option(option::USER_APPLICATION, &[application.as_bytes()]).finish();
}

/// Builds an interface description block.
pub fn interface(
    bytes: &mut Vec<u8>,
    link_type: u16,
    interface: &crate::options::Interface<'_>,
    snaplen: u32,
    start_s: i64,
) {
    let mut block = BlockBuilder::new(bytes, INTERFACE)
        .u16(link_type)
        .u16(0)
        .u32(snaplen)
        .option(option::IF_NAME, &[interface.name.as_bytes()]);
    if !interface.description.is_empty() {
        block = block.option(option::IF_DESCRIPTION, &[interface.description.as_bytes()]);
    }
    if let Some(speed) = interface.speed_bps {
        block = block.option(option::IF_SPEED, &[&speed.to_le_bytes()]);
    }
    block = block.option(option::IF_TSRESOL, &[&[RESOLUTION]]);
    if start_s != 0 {
        block = block.option(option::IF_TSOFFSET, &[&start_s.to_le_bytes()]);
    }
    block.finish();
}
