//! Small helpers around system calls.

use crate::real;
use libc::{c_int, c_void, iovec, pollfd, timespec};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// The error of the last call.
pub fn errno() -> c_int {
    // SAFETY: always valid in a thread.
    unsafe { *libc::__errno_location() }
}

/// Fails with an error.
pub fn fail(error: c_int) -> isize {
    // SAFETY: always valid in a thread.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Nanoseconds of the monotonic clock.
pub fn now_ns() -> u64 {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes this time only.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// A time span for a system call.
pub fn span(ns: u64) -> timespec {
    timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Waits for descriptors; `None` waits for ever.
pub fn wait(fds: &mut [pollfd], ns: Option<u64>) -> c_int {
    let time = ns.map(span);
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the slice and the time live during the call.
    unsafe { real::ppoll(fds.as_mut_ptr(), fds.len() as _, time, std::ptr::null()) }
}

/// Events of one descriptor now.
pub fn events_now(fd: c_int, events: i16) -> i16 {
    let mut one = [pollfd { fd, events, revents: 0 }];
    wait(&mut one, Some(0));
    one[0].revents
}

/// Rings a bell.
pub fn ring(bell: c_int) {
    let one = 1u64;
    // SAFETY: eight bytes, as an eventfd takes.
    unsafe { real::write(bell, std::ptr::from_ref(&one).cast(), 8) };
}

/// Silences a bell.
pub fn silence(bell: c_int) {
    let mut count = 0u64;
    let saved = errno();
    // SAFETY: eight bytes, as an eventfd gives.
    unsafe { real::read(bell, std::ptr::from_mut(&mut count).cast(), 8) };
    fail(saved);
}

/// An option of a socket.
pub fn option<T: Default>(fd: c_int, level: c_int, name: c_int) -> Option<T> {
    let mut value = T::default();
    let mut bytes = size_of::<T>() as libc::socklen_t;
    let at = std::ptr::from_mut(&mut value).cast::<c_void>();
    // SAFETY: the value has this size; every option that is asked for is plain data.
    let done = unsafe { libc::getsockopt(fd, level, name, at, &mut bytes) };
    (done == 0).then_some(value)
}

/// Whether calls on a descriptor must not wait.
pub fn is_nonblocking(fd: c_int, flags: c_int) -> bool {
    // SAFETY: no memory is passed.
    flags & libc::MSG_DONTWAIT != 0
        || unsafe { real::fcntl(fd, libc::F_GETFL, 0) } & libc::O_NONBLOCK != 0
}

/// A time-out of a socket (SO_RCVTIMEO or SO_SNDTIMEO), ns.
pub fn time_out(fd: c_int, name: c_int) -> Option<u64> {
    let [seconds, micros]: [i64; 2] = option(fd, libc::SOL_SOCKET, name)?;
    let ns = seconds.unsigned_abs() * 1_000_000_000 + micros.unsigned_abs() * 1000;
    (ns != 0).then_some(ns)
}

/// Whether a call that a signal has interrupted goes on: no handler of this process asks for EINTR.
/// Which signal it was, nobody says.
pub fn restarts() -> bool {
    (1..=64).all(|signal| {
        // SAFETY: an all-zero action is valid, and the call only writes it.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let known = unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) } == 0;
        let has_handler =
            action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN;
        !known || !has_handler || action.sa_flags & libc::SA_RESTART != 0
    })
}

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// Number of this thread.
fn thread() -> u32 {
    THREAD.with(|known| {
        if known.get() == 0 {
            // SAFETY: no memory is passed.
            known.set(unsafe { libc::syscall(libc::SYS_gettid) } as u32);
        }
        known.get()
    })
}

/// Forgets the number: a child has another one.
pub fn forget_thread() {
    THREAD.with(|known| known.set(0));
}

/// A lock in memory that forked processes share. It is held while bytes are copied, never while a
/// thread sleeps.
#[derive(Debug)]
pub struct SharedLock(AtomicU32);

/// Releases a lock.
pub struct Held<'a>(&'a SharedLock);

impl SharedLock {
    /// Takes the lock; `None` if this thread has it, which only a signal handler can find. A lock
    /// whose owner has died is taken over.
    pub fn take(&self) -> Option<Held<'_>> {
        let own = thread();
        let mut tries = 0u32;
        loop {
            let owner = match self.0.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Some(Held(self)),
                Err(owner) if owner == own => return None,
                Err(owner) => owner,
            };
            tries += 1;
            if tries < 100 {
                std::hint::spin_loop();
                continue;
            }
            // SAFETY: no memory is passed.
            unsafe { libc::sched_yield() };
            // SAFETY: no memory is passed; signal 0 only asks whether the thread exists.
            let is_gone = tries.is_multiple_of(1000)
                && unsafe { libc::syscall(libc::SYS_tkill, owner, 0) } < 0
                && errno() == libc::ESRCH;
            if is_gone {
                let order = (Ordering::Acquire, Ordering::Relaxed);
                let _ = self.0.compare_exchange(owner, 0, order.0, order.1);
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}

/// A place in the buffers of a call.
pub struct PartCursor<'a> {
    parts: &'a [iovec],
    index: usize,
    offset: usize,
}

impl<'a> PartCursor<'a> {
    /// The start of the buffers.
    pub fn new(parts: &'a [iovec]) -> Self {
        Self { parts, index: 0, offset: 0 }
    }

    /// Bytes of all buffers.
    pub fn total(parts: &[iovec]) -> usize {
        parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.iov_len))
    }

    /// The next piece of at most `most` bytes; `None` at the end.
    pub fn piece(&mut self, most: usize) -> Option<(*mut u8, usize)> {
        while let Some(part) = self.parts.get(self.index) {
            let bytes = (part.iov_len - self.offset).min(most);
            if bytes > 0 {
                return Some((part.iov_base.cast::<u8>().wrapping_add(self.offset), bytes));
            }
            if part.iov_len > self.offset {
                return None;
            }
            (self.index, self.offset) = (self.index + 1, 0);
        }
        None
    }

    /// Goes on behind so many bytes of the last piece.
    pub fn advance(&mut self, bytes: usize) {
        self.offset += bytes;
    }
}
