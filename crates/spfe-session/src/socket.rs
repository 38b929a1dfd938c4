//! Datagrams and descriptors on a SOCK_SEQPACKET socket.

use crate::{DATAGRAM_MAX, FDS_MAX};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::path::Path;

const SPACE: usize = rustix::cmsg_space!(ScmRights(FDS_MAX));

/// A new socket that is closed on exec.
pub fn new(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// A socket connected to a path.
pub fn connect(path: &Path) -> io::Result<OwnedFd> {
    let socket = new(SocketFlags::empty())?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Two sockets connected to each other.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends one datagram, with descriptors. Never raises SIGPIPE; with `wait` false it fails with
/// `WouldBlock` rather than wait for room.
pub fn send(
    socket: impl AsFd,
    datagram: &[u8],
    fds: &[BorrowedFd<'_>],
    wait: bool,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        let what = format!("{} descriptors; at most {FDS_MAX}", fds.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let flags = SendFlags::NOSIGNAL | if wait { SendFlags::empty() } else { SendFlags::DONTWAIT };
    loop {
        match net::sendmsg(&socket, &[IoSlice::new(datagram)], &mut control, flags) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent.map(drop)?),
        }
    }
}

/// A datagram that came in.
#[derive(Debug, Default)]
pub struct Received {
    /// Its bytes; none when the other side has closed.
    pub bytes: Vec<u8>,
    /// Descriptors that came with it, at most [`FDS_MAX`].
    pub fds: Vec<OwnedFd>,
    /// Bytes or descriptors were cut off: more than there may be.
    pub cut: bool,
}

impl Received {
    /// Whether this is the end: the other side has closed.
    pub fn is_end(&self) -> bool {
        self.bytes.is_empty() && self.fds.is_empty() && !self.cut
    }
}

/// Receives one datagram; waits for one unless the socket is non-blocking.
pub fn receive(socket: impl AsFd) -> io::Result<Received> {
    let mut bytes = vec![0u8; DATAGRAM_MAX];
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match net::recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            message => break message?,
        }
    };
    let mut fds = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            fds.extend(rights);
        }
    }
    bytes.truncate(message.bytes);
    let cut = message.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC);
    Ok(Received { bytes, fds, cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_descriptors_go_across() {
        let (a, b) = pair().unwrap();
        send(&a, b"hello", &[b.as_fd()], false).unwrap();
        let got = receive(&b).unwrap();
        assert_eq!((got.bytes.as_slice(), got.fds.len(), got.cut), (&b"hello"[..], 1, false));
        drop(a);
        assert!(receive(&b).unwrap().is_end());
    }

    #[test]
    fn a_datagram_that_is_too_long_is_marked() {
        let (a, b) = pair().unwrap();
        send(&a, &vec![1; DATAGRAM_MAX + 1], &[], false).unwrap();
        assert!(receive(&b).unwrap().cut);
    }
}
