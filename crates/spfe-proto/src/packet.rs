//! Common to all protocols: how a packet ended, and writing into buffers.

use core::fmt;

/// Logical address of a node that has no other address, and of an initiator that does not know its
/// own (50-51C, 50-12C).
pub const DEFAULT_LOGICAL_ADDRESS: u8 = 0xfe;

/// How a packet ended (50-12C).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEnd {
    /// End of packet: the packet is complete.
    Eop,
    /// Error end of packet: the network cut the packet.
    Eep,
}

/// The caller's buffer is too small; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Size of the buffer in bytes.
    pub bytes: usize,
    /// Needed size in bytes.
    pub needed: usize,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output buffer: {} bytes, {} needed", self.bytes, self.needed)
    }
}

impl core::error::Error for NoRoom {}

/// Returns the first `needed` bytes of a buffer.
pub(crate) fn room(out: &mut [u8], needed: usize) -> Result<&mut [u8], NoRoom> {
    let bytes = out.len();
    out.get_mut(..needed).ok_or(NoRoom { bytes, needed })
}

/// Writes parts one after the other to the start of a buffer. Returns the total number of bytes.
pub(crate) fn put(out: &mut [u8], parts: &[&[u8]]) -> Result<usize, NoRoom> {
    let bytes = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
    gather(room(out, bytes)?, parts);
    Ok(bytes)
}

/// Copies parts one after the other. `out` has exactly their total length.
pub(crate) fn gather(mut out: &mut [u8], parts: &[&[u8]]) {
    for part in parts {
        let Some((here, rest)) = out.split_at_mut_checked(part.len()) else { return };
        here.copy_from_slice(part);
        out = rest;
    }
}
