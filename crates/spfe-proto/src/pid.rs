//! Protocol identifiers: the protocol of a packet (ECSS-E-ST-50-51C).
//!
//! The byte after the target logical address names the protocol; 0 means that the next two bytes
//! do.

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
    /// 3 to 237: assigned by the working group of the standard. A node that knows none of them
    /// discards the packet.
    Standard(u8),
    /// 240 to 254: free for a project or mission. Two projects may use the same identifier.
    Mission(u8),
    /// 0, followed by a 16-bit identifier from 0x0100 on.
    Extended(u16),
}

/// Reason why a packet belongs to no protocol. Such packets are discarded (50-51C), and should be
/// counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PidError {
    /// The packet ends before its identifier does.
    Short {
        /// Bytes of the packet.
        bytes: usize,
        /// Bytes up to the end of its identifier.
        needed: usize,
    },
    /// Identifier 255, which is never used.
    Reserved,
    /// Extended identifiers 0x0000 to 0x00ff are reserved.
    ExtendedReserved {
        /// The extended identifier.
        identifier: u16,
    },
}

impl fmt::Display for PidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes, needed } => {
                write!(f, "protocol identifier: packet of {bytes} bytes, {needed} needed")
            }
            Self::Reserved => write!(f, "protocol identifier: 255 is reserved, 1 to 254 allowed"),
            Self::ExtendedReserved { identifier } => {
                write!(
                    f,
                    "extended protocol identifier: {identifier:#06x} is reserved, at least 0x0100 needed"
                )
            }
        }
    }
}

impl core::error::Error for PidError {}

/// A packet and its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifiedPacket<'a> {
    /// Target logical address.
    pub target: u8,
    /// Protocol of the packet.
    pub protocol: Protocol,
    /// Bytes after the identifier.
    pub cargo: &'a [u8],
}

impl Protocol {
    /// Protocol of a one-byte identifier; `None` for 0 (an extended identifier follows) and 255.
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

    /// Protocol of an extended identifier; `None` below 0x0100.
    pub const fn of_extended(identifier: u16) -> Option<Self> {
        if identifier < 0x0100 { None } else { Some(Self::Extended(identifier)) }
    }

    /// Protocol identifier byte; 0 for an extended identifier.
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

    /// Writes the path bytes and the packet. Returns the number of bytes written.
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
