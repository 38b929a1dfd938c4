//! A live capture of a daemon's links.

use crate::{Error, Result};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_session::client::unexpected;
use spfe_session::{CaptureRequest, Connection, Reply, Request};
use std::path::Path;

/// A capture under way: a pcapng file (docs/capture.md) is read out of a pipe. The daemon does not
/// wait for its reader: what the reader does not take in time is left out and counted. It ends when
/// dropped.
pub struct LiveCapture {
    connection: Connection,
    pipe: OwnedFd,
}

impl LiveCapture {
    /// Begins a capture of links of the daemon at a socket.
    ///
    /// # Errors
    /// DEVICE_GONE when no daemon answers, BAD_VERSION when it speaks another protocol, NOT_FOUND for
    /// a name that is no link's (it says which there are), ACCESS_DENIED for another user than the
    /// daemon's, BAD_OPCODE where the daemon does not see what is sent (modes inline and coop).
    pub fn open(path: &Path, wanted: CaptureRequest) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        match connection.call(&Request::Capture(wanted), &[])? {
            (Reply::Capturing, fds) => {
                let pipe = fds.into_iter().next().ok_or_else(|| {
                    let what = format!("daemon at {}: sent no pipe of a capture", path.display());
                    Error::device(Status::BadField, what)
                })?;
                Ok(Self { connection, pipe })
            }
            (reply, _) => Err(unexpected("Capture", &reply).into()),
        }
    }

    /// Where the file is read, up to its end.
    pub fn pipe(&self) -> &OwnedFd {
        &self.pipe
    }

    /// Ends the file in good order, if it has not ended: records in it, and records left out. The
    /// pipe has its end still to be read.
    ///
    /// # Errors
    /// DEVICE_GONE when the daemon is gone: the file ends where it is.
    pub fn end(&mut self) -> Result<(u64, u64)> {
        match self.connection.call(&Request::EndCapture, &[])?.0 {
            Reply::Captured { records, left_out } => Ok((records, left_out)),
            reply => Err(unexpected("EndCapture", &reply).into()),
        }
    }
}
