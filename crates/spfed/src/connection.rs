//! The connection of one client, in a thread of its own: receives requests and sends replies.

use crate::answer::{Answer, Descriptors, no_descriptor, refuse};
use crate::client::{Client, ServerState};
use crate::control::Control;
use crate::populate::Unmapped;
use crate::roster::{Phase, Place};
use crate::{peer, say};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_session::socket::Datagram;
use spfe_session::{Error, FDS_MAX, Request, codec, socket};
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between attempts to detach a client whose flows another participant still holds.
const RETRY: Duration = Duration::from_secs(1);

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disconnect {
    /// The client sent Goodbye.
    Goodbye,
    /// The socket was closed: the process has ended.
    Died,
    /// The client sent a malformed request.
    Malformed,
    /// The client does not read its replies, and its socket buffer is full.
    NotReading,
    /// It has not attached in time.
    Late,
    /// It has not attached, and a newcomer has its place.
    Replaced,
    /// The server stops.
    Stopped,
}

impl fmt::Display for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Goodbye => "goodbye",
            Self::Died => "its process has ended",
            Self::Malformed => "malformed request",
            Self::NotReading => "it does not read its replies",
            Self::Late => "it has not attached in time",
            Self::Replaced => "it had not attached, and newcomers need its place",
            Self::Stopped => "the daemon stops",
        })
    }
}

type Turn = std::result::Result<(), Disconnect>;

/// A connection; its client may not have attached yet.
pub(crate) struct Connection {
    client: Client,
    server: Arc<ServerState>,
    control: Arc<Control>,
    unmapped: Unmapped,
    /// When an unattached connection ends.
    deadline: Instant,
    socket: OwnedFd,
    // Dropped last: everything else has been closed then.
    place: Place,
}

impl Connection {
    pub fn new(
        socket: OwnedFd,
        place: Place,
        server: Arc<ServerState>,
        control: Arc<Control>,
    ) -> Self {
        let process = peer::process(&socket);
        let is_admin = peer::is_admin(place.user);
        let client = Client { process, is_admin, ..Client::default() };
        let deadline = Instant::now() + server.config.hello_timeout;
        let unmapped = Unmapped::default();
        Self { client, server, control, unmapped, deadline, socket, place }
    }

    /// Sends the reason why a connection is refused.
    pub fn refuse(socket: &OwnedFd, reason: Error) {
        if let Ok(datagram) = codec::encode_reply(0, &Err(reason)) {
            let _ = socket::send(socket, &datagram, &[], false);
        }
    }

    /// Serves the client until the connection ends, and frees what it had.
    pub fn run(mut self) {
        let reason = loop {
            if let Err(reason) = self.turn() {
                break reason;
            }
        };
        self.leave(reason);
        self.place.set(Phase::Leaving);
        let Self { socket, place, client, unmapped, .. } = self;
        let closing = place.closing();
        drop((client, unmapped, socket));
        drop(closing);
    }

