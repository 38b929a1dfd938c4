//! Blocks of pcapng, put together in a buffer that is used again.

use crate::layout::LINKTYPE;

pub const SECTION: u32 = 0x0a0d_0d0a;
pub const INTERFACE: u32 = 1;
pub const STATISTICS: u32 = 5;
pub const PACKET: u32 = 6;
pub const BYTE_ORDER: u32 = 0x1a2b_3c4d;
pub const VERSION: (u16, u16) = (1, 0);

/// Codes of options.
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

/// Time stamps count picoseconds: 10 to the power of -12.
pub const RESOLUTION: u8 = 12;
/// The longest value of an option.
pub const OPTION_MAX: usize = 65_535;

/// A block under way.
pub struct BlockBuilder<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> BlockBuilder<'a> {
    /// Begins a block; what the buffer held is gone.
    pub fn new(bytes: &'a mut Vec<u8>, kind: u32) -> Self {
        bytes.clear();
        Self { bytes }.u32(kind).u32(0)
    }

    pub fn u16(self, value: u16) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// The two halves of a time stamp: the upper one first, whatever the byte order.
    pub fn time(self, time_ps: u64) -> Self {
        self.u32((time_ps >> 32) as u32).u32(time_ps as u32)
    }

    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// The part of the buffer that content can be appended to.
    pub fn content(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    /// Zeros up to a multiple of 4.
    pub fn pad(self) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// An option of at most [`OPTION_MAX`] bytes; parts follow each other.
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

    /// The end: of the options, and the length of the block at both ends.
    pub fn finish(self) {
        let bytes = self.u16(option::END).u16(0).bytes;
        let length = (bytes.len() as u32 + 4).to_le_bytes();
        bytes.extend_from_slice(&length);
        if let Some(place) = bytes.get_mut(4..8) {
            place.copy_from_slice(&length);
        }
    }
}

/// Section header.
pub fn section(bytes: &mut Vec<u8>, comment: &str) {
    let application = concat!("spfe-capture ", env!("CARGO_PKG_VERSION"));
    let mut block = BlockBuilder::new(bytes, SECTION)
        .u32(BYTE_ORDER)
        .u16(VERSION.0)
        .u16(VERSION.1)
        .bytes(&(-1i64).to_le_bytes());
    if !comment.is_empty() {
        block = block.option(option::COMMENT, &[comment.as_bytes()]);
    }
    block.option(option::USER_APPLICATION, &[application.as_bytes()]).finish();
}

/// Interface description.
pub fn interface(
    bytes: &mut Vec<u8>,
    interface: &crate::Interface<'_>,
    snaplen: u32,
    start_s: i64,
) {
    let mut block = BlockBuilder::new(bytes, INTERFACE)
        .u16(LINKTYPE)
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
