//! A connection to the backplane.

use crate::wire::{self, FabricError, FabricReply, FabricRequest};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{SocketAddrUnix, SocketFlags};
use serde::de::DeserializeOwned;
use spfe_contract::Status;
use spfe_session::socket;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest document, bytes.
const DOCUMENT_MAX: u64 = 64 << 20;
/// How long a client waits for a backplane that does not read or answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the backplane.
#[derive(Debug)]
pub struct FabricClient {
    socket: OwnedFd,
    path: PathBuf,
}

impl FabricClient {
    /// Connects to the fabric at a socket path. What this client sends and receives waits at most
    /// five seconds for the backplane, except [`send_now`](Self::send_now) and
    /// [`receive_now`](Self::receive_now), which do not wait.
    ///
    /// # Errors
    /// NOT_FOUND if no fabric is up there; BUSY if the backplane accepts no more connections.
    pub fn connect(path: &Path) -> Result<Self, FabricError> {
        let client = Self { socket: Self::socket(path, SocketFlags::empty())?, path: path.into() };
        client.dial()?;
        Ok(client)
    }

    /// Connects unless that has to wait.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub fn connect_now(path: &Path) -> Result<Self, FabricError> {
        let client = Self { socket: Self::socket(path, SocketFlags::NONBLOCK)?, path: path.into() };
        client.dial()?;
        rustix::io::ioctl_fionbio(&client.socket, false).map_err(|error| client.lost(error))?;
        Ok(client)
    }

    fn socket(path: &Path, flags: SocketFlags) -> Result<OwnedFd, FabricError> {
        let create = || {
            let socket = socket::new(flags)?;
            set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
            set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
            Ok(socket)
        };
        create()
            .map_err(|error| FabricError::io(format_args!("fabric at {}", path.display()), &error))
    }

    fn dial(&self) -> Result<(), FabricError> {
        let address = SocketAddrUnix::new(&self.path);
        let connected = address.and_then(|address| rustix::net::connect(&self.socket, &address));
        connected.map_err(|error| {
            if error == Errno::AGAIN {
                return self.lost(error);
            }
            let shown = self.path.display();
            let error = FabricError::io(format_args!("fabric at {shown}"), &error.into());
            let what = format!("{}; start one with `spfe fabric up TOPOLOGY`", error.what);
            FabricError::new(error.status, what)
        })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone; BUSY if it does not read.
    pub fn send(&self, request: &FabricRequest, fds: &[BorrowedFd<'_>]) -> Result<(), FabricError> {
        let bytes = wire::encode(request)?;
        socket::send(&self.socket, &bytes, fds, true).map_err(|error| self.lost(error))
    }

    /// Sends a request unless that has to wait.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone; BUSY if it does not read.
    pub fn send_now(&self, request: &FabricRequest) -> Result<(), FabricError> {
        let bytes = wire::encode(request)?;
        socket::send(&self.socket, &bytes, &[], false).map_err(|error| self.lost(error))
    }

    /// The next message, with its descriptors. Waits for it.
    ///
    /// # Errors
    /// DEVICE_GONE if the backplane is gone; BUSY if it does not answer.
    pub fn receive(&self) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
        let datagram = socket::receive(&self.socket).map_err(|error| self.lost(error))?;
        if datagram.is_end() {
            return Err(self.lost(io::ErrorKind::ConnectionReset));
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
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => self.receive().map(Some),
            Err(error) => Err(self.lost(error)),
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
                Err(Errno::INTR) => {}
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

    /// What it means that the socket failed.
    fn lost(&self, error: impl Into<io::Error>) -> FabricError {
        let (error, shown) = (error.into(), self.path.display());
        if error.kind() == io::ErrorKind::WouldBlock {
            let what = format!("fabric at {shown}: the backplane does not answer; is it stopped?");
            return FabricError::new(Status::Busy, what);
        }
        let what = format!("fabric at {shown}: the backplane is gone ({error})");
        FabricError::new(Status::DeviceGone, what)
    }
}
