//! What the control plane says when it refuses.

use serde::{Deserialize, Serialize};
use spfe_contract::Status;

/// What went wrong in the control plane: the status and a sentence with object, value and limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{what} ({})", self.status().name())]
pub struct Error {
    code: u8,
    /// Object, value, limit, and what to do.
    pub what: String,
}

impl Error {
    /// An error with its status.
    pub fn new(status: Status, what: impl Into<String>) -> Self {
        Self { code: status.raw(), what: what.into() }
    }

    /// The contract's status.
    pub fn status(&self) -> Status {
        Status::from_raw(self.code).unwrap_or(Status::BadField)
    }
}

impl From<std::io::Error> for Error {
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
