//! The lock that a daemon holds while it makes its socket, so that two that start at the same time do
//! not remove each other's.
//!
//! It is a file of its own beside the socket (`SOCKET.lock`, mode 0600), because a directory can be
//! locked by everybody who may read it. Nobody else may open the file. In a directory where others may
//! create files, such as /tmp, they can create it first, as they can create a file with the name of the
//! socket. The daemon then says whose it is and does not start.

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, open, stat};
use rustix::io::Errno;
use spfe_contract::Status;
use spfe_session::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for another daemon, which holds the lock for milliseconds.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A held lock. Dropping it removes its file.
pub(crate) struct Lock {
    path: PathBuf,
    _file: OwnedFd,
}

impl Lock {
    /// Takes the lock of a socket.
    ///
    /// # Errors
    /// BUSY if it is held for [`TIMEOUT`], ACCESS_DENIED if its file belongs to another user, NOT_FOUND
    /// if there is no such directory.
    pub fn take(socket: &Path) -> Result<Self> {
        let mut name = socket.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match Self::attempt(&path)? {
                Some(file) => return Ok(Self { path, _file: file }),
                None if Instant::now() > deadline => {
                    let what = format!(
                        "lock file {}: another process has held it for {} s; is a daemon stopped while \
                         it starts?",
                        path.display(),
                        TIMEOUT.as_secs()
                    );
                    return Err(Error::new(Status::Busy, what));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// `None` if another process holds the lock, or has just removed its file.
    fn attempt(path: &Path) -> Result<Option<OwnedFd>> {
        let failed = |error: Errno| {
            let (status, remedy) = match error {
                Errno::ACCESS | Errno::PERM | Errno::LOOP => {
                    (Status::AccessDenied, "remove it, or choose another directory with --listen")
                }
                Errno::NOENT | Errno::NOTDIR => {
                    (Status::NotFound, "make the directory, or choose another with --listen")
                }
                _ => (Status::NoResources, "remove it, or choose another directory with --listen"),
            };
            let error = io::Error::from(error);
            Error::new(status, format!("lock file {}: {error}; {remedy}", path.display()))
        };
        // Without waiting for the other end of a pipe, and not through another user's link.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        let found = fstat(&file).map_err(failed)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if found.st_uid != rustix::process::geteuid().as_raw() || !is_file {
            let what = format!(
                "lock file {} belongs to user {}: remove it, or choose another directory with --listen",
                path.display(),
                found.st_uid
            );
            return Err(Error::new(Status::AccessDenied, what));
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let same = |now: rustix::fs::Stat| (now.st_dev, now.st_ino) == (found.st_dev, found.st_ino);
        Ok(stat(path).is_ok_and(same).then_some(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before the file is closed: nobody else holds the lock yet.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn socket(name: &str) -> PathBuf {
        let place = format!("spfed-lock-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(place);
        std::fs::create_dir(&directory).unwrap();
        directory.join("socket")
    }

    fn exclusively(path: &Path) -> OwnedFd {
        let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    #[test]
    fn a_missing_directory_is_not_found() {
        let path = socket("missing");
        let missing = path.parent().unwrap().join("no/socket");
        let error = Lock::take(&missing).err().unwrap();
        assert_eq!(error.status(), Status::NotFound, "{error}");
        assert!(error.to_string().contains("make the directory"), "{error}");
        std::fs::remove_dir(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_locked_directory_keeps_no_daemon_from_starting() {
        let path = socket("directory");
        let directory = path.parent().unwrap();
        let _held = exclusively(directory);
        let (send, receive) = mpsc::channel();
        let bound = path.clone();
        std::thread::spawn(move || send.send(crate::listen::Listener::bind(&bound)));
        let listener = receive.recv_timeout(Duration::from_secs(10)).expect("waits for the lock");
        drop(listener.unwrap());
        std::fs::remove_dir(directory).expect("nothing is left");
    }

    #[test]
    fn a_held_lock_is_reported_and_a_left_file_taken() {
        let path = socket("held");
        let file = path.with_extension("lock");
        std::fs::write(&file, "").unwrap();
        let held = exclusively(&file);
        let error = Lock::take(&path).err().unwrap();
        assert_eq!(error.status(), Status::Busy);
        assert!(error.what.contains("socket.lock"), "{error}");
        drop(held);
        drop(Lock::take(&path).unwrap());
        std::fs::remove_dir(path.parent().unwrap()).expect("nothing is left");
    }

    #[test]
    fn the_file_of_another_user_is_not_used() {
        let path = socket("foreign");
        let file = path.with_extension("lock");
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        let error = Lock::take(&path).err().unwrap();
        assert_eq!(error.status(), Status::AccessDenied, "{error}");
        assert!(error.what.contains("--listen"), "{error}");
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "").unwrap();
        // Only root can give files away.
        if std::os::unix::fs::chown(&file, Some(54321), None).is_ok() {
            let error = Lock::take(&path).err().unwrap();
            assert!(error.what.contains("belongs to user 54321"), "{error}");
        }
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
