//! Eventfds that signal events to a host.
//!
//! An eventfd is a 64-bit counter, and a write to a full counter blocks until it is read. O_NONBLOCK
//! is a flag of the open file description, which all holders of the descriptor share. A process that
//! passes an eventfd to us can fill it and clear the flag at any time, even between our check of the
//! flag and our write. So this module never writes to an eventfd of another process. It names it as
//! the completion notice of an asynchronous read of an empty file: then the kernel increments the
//! counter, and the kernel never blocks.

mod signaller;

pub use signaller::Signaller;

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{ReadWriteFlags, preadv2};
use std::io;
use std::sync::OnceLock;

/// An eventfd that is signalled when the event of a queue is due.
#[derive(Debug)]
pub struct Event(Kind);

#[derive(Debug)]
enum Kind {
    /// Of this process, or of one it trusts.
    Own(OwnedFd),
    /// Of another process, signalled by the calling thread.
    Foreign(Foreign),
    /// Of another process, signalled by its [`Signaller`].
    Deferred(signaller::Deferred),
}

/// An eventfd whose flags and counter another process controls.
#[derive(Debug)]
struct Foreign {
    fd: OwnedFd,
}

impl Foreign {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            let what = format!("{} is not an eventfd", link.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Self { fd })
    }
}

fn unsupported() -> io::Error {
    let what = "this system has no asynchronous I/O (CONFIG_AIO, fs.aio-max-nr), and writing to an \
                eventfd of another process could wait for ever";
    io::Error::new(io::ErrorKind::Unsupported, what)
}

impl Event {
    /// A non-blocking eventfd of this process, or of a process it trusts.
    pub fn own(fd: OwnedFd) -> Self {
        Self(Kind::Own(fd))
    }

    /// An eventfd that another process passed to us. Signalling it never blocks, whatever that
    /// process does, but it can take milliseconds. [`Signaller::event`] is for threads that others
    /// wait for.
    ///
    /// # Errors
    /// `InvalidInput` if it is not an eventfd; `Unsupported` if the kernel has no asynchronous I/O.
    pub fn foreign(fd: OwnedFd) -> io::Result<Self> {
        let foreign = Foreign::new(fd)?;
        Notices::of_process().ok_or_else(unsupported)?;
        Ok(Self(Kind::Foreign(foreign)))
    }

    /// Increments the counter. Never blocks; a full counter already signals.
    pub fn signal(&self) {
        match &self.0 {
            Kind::Own(fd) => drop(rustix::io::write(fd, &1u64.to_ne_bytes())),
            Kind::Foreign(foreign) => {
                if let Some(notices) = Notices::of_process() {
                    notices.signal(&foreign.fd);
                }
            }
            Kind::Deferred(event) => event.signal(),
        }
    }

    /// Takes signals back that nobody has read. Whether there were any. Never blocks.
    pub fn take_back(&self) -> bool {
        let mut value = [0; 8];
        // From where the descriptor is, which has no place.
        let read = preadv2(
            self.fd(),
            &mut [io::IoSliceMut::new(&mut value)],
            u64::MAX,
            ReadWriteFlags::NOWAIT,
        );
        read == Ok(value.len())
    }

    /// The descriptor, to pass to another process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Kind::Own(fd) => fd.as_fd(),
            Kind::Foreign(foreign) => foreign.fd.as_fd(),
            Kind::Deferred(event) => event.fd(),
        }
    }
}

/// The kernel's control block of an asynchronous request (`struct iocb`, linux/aio_abi.h).
#[repr(C)]
#[derive(Default)]
struct Request {
    data: u64,
    /// Key and flags; their order depends on the architecture, and both are 0.
    key_and_flags: u64,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    notice: u32,
}

const _: () = assert!(size_of::<Request>() == 64);

/// `IOCB_CMD_PREAD`.
const READ: u16 = 0;
/// `IOCB_FLAG_RESFD`: signal the eventfd in `notice` on completion.
const WITH_NOTICE: u32 = 1;
/// Maximum number of outstanding requests, more than there are signalling threads.
const DEPTH: usize = 64;

/// An asynchronous I/O context and an empty file to read from.
#[derive(Debug)]
struct Notices {
    context: libc::c_ulong,
    empty: OwnedFd,
}

impl Notices {
    /// The instance of the process; `None` if the kernel has no asynchronous I/O.
    fn of_process() -> Option<&'static Self> {
        static NOTICES: OnceLock<Option<Notices>> = OnceLock::new();
        NOTICES.get_or_init(Self::new).as_ref()
    }

    fn new() -> Option<Self> {
        let empty = memfd_create("spfe-empty", MemfdFlags::CLOEXEC).ok()?;
        let mut context: libc::c_ulong = 0;
        let place = std::ptr::from_mut(&mut context);
        // SAFETY: the kernel writes one word to `context`.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, DEPTH, place) };
        (result == 0).then_some(Self { context, empty })
    }

    fn signal(&self, event: &OwnedFd) {
        let mut byte = 0u8;
        let mut request = Request {
            opcode: READ,
            file: self.empty.as_raw_fd() as u32,
            buffer: std::ptr::from_mut(&mut byte) as u64,
            bytes: 1,
            flags: WITH_NOTICE,
            notice: event.as_raw_fd() as u32,
            ..Request::default()
        };
        let mut list = [std::ptr::from_mut(&mut request)];
        // Retry only while other threads have not taken their results.
        for _ in 0..DEPTH {
            // SAFETY: the list has one request. Reading an empty file completes before the call
            // returns, so the kernel no longer uses request and buffer.
            let sent =
                unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1, list.as_mut_ptr()) };
            self.take_answers();
            if sent == 1 {
                return;
            }
        }
    }

    /// Takes results, which makes room for more requests.
    fn take_answers(&self) {
        let mut answers = [[0u64; 4]; DEPTH];
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (place, at_once) = (answers.as_mut_ptr(), std::ptr::from_ref(&at_once));
        // SAFETY: a result (`struct io_event`) has 32 bytes, and there is room for DEPTH of them.
        unsafe { libc::syscall(libc::SYS_io_getevents, self.context, 0, DEPTH, place, at_once) };
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        // SAFETY: no other thread has the context.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};

    fn count(fd: BorrowedFd<'_>) -> u64 {
        let mut value = [0; 8];
        rustix::io::read(fd, &mut value).unwrap();
        u64::from_ne_bytes(value)
    }

    #[test]
    fn both_kinds_count() {
        let fresh = || eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
        for event in [Event::own(fresh()), Event::foreign(fresh()).unwrap()] {
            (0..3 * DEPTH).for_each(|_| event.signal());
            assert_eq!(count(event.fd()), 3 * DEPTH as u64);
        }
    }

    #[test]
    fn signalling_a_full_blocking_counter_does_not_block() {
        let fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let event = Event::foreign(fd).unwrap();
        rustix::io::write(event.fd(), &(u64::MAX - 1).to_ne_bytes()).unwrap();
        (0..3).for_each(|_| event.signal());
        assert!(count(event.fd()) >= u64::MAX - 1);
        event.signal();
        assert_eq!(count(event.fd()), 1, "it goes on counting when there is room again");
    }

    #[test]
    fn only_eventfds_are_accepted() {
        let pipe = rustix::pipe::pipe().unwrap();
        let error = Event::foreign(pipe.1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("not an eventfd"), "{error}");
    }
}
