//! Errors that give buffers back.

use spfe_contract::Status;
pub use spfe_host::{Error, Result};

/// Buffers that a queue did not accept, and the reason.
#[derive(Debug)]
pub struct Refused<T> {
    /// The buffers, unchanged.
    pub back: T,
    /// BUSY: take completions, then try again. With any other status another try fails as well.
    pub error: Error,
}

impl<T> Refused<T> {
    #[cold]
    pub(crate) fn new(back: T, status: Status, what: impl Into<String>) -> Self {
        Self { back, error: Error::device(status, what) }
    }

    /// The status of the error.
    pub fn status(&self) -> Option<Status> {
        self.error.status()
    }
}

impl<T> std::fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: std::fmt::Debug> std::error::Error for Refused<T> {}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

/// A buffer for which a queue had no room.
#[derive(Debug)]
pub struct Full<T>(pub T);

impl<T> std::fmt::Display for Full<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the queue is full: take completions first")
    }
}

impl<T: std::fmt::Debug> std::error::Error for Full<T> {}

impl<T> From<Full<T>> for Error {
    fn from(_: Full<T>) -> Self {
        Self::device(Status::Busy, "the queue is full: take completions first")
    }
}
