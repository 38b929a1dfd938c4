//! Segmentation: one message in several packets.

/// A part of a message, which one packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfrpSegment {
    /// Offset in the message, bytes.
    pub offset: u32,
    /// Length in bytes; 0 only in an empty message.
    pub length: u32,
    /// First packet of the message.
    pub first: bool,
    /// Last packet of the message.
    pub last: bool,
}

/// The segments of a message, in order. They end where the address is a multiple of the segment
/// size, so that none of them crosses a page of the target.
#[derive(Clone, Debug)]
pub struct SfrpSegments {
    address: u64,
    length: u32,
    mask: u64,
    next: Option<u32>,
}

impl SfrpSegments {
    /// Segments of a message of `length` bytes to `address`. `segment_bytes` is a power of two;
    /// another value is rounded down to one.
    pub fn new(address: u64, length: u32, segment_bytes: u32) -> Self {
        let size = 1u64 << segment_bytes.max(1).ilog2();
        Self { address, length, mask: size - 1, next: Some(0) }
    }

    /// Continues at a segment that starts at this offset.
    pub fn starting_at(mut self, offset: u32) -> Self {
        self.next = (offset == 0 || offset < self.length).then_some(offset);
        self
    }
}

impl Iterator for SfrpSegments {
    type Item = SfrpSegment;

    fn next(&mut self) -> Option<SfrpSegment> {
        let offset = self.next?;
        let rest = self.length.saturating_sub(offset);
        let into = self.address.wrapping_add(offset.into()) & self.mask;
        let room = self.mask - into + 1;
        let length = rest.min(u32::try_from(room).unwrap_or(u32::MAX));
        let last = length == rest;
        self.next = (!last).then_some(offset.saturating_add(length));
        Some(SfrpSegment { offset, length, first: offset == 0, last })
    }
}
