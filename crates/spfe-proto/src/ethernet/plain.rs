//! Version 1: a header of fixed bytes, then the frame.

use crate::packet::{DEFAULT_LOGICAL_ADDRESS, NoRoom, PacketEnd};
use core::fmt;

/// Protocol identifier: one of those that are free for a project (50-51C).
pub const PID: u8 = 0xf5;
/// Version of this encapsulation.
pub const VERSION: u8 = 1;
/// Header of every packet: target logical address, protocol, version, flags, two reserved bytes.
pub const HEADER: [u8; HEADER_BYTES] = [DEFAULT_LOGICAL_ADDRESS, PID, VERSION, 0, 0, 0];
/// Bytes of the header.
pub const HEADER_BYTES: usize = 6;
/// Bytes of the shortest frame: two addresses and a type.
pub const FRAME_MIN_BYTES: usize = 14;
/// Maximum bytes of a frame before its payload: two addresses, a VLAN tag, a type.
pub const FRAME_HEADER_MAX_BYTES: usize = 18;
/// Smallest MTU, bytes.
pub const MTU_MIN: u32 = 68;
/// Largest MTU, bytes.
pub const MTU_MAX: u32 = 65_500;
/// Default MTU, bytes.
pub const MTU_DEFAULT: u32 = 9_000;

/// Bytes of the longest packet of an interface with this MTU.
pub const fn packet_bytes(mtu: u32) -> usize {
    HEADER_BYTES + FRAME_HEADER_MAX_BYTES + mtu as usize
}

/// Reason why a packet is dropped. Drops are only counted; no reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The packet ended with EEP.
    Cut,
    /// The packet is too short for header and frame.
    Short {
        /// Bytes of the packet.
        bytes: usize,
    },
    /// The packet is longer than the MTU allows.
    Long {
        /// Bytes of the packet.
        bytes: usize,
        /// Maximum length in bytes.
        most: usize,
    },
    /// A byte of the header has a wrong value.
    Header {
        /// Index of the byte.
        at: usize,
        /// Value of the byte.
        value: u8,
    },
    /// Checksum or segments of a version 2 frame do not fit it.
    Offload,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cut => write!(f, "Ethernet packet: cut by the network (EEP)"),
            Self::Short { bytes } => {
                let least = HEADER_BYTES + FRAME_MIN_BYTES;
                write!(f, "Ethernet packet: {bytes} bytes, at least {least} needed")
            }
            Self::Long { bytes, most } => {
                write!(f, "Ethernet packet: {bytes} bytes, at most {most} allowed by the MTU")
            }
            Self::Header { at, value } => {
                write!(f, "Ethernet packet: header byte {at} is {value:#04x}")
            }
            Self::Offload => {
                write!(f, "Ethernet packet: checksum or segments do not fit the frame")
            }
        }
    }
}

impl core::error::Error for DropReason {}

/// Writes the header to the start of a packet's buffer. Returns the part of the buffer for the
/// frame.
///
/// # Errors
/// The buffer is too short for header and frame; nothing was written.
pub fn begin(packet: &mut [u8]) -> Result<&mut [u8], NoRoom> {
    let (bytes, needed) = (packet.len(), HEADER_BYTES + FRAME_MIN_BYTES);
    match packet.split_first_chunk_mut() {
        Some((header, frame)) if bytes >= needed => {
            *header = HEADER;
            Ok(frame)
        }
        _ => Err(NoRoom { bytes, needed }),
    }
}

/// Extracts the frame of a packet of at most `most` bytes ([`packet_bytes`]).
///
/// # Errors
/// The reason for dropping the packet: EEP, length or header, checked in this order.
pub fn parse(packet: &[u8], end: PacketEnd, most: usize) -> Result<&[u8], DropReason> {
    let bytes = packet.len();
    if end == PacketEnd::Eep {
        return Err(DropReason::Cut);
    }
    if bytes > most {
        return Err(DropReason::Long { bytes, most });
    }
    let Some((header, frame)) = packet.split_first_chunk::<HEADER_BYTES>() else {
        return Err(DropReason::Short { bytes });
    };
    if frame.len() < FRAME_MIN_BYTES {
        return Err(DropReason::Short { bytes });
    }
    if *header != HEADER {
        let differs = header.iter().zip(HEADER).position(|(found, wanted)| *found != wanted);
        let at = differs.unwrap_or_default();
        return Err(DropReason::Header { at, value: header.get(at).copied().unwrap_or_default() });
    }
    Ok(frame)
}
