//! Descriptors that tell a host of an event.
//!
//! An eventfd is a 64-bit counter; writing to a full one waits until somebody reads. Whether a write
//! may wait is a flag of the open file description, which everybody who holds the descriptor
//! shares: a process that hands one over can fill it and take O_NONBLOCK away again at any time,
//! also between a look at the flag and the write. So what others handed over is never written to.
//! It is named as the completion notice of an asynchronous read of an empty file: then the kernel
//! adds to the counter, and the kernel does not wait for room.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use std::io;
use std::sync::OnceLock;

/// A descriptor that is signalled when an event of a queue is due.
#[derive(Debug)]
pub struct Event {
    fd: OwnedFd,
    /// Its flags and its counter are in the hands of somebody who need not be trusted.
    foreign: bool,
}

impl Event {
    /// A non-blocking eventfd of this process, or of a process it trusts.
    pub fn own(fd: OwnedFd) -> Self {
        Self { fd, foreign: false }
    }

    /// An eventfd another process handed over: signalling it never waits, whatever that process
    /// does to it.
    ///
    /// # Errors
    /// `InvalidInput` if it is no eventfd; `Unsupported` if the kernel has no way to signal it
    /// without waiting.
    pub fn foreign(fd: OwnedFd) -> io::Result<Self> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            let what = format!("{} is not an eventfd", link.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if Notices::of_process().is_none() {
            let what = "this system has no asynchronous I/O (CONFIG_AIO, fs.aio-max-nr), and \
                        writing to an eventfd of another process could wait for ever";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        Ok(Self { fd, foreign: true })
    }

    /// Adds one to the counter. Never waits; a full counter already signals.
    pub fn signal(&self) {
        if !self.foreign {
            let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
        } else if let Some(notices) = Notices::of_process() {
            notices.signal(&self.fd);
        }
    }

    /// The descriptor, to pass on.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The kernel's control block of an asynchronous request (`struct iocb`, linux/aio_abi.h).
#[repr(C)]
#[derive(Default)]
struct Request {
    data: u64,
    /// Key and flags of the read, in an order that depends on the machine; both 0.
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
/// `IOCB_FLAG_RESFD`: signal the eventfd in `notice` when done.
const WITH_NOTICE: u32 = 1;
/// Requests under way at a time; threads that signal are fewer.
const DEPTH: usize = 64;

/// An asynchronous I/O context and an empty file to read from.
struct Notices {
    context: libc::c_ulong,
    empty: OwnedFd,
}

impl Notices {
    /// One for all threads; `None` where the kernel gives none.
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
        // Another try only when other threads have not taken their answers yet.
        for _ in 0..DEPTH {
            // SAFETY: one request; reading an empty file is done when the call returns, so that
            // request and buffer are not used any more.
            let sent =
                unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1, list.as_mut_ptr()) };
            self.take_answers();
            if sent == 1 {
                return;
            }
        }
    }

    /// Makes room for further requests.
    fn take_answers(&self) {
        let mut answers = [[0u64; 4]; DEPTH];
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (place, at_once) = (answers.as_mut_ptr(), std::ptr::from_ref(&at_once));
        // SAFETY: an answer (`struct io_event`) has 32 bytes, and there is room for DEPTH of them.
        unsafe { libc::syscall(libc::SYS_io_getevents, self.context, 0, DEPTH, place, at_once) };
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
    fn a_full_counter_that_blocks_does_not_block_who_signals() {
        let fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let event = Event::foreign(fd).unwrap();
        rustix::io::write(event.fd(), &(u64::MAX - 1).to_ne_bytes()).unwrap();
        (0..3).for_each(|_| event.signal());
        assert!(count(event.fd()) >= u64::MAX - 1);
        event.signal();
        assert_eq!(count(event.fd()), 1, "it goes on counting when there is room again");
    }

    #[test]
    fn only_eventfds_are_taken() {
        let pipe = rustix::pipe::pipe().unwrap();
        let error = Event::foreign(pipe.1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("not an eventfd"), "{error}");
    }
}
