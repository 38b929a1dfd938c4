//! The client's side of a connection.

use crate::message::{Hello, Reply, Request, Welcome};
use crate::{Error, Result, codec, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use spfe_contract::Status;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Longest time to wait for a reply. The daemon answers in microseconds, but cleaning up after a
/// stopped participant can take it seconds.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to a daemon: one call at a time.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    sequence: u32,
}

fn gone(what: impl std::fmt::Display) -> Error {
    Error::new(Status::DeviceGone, format!("the daemon is gone: {what}"))
}

impl Connection {
    /// Connects to a daemon's socket.
    ///
    /// # Errors
    /// DEVICE_GONE when nobody listens at the path, with what to do.
    pub fn open(path: &Path) -> Result<Self> {
        let socket = socket::connect(path).map_err(|error| {
            let path = path.display();
            let what = match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    format!("no daemon at {path}: start one with `spfed --listen {path}`")
                }
                io::ErrorKind::PermissionDenied => format!(
                    "daemon at {path}: permission denied; the socket is for the daemon's user and \
                     group (mode 0660)"
                ),
                _ => format!("daemon at {path}: {error}"),
            };
            Error::new(Status::DeviceGone, what)
        })?;
        Self::over(socket)
    }

    /// Talks over a connected SOCK_SEQPACKET socket.
    pub fn over(socket: OwnedFd) -> Result<Self> {
        for side in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, side, Some(REPLY_TIMEOUT)).map_err(io::Error::from)?;
        }
        Ok(Self { socket, sequence: 0 })
    }

    /// The socket, to watch for the end of the daemon.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Attaches: the welcome, and the descriptors that come with it.
    pub fn hello(&mut self, hello: Hello) -> Result<(Welcome, Vec<OwnedFd>)> {
        match self.call(&Request::Hello(hello), &[])? {
            (Reply::Welcome(welcome), fds) => Ok((welcome, fds)),
            (reply, _) => Err(unexpected("Hello", &reply)),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// What the daemon refuses; DEVICE_GONE when it is gone or does not answer in 30 s.
    pub fn call(
        &mut self,
        request: &Request,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(Reply, Vec<OwnedFd>)> {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let datagram = codec::encode_request(self.sequence, request)?;
        // A daemon that refuses a connection says why and closes: the reply can be there although
        // sending fails.
        let mut sent = socket::send(&self.socket, &datagram, fds, true);
        loop {
            let received = match socket::receive(&self.socket) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let what = format!("no reply to {} in {REPLY_TIMEOUT:?}", request.name());
                    return Err(gone(what));
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset && sent.is_ok() => {
                    // Said once; what was sent before can still be read.
                    sent = Err(error);
                    continue;
                }
                Err(error) => return Err(gone(error)),
            };
            if received.is_end() {
                let reason = sent.err().map_or("connection closed".to_owned(), |e| e.to_string());
                return Err(gone(reason));
            }
            let (sequence, reply) = codec::decode_reply(&received.bytes)?;
            // 0 answers no request in particular; others are late answers nobody waits for.
            if sequence == self.sequence || sequence == 0 {
                return reply.map(|reply| (reply, received.fds));
            }
        }
    }
}

/// A reply that does not answer the request.
pub fn unexpected(request: &str, reply: &Reply) -> Error {
    let what = format!("the daemon answered {request} with {reply:?}");
    Error::new(Status::BadField, what)
}