    /// Waits for a request and answers it, or maps some pages.
    fn turn(&mut self) -> Turn {
        let open_ended = self.client.attachment.is_some() || self.client.capture.is_some();
        let left = self.deadline.saturating_duration_since(Instant::now());
        let wait = match (self.unmapped.is_empty(), open_ended) {
            (false, _) => Some(Duration::ZERO),
            (true, false) => Some(left),
            (true, true) => None,
        };
        let wait =
            wait.map(|d| Timespec { tv_sec: d.as_secs() as _, tv_nsec: d.subsec_nanos() as _ });
        // An attached connection is rung only when the server stops, or just before it attached.
        let bell = self.place.bell();
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&bell, PollFlags::IN)];
        let _ = poll(&mut fds, wait.as_ref());
        let [flags, rung] = fds.map(|fd| fd.revents());
        if self.control.is_stopped() {
            return Err(Disconnect::Stopped);
        }
        if !flags.is_empty() {
            return self.serve(flags);
        }
        if !rung.is_empty() && self.place.is_replaced() && !open_ended {
            return Err(Disconnect::Replaced);
        }
        if !open_ended && self.deadline <= Instant::now() {
            return Err(Disconnect::Late);
        }
        self.unmapped.step();
        Ok(())
    }

    /// Receives one request and answers it.
    fn serve(&mut self, flags: PollFlags) -> Turn {
        if !flags.contains(PollFlags::IN) {
            return Err(Disconnect::Died);
        }
        let received = match socket::receive(&self.socket) {
            Ok(received) if received.is_end() => return Err(Disconnect::Died),
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(_) => return Err(Disconnect::Died),
        };
        let (sequence, request) = match self.decode(&received) {
            Ok(decoded) => decoded,
            Err(error) => {
                let sequence = codec::decode_header(&received.bytes).map_or(0, |h| h.sequence);
                self.log("request", &error);
                let _ = self.send(sequence, Err(error));
                let _closing = self.place.closing();
                drop(received.fds);
                return Err(Disconnect::Malformed);
            }
        };
        let leaves = request == Request::Goodbye && self.client.attachment.is_some();
        let answer = if received.lost {
            Err(no_descriptor())
        } else if received.fds.is_empty() {
            self.answer(&request, None)
        } else {
            self.answer_with(&request, received.fds)
        };
        if let Err(error) = &answer {
            self.log(request.name(), error);
        }
        self.send(sequence, answer)?;
        if leaves { Err(Disconnect::Goodbye) } else { Ok(()) }
    }

    /// Decodes a request, and refuses one with descriptors that no request has.
    fn decode(&self, received: &Datagram) -> spfe_session::Result<(u32, Request)> {
        if received.cut {
            return refuse(Status::BadField, "the request has more bytes than allowed");
        }
        let decoded = codec::decode_request(&received.bytes)?;
        let count = received.fds.len();
        if count > FDS_MAX {
            let what = format!("the request has {count} descriptors, more than allowed");
            return refuse(Status::BadField, what);
        }
        if count > 0 && self.client.attachment.is_none() {
            let what = format!("{} with {count} descriptors before Hello", decoded.1.name());
            return refuse(Status::BadField, what);
        }
        Ok(decoded)
    }

    /// Answers a request with descriptors. Closing them may block, here only.
    fn answer_with(&mut self, request: &Request, mut fds: Vec<OwnedFd>) -> Answer {
        let count = fds.len();
        let takes = usize::from(matches!(request, Request::AddRegion { .. } | Request::AddEvent));
        if count != takes {
            let _closing = self.place.closing();
            drop(fds);
            let takes = if takes == 1 { "one" } else { "none" };
            let what = format!("{} with {count} descriptors; it takes {takes}", request.name());
            return refuse(Status::BadField, what);
        }
        let Self { client, server, place, unmapped, .. } = self;
        let _closing = place.closing();
        client.answer(request, fds.pop(), server, place, unmapped)
    }

    fn answer(&mut self, request: &Request, fd: Option<OwnedFd>) -> Answer {
        let Self { client, server, place, unmapped, .. } = self;
        if client.attachment.is_none() && client.capture.is_none() {
            place.set(Phase::Asking);
        }
        client.answer(request, fd, server, place, unmapped)
    }

    fn log(&self, request: &str, error: &Error) {
        if self.server.config.verbose {
            say(format_args!("{}: {request} refused: {error}", self.client.label()));
        }
    }

    fn send(&self, sequence: u32, answer: Answer) -> Turn {
        let (reply, descriptors) = match answer {
            Ok((reply, descriptors)) => (Ok(reply), descriptors),
            Err(error) => (Err(error), Descriptors::None),
        };
        let fds = descriptors.list(&self.server.network);
        let datagram = codec::encode_reply(sequence, &reply)
            .or_else(|error| codec::encode_reply(sequence, &Err(error)))
            .map_err(|_| Disconnect::Malformed)?;
        socket::send(&self.socket, &datagram, &fds, false).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Disconnect::Died,
            _ => Disconnect::NotReading,
        })
    }

    /// Detaches the client. The socket stays open until the client's resources are free.
    fn leave(&mut self, reason: Disconnect) {
        if matches!(reason, Disconnect::Late | Disconnect::Replaced) {
            let what = format!("the daemon closed the connection: {reason}");
            Self::refuse(&self.socket, Error::new(Status::DeviceGone, what));
        }
        self.client.capture = None;
        let Some(at) = self.client.attachment else { return };
        if self.server.config.verbose {
            say(format_args!("{} detached: {reason}", self.client.label()));
        }
        let mut died = reason == Disconnect::Died;
        while !self.control.is_stopped() && self.server.network.detach(at, died).is_err() {
            // Another process holds a flow (modes auto, inline and coop).
            died = true;
            let bell = self.place.bell();
            let wait = Timespec { tv_sec: RETRY.as_secs() as _, tv_nsec: 0 };
            let _ = poll(&mut [PollFd::new(&bell, PollFlags::IN)], Some(&wait));
        }
    }
}
