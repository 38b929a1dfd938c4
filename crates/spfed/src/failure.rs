//! Kinds of failure and their exit codes, the same for `spfed` and `spfe`.

use spfe_contract::{Status, StatusClass};
use spfe_host::Error;

/// The exit codes as shown by `--help` and the manual pages.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done (also: interrupted, where a command runs until it is interrupted)
  1    failed: the device, the link or the operating system
  2    usage: wrong options or values
  3    timed out
  4    data damaged: checksum, contents, or a packet that was cut (EEP)
  5    not there: device, daemon, endpoint or port
  130  interrupted before it was done";

/// Kinds of failure, one for each exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The device, the link or the operating system failed.
    Failed,
    /// Wrong options or values.
    Usage,
    /// A deadline passed.
    TimedOut,
    /// Data arrived damaged.
    Damaged,
    /// No such device, daemon, endpoint or port.
    NotThere,
    /// SIGINT or SIGTERM.
    Interrupted,
}

impl FailureKind {
    /// The kind of an error of the library or of the daemon.
    pub fn of(error: &Error) -> Self {
        match error.status() {
            None if error.is_timeout() => Self::TimedOut,
            Some(Status::DeviceGone | Status::NotFound) => Self::NotThere,
            Some(Status::PacketCut) => Self::Damaged,
            Some(Status::BadVersion | Status::AccessDenied) => Self::Failed,
            Some(status) if status.class() == StatusClass::Usage => Self::Usage,
            _ => Self::Failed,
        }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::TimedOut => 3,
            Self::Damaged => 4,
            Self::NotThere => 5,
            Self::Interrupted => 130,
        }
    }

    /// The status of failures that have none in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "FAILED",
            Self::Usage => "USAGE",
            Self::TimedOut => "TIMED_OUT",
            Self::Damaged => "DAMAGED",
            Self::NotThere => "NOT_THERE",
            Self::Interrupted => "INTERRUPTED",
        }
    }
}
