//! The daemon's listening socket. A stale socket is replaced, one in use is not, and our own is removed
//! at the end.

use crate::lock::Lock;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, chmod, fchmod};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use spfe_contract::Status;
use spfe_session::{Error, Result, socket};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Largest number of connections that wait to be accepted.
const BACKLOG: i32 = 64;
/// The user and the group of the daemon may connect.
const PERMISSIONS: u32 = 0o660;

/// A listening socket. Dropping it removes its path.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    /// Device and inode of the path, to recognise it as ours.
    identity: (u64, u64),
}

fn failed(path: &Path, doing: &str) -> impl FnOnce(io::Error) -> Error {
    let what = format!("socket {}: {doing}", path.display());
    move |error| Error::new(Status::NoResources, format!("{what}: {error}"))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let meta = std::fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

impl Listener {
    /// Listens for clients of the daemon. Accepting does not block.
    ///
    /// # Errors
    /// BUSY if another daemon listens there or another file has that name.
    pub fn bind(path: &Path) -> Result<Self> {
        let new = || socket::new(SocketFlags::NONBLOCK);
        Self::bind_with(path, "--listen", new, BACKLOG)
    }

    /// Listens for the emulator that uses a device, one at a time. Accepting blocks.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn bind_stream(path: &Path) -> Result<Self> {
        let new = || {
            let (family, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
            Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
        };
        Self::bind_with(path, "--vfio-user", new, 1)
    }

    fn bind_with(
        path: &Path,
        option: &str,
        new: impl FnOnce() -> io::Result<OwnedFd>,
        backlog: i32,
    ) -> Result<Self> {
        let address = SocketAddrUnix::new(path).map_err(|_| {
            let what = format!("socket {}: the path exceeds 107 bytes", path.display());
            Error::new(Status::TooLong, what)
        })?;
        // Another daemon must not find our socket stale before we listen.
        let _lock = Lock::take(path)?;
        remove_stale(path, option, &address)?;
        let socket = new().map_err(failed(path, "create"))?;
        let mode = Mode::from_raw_mode(PERMISSIONS);
        // fchmod before bind, so that the path is never more permissive; chmod later, against the umask.
        fchmod(&socket, mode).map_err(io::Error::from).map_err(failed(path, "permissions"))?;
        net::bind(&socket, &address).map_err(io::Error::from).map_err(failed(path, "bind"))?;
        let identity = identity(path).map_err(failed(path, "bind"))?;
        let listener = Self { socket, path: path.to_owned(), identity };
        chmod(path, mode).map_err(io::Error::from).map_err(failed(path, "permissions"))?;
        net::listen(&listener.socket, backlog)
            .map_err(io::Error::from)
            .map_err(failed(path, "listen"))?;
        Ok(listener)
    }

    /// Accepts a connection and makes it non-blocking. Fails with `WouldBlock` if there is none.
    pub fn accept(&self) -> io::Result<OwnedFd> {
        Ok(net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?)
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Another daemon may have replaced the path.
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes the socket of a daemon that no longer runs.
fn remove_stale(path: &Path, option: &str, address: &SocketAddrUnix) -> Result<()> {
    let busy = |what: &str| {
        let what = format!("socket {}: {what}; choose another with {option}", path.display());
        Err(Error::new(Status::Busy, what))
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(path, "look")(error)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return busy("a file that is not a socket is there");
        }
        Ok(_) => {}
    }
    // Non-blocking: a daemon whose backlog is full is running, too.
    let probe = socket::new(SocketFlags::NONBLOCK).map_err(failed(path, "probe"))?;
    match net::connect(&probe, address) {
        Err(rustix::io::Errno::CONNREFUSED) => {
            std::fs::remove_file(path).map_err(failed(path, "remove the stale socket"))
        }
        Ok(()) | Err(rustix::io::Errno::AGAIN) => busy("in use by a running daemon"),
        Err(error) => busy(&format!("in use ({})", io::Error::from(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("spfed-{}-{name}.sock", std::process::id()))
    }

    #[test]
    fn a_socket_in_use_is_kept_and_a_stale_one_replaced() {
        let path = place("live");
        let first = Listener::bind(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        let error = Listener::bind(&path).unwrap_err();
        assert_eq!(error.status(), Status::Busy);
        assert!(error.what.contains("running daemon"), "{error}");
        // A killed daemon leaves its path behind, and nothing listens there.
        let Listener { socket, .. } = &first;
        net::shutdown(socket, net::Shutdown::Both).unwrap();
        let second = Listener::bind(&path).unwrap();
        drop(first);
        assert!(path.exists(), "the path belongs to the second listener");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn a_device_socket_in_use_is_kept_and_a_stale_one_replaced() {
        let path = place("stream");
        let first = Listener::bind_stream(&path).unwrap();
        let error = Listener::bind_stream(&path).unwrap_err();
        assert_eq!(error.status(), Status::Busy);
        assert!(error.what.contains("--vfio-user"), "{error}");
        net::shutdown(&first.socket, net::Shutdown::Both).unwrap();
        drop(first);
        std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(Listener::bind_stream(&path).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn other_files_are_kept() {
        let path = place("file");
        std::fs::write(&path, "precious").unwrap();
        let error = Listener::bind(&path).unwrap_err();
        assert!(error.what.contains("not a socket"), "{error}");
        std::fs::remove_file(&path).unwrap();
        let long = Path::new("/tmp").join("x".repeat(120));
        assert!(Listener::bind(&long).unwrap_err().what.contains("107"));
    }
}
