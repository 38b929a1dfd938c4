//! One error type for everything the library does.

use spfe_contract::{Status, StatusClass};
use std::io;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deadline passed first. Nothing was consumed; waiting again goes on where this ended.
    #[error("timed out: {0}")]
    TimedOut(&'static str),
    /// A [`crate::Canceller`] ended the wait. Nothing was consumed; waiting again goes on where this
    /// ended.
    #[error("cancelled: {0}")]
    Cancelled(&'static str),
    /// A device name is not one: nothing was looked for. (A well-formed name of a device that is not
    /// there is NOT_FOUND or DEVICE_GONE.)
    #[error("device '{name}': {what}; use {}", crate::uri::GRAMMAR)]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// The device, the control plane or the contract says no.
    #[error("{what} ({})", .status.name())]
    Device {
        /// The contract's status: local, remote, link or usage fault.
        status: Status,
        /// Object, value, limit, and what to do.
        what: String,
    },
    /// The operating system says no.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Its answer.
        source: io::Error,
    },
}

impl Error {
    /// An error with a status of the contract.
    pub fn device(status: Status, what: impl Into<String>) -> Self {
        Self::Device { status, what: what.into() }
    }

    /// An error of the operating system.
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// The contract's status, if it has one. A malformed name is a BAD_FIELD, a wait that was ended
    /// CANCELLED.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Device { status, .. } => Some(*status),
            Self::Name { .. } => Some(Status::BadField),
            Self::Cancelled(_) => Some(Status::Cancelled),
            Self::TimedOut(_) | Self::Io { .. } => None,
        }
    }

    /// Whose fault it was.
    pub fn class(&self) -> StatusClass {
        self.status().map_or(StatusClass::Local, Status::class)
    }

    /// Whether it is a deadline that passed.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    /// Whether a [`crate::Canceller`] ended the wait.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled(_))
    }

    /// The Linux errno that says the same.
    pub fn errno(&self) -> i32 {
        match self {
            Self::TimedOut(_) => libc::ETIMEDOUT,
            Self::Device { status, .. } => status.errno(),
            Self::Name { .. } => Status::BadField.errno(),
            Self::Cancelled(_) => Status::Cancelled.errno(),
            Self::Io { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

impl From<spfe_net::Error> for Error {
    fn from(error: spfe_net::Error) -> Self {
        Self::Device { status: error.status(), what: error.what }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io { what: "operating system".into(), source }
    }
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Buffers that were not taken, given back, and why.
#[derive(Debug)]
pub struct Refused<T> {
    /// The buffers, as they were.
    pub back: T,
    /// BUSY: take completions first, then try again. Any other status: it never fits.
    pub error: Error,
}

impl<T> Refused<T> {
    #[cold]
    pub(crate) fn new(back: T, status: Status, what: impl Into<String>) -> Self {
        Self { back, error: Error::device(status, what) }
    }

    /// The contract's status.
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

/// A buffer the queue had no room for, given back.
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
