//! A connection to the backplane.

use crate::wire::{self, FabricError, FabricReply, FabricRequest};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use serde::de::DeserializeOwned;
use spfe_contract::Status;
use spfe_session::socket;
use std::io;
use std::path::{Path, PathBuf};

/// Longest document, bytes.
const DOCUMENT_MAX: u64 = 64 << 20;

/// A connection to the backplane.
#[derive(Debug)]
pub struct FabricClient {
    socket: OwnedFd,
    path: PathBuf,
}

impl FabricClient {
    /// Connects to the fabric at a socket path.
    ///
    /// # Errors
    /// NOT_FOUND if no fabric is up there.
    pub fn connect(path: &Path) -> Result<Self, FabricError> {
        let socket = socket::connect(path).map_err(|error| {
            let shown = path.display();
            let error = FabricError::io(format_args!("fabric at {shown}"), &error);
            let what = format!("{}; start one with `spfe fabric up TOPOLOGY`", error.what);
            FabricError::new(error.status, what)
        })?;
        Ok(Self { socket, path: path.to_owned() })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone.
    pub fn send(&self, request: &FabricRequest, fds: &[BorrowedFd<'_>]) -> Result<(), FabricError> {
        let bytes = wire::encode(request)?;
        socket::send(&self.socket, &bytes, fds, true).map_err(|error| self.gone(&error))
    }

    /// The next message, with its descriptors. Waits for it.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone.
    pub fn receive(&self) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let datagram = socket::receive(&self.socket).map_err(|error| self.gone(&error))?;
        if datagram.is_end() {
            return Err(self.gone(&io::ErrorKind::ConnectionReset.into()));
        }
        if datagram.lost {
            let what = "too many open files: the fabric's memory did not arrive (ulimit -n)";
            return Err(FabricError::new(Status::NoResources, what));
        }
        Ok((wire::decode(&datagram.bytes)?, datagram.fds))
    }

    /// The next message if there is one.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone.
    pub fn receive_now(&self) -> Result<Option<(FabricReply, Vec<OwnedFd>)>, FabricError> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut fds, Some(&now)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(None),
            Ok(_) => self.receive().map(Some),
            Err(error) => Err(self.gone(&error.into())),
        }
    }

    /// Sends a request and waits for its answer. A refusal is an error.
    ///
    /// # Errors
    /// What the backplane refuses; DEVICE_GONE if it is gone.
    pub fn call(
        &self,
        request: &FabricRequest,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        self.send(request, fds)?;
        let (reply, fds) = self.receive()?;
        match reply {
            FabricReply::Refused { .. } | FabricReply::Ended => {
                Err(FabricError::unexpected(&reply))
            }
            _ => Ok((reply, fds)),
        }
    }

    /// Asks for a document.
    ///
    /// # Errors
    /// What the backplane refuses; DEVICE_GONE if it is gone.
    pub fn document<T: DeserializeOwned>(&self, request: &FabricRequest) -> Result<T, FabricError> {
        let (reply, fds) = self.call(request, &[])?;
        let (FabricReply::Document { bytes }, [fd]) = (&reply, &fds[..]) else {
            return Err(FabricError::unexpected(&reply));
        };
        let mut text = vec![0; (*bytes).min(DOCUMENT_MAX) as usize];
        let mut done = 0;
        while done < text.len() {
            match rustix::io::pread(fd, &mut text[done..], done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(FabricError::io("document", &error.into())),
            }
        }
        text.truncate(done);
        serde_json::from_slice(&text)
            .map_err(|error| FabricError::new(Status::BadField, format!("document: {error}")))
    }

    /// File descriptor for `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn gone(&self, error: &io::Error) -> FabricError {
        let what = format!("fabric at {}: the backplane is gone ({error})", self.path.display());
        FabricError::new(Status::DeviceGone, what)
    }
}
