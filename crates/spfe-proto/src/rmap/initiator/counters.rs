//! How transactions end, which packets end none, and how many.

use super::super::{BodyError, HeaderError, Instruction, RmapStatus};
use core::fmt;

/// Why a transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionFailure {
    /// The target said so.
    Status(RmapStatus),
    /// The reply says success, with another amount of data than asked for.
    Length {
        /// Bytes in the reply.
        length: u32,
        /// Bytes asked for.
        expected: u32,
    },
    /// The reply says success, but is cut, too long or damaged.
    Body(BodyError),
}

impl fmt::Display for TransactionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Length { length, expected } => {
                write!(f, "data length of reply: {length}, {expected} expected")
            }
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TransactionFailure {}

/// Why a packet completes no transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitiatorDiscard {
    /// Its header.
    Header(HeaderError),
    /// An instruction that no reply has: no reply bit, or a command code not in use.
    Instruction {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// Nobody waits for this transaction: it timed out, was cancelled, or never was.
    Unknown {
        /// Its identifier.
        transaction: u16,
    },
    /// Somebody waits for this transaction, from another target or of another kind. That one goes on.
    Mismatch {
        /// Its identifier.
        transaction: u16,
    },
}

impl fmt::Display for InitiatorDiscard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Instruction { instruction } => {
                write!(f, "instruction: {:#04x}, of no reply", instruction.0)
            }
            Self::Unknown { transaction } => {
                write!(f, "transaction {transaction}: not outstanding")
            }
            Self::Mismatch { transaction } => {
                write!(f, "transaction {transaction}: reply of another target or command")
            }
        }
    }
}

impl core::error::Error for InitiatorDiscard {}

/// What an initiator counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionCounters {
    /// Commands written.
    pub commands: u64,
    /// Transactions that ended with success.
    pub completed: u64,
    /// Transactions that ended with an error status of the target.
    pub refused: u64,
    /// Transactions that ended with an invalid reply.
    pub invalid: u64,
    /// Transactions that timed out.
    pub timed_out: u64,
    /// Packets discarded: of another protocol.
    pub other_protocol: u64,
    /// Packets discarded: commands and reserved packet types.
    pub not_reply: u64,
    /// Packets discarded: cut in their header, or their header damaged.
    pub header_errors: u64,
    /// Packets discarded: instructions that no reply has.
    pub instruction_errors: u64,
    /// Packets discarded: replies that nobody waits for.
    pub unknown: u64,
    /// Packets discarded: replies of another target or command.
    pub mismatched: u64,
}

impl TransactionCounters {
    pub(super) const NONE: Self = Self {
        commands: 0,
        completed: 0,
        refused: 0,
        invalid: 0,
        timed_out: 0,
        other_protocol: 0,
        not_reply: 0,
        header_errors: 0,
        instruction_errors: 0,
        unknown: 0,
        mismatched: 0,
    };

    pub(super) fn ended(&mut self, result: Result<&[u8], TransactionFailure>) {
        *match result {
            Ok(_) => &mut self.completed,
            Err(TransactionFailure::Status(_)) => &mut self.refused,
            Err(TransactionFailure::Length { .. } | TransactionFailure::Body(_)) => {
                &mut self.invalid
            }
        } += 1;
    }

    pub(super) fn discarded(&mut self, discard: InitiatorDiscard) {
        *match discard {
            InitiatorDiscard::Header(HeaderError::Protocol { .. }) => &mut self.other_protocol,
            InitiatorDiscard::Header(HeaderError::PacketType { .. }) => &mut self.not_reply,
            InitiatorDiscard::Header(_) => &mut self.header_errors,
            InitiatorDiscard::Instruction { .. } => &mut self.instruction_errors,
            InitiatorDiscard::Unknown { .. } => &mut self.unknown,
            InitiatorDiscard::Mismatch { .. } => &mut self.mismatched,
        } += 1;
    }
}
