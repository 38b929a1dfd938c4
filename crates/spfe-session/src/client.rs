//! Client side of a connection.

use crate::message::{Hello, Reply, Request, Welcome};
use crate::{Error, Result, codec, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use spfe_contract::Status;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Longest wait for a reply. The daemon answers in microseconds, but cleaning up after a stopped
/// participant can take seconds.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to a daemon: one call at a time.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    sequence: u32,
}

fn gone(what: impl std::fmt::Display) -> Error {
    Error::new(Status::DeviceGone, format!("the daemon is gone: {what}"))
}

/// Why a connection to a path failed, and what to do.
fn not_connected(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    let (status, what) = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            let what = format!("no daemon at {path}: start one with `spfed --listen {path}`");
            (Status::DeviceGone, what)
        }
        io::ErrorKind::PermissionDenied => {
            let what = format!(
                "daemon at {path}: permission denied; the socket is for the daemon's user and group \
                 (mode 0660)"
            );
            (Status::AccessDenied, what)
        }
        _ => (Status::DeviceGone, format!("daemon at {path}: {error}")),
    };
    Error::new(status, what)
}

impl Connection {
    /// Connects to a daemon's socket.
    ///
    /// # Errors
    /// DEVICE_GONE if no daemon listens at the path, ACCESS_DENIED without permission; the message
    /// says what to do.
    pub fn open(path: &Path) -> Result<Self> {
        Self::over(socket::connect(path).map_err(|error| not_connected(path, &error))?)
    }

    /// Uses a connected SOCK_SEQPACKET socket.
    ///
    /// # Errors
    /// The socket does not accept a time-out.
    pub fn over(socket: OwnedFd) -> Result<Self> {
        for side in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, side, Some(REPLY_TIMEOUT)).map_err(io::Error::from)?;
        }
        Ok(Self { socket, sequence: 0 })
    }

    /// The socket. It hangs up when the daemon ends.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Attaches to an endpoint. Returns the welcome and the descriptors sent with it.
    ///
    /// # Errors
    /// Those of [`Connection::call`].
    pub fn hello(&mut self, hello: Hello) -> Result<(Welcome, Vec<OwnedFd>)> {
        match self.call(&Request::Hello(hello), &[])? {
            (Reply::Welcome(welcome), fds) => Ok((welcome, fds)),
            (reply, _) => Err(unexpected("Hello", &reply)),
        }
    }

    /// Sends a request and waits for the reply. Returns it with its descriptors.
    ///
    /// # Errors
    /// The error in the reply; DEVICE_GONE if the daemon is gone or does not answer within 30 s.
    pub fn call(
        &mut self,
        request: &Request,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(Reply, Vec<OwnedFd>)> {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let datagram = codec::encode_request(self.sequence, request)?;
        // A daemon that refuses a connection sends a reason and closes, so there may be a reply even
        // if sending fails.
        let mut sent = socket::send(&self.socket, &datagram, fds, true);
        loop {
            let received = match socket::receive(&self.socket) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let what = format!("no reply to {} in {REPLY_TIMEOUT:?}", request.name());
                    return Err(gone(what));
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset && sent.is_ok() => {
                    // The kernel reports the reset once; earlier datagrams can still be read.
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
            // Sequence 0 belongs to the connection. Other numbers are replies to abandoned requests.
            if sequence == self.sequence || sequence == 0 {
                if received.lost {
                    let what = format!(
                        "{}: this process has no descriptor left for those that the daemon sent; raise \
                         its limit (ulimit -n)",
                        request.name()
                    );
                    return Err(Error::new(Status::NoResources, what));
                }
                return reply.map(|reply| (reply, received.fds));
            }
        }
    }
}

/// The error for a reply of the wrong kind.
pub fn unexpected(request: &str, reply: &Reply) -> Error {
    let what = format!("the daemon answered {request} with {reply:?}");
    Error::new(Status::BadField, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_connection_without_permission_is_not_a_missing_daemon() {
        let of = |errno: Errno| {
            let error = not_connected(Path::new("/run/spfed.sock"), &errno.into());
            (error.status(), error.what)
        };
        let (status, what) = of(Errno::ACCESS);
        assert_eq!(status, Status::AccessDenied);
        assert!(what.contains("/run/spfed.sock: permission denied"), "{what}");
        assert!(what.contains("mode 0660") && !what.contains("start one"), "{what}");
        for errno in [Errno::NOENT, Errno::CONNREFUSED] {
            let (status, what) = of(errno);
            assert_eq!(status, Status::DeviceGone);
            assert!(what.contains("start one with `spfed --listen /run/spfed.sock`"), "{what}");
        }
        let (status, what) = of(Errno::PROTOTYPE);
        assert_eq!(status, Status::DeviceGone);
        assert!(what.starts_with("daemon at /run/spfed.sock: "), "{what}");
    }
}
