//! Results of transactions, discarded packets, and their counters.

use super::super::{BodyError, HeaderError, Instruction, RmapStatus};
use core::fmt;

/// Reason why a transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionFailure {
    /// The target reported an error.
    Status(RmapStatus),
    /// The reply reports success, but its amount of data differs from the request.
    Length {
        /// Bytes in the reply.
        length: u32,
        /// Bytes requested.
        expected: u32,
    },
    /// The reply reports success, but is cut, too long or damaged.
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

/// Reason why a packet completes no transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitiatorDiscard {
    /// The header is refused.
    Header(HeaderError),
    /// The instruction is not that of a reply: the reply bit is missing, or the command code is not
    /// in use.
    Instruction {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// The transaction is not outstanding: it timed out, was cancelled, or never existed.
    Unknown {
        /// Transaction identifier.
        transaction: u16,
    },
    /// The reply is from another target or of another kind than the outstanding transaction, which
    /// stays outstanding.
    Mismatch {
        /// Transaction identifier.
        transaction: u16,
    },
}

impl fmt::Display for InitiatorDiscard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Instruction { instruction } => {
                write!(f, "instruction: {:#04x} is not that of a reply", instruction.0)
            }
            Self::Unknown { transaction } => {
                write!(f, "transaction {transaction}: not outstanding")
            }
            Self::Mismatch { transaction } => {
                write!(
                    f,
                    "transaction {transaction}: reply from another target or to another command"
                )
            }
        }
    }
}

impl core::error::Error for InitiatorDiscard {}

/// Counters of an initiator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionCounters {
    /// Commands written.
    pub commands: u64,
    /// Transactions that succeeded.
    pub completed: u64,
    /// Transactions that failed with an error status of the target.
    pub refused: u64,
    /// Transactions that failed because of an invalid reply.
    pub invalid: u64,
    /// Transactions that timed out.
    pub timed_out: u64,
    /// Discarded packets of other protocols.
    pub other_protocol: u64,
    /// Discarded commands and packets of reserved types.
    pub not_reply: u64,
    /// Discarded packets with a cut or damaged header.
    pub header_errors: u64,
    /// Discarded packets whose instruction is not that of a reply.
    pub instruction_errors: u64,
    /// Discarded replies without an outstanding transaction.
    pub unknown: u64,
    /// Discarded replies from another target or to another command.
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
