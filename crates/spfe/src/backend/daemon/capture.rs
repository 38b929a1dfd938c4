//! A live capture of a daemon's links.

use crate::{Error, Result};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_session::client::unexpected;
use spfe_session::{CaptureRequest, Connection, Reply, Request};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The socket of the daemon that a device name stands for, with or without an endpoint:
/// `unix:SOCKET`, `unix:SOCKET/0`. `None` for other devices.
pub fn socket(device: &str) -> Option<&Path> {
    let path = device.strip_prefix("unix:").or_else(|| device.strip_prefix("spfed:"));
    let path = Path::new(path.filter(|path| !path.is_empty())?);
    let is_socket = |path: &&Path| path.metadata().is_ok_and(|meta| meta.file_type().is_socket());
    Some(path.parent().filter(is_socket).unwrap_or(path))
}

/// A running capture: a pcapng file (docs/capture.md) that is read from a pipe. The daemon never
/// waits for the reader; records that do not fit into its buffer are left out and counted. The
/// capture ends when it is dropped.
pub struct LiveCapture {
    connection: Connection,
    pipe: OwnedFd,
}

impl LiveCapture {
    /// Starts a capture of links of the daemon at a socket.
    ///
    /// # Errors
    /// DEVICE_GONE if no daemon answers, BAD_VERSION if it has another protocol, NOT_FOUND for the
    /// name of a link that does not exist (the message lists the links), ACCESS_DENIED for another
    /// user than the daemon's, BAD_OPCODE if the daemon does not see the packets (modes inline and
    /// coop).
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

    /// The pipe from which the file is read.
    pub fn pipe(&self) -> &OwnedFd {
        &self.pipe
    }

    /// Ends the file properly. Returns the number of records in it and of records left out. The rest
    /// of the file can still be read from the pipe.
    ///
    /// # Errors
    /// DEVICE_GONE if the daemon is gone; the file is then truncated.
    pub fn end(&mut self) -> Result<(u64, u64)> {
        match self.connection.call(&Request::EndCapture, &[])?.0 {
            Reply::Captured { records, left_out } => Ok((records, left_out)),
            reply => Err(unexpected("EndCapture", &reply).into()),
        }
    }
}
