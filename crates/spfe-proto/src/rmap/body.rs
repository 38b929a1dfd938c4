//! The part after a header: data and its CRC, or nothing (50-52C 5.3.3.4, 5.4.3, 5.5.3).

use super::{RmapStatus, crc::crc};
use crate::packet::PacketEnd;
use core::fmt;

/// Error after an intact header. If there are several, the first of this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The network cut the packet.
    Eep {
        /// Bytes after the header.
        bytes: usize,
        /// Expected bytes, including the CRC.
        expected: usize,
    },
    /// The packet ends too early.
    Early {
        /// Bytes after the header.
        bytes: usize,
        /// Expected bytes, including the CRC.
        expected: usize,
    },
    /// The packet continues after its data.
    TooMuch {
        /// Bytes after the header.
        bytes: usize,
        /// Expected bytes, including the CRC.
        expected: usize,
    },
    /// The data CRC does not match.
    Crc {
        /// CRC in the packet.
        found: u8,
        /// CRC of the data.
        expected: u8,
    },
}

impl BodyError {
    /// Status with which a target replies.
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
                write!(f, "data and CRC: error end of packet after {bytes} of {expected} bytes")
            }
            Self::Early { bytes, expected } => {
                write!(f, "data and CRC: {bytes} bytes, {expected} expected")
            }
            Self::TooMuch { bytes, expected } => {
                write!(f, "data and CRC: {bytes} bytes, at most {expected} expected")
            }
            Self::Crc { found, expected } => {
                write!(f, "data CRC: {found:#04x}, {expected:#04x} expected")
            }
        }
    }
}

impl core::error::Error for BodyError {}

/// Compares the number of bytes after the header with the expected one, and checks the end of the
/// packet.
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

/// Extracts the data of a packet. `rest` follows the header; `length` is the length in the header.
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
