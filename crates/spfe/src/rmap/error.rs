//! Errors of RMAP transactions.

use spfe_proto::rmap::initiator::TransactionFailure;
use spfe_proto::rmap::{BuildError, RmapStatus};
use std::fmt;

/// Description of a command, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// `read`, `write` or `read-modify-write`.
    pub kind: &'static str,
    /// Address, 40 bits.
    pub address: u64,
    /// Number of data bytes.
    pub bytes: usize,
    /// Logical address of the target.
    pub target: u8,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, address, bytes, target } = self;
        write!(f, "RMAP {kind} of {bytes} bytes at {address:#012x} of target {target:#04x}")
    }
}

/// Why a transaction failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target replied with an error status.
    #[error("{access}: {status} (ECSS-E-ST-50-52C 5.6)")]
    Refused {
        /// The command.
        access: Access,
        /// Status of the reply.
        status: RmapStatus,
    },
    /// The target reports success, but the reply is cut, damaged or of a wrong length.
    #[error("{access}: invalid reply: {failure} (ECSS-E-ST-50-52C 5.6)")]
    Invalid {
        /// The command.
        access: Access,
        /// What is wrong with the reply.
        failure: TransactionFailure,
    },
    /// No reply arrived by the deadline. A later one is discarded and counted.
    #[error("{access}: no reply to transaction {transaction} by the deadline")]
    TimedOut {
        /// The command.
        access: Access,
        /// Its transaction identifier.
        transaction: u16,
    },
    /// The command cannot be encoded, or too many transactions are outstanding.
    #[error("RMAP command: {0}")]
    Command(#[from] BuildError),
    /// A queue of the endpoint failed.
    #[error(transparent)]
    Device(#[from] crate::Error),
}

impl Error {
    /// The error status of the target's reply, for [`Error::Refused`].
    pub fn rmap_status(&self) -> Option<RmapStatus> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether a deadline has passed.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Device(error) => error.is_timeout(),
            _ => false,
        }
    }

    /// Whether a [`crate::Canceller`] ended the wait.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Device(error) if error.is_cancelled())
    }
}
