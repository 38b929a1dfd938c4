//! One client: its socket, and what it holds.

use crate::capture::Capturing;
use crate::populate::Unmapped;
use crate::requests::{Answer, Carry, refuse};
use crate::say;
use crate::server::ServerConfig;
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use spfe_contract::Status;
use spfe_net::{Attachment, Network};
use spfe_session::{Error, Request, codec, socket};
use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

/// What all connections share.
pub(crate) struct Shared {
    pub network: Arc<Network>,
    pub config: ServerConfig,
    /// Clients attached.
    pub clients: usize,
    /// Somebody has attached once.
    pub served: bool,
    /// Regions whose pages are not mapped yet.
    pub unmapped: Unmapped,
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client said so.
    Goodbye,
    /// The socket was closed: the process is gone.
    Died,
    /// It sent what cannot be understood.
    Malformed,
    /// It does not read its replies.
    Deaf,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Goodbye => "goodbye",
            Self::Died => "its process is gone",
            Self::Malformed => "malformed request",
            Self::Deaf => "it does not read its replies",
        })
    }
}

/// A connection, attached or not yet.
pub(crate) struct Connection {
    socket: OwnedFd,
    since: Instant,
    pub(crate) at: Option<Attachment>,
    pub(crate) name: String,
    /// Bytes of each region, by key.
    pub(crate) regions: HashMap<u16, u64>,
    pub(crate) capture: Option<Capturing>,
}

impl Connection {
    pub fn new(socket: OwnedFd) -> Self {
        let since = Instant::now();
        Self {
            socket,
            since,
            at: None,
            name: String::new(),
            regions: HashMap::new(),
            capture: None,
        }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn since(&self) -> Instant {
        self.since
    }

    pub fn attachment(&self) -> Option<Attachment> {
        self.at
    }

    pub fn label(&self) -> String {
        let id = self.at.map_or(0, |at| at.client);
        format!("client {id} ({:?}, {})", self.name, crate::peer::peer(&self.socket))
    }

    /// Answers one request.
    pub fn serve(&mut self, flags: PollFlags, shared: &mut Shared) -> std::result::Result<(), End> {
        if !flags.contains(PollFlags::IN) {
            return Err(End::Died);
        }
        let received = match socket::receive(&self.socket) {
            Ok(received) if received.is_end() => return Err(End::Died),
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(_) => return Err(End::Died),
        };
        let decoded = if received.cut {
            refuse(Status::BadField, "more bytes or descriptors than a request may have")
        } else {
            codec::decode_request(&received.bytes)
        };
        let (sequence, request) = match decoded {
            Ok(decoded) => decoded,
            Err(error) => {
                let sequence = codec::decode_header(&received.bytes).map_or(0, |h| h.sequence);
                self.log(shared, "request", &error);
                let _ = self.send(sequence, Err(error), shared);
                return Err(End::Malformed);
            }
        };
        let leaves = request == Request::Goodbye && self.at.is_some();
        let answer = self.answer(&request, received.fds, shared);
        if let Err(error) = &answer {
            self.log(shared, request.name(), error);
        }
        self.send(sequence, answer, shared)?;
        if leaves { Err(End::Goodbye) } else { Ok(()) }
    }

    fn log(&self, shared: &Shared, request: &str, error: &Error) {
        if shared.config.verbose {
            say(format_args!("{}: {request} refused: {error}", self.label()));
        }
    }

    fn send(&self, sequence: u32, answer: Answer, shared: &Shared) -> std::result::Result<(), End> {
        let (reply, carry) = match answer {
            Ok((reply, carry)) => (Ok(reply), carry),
            Err(error) => (Err(error), Carry::Nothing),
        };
        let network = &shared.network;
        let fds: Vec<BorrowedFd<'_>> = match &carry {
            Carry::Nothing => Vec::new(),
            Carry::Network(false) => vec![network.doorbell().fd()],
            Carry::Network(true) => vec![network.doorbell().fd(), network.arena().memory().fd()],
            Carry::Memory(memory) => vec![memory.fd()],
            Carry::Event(event) => vec![event.fd()],
            Carry::Pipe(pipe) => vec![pipe.as_fd()],
        };
        let datagram = codec::encode_reply(sequence, &reply)
            .or_else(|error| codec::encode_reply(sequence, &Err(error)))
            .map_err(|_| End::Malformed)?;
        socket::send(&self.socket, &datagram, &fds, false).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => End::Died,
            _ => End::Deaf,
        })
    }
}
