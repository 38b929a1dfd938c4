//! What attackers use, and the victim beside them. A test of an attack starts a [`Victim`], lets the
//! attacker do its worst, and calls [`Victim::is_served`].

use super::Client;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use spfe_contract::QueueKind;
use spfe_host::SharedMemory;
use spfe_session::Request;
use spfed::Server;
use std::io::{IoSlice, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Users of the system in these tests. None is the daemon's own.
pub const ATTACKER: u32 = 4_000_001;
pub const VICTIM: u32 = 4_000_002;
/// Longest time that all requests of [`Victim::is_served`] may take; microseconds are usual.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// A harmless client.
pub struct Victim(pub Client);

impl Victim {
    pub fn new(server: &Server) -> Self {
        Self(Client::of(server, VICTIM, 1))
    }

    /// Checks that the victim is served: its requests, those that claim flows and map memory as well,
    /// and a newcomer's.
    pub fn is_served(&mut self, server: &Server) {
        let start = Instant::now();
        self.0.ask(&Request::Ping).unwrap();
        let (memory, key) = self.0.add_queue(QueueKind::Tx).unwrap();
        let destroy = Request::DestroyQueue { port: 0, vc: 0, kind: QueueKind::Tx.raw() };
        self.0.ask(&destroy).unwrap();
        self.0.ask(&Request::RemoveRegion { key: key.0 }).unwrap();
        drop(memory);
        let mut newcomer = Client::of(server, VICTIM, 0);
        newcomer.ask(&Request::Goodbye).unwrap();
        assert!(start.elapsed() < PATIENCE, "the victim waited {:?}", start.elapsed());
    }
}

/// A socket whose last close waits until its peer reads, for up to an hour.
pub struct Lingering {
    socket: Option<TcpStream>,
    /// Never reads.
    peer: TcpStream,
}

impl Lingering {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let peer = listener.accept().unwrap().0;
        socket.set_nonblocking(true).unwrap();
        while socket.write(&[0; 65536]).is_ok() {}
        let hour = Some(Duration::from_secs(3600));
        rustix::net::sockopt::set_socket_linger(&socket, hour).unwrap();
        Self { socket: Some(socket), peer }
    }

    /// Sends the socket and closes it here. The receiver must not have taken it by then, or the close
    /// waits here. Returns its peer.
    pub fn give(mut self, socket: impl AsFd, datagram: &[u8]) -> TcpStream {
        assert!(send_descriptors(socket, datagram, &[self.as_fd()]));
        drop(self.socket.take());
        self.peer
    }
}

impl AsFd for Lingering {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_ref().unwrap().as_fd()
    }
}

/// Sends a datagram with any number of descriptors up to the kernel's 253. Does not wait.
pub fn send_descriptors(socket: impl AsFd, datagram: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(socket, &[IoSlice::new(datagram)], &mut control, flags).is_ok()
}

/// Memory as a client registers it.
pub fn memory(bytes: usize) -> SharedMemory {
    SharedMemory::create("attack", bytes).unwrap()
}
