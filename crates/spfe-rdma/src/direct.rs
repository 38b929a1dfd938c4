//! Packets that do not leave the machine: header and payload as values, the payload still where it
//! was. Bytes go from memory to memory in one copy.

use crate::local::{Local, LocalFault, LocalMemory, scatter};
use crate::memory::BeyondMemory;
use spfe_proto::sfrp::{SfrpHeader, SfrpStatus};
use std::fmt;

/// Longest payload that is copied to be looked at, bytes: operands and notifications.
pub const SMALL: usize = 32;

/// Takes packets that are handed over. The header has no reply path and needs no path bytes.
pub type Taker<'a> = &'a mut dyn FnMut(&SfrpHeader, Payload<'_>);

/// Verified payload of a packet: [`SfrpHeader::payload_bytes`] bytes.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    /// Bytes of a packet.
    Bytes(&'a [u8]),
    /// Memory of an initiator, from an offset of its list of pieces on.
    Pieces {
        /// The memory, which has all pieces.
        memory: &'a dyn LocalMemory,
        /// The pieces.
        pieces: &'a [Local],
        /// Where the payload starts.
        offset: u32,
    },
    /// Memory of a target, from an offset on.
    Stored {
        /// The memory, which has the bytes.
        source: &'a dyn PayloadSource,
        /// Where the payload starts.
        offset: u64,
    },
}

/// Memory that a payload lies in.
pub trait PayloadSource {
    /// Copies bytes out.
    ///
    /// # Errors
    /// The memory does not have them.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), PayloadFault>;

    /// Copies bytes into a piece of local memory, as many as it has.
    ///
    /// # Errors
    /// One of the two memories does not have them.
    fn copy_into(
        &self,
        offset: u64,
        to: &mut dyn LocalMemory,
        place: Local,
    ) -> Result<(), PayloadFault>;
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes(_) => "Bytes",
            Self::Pieces { .. } => "Pieces",
            Self::Stored { .. } => "Stored",
        })
    }
}

/// The memory of a payload has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadFault;

impl From<LocalFault> for PayloadFault {
    fn from(_: LocalFault) -> Self {
        Self
    }
}

impl From<BeyondMemory> for PayloadFault {
    fn from(_: BeyondMemory) -> Self {
        Self
    }
}

impl From<SfrpStatus> for PayloadFault {
    fn from(_: SfrpStatus) -> Self {
        Self
    }
}

impl From<PayloadFault> for SfrpStatus {
    fn from(_: PayloadFault) -> Self {
        Self::MEMORY
    }
}

impl<'a> Payload<'a> {
    /// Copies the payload out.
    ///
    /// # Errors
    /// Its memory has gone.
    pub fn copy_to(&self, out: &mut [u8]) -> Result<(), PayloadFault> {
        match *self {
            Self::Bytes(bytes) => {
                out.copy_from_slice(bytes.get(..out.len()).ok_or(PayloadFault)?);
                Ok(())
            }
            Self::Pieces { memory, pieces, offset } => {
                scatter(pieces, offset, out.len() as u32, |piece, range| {
                    Ok(memory.read(piece, &mut out[range])?)
                })
            }
            Self::Stored { source, offset } => source.read(offset, out),
        }
    }

    /// The payload without its first bytes.
    #[must_use]
    pub fn part(self, from: u32) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.get(from as usize..).unwrap_or(&[])),
            Self::Pieces { memory, pieces, offset } => {
                Self::Pieces { memory, pieces, offset: offset.saturating_add(from) }
            }
            Self::Stored { source, offset } => {
                Self::Stored { source, offset: offset + u64::from(from) }
            }
        }
    }

    /// The first bytes of a short payload, in `space` if they are not at hand.
    ///
    /// # Errors
    /// More bytes than there is space for, or its memory has gone.
    pub fn small<'s>(
        &self,
        bytes: usize,
        space: &'s mut [u8; SMALL],
    ) -> Result<&'s [u8], PayloadFault>
    where
        'a: 's,
    {
        if let Self::Bytes(at_hand) = *self {
            return at_hand.get(..bytes).ok_or(PayloadFault);
        }
        let space = space.get_mut(..bytes).ok_or(PayloadFault)?;
        self.copy_to(space)?;
        Ok(space)
    }

    /// Copies bytes of the payload from `from` on into a piece of local memory, as many as it has.
    ///
    /// # Errors
    /// One of the two memories does not have them.
    pub fn copy_into(
        &self,
        from: u32,
        to: &mut dyn LocalMemory,
        place: Local,
    ) -> Result<(), PayloadFault> {
        match *self {
            Self::Bytes(bytes) => {
                let from = from as usize;
                let bytes = bytes.get(from..from + place.length as usize).ok_or(PayloadFault)?;
                Ok(to.write(place, bytes)?)
            }
            Self::Pieces { memory, pieces, offset } => {
                let start = offset.checked_add(from).ok_or(PayloadFault)?;
                scatter(pieces, start, place.length, |piece, range| {
                    carry(memory, piece, to, part(place, range))
                })
            }
            Self::Stored { source, offset } => {
                source.copy_into(offset + u64::from(from), to, place)
            }
        }
    }
}

/// A part of a piece.
fn part(piece: Local, range: std::ops::Range<usize>) -> Local {
    let offset = piece.offset + range.start as u64;
    Local { offset, length: range.len() as u32, ..piece }
}

/// Copies a piece of one memory into a piece of another, of the same length.
pub fn carry(
    from: &dyn LocalMemory,
    piece: Local,
    to: &mut dyn LocalMemory,
    place: Local,
) -> Result<(), PayloadFault> {
    if let Some(bytes) = from.shared(piece) {
        return Ok(to.write_shared(place, bytes)?);
    }
    let mut buffer = [0; 1024];
    let mut done = 0;
    while done < piece.length {
        let bytes = (piece.length - done).min(buffer.len() as u32) as usize;
        let range = done as usize..done as usize + bytes;
        from.read(part(piece, range.clone()), &mut buffer[..bytes])?;
        to.write(part(place, range), &buffer[..bytes])?;
        done += bytes as u32;
    }
    Ok(())
}
