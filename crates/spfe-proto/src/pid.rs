//! Protocol identifiers: which protocol a packet belongs to (ECSS-E-ST-50-51C).
//!
//! The byte behind the target logical address names the protocol; 0 says that two more bytes do.

use crate::packet::{NoRoom, put};
use core::fmt;

/// A protocol, by the range of its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// 1: remote memory access (50-52C).
    Rmap,
    /// 2: CCSDS packet transfer (50-53C).
    PacketTransfer,
    /// 238: the GOES-R reliable data delivery protocol.
    Grddp,
    /// 239: the serial transfer universal protocol.
    Stup,
    /// 3 to 237: for the standard's working group to assign. A node that knows none of them discards.
    Standard(u8),
    /// 240 to 254: free for a project or mission; two projects may use the same one.
    Mission(u8),
    /// 0, and a 16-bit identifier from 0x0100 on.
    Extended(u16),
}

/// Why a packet belongs to no protocol: it is discarded (50-51C), and best counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PidError {
    /// It ends before its identifier does.
    Short {
        /// Bytes of the packet.
        bytes: usize,
        /// Bytes its identifier ends at.
        needed: usize,
    },
    /// 255 is never used.
    Reserved,
    /// Extended identifiers 0x0000 to 0x00ff are reserved.
    ExtendedReserved {
        /// The identifier.
        identifier: u16,
    },
}

impl fmt::Display for PidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes, needed } => {
                write!(f, "protocol identifier: packet of {bytes} bytes, {needed} needed")
            }
            Self::Reserved => write!(f, "protocol identifier: 255, at most 254 in use"),
            Self::ExtendedReserved { identifier } => {
                write!(f, "extended protocol identifier: {identifier:#06x}, at least 0x0100 in use")
            }
        }
    }
}

impl core::error::Error for PidError {}

/// A packet with its protocol found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifiedPacket<'a> {
    /// Target logical address.
    pub target: u8,
    /// Which protocol the rest belongs to.
    pub protocol: Protocol,
    /// The bytes behind the identifier.
    pub cargo: &'a [u8],
}

impl Protocol {
    /// The protocol of a one-byte identifier; none for 0 (look at the extended one) and 255.
    pub const fn of(pid: u8) -> Option<Self> {
        match pid {
            0 | 255 => None,
            1 => Some(Self::Rmap),
            2 => Some(Self::PacketTransfer),
            238 => Some(Self::Grddp),
            239 => Some(Self::Stup),
            3..=237 => Some(Self::Standard(pid)),
            240..=254 => Some(Self::Mission(pid)),
        }
    }

    /// The protocol of an extended identifier; none below 0x0100.
    pub const fn of_extended(identifier: u16) -> Option<Self> {
        if identifier < 0x0100 { None } else { Some(Self::Extended(identifier)) }
    }

    /// The protocol identifier byte; 0 for an extended one.
    pub const fn pid(self) -> u8 {
        match self {
            Self::Rmap => 1,
            Self::PacketTransfer => 2,
            Self::Grddp => 238,
            Self::Stup => 239,
            Self::Standard(pid) | Self::Mission(pid) => pid,
            Self::Extended(_) => 0,
        }
    }
}

impl<'a> IdentifiedPacket<'a> {
    /// Finds the protocol of a packet that starts at its target logical address.
    pub fn parse(packet: &'a [u8]) -> Result<Self, PidError> {
        let short = |needed| PidError::Short { bytes: packet.len(), needed };
        let [target, pid, cargo @ ..] = packet else { return Err(short(2)) };
        if *pid != 0 {
            let protocol = Protocol::of(*pid).ok_or(PidError::Reserved)?;
            return Ok(Self { target: *target, protocol, cargo });
        }
        let [high, low, cargo @ ..] = cargo else { return Err(short(4)) };
        let identifier = u16::from_be_bytes([*high, *low]);
        let protocol =
            Protocol::of_extended(identifier).ok_or(PidError::ExtendedReserved { identifier })?;
        Ok(Self { target: *target, protocol, cargo })
    }

    /// Writes the packet behind the bytes of its path; returns how many bytes it wrote.
    pub fn write(&self, path: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let extended;
        let identifier: &[u8] = match self.protocol {
            Protocol::Extended(identifier) => {
                extended = identifier.to_be_bytes();
                &extended
            }
            _ => &[],
        };
        let start = [self.target, self.protocol.pid()];
        put(out, &[path, &start, identifier, self.cargo])
    }
}
