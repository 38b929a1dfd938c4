//! What all protocols share: the end of a packet, and room for the next one.

use core::fmt;

/// The logical address of a node that has no other, and of an initiator that does not know its own
/// (50-51C, 50-12C).
pub const DEFAULT_LOGICAL_ADDRESS: u8 = 0xfe;

/// How a packet ended (50-12C).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEnd {
    /// End of packet: all of it is here.
    Eop,
    /// Error end of packet: the network cut it.
    Eep,
}

/// The caller's buffer is too small; nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Bytes the buffer has.
    pub bytes: usize,
    /// Bytes it needs.
    pub needed: usize,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output buffer: {} bytes, {} needed", self.bytes, self.needed)
    }
}

impl core::error::Error for NoRoom {}

/// The first `needed` bytes of a buffer.
pub(crate) fn room(out: &mut [u8], needed: usize) -> Result<&mut [u8], NoRoom> {
    let bytes = out.len();
    out.get_mut(..needed).ok_or(NoRoom { bytes, needed })
}

/// Writes parts one behind the other to the start of a buffer; returns how many bytes they have.
pub(crate) fn put(out: &mut [u8], parts: &[&[u8]]) -> Result<usize, NoRoom> {
    let bytes = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
    gather(room(out, bytes)?, parts);
    Ok(bytes)
}

/// Copies parts one behind the other; `out` is exactly as long as they are together.
pub(crate) fn gather(mut out: &mut [u8], parts: &[&[u8]]) {
    for part in parts {
        let Some((here, rest)) = out.split_at_mut_checked(part.len()) else { return };
        here.copy_from_slice(part);
        out = rest;
    }
}
