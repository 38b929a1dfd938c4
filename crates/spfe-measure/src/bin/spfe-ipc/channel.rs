//! Two connected ends of a kernel channel, with message semantics on top.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Which kernel channel connects the two processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unix domain stream socket.
    UnixStream,
    /// Unix domain socket that keeps message boundaries.
    UnixSeqpacket,
    /// A pair of pipes.
    Pipe,
}

impl Kind {
    /// The kind of that name.
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
pub struct End {
    rx: File,
    tx: File,
}

impl End {
    /// Two connected ends for messages of `size` bytes.
    pub fn pair(kind: Kind, size: usize) -> io::Result<(Self, Self)> {
        if kind == Kind::Pipe {
            let (a_rx, b_tx) = pipe()?;
            let (b_rx, a_tx) = pipe()?;
            return Ok((Self { rx: a_rx, tx: a_tx }, Self { rx: b_rx, tx: b_tx }));
        }
        let seqpacket = kind == Kind::UnixSeqpacket;
        let (a, b) = socket_pair(seqpacket)?;
        if seqpacket {
            // A message has to fit into the send buffer as a whole.
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

    /// Receives one message; `false` at the end of the stream.
    pub fn receive(&mut self, message: &mut [u8]) -> io::Result<bool> {
        match self.rx.read_exact(message) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(e),
        }
    }
}

fn owned(fds: [RawFd; 2]) -> (File, File) {
    // SAFETY: the caller just got both descriptors from the kernel, open and
    // owned by nobody else.
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
    // Best effort: the default of 64 KiB costs two switches per large message.
    // SAFETY: an open descriptor and a plain value.
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

/// Makes room for four messages; without the right to exceed the system's
/// limit the kernel cuts the request down and large messages fail when sent.
fn grow_send_buffer(socket: &File, size: usize) {
    let want = (size.saturating_mul(4)).clamp(256 << 10, 64 << 20) as libc::c_int;
    for option in [libc::SO_SNDBUFFORCE, libc::SO_SNDBUF] {
        // SAFETY: an open descriptor and a valid integer of the size given.
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
        for kind in [Kind::UnixStream, Kind::UnixSeqpacket, Kind::Pipe] {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::from_name("tcp"), None);
    }

    #[test]
    fn messages_cross_both_ways_and_end() {
        for kind in [Kind::UnixStream, Kind::UnixSeqpacket, Kind::Pipe] {
            let (mut a, mut b) = End::pair(kind, 5).unwrap();
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
