//! Checks of what a client passes over its socket, and of the process behind it.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{SealFlags, fcntl_add_seals, fcntl_get_seals, fstatfs};
use spfe_contract::Status;
use spfe_host::SharedMemory;
use spfe_plane::{Event, Signaller};
use spfe_session::{Error, Result};
use std::io;

/// File system of memfds of ordinary pages (`TMPFS_MAGIC`).
const TMPFS: u32 = 0x0102_1994;

fn refuse<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::new(Status::BadRegion, what))
}

/// The status of an error: `wrong` if the client has passed something wrong, NO_RESOURCES if the daemon
/// or the system lacks something.
fn blame(error: &io::Error, wrong: Status) -> Status {
    let is_wrong = error.kind() == io::ErrorKind::InvalidInput;
    if is_wrong { wrong } else { Status::NoResources }
}

/// Maps the memory of a region. The checks ensure that it cannot shrink or fault under the device.
pub(crate) fn memory(fd: OwnedFd, size: u64) -> Result<SharedMemory> {
    // Only memfds have seals. Asking another file for more could block in its file system.
    let Ok(seals) = fcntl_get_seals(&fd) else {
        return refuse(format!(
            "region of {size} bytes: not a memfd; use memfd_create and seal it with F_SEAL_SHRINK"
        ));
    };
    if seals.contains(SealFlags::FUTURE_WRITE) {
        return refuse(format!(
            "region of {size} bytes: its memory is sealed against writable mappings \
             (F_SEAL_FUTURE_WRITE), as the daemon does with a region: is it registered already?"
        ));
    }
    // A hole in huge pages may not be refilled: the device would get SIGBUS.
    let kind = fstatfs(&fd).map_err(io::Error::from)?.f_type;
    if kind as u32 != TMPFS {
        return refuse(format!(
            "region of {size} bytes: not a memfd of ordinary pages (file system {kind:#x}); use \
             memfd_create and seal it with F_SEAL_SHRINK"
        ));
    }
    let Ok(bytes) = usize::try_from(size) else {
        return refuse(format!("region of {size} bytes: exceeds the address space"));
    };
    SharedMemory::open(fd, bytes).map_err(|error| {
        let status = blame(&error, Status::BadRegion);
        Error::new(status, format!("region of {size} bytes: {error}"))
    })
}

/// Makes sure that nobody takes pages out of memory that the device uses. While a hole is punched, the
/// kernel lets accesses to it wait. Existing mappings stay writable, and no others can be made. Waits
/// for a hole that is being punched.
pub(crate) fn keep_pages(memory: &SharedMemory) -> Result<()> {
    fcntl_add_seals(memory.fd(), SealFlags::FUTURE_WRITE).or_else(|error| {
        refuse(format!(
            "region of {} bytes: F_SEAL_FUTURE_WRITE, by which its pages stay in it: {error}; do not \
             seal it with F_SEAL_SEAL",
            memory.size()
        ))
    })
}

/// Takes an eventfd from a client. Signalling it never blocks, whatever the client does to it.
///
/// # Errors
/// BAD_FIELD if it is not an eventfd; NO_RESOURCES if the system cannot signal it.
pub(crate) fn event(fd: OwnedFd, signaller: &mut Option<Signaller>) -> Result<Event> {
    let add = || {
        let started = match signaller.take() {
            Some(started) => started,
            None => Signaller::start()?,
        };
        signaller.insert(started).event(fd)
    };
    add().map_err(|error| Error::new(blame(&error, Status::BadField), format!("event: {error}")))
}

/// Process, user and group at the other end of a socket.
fn credentials(socket: &OwnedFd) -> Option<libc::ucred> {
    let mut who = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    let at = std::ptr::from_mut(&mut who).cast();
    // SAFETY: the kernel writes at most `length` bytes to a structure of that size.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, at, &mut length) };
    (result == 0).then_some(who)
}

/// The process at the other end of a socket, for the log.
pub(crate) fn process(socket: &OwnedFd) -> String {
    match credentials(socket) {
        Some(who) => format!("pid {} uid {} gid {}", who.pid, who.uid, who.gid),
        None => "unknown process".to_owned(),
    }
}

/// The user of the process at the other end of a socket.
pub(crate) fn user(socket: &OwnedFd) -> u32 {
    const NOBODY: u32 = u32::MAX;
    credentials(socket).map_or(NOBODY, |who| who.uid)
}

/// Whether a user may see the packets of all clients and administer links: the daemon's own user and
/// root.
pub(crate) fn is_admin(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wrong_objects_are_the_clients_fault() {
        let of = |code| blame(&io::Error::from_raw_os_error(code), Status::BadRegion);
        assert_eq!([libc::EMFILE, libc::ENFILE, libc::ENOMEM].map(of), [Status::NoResources; 3]);
        assert_eq!(of(libc::EINVAL), Status::BadRegion);
    }
}
