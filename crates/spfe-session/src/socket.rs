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

/// Space for the descriptors that are sent.
const SEND_SPACE: usize = rustix::cmsg_space!(ScmRights(FDS_MAX));
/// Space for as many descriptors as the kernel passes in one datagram (`SCM_MAX_FD`). It would close
/// those without space while it receives, which can take as long as the sender likes.
const RECEIVE_SPACE: usize = rustix::cmsg_space!(ScmRights(253));

/// Creates a socket that is closed on exec.
///
/// # Errors
/// The process has no descriptor left.
pub fn new(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Connects to a path.
///
/// # Errors
/// No process listens at the path.
pub fn connect(path: &Path) -> io::Result<OwnedFd> {
    let socket = new(SocketFlags::empty())?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Creates two connected sockets.
///
/// # Errors
/// The process has no descriptor left.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends a datagram with descriptors. Never raises SIGPIPE.
///
/// # Errors
/// `WouldBlock` if the socket has no room and `wait` is false; `BrokenPipe` if the peer has closed;
/// `InvalidInput` for more than [`FDS_MAX`] descriptors.
pub fn send(
    socket: impl AsFd,
    datagram: &[u8],
    fds: &[BorrowedFd<'_>],
    wait: bool,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); SEND_SPACE];
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

/// A received datagram.
#[derive(Debug, Default)]
pub struct Datagram {
    /// Its bytes; empty if the peer has closed.
    pub bytes: Vec<u8>,
    /// Attached descriptors. A hostile sender may attach more than [`FDS_MAX`].
    pub fds: Vec<OwnedFd>,
    /// The datagram exceeded [`DATAGRAM_MAX`]; bytes are missing.
    pub cut: bool,
    /// Descriptors are missing, because this process has too many open.
    pub lost: bool,
}

impl Datagram {
    /// Whether the peer has closed the connection.
    pub fn is_end(&self) -> bool {
        self.bytes.is_empty() && self.fds.is_empty() && !self.cut && !self.lost
    }
}

/// Receives a datagram. Waits for one unless the socket is non-blocking.
///
/// # Errors
/// `WouldBlock` on a non-blocking socket without a datagram; `ConnectionReset` if the peer has died.
pub fn receive(socket: impl AsFd) -> io::Result<Datagram> {
    let mut bytes = vec![0u8; DATAGRAM_MAX];
    let mut space = [MaybeUninit::uninit(); RECEIVE_SPACE];
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
    let cut = message.flags.contains(ReturnFlags::TRUNC);
    let lost = message.flags.contains(ReturnFlags::CTRUNC);
    Ok(Datagram { bytes, fds, cut, lost })
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
    fn the_kernel_drops_no_descriptor() {
        let (a, b) = pair().unwrap();
        let mut space = [MaybeUninit::uninit(); RECEIVE_SPACE];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let many = [b.as_fd(); 253];
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        net::sendmsg(&a, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        let got = receive(&b).unwrap();
        assert_eq!((got.fds.len(), got.cut, got.lost), (253, false, false));
    }

    #[test]
    fn a_datagram_that_is_too_long_is_marked() {
        let (a, b) = pair().unwrap();
        send(&a, &vec![1; DATAGRAM_MAX + 1], &[], false).unwrap();
        assert!(receive(&b).unwrap().cut);
    }
}
