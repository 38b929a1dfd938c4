//! The socket of one client: receives requests and sends replies.

use crate::answer::{Answer, Descriptors, refuse};
use crate::client::{Client, ServerState};
use crate::{peer, say};
use rustix::event::PollFlags;
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_session::{Error, Request, codec, socket};
use std::fmt;
use std::io::ErrorKind;
use std::time::Instant;

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disconnect {
    /// The client sent Goodbye.
    Goodbye,
    /// The socket was closed: the process has ended.
    Died,
    /// The client sent a malformed request.
    Malformed,
    /// The client does not read its replies, and its socket buffer is full.
    NotReading,
}

impl fmt::Display for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Goodbye => "goodbye",
            Self::Died => "its process has ended",
            Self::Malformed => "malformed request",
            Self::NotReading => "it does not read its replies",
        })
    }
}

/// A connection; its client may not have attached yet.
pub(crate) struct Connection {
    socket: OwnedFd,
    /// When the connection was made.
    since: Instant,
    pub(crate) client: Client,
}

impl Connection {
    pub fn new(socket: OwnedFd) -> Self {
        let process = peer::process(&socket);
        let is_own_user = peer::is_own_user(&socket);
        let client = Client { process, is_own_user, ..Client::default() };
        Self { socket, since: Instant::now(), client }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn since(&self) -> Instant {
        self.since
    }

    /// Receives one request and answers it.
    pub fn serve(
        &mut self,
        flags: PollFlags,
        server: &mut ServerState,
    ) -> std::result::Result<(), Disconnect> {
        if !flags.contains(PollFlags::IN) {
            return Err(Disconnect::Died);
        }
        let received = match socket::receive(&self.socket) {
            Ok(received) if received.is_end() => return Err(Disconnect::Died),
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(_) => return Err(Disconnect::Died),
        };
        let decoded = if received.cut {
            refuse(Status::BadField, "the request has more bytes or descriptors than allowed")
        } else {
            codec::decode_request(&received.bytes)
        };
        let (sequence, request) = match decoded {
            Ok(decoded) => decoded,
            Err(error) => {
                let sequence = codec::decode_header(&received.bytes).map_or(0, |h| h.sequence);
                self.log(server, "request", &error);
                let _ = self.send(sequence, Err(error), server);
                return Err(Disconnect::Malformed);
            }
        };
        let leaves = request == Request::Goodbye && self.client.attachment.is_some();
        let answer = self.client.answer(&request, received.fds, server);
        if let Err(error) = &answer {
            self.log(server, request.name(), error);
        }
        self.send(sequence, answer, server)?;
        if leaves { Err(Disconnect::Goodbye) } else { Ok(()) }
    }

    fn log(&self, server: &ServerState, request: &str, error: &Error) {
        if server.config.verbose {
            say(format_args!("{}: {request} refused: {error}", self.client.label()));
        }
    }

    fn send(
        &self,
        sequence: u32,
        answer: Answer,
        server: &ServerState,
    ) -> std::result::Result<(), Disconnect> {
        let (reply, descriptors) = match answer {
            Ok((reply, descriptors)) => (Ok(reply), descriptors),
            Err(error) => (Err(error), Descriptors::None),
        };
        let fds = descriptors.list(&server.network);
        let datagram = codec::encode_reply(sequence, &reply)
            .or_else(|error| codec::encode_reply(sequence, &Err(error)))
            .map_err(|_| Disconnect::Malformed)?;
        socket::send(&self.socket, &datagram, &fds, false).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Disconnect::Died,
            _ => Disconnect::NotReading,
        })
    }
}
