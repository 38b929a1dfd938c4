//! Errors of RDMA operations.

use spfe_proto::sfrp::SfrpStatus;
use spfe_rdma::WorkError;
use spfe_rdma::initiator::PostError;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum RdmaError {
    /// The operation completed with an error.
    #[error("RDMA {what}: {error}")]
    Work {
        /// Operation, remote address and length.
        what: String,
        /// Why.
        error: WorkError,
    },
    /// The target refused a question.
    #[error("RDMA {what}: {status}")]
    Refused {
        /// The question.
        what: &'static str,
        /// Its answer.
        status: SfrpStatus,
    },
    /// An answer has a wrong length.
    #[error("RDMA {what}: the answer of {bytes} bytes has no valid length")]
    Answer {
        /// The question.
        what: &'static str,
        /// Length of its answer.
        bytes: usize,
    },
    /// The time is up; the text names the credit, timer or partner that the queue waits for.
    #[error("RDMA time-out: {why}")]
    TimedOut {
        /// What it waits for.
        why: String,
    },
    /// The operation cannot be posted.
    #[error("RDMA: {0}")]
    Post(#[from] PostError),
    /// A queue of the endpoint failed.
    #[error(transparent)]
    Device(#[from] spfe::Error),
}

impl RdmaError {
    /// Whether the time was up.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// Whether a [`spfe::Canceller`] ended the wait.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Device(error) if error.is_cancelled())
    }
}
