//! Completions.

use super::work::{Work, WorkKind, WorkRequest};
use spfe_contract::Status;
use spfe_proto::sfrp::SfrpStatus;
use std::fmt;

/// What is known about an operation that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// It was not executed and never will be.
    NotExecuted,
    /// It was executed once, in part, or not at all.
    Unknown,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkError {
    /// The target refused it.
    Refused(SfrpStatus, Execution),
    /// No answer came, however often it was sent.
    RetryExceeded,
    /// The receiver was not ready or busy, however often it was asked.
    NotReadyExceeded(SfrpStatus),
    /// An answer does not fit the request.
    BadResponse,
    /// The local memory could not be used.
    LocalMemory(Execution),
    /// An earlier request failed, or the queue pair was reset.
    Flushed(Execution),
}

impl WorkError {
    /// What is known about the execution.
    pub fn execution(self) -> Execution {
        match self {
            Self::Refused(_, execution) | Self::Flushed(execution) => execution,
            Self::LocalMemory(execution) => execution,
            Self::RetryExceeded | Self::NotReadyExceeded(_) | Self::BadResponse => {
                Execution::Unknown
            }
        }
    }

    /// The status of the contract.
    pub fn status(self) -> Status {
        match self {
            Self::NotReadyExceeded(_) => Status::NotReady,
            Self::RetryExceeded => Status::NoAnswer,
            Self::BadResponse => Status::RemoteData,
            Self::LocalMemory(_) => Status::BadRegion,
            Self::Flushed(_) => Status::Flushed,
            Self::Refused(status, _) => match status {
                SfrpStatus::BAD_KEY
                | SfrpStatus::BOUNDS
                | SfrpStatus::ACCESS
                | SfrpStatus::REVOKED => Status::RemoteAccess,
                SfrpStatus::MESSAGE_TOO_LONG => Status::TooLong,
                SfrpStatus::MEMORY => Status::RemoteMemory,
                SfrpStatus::PAYLOAD_CRC
                | SfrpStatus::SHORT
                | SfrpStatus::LONG
                | SfrpStatus::EEP => Status::RemoteData,
                SfrpStatus::RECEIVER_NOT_READY | SfrpStatus::BUSY => Status::NotReady,
                SfrpStatus::SEQUENCE => Status::NoAnswer,
                _ => Status::RemoteRequest,
            },
        }
    }

    /// What the target said; OK if it said nothing.
    pub fn refusal(self) -> SfrpStatus {
        match self {
            Self::Refused(status, _) | Self::NotReadyExceeded(status) => status,
            _ => SfrpStatus::OK,
        }
    }

    /// The completion status of verbs.
    pub fn verbs(self) -> u32 {
        match self {
            Self::LocalMemory(_) => 4,
            Self::Flushed(_) => 5,
            Self::BadResponse => 7,
            Self::RetryExceeded => 12,
            Self::NotReadyExceeded(SfrpStatus::RECEIVER_NOT_READY) => 13,
            Self::NotReadyExceeded(_) => 12,
            Self::Refused(status, _) => match status {
                SfrpStatus::BAD_KEY
                | SfrpStatus::BOUNDS
                | SfrpStatus::ACCESS
                | SfrpStatus::REVOKED => 10,
                SfrpStatus::MEMORY => 11,
                SfrpStatus::PAYLOAD_CRC
                | SfrpStatus::SHORT
                | SfrpStatus::LONG
                | SfrpStatus::EEP => 7,
                SfrpStatus::RECEIVER_NOT_READY => 13,
                SfrpStatus::BUSY | SfrpStatus::SEQUENCE => 12,
                SfrpStatus::BAD_VERSION
                | SfrpStatus::BAD_OPCODE
                | SfrpStatus::BAD_LENGTH
                | SfrpStatus::MESSAGE_TOO_LONG
                | SfrpStatus::BAD_QUEUE => 9,
                _ => 21,
            },
        }
    }
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(status, _) => write!(f, "refused with {status}")?,
            Self::RetryExceeded => write!(f, "no answer from the target")?,
            Self::NotReadyExceeded(status) => write!(f, "given up after many tries, {status}")?,
            Self::BadResponse => write!(f, "the response does not fit the request")?,
            Self::LocalMemory(_) => write!(f, "the local memory cannot be used")?,
            Self::Flushed(_) => write!(f, "an earlier request failed")?,
        }
        match self.execution() {
            Execution::NotExecuted => write!(f, "; it was not executed"),
            Execution::Unknown => write!(f, "; whether it was executed is not known"),
        }
    }
}

impl std::error::Error for WorkError {}

/// End of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCompletion {
    /// Identifier of the request.
    pub id: u64,
    /// What it was.
    pub kind: WorkKind,
    /// Bytes of the request.
    pub bytes: u32,
    /// Old value of an atomic operation.
    pub old: Option<u64>,
    /// OK, or why it failed.
    pub result: Result<(), WorkError>,
}

impl Work {
    /// Ends the request.
    pub(super) fn completion(self, result: Result<(), WorkError>) -> WorkCompletion {
        let WorkRequest { id, kind, .. } = self.request;
        let bytes = if result.is_ok() { self.bytes } else { self.arrived };
        WorkCompletion { id, kind, bytes, old: self.old, result }
    }
}
