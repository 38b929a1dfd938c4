//! Errors of the library and of a control plane.

use serde::{Deserialize, Serialize};
use spfe_contract::{Status, StatusClass};
use std::io;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deadline has passed. Nothing was consumed, so the wait can be repeated.
    #[error("timed out: {0}")]
    TimedOut(&'static str),
    /// A `Canceller` ended the wait. Nothing was consumed, so the wait can be repeated.
    #[error("cancelled: {0}")]
    Cancelled(&'static str),
    /// A device name has a syntax error. (The name of a device that does not exist gives NOT_FOUND or
    /// DEVICE_GONE.)
    #[error("device '{name}': {what}")]
    Name {
        /// The name.
        name: String,
        /// The error in the name, and the grammar of names.
        what: String,
    },
    /// The device, a control plane or the library refuses the operation.
    #[error("{what} ({})", .status.name())]
    Device {
        /// The contract's status: local, remote, link or usage fault.
        status: Status,
        /// Object, value, limit, and what to do.
        what: String,
    },
    /// The operating system refuses the operation.
    #[error("{what}: {source}")]
    Io {
        /// The object of the operation.
        what: String,
        /// The error of the system.
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

    /// The contract's status, if the error has one. A syntax error in a name is BAD_FIELD, a
    /// cancelled wait CANCELLED.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Device { status, .. } => Some(*status),
            Self::Name { .. } => Some(Status::BadField),
            Self::Cancelled(_) => Some(Status::Cancelled),
            Self::TimedOut(_) | Self::Io { .. } => None,
        }
    }

    /// Where the error comes from: local, remote, link or usage.
    pub fn class(&self) -> StatusClass {
        self.status().map_or(StatusClass::Local, Status::class)
    }

    /// Whether a deadline has passed.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    /// Whether a `Canceller` ended the wait.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled(_))
    }

    /// The corresponding Linux errno.
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

impl From<ControlError> for Error {
    fn from(error: ControlError) -> Self {
        Self::Device { status: error.status(), what: error.what }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io { what: "operating system".into(), source }
    }
}

/// The text without characters that control a terminal or the direction of text: each becomes U+FFFD.
/// For names and messages of other programs.
pub fn printable(text: &str) -> String {
    let controls = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(controls, "\u{fffd}")
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a control plane: a status, and a sentence with object, value and limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{what} ({})", self.status().name())]
pub struct ControlError {
    code: u8,
    /// Object, value, limit, and what to do.
    pub what: String,
}

impl ControlError {
    /// An error with a status.
    pub fn new(status: Status, what: impl Into<String>) -> Self {
        Self { code: status.raw(), what: what.into() }
    }

    /// The contract's status.
    pub fn status(&self) -> Status {
        Status::from_raw(self.code).unwrap_or(Status::BadField)
    }
}

impl From<std::io::Error> for ControlError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let status = match error.kind() {
            ErrorKind::OutOfMemory => Status::NoResources,
            ErrorKind::InvalidInput | ErrorKind::InvalidData => Status::BadField,
            _ => Status::NoResources,
        };
        Self::new(status, error.to_string())
    }
}
