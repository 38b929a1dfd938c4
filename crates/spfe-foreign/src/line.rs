//! Sockets and pipes that never block, so that one slow foreign end holds up nobody else.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use spfe_topology::{ForeignStream, StreamTransport};

/// A connection.
pub enum Line {
    Unix(UnixStream),
    Tcp(TcpStream),
    Pipes { from: File, to: File },
}

impl Line {
    fn unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Unix(stream))
    }

    fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Connects to a place where the foreign end listens.
    pub fn connect(stream: &ForeignStream) -> io::Result<Self> {
        match stream.transport {
            StreamTransport::Unix => Self::unix(UnixStream::connect(&stream.place)?),
            StreamTransport::Tcp => Self::tcp(TcpStream::connect(&stream.place)?),
            StreamTransport::Pipes => {
                let (from, to) = stream.place.split_once(':').unwrap_or_default();
                let from = pipe(from, OFlags::RDONLY)?;
                // No such device: nobody has opened the pipe for reading yet.
                Ok(Self::Pipes { from, to: pipe(to, OFlags::WRONLY)? })
            }
        }
    }

    fn fd(&self, write: bool) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Pipes { from, to } => if write { to } else { from }.as_fd(),
        }
    }

    /// Waits until bytes can be read or written, for at most `wait`, or without limit.
    pub fn wait(&self, write: bool, wait: Option<Duration>) {
        let flags = if write { PollFlags::OUT } else { PollFlags::IN };
        let mut fds = [PollFd::from_borrowed_fd(self.fd(write), flags)];
        let limit = wait.and_then(|wait| Timespec::try_from(wait).ok());
        // An interrupted wait is a short one.
        let _ = poll(&mut fds, limit.as_ref());
    }

    /// Reads what is there. `None` if there is nothing, `Some(0)` at the end of the stream.
    pub fn read(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let result = match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
            Self::Pipes { from, .. } => from.read(bytes),
        };
        count(result)
    }

    /// Writes what fits. `None` if nothing fits, `Some(0)` if the foreign end is gone.
    pub fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        let result = match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Pipes { to, .. } => to.write(bytes),
        };
        count(result)
    }

    /// Whether the end of the stream may also mean that the other side has not come yet.
    pub const fn is_pipe(&self) -> bool {
        matches!(self, Self::Pipes { .. })
    }
}

fn count(result: io::Result<usize>) -> Option<usize> {
    match result {
        Ok(count) => Some(count),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            None
        }
        Err(_) => Some(0),
    }
}

/// Opens a named pipe, without waiting.
fn pipe(path: &str, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// A place where this side waits for the foreign end.
pub enum Door {
    /// The path is removed when the door is closed.
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
    /// Named pipes have no listener: opening the one to the foreign end is tried again. The other one
    /// stays open meanwhile, because the foreign end tries the same.
    Pipes {
        place: String,
        from: Option<File>,
    },
}

impl Door {
    /// Opens a place.
    pub fn open(stream: &ForeignStream) -> io::Result<Self> {
        match stream.transport {
            StreamTransport::Unix => {
                let path = Path::new(&stream.place);
                let is_socket = |path: &Path| {
                    use std::os::unix::fs::FileTypeExt;
                    path.symlink_metadata().is_ok_and(|file| file.file_type().is_socket())
                };
                // A socket that nobody listens to was left over by a program that has died.
                if is_socket(path) && UnixStream::connect(path).is_err() {
                    let _ = std::fs::remove_file(path);
                }
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener, path.to_owned()))
            }
            StreamTransport::Tcp => {
                let listener = TcpListener::bind(&stream.place)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            StreamTransport::Pipes => Ok(Self::Pipes { place: stream.place.clone(), from: None }),
        }
    }

    /// Takes a foreign end that waits; `None` if there is none.
    pub fn accept(&mut self) -> Option<Line> {
        match self {
            Self::Unix(listener, _) => Line::unix(listener.accept().ok()?.0).ok(),
            Self::Tcp(listener) => Line::tcp(listener.accept().ok()?.0).ok(),
            Self::Pipes { place, from } => {
                let (from_path, to_path) = place.split_once(':')?;
                if from.is_none() {
                    *from = pipe(from_path, OFlags::RDONLY).ok();
                }
                let to = pipe(to_path, OFlags::WRONLY).ok()?;
                Some(Line::Pipes { from: from.take()?, to })
            }
        }
    }

    /// The address in use, for a TCP port that the system chose.
    pub fn address(&self) -> Option<String> {
        match self {
            Self::Tcp(listener) => Some(listener.local_addr().ok()?.to_string()),
            _ => None,
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}
