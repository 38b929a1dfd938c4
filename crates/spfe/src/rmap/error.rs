//! Why a transaction failed.

use spfe_proto::rmap::initiator::TransactionFailure;
use spfe_proto::rmap::{BuildError, RmapStatus};
use std::fmt;

/// What a command does: for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// `read`, `write` or `read-modify-write`.
    pub kind: &'static str,
    /// Address, 40 bits.
    pub address: u64,
    /// Bytes of data.
    pub bytes: usize,
    /// Target logical address.
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
        /// What was asked for.
        access: Access,
        /// The status, by its number and name.
        status: RmapStatus,
    },
    /// The target says success, but the reply is cut, damaged or of another length.
    #[error("{access}: invalid reply: {failure} (ECSS-E-ST-50-52C 5.6)")]
    Invalid {
        /// What was asked for.
        access: Access,
        /// What is wrong with the reply.
        failure: TransactionFailure,
    },
    /// No reply came by the deadline. It is discarded and counted when it comes later.
    #[error("{access}: no reply to transaction {transaction} by the deadline")]
    TimedOut {
        /// What was asked for.
        access: Access,
        /// Its transaction identifier.
        transaction: u16,
    },
    /// A command that cannot be said, or for which there is no place.
    #[error("RMAP command: {0}")]
    Command(#[from] BuildError),
    /// The queues of the endpoint.
    #[error(transparent)]
    Device(#[from] crate::Error),
}

impl Error {
    /// The status the target replied with, if that is what it is.
    pub fn rmap_status(&self) -> Option<RmapStatus> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether it is a deadline that passed.
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
