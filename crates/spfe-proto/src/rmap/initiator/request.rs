//! What an initiator asks for, and of whom.

use super::super::{BuildError, RMW_MAX, ReplyAddress, RmapOperation};
use crate::packet::DEFAULT_LOGICAL_ADDRESS;

/// A target as an initiator reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapNode<'a> {
    /// Path bytes in front of commands.
    pub path: &'a [u8],
    /// Target logical address.
    pub target: u8,
    /// The key the target wants.
    pub key: u8,
    /// The path back.
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

/// What an initiator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmapRequest<'a> {
    /// Read.
    Read {
        /// Consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// Bytes.
        length: u32,
    },
    /// Write.
    Write {
        /// The target checks all data before it writes any.
        verify: bool,
        /// The target acknowledges. If not, the initiator forgets the command once it is written.
        reply: bool,
        /// Consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// The data.
        data: &'a [u8],
    },
    /// Write the bits of `data` where `mask` is one, and read what was there.
    ReadModifyWrite {
        /// 0 to 4 bytes.
        data: &'a [u8],
        /// As many.
        mask: &'a [u8],
    },
}

impl<'a> RmapRequest<'a> {
    /// A read of consecutive addresses.
    pub const fn read(length: u32) -> Self {
        Self::Read { increment: true, length }
    }

    /// A verified, acknowledged write to consecutive addresses.
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

    /// The data length of the command, and of its reply.
    pub(super) fn lengths(&self) -> (usize, u32) {
        match self {
            Self::Read { length, .. } => (*length as usize, *length),
            Self::Write { data, .. } => (data.len(), 0),
            Self::ReadModifyWrite { data, mask } => (data.len() + mask.len(), data.len() as u32),
        }
    }

    /// The data of the command, in its parts.
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
