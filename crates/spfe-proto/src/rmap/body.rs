//! What follows a header: data and its CRC, or nothing (50-52C 5.3.3.4, 5.4.3, 5.5.3).

use super::{RmapStatus, crc::crc};
use crate::packet::PacketEnd;
use core::fmt;

/// What is wrong behind an intact header. If several things are, the first of this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The network cut the packet.
    Eep {
        /// Bytes behind the header.
        bytes: usize,
        /// Bytes due, the CRC included.
        expected: usize,
    },
    /// The packet ends early.
    Early {
        /// Bytes behind the header.
        bytes: usize,
        /// Bytes due, the CRC included.
        expected: usize,
    },
    /// The packet goes on behind its data.
    TooMuch {
        /// Bytes behind the header.
        bytes: usize,
        /// Bytes due, the CRC included.
        expected: usize,
    },
    /// The data CRC does not match.
    Crc {
        /// In the packet.
        found: u8,
        /// Over the data.
        expected: u8,
    },
}

impl BodyError {
    /// The status a target replies with.
    pub const fn status(self) -> RmapStatus {
        match self {
            Self::Eep { .. } => RmapStatus::EEP,
            Self::Early { .. } => RmapStatus::EARLY_EOP,
            Self::TooMuch { .. } => RmapStatus::TOO_MUCH_DATA,
            Self::Crc { .. } => RmapStatus::INVALID_DATA_CRC,
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eep { bytes, expected } => {
                write!(f, "data and CRC: error end of packet behind {bytes} of {expected} bytes")
            }
            Self::Early { bytes, expected } => {
                write!(f, "data and CRC: {bytes} bytes, {expected} expected")
            }
            Self::TooMuch { bytes, expected } => {
                write!(f, "data and CRC: {bytes} bytes, at most {expected}")
            }
            Self::Crc { found, expected } => {
                write!(f, "data CRC: {found:#04x}, {expected:#04x} expected")
            }
        }
    }
}

impl core::error::Error for BodyError {}

/// What the number of bytes behind the header says, and how the packet ended.
pub(super) const fn ending(bytes: usize, expected: usize, end: PacketEnd) -> Result<(), BodyError> {
    if matches!(end, PacketEnd::Eep) {
        Err(BodyError::Eep { bytes, expected })
    } else if bytes < expected {
        Err(BodyError::Early { bytes, expected })
    } else if bytes > expected {
        Err(BodyError::TooMuch { bytes, expected })
    } else {
        Ok(())
    }
}

/// The data of a packet: `rest` is what follows the header, `length` what the header says.
pub fn data(rest: &[u8], length: u32, end: PacketEnd) -> Result<&[u8], BodyError> {
    let expected = (length as usize).saturating_add(1);
    ending(rest.len(), expected, end)?;
    let Some((found, data)) = rest.split_last() else { return Ok(&[]) };
    let expected = crc(data);
    if *found == expected { Ok(data) } else { Err(BodyError::Crc { found: *found, expected }) }
}

/// Checks that nothing follows the header.
pub fn nothing(rest: &[u8], end: PacketEnd) -> Result<(), BodyError> {
    ending(rest.len(), 0, end)
}
