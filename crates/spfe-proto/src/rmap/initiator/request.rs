//! Requests of an initiator, and the targets they go to.

use super::super::{BuildError, RMW_MAX, ReplyAddress, RmapOperation};
use crate::packet::DEFAULT_LOGICAL_ADDRESS;

/// How an initiator reaches a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapNode<'a> {
    /// Path bytes of commands.
    pub path: &'a [u8],
    /// Target logical address.
    pub target: u8,
    /// Key of the target.
    pub key: u8,
    /// Path of replies.
    pub reply_address: ReplyAddress,
    /// Logical address of the initiator.
    pub initiator: u8,
}

impl Default for RmapNode<'_> {
    fn default() -> Self {
        Self {
            path: &[],
            target: DEFAULT_LOGICAL_ADDRESS,
            key: 0,
            reply_address: ReplyAddress::NONE,
            initiator: DEFAULT_LOGICAL_ADDRESS,
        }
    }
}

/// A request of an initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmapRequest<'a> {
    /// Reads memory.
    Read {
        /// Use consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// Number of bytes.
        length: u32,
    },
    /// Writes memory.
    Write {
        /// The target checks all data before it writes any of it.
        verify: bool,
        /// The target sends a reply. Without a reply the initiator keeps no transaction.
        reply: bool,
        /// Use consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// Data to write.
        data: &'a [u8],
    },
    /// Writes the bits of `data` where `mask` is one, and reads the old value.
    ReadModifyWrite {
        /// 0 to 4 bytes.
        data: &'a [u8],
        /// Mask of the same length.
        mask: &'a [u8],
    },
}

impl<'a> RmapRequest<'a> {
    /// A read of consecutive addresses.
    pub const fn read(length: u32) -> Self {
        Self::Read { increment: true, length }
    }

    /// A verified write with reply to consecutive addresses.
    pub const fn write(data: &'a [u8]) -> Self {
        Self::Write { verify: true, reply: true, increment: true, data }
    }

    pub(super) fn operation(&self) -> RmapOperation {
        match *self {
            Self::Read { increment, .. } => RmapOperation::Read { increment },
            Self::Write { verify, reply, increment, .. } => {
                RmapOperation::Write { verify, reply, increment }
            }
            Self::ReadModifyWrite { .. } => RmapOperation::ReadModifyWrite,
        }
    }

    /// Data length of the command and of its reply.
    pub(super) fn lengths(&self) -> (usize, u32) {
        match self {
            Self::Read { length, .. } => (*length as usize, *length),
            Self::Write { data, .. } => (data.len(), 0),
            Self::ReadModifyWrite { data, mask } => (data.len() + mask.len(), data.len() as u32),
        }
    }

    /// The parts of the command's data.
    pub(super) fn parts(&self) -> Result<[&'a [u8]; 2], BuildError> {
        match *self {
            Self::Read { .. } => Ok([&[], &[]]),
            Self::Write { data, .. } => Ok([data, &[]]),
            Self::ReadModifyWrite { data, mask }
                if data.len() != mask.len() || data.len() > RMW_MAX =>
            {
                Err(BuildError::Mask { data: data.len(), mask: mask.len() })
            }
            Self::ReadModifyWrite { data, mask } => Ok([data, mask]),
        }
    }
}
