//! Clients of the backplane.

use crate::topology::NodeNumber;
use crate::wire::{self, FabricReply};
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use spfe_session::socket;
use std::collections::VecDeque;
use std::io;

/// Messages that wait for a client. More means that it does not read.
const WAITING_MAX: usize = 1024;

/// What a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientRole {
    /// It has not said.
    New,
    /// It runs a node.
    Node(NodeNumber),
    /// It uses raw mode on a node.
    Raw(NodeNumber),
    /// It has an end of a stream.
    Stream,
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    role: ClientRole,
    waiting: VecDeque<(Vec<u8>, Vec<OwnedFd>)>,
    broken: bool,
}

impl Client {
    /// A client that has just connected.
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, role: ClientRole::New, waiting: VecDeque::new(), broken: false }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What it is.
    pub fn role(&self) -> ClientRole {
        self.role
    }

    /// Gives it a role.
    pub fn join(&mut self, role: ClientRole) {
        self.role = role;
    }

    /// Its process, if the kernel knows it here.
    pub fn process(&self) -> Option<i32> {
        let peer = rustix::net::sockopt::socket_peercred(&self.socket).ok()?;
        Some(peer.pid.as_raw_nonzero().get())
    }

    /// Events that the poll waits for.
    pub fn wanted(&self) -> PollFlags {
        if self.waiting.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT }
    }

    /// Whether it must be disconnected: it does not read, or its socket failed.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Sends a message, now or when the client has room.
    pub fn send(&mut self, reply: &FabricReply, fds: Vec<OwnedFd>) {
        match wire::encode(reply) {
            Ok(bytes) if self.waiting.len() < WAITING_MAX => self.waiting.push_back((bytes, fds)),
            _ => self.broken = true,
        }
        self.flush();
    }

    /// Sends what waits, as far as the client has room.
    pub fn flush(&mut self) {
        while let Some((bytes, fds)) = self.waiting.front() {
            let fds: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
            match socket::send(&self.socket, bytes, &fds, false) {
                Ok(()) => drop(self.waiting.pop_front()),
                Err(error) if is_not_now(&error) => return,
                Err(_) => {
                    self.broken = true;
                    return;
                }
            }
        }
    }
}

/// Whether the message can go later: no room, or too many descriptors under way.
fn is_not_now(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || matches!(error.raw_os_error(), Some(libc::ETOOMANYREFS | libc::ENOBUFS))
}
