//! Failures of commands: a line for people, a status for programs, an exit code for the shell.

use serde_json::json;
use spfe::{Error, Status};
pub use spfed::failure::{EXIT_CODES, FailureKind as Kind};
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// The failure of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind of failure.
    pub kind: Kind,
    /// One line with object, value, limit, and what to do.
    pub what: String,
    /// The contract's status, if there is one.
    status: Option<Status>,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), status: None }
    }

    /// The device, the link or the operating system failed.
    pub fn failed(what: impl Into<String>) -> Self {
        Self::new(Kind::Failed, what)
    }

    /// Wrong options or values.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// A deadline passed.
    pub fn timed_out(what: impl Into<String>) -> Self {
        Self::new(Kind::TimedOut, what)
    }

    /// Data arrived damaged.
    pub fn damaged(what: impl Into<String>) -> Self {
        Self::new(Kind::Damaged, what)
    }

    /// No such device, daemon, endpoint or port.
    pub fn not_there(what: impl Into<String>) -> Self {
        Self::new(Kind::NotThere, what)
    }

    /// SIGINT or SIGTERM arrived before the command was done.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted")
    }

    /// An operation of the operating system failed, such as reading a file.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::failed(format!("{what}: {error}"))
    }

    /// Status for programs: the contract's, or the name of the kind.
    pub fn status(&self) -> &'static str {
        self.status.map_or(self.kind.name(), Status::name)
    }

    /// The object that `--json` prints.
    pub fn json(&self) -> serde_json::Value {
        json!({ "error": self.what, "status": self.status(), "exit": self.kind.code() })
    }

    /// Prints the failure on stderr, with `json` also on stdout. Returns the exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        // Ignore errors of stderr: the exit code still tells.
        let _ = writeln!(io::stderr(), "spfe: {self}");
        if json {
            let _ = writeln!(io::stdout(), "{}", self.json());
        }
        ExitCode::from(self.kind.code())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = Kind::of(&error);
        Self { kind, what: error.to_string(), status: error.status() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_device_is_there() {
        let of = |status| {
            let failure = Failure::from(Error::device(status, "device"));
            (failure.status(), failure.kind.code())
        };
        assert_eq!(of(Status::AccessDenied), ("ACCESS_DENIED", 1));
        assert_eq!(of(Status::DeviceGone), ("DEVICE_GONE", 5));
        assert_eq!(of(Status::NotFound), ("NOT_FOUND", 5));
    }
}
