//! Why a packet is refused, or cannot be written.

use super::{ADDRESS_MAX, BodyError, Instruction, LENGTH_MAX, PID};
use crate::packet::NoRoom;
use core::fmt;

/// Why the header of a packet is refused. Nothing in such a packet can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The packet ends in the header.
    Short {
        /// Bytes of the packet.
        bytes: usize,
        /// Bytes of the header.
        needed: usize,
    },
    /// Another protocol.
    Protocol {
        /// Its identifier.
        pid: u8,
    },
    /// A reply where a command is due, or the other way round.
    PacketType {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// The header CRC does not match.
    Crc {
        /// In the packet.
        found: u8,
        /// Over the header.
        expected: u8,
    },
    /// The reserved byte of a reply with data is not zero.
    Reserved {
        /// Its value.
        value: u8,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes, needed } => {
                write!(f, "RMAP header: packet of {bytes} bytes, {needed} needed")
            }
            Self::Protocol { pid } => write!(f, "protocol identifier: {pid}, RMAP has {PID}"),
            Self::PacketType { instruction } => {
                write!(f, "instruction: {:#04x}, not of the packet type due", instruction.0)
            }
            Self::Crc { found, expected } => {
                write!(f, "header CRC: {found:#04x}, {expected:#04x} expected")
            }
            Self::Reserved { value } => write!(f, "reserved byte of reply: {value}, 0 expected"),
        }
    }
}

impl core::error::Error for HeaderError {}

/// Why a packet is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// Its header.
    Header(HeaderError),
    /// A command code of no meaning: nobody knows whether data follows.
    Code {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// What follows the header.
    Body(BodyError),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Code { instruction } => {
                write!(f, "command code: {:#06b}, not in use", instruction.code())
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

/// Why a packet cannot be written; the buffer is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The buffer is too small.
    NoRoom(NoRoom),
    /// An address of more than 40 bits.
    Address {
        /// The address.
        address: u64,
    },
    /// A data length of more than 24 bits.
    Length {
        /// The length, in bytes.
        length: usize,
    },
    /// Data that does not go with the header.
    Data {
        /// Bytes of the data.
        bytes: usize,
        /// Bytes the header says.
        expected: usize,
    },
    /// A read-modify-write with more than four bytes of data, or a mask of another length.
    Mask {
        /// Bytes of the data.
        data: usize,
        /// Bytes of the mask.
        mask: usize,
    },
    /// An instruction that is none of this kind of packet.
    Instruction {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// As many transactions await their replies as the initiator can hold.
    Outstanding {
        /// That many.
        capacity: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom(error) => error.fmt(f),
            Self::Address { address } => {
                write!(f, "address: {address:#x}, at most {ADDRESS_MAX:#x}")
            }
            Self::Length { length } => write!(f, "data length: {length}, at most {LENGTH_MAX}"),
            Self::Data { bytes, expected } => write!(f, "data: {bytes} bytes, {expected} expected"),
            Self::Mask { data, mask } => write!(
                f,
                "read-modify-write: {data} bytes of data and {mask} of mask, at most 4 and as many"
            ),
            Self::Instruction { instruction } => {
                write!(f, "instruction: {:#04x}, not of this kind of packet", instruction.0)
            }
            Self::Outstanding { capacity } => {
                write!(f, "outstanding transactions: {capacity}, at most {capacity}")
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
