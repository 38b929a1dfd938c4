//! Kernel channels with two ends that exchange messages of a fixed size.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Which kernel channel connects the two processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// Unix domain stream socket.
    UnixStream,
    /// Unix domain socket that keeps message boundaries.
    UnixSeqpacket,
    /// A pair of pipes.
    Pipe,
}

impl ChannelKind {
    /// Finds a kind by its name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::UnixStream, Self::UnixSeqpacket, Self::Pipe]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnixStream => "unix-stream",
            Self::UnixSeqpacket => "unix-seqpacket",
            Self::Pipe => "pipe",
        }
    }
}

/// One end of the channel.
pub struct ChannelEnd {
    rx: File,
    tx: File,
}

impl ChannelEnd {
    /// Makes two connected ends for messages of `size` bytes.
    pub fn pair(kind: ChannelKind, size: usize) -> io::Result<(Self, Self)> {
        if kind == ChannelKind::Pipe {
            let (a_rx, b_tx) = pipe()?;
            let (b_rx, a_tx) = pipe()?;
            return Ok((Self { rx: a_rx, tx: a_tx }, Self { rx: b_rx, tx: b_tx }));
        }
        let seqpacket = kind == ChannelKind::UnixSeqpacket;
        let (a, b) = socket_pair(seqpacket)?;
        if seqpacket {
            // A whole message must fit into the send buffer.
            grow_send_buffer(&a, size);
            grow_send_buffer(&b, size);
        }
        let end = |fd: File| Ok::<_, io::Error>(Self { rx: fd.try_clone()?, tx: fd });
        Ok((end(a)?, end(b)?))
    }

    /// Sends one message.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.tx.write_all(message)
    }

    /// Receives one message. Returns `false` at the end of the stream.
    pub fn receive(&mut self, message: &mut [u8]) -> io::Result<bool> {
        match self.rx.read_exact(message) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(e),
        }
    }
}

fn owned(fds: [RawFd; 2]) -> (File, File) {
    // SAFETY: the kernel has just returned both descriptors, which are open and have no other
    // owner.
    unsafe { (OwnedFd::from_raw_fd(fds[0]).into(), OwnedFd::from_raw_fd(fds[1]).into()) }
}

fn checked(rc: i32) -> io::Result<()> {
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn pipe() -> io::Result<(File, File)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for the two descriptors.
    checked(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    let ends = owned(fds);
    // Best effort: with the default of 64 KiB a large message costs two context switches.
    // SAFETY: the descriptor is open, and the other arguments are plain values.
    unsafe { libc::fcntl(ends.1.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
    Ok(ends)
}

fn socket_pair(seqpacket: bool) -> io::Result<(File, File)> {
    let shape = if seqpacket { libc::SOCK_SEQPACKET } else { libc::SOCK_STREAM };
    let mut fds = [0; 2];
    let flags = shape | libc::SOCK_CLOEXEC;
    // SAFETY: `fds` has room for the two descriptors.
    checked(unsafe { libc::socketpair(libc::AF_UNIX, flags, 0, fds.as_mut_ptr()) })?;
    Ok(owned(fds))
}

/// Makes room for four messages. Without the right to exceed the system's
/// limit the kernel reduces the request, and sending large messages fails.
fn grow_send_buffer(socket: &File, size: usize) {
    let want = (size.saturating_mul(4)).clamp(256 << 10, 64 << 20) as libc::c_int;
    for option in [libc::SO_SNDBUFFORCE, libc::SO_SNDBUF] {
        // SAFETY: the descriptor is open, and the pointer is to an integer of the given size.
        let rc = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                (&raw const want).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if rc == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for kind in [ChannelKind::UnixStream, ChannelKind::UnixSeqpacket, ChannelKind::Pipe] {
            assert_eq!(ChannelKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(ChannelKind::from_name("tcp"), None);
    }

    #[test]
    fn messages_arrive_in_both_directions_until_the_end() {
        for kind in [ChannelKind::UnixStream, ChannelKind::UnixSeqpacket, ChannelKind::Pipe] {
            let (mut a, mut b) = ChannelEnd::pair(kind, 5).unwrap();
            let mut got = [0; 5];
            a.send(b"there").unwrap();
            assert!(b.receive(&mut got).unwrap());
            assert_eq!(&got, b"there");
            b.send(b"again").unwrap();
            assert!(a.receive(&mut got).unwrap());
            assert_eq!(&got, b"again");
            drop(a);
            assert!(!b.receive(&mut got).unwrap());
        }
    }
}
