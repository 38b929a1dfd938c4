//! Reasons why a packet is refused or cannot be written.

use super::{ADDRESS_MAX, BodyError, Instruction, LENGTH_MAX, PID};
use crate::packet::NoRoom;
use core::fmt;

/// Reason why the header of a packet is refused. Nothing in the packet can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The packet ends within the header.
    Short {
        /// Bytes of the packet.
        bytes: usize,
        /// Bytes of the header.
        needed: usize,
    },
    /// The packet belongs to another protocol.
    Protocol {
        /// Protocol identifier.
        pid: u8,
    },
    /// A reply where a command was expected, or the reverse.
    PacketType {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// The header CRC is wrong.
    Crc {
        /// CRC in the packet.
        found: u8,
        /// CRC of the header.
        expected: u8,
    },
    /// The reserved byte of a reply with data is not zero.
    Reserved {
        /// Value of the byte.
        value: u8,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes, needed } => {
                write!(f, "RMAP header: packet of {bytes} bytes, {needed} needed")
            }
            Self::Protocol { pid } => {
                write!(f, "protocol identifier: {pid}, {PID} (RMAP) expected")
            }
            Self::PacketType { instruction } => {
                write!(f, "instruction: {:#04x} is not of the expected packet type", instruction.0)
            }
            Self::Crc { found, expected } => {
                write!(f, "header CRC: {found:#04x}, {expected:#04x} expected")
            }
            Self::Reserved { value } => write!(f, "reserved byte of reply: {value}, 0 expected"),
        }
    }
}

impl core::error::Error for HeaderError {}

/// Reason why a packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// The header is refused.
    Header(HeaderError),
    /// The command code is undefined, so it is not known whether data follows.
    Code {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// The part after the header is wrong.
    Body(BodyError),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Code { instruction } => {
                write!(f, "command code: {:#06b} is not in use", instruction.code())
            }
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PacketError {}

impl From<HeaderError> for PacketError {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

impl From<BodyError> for PacketError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

/// Reason why a packet cannot be written. The buffer is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The buffer is too small.
    NoRoom(NoRoom),
    /// The address has more than 40 bits.
    Address {
        /// The address.
        address: u64,
    },
    /// The data length has more than 24 bits.
    Length {
        /// Length in bytes.
        length: usize,
    },
    /// The data does not fit the header.
    Data {
        /// Bytes of the data.
        bytes: usize,
        /// Bytes according to the header.
        expected: usize,
    },
    /// A read-modify-write has more than four bytes of data, or a mask of another length.
    Mask {
        /// Bytes of the data.
        data: usize,
        /// Bytes of the mask.
        mask: usize,
    },
    /// The instruction is not valid for this kind of packet.
    Instruction {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// The initiator already has its maximum number of outstanding transactions.
    Outstanding {
        /// Maximum number of transactions.
        capacity: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom(error) => error.fmt(f),
            Self::Address { address } => {
                write!(f, "address: {address:#x}, at most {ADDRESS_MAX:#x} allowed")
            }
            Self::Length { length } => {
                write!(f, "data length: {length}, at most {LENGTH_MAX} allowed")
            }
            Self::Data { bytes, expected } => write!(f, "data: {bytes} bytes, {expected} expected"),
            Self::Mask { data, mask } => write!(
                f,
                "read-modify-write: {data} bytes of data and {mask} of mask, at most 4 and as many"
            ),
            Self::Instruction { instruction } => {
                write!(
                    f,
                    "instruction: {:#04x} is not valid for this kind of packet",
                    instruction.0
                )
            }
            Self::Outstanding { capacity } => {
                write!(f, "outstanding transactions: {capacity}, the maximum, are in use")
            }
        }
    }
}

impl core::error::Error for BuildError {}

impl From<NoRoom> for BuildError {
    fn from(error: NoRoom) -> Self {
        Self::NoRoom(error)
    }
}
