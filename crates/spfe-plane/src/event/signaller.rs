//! A thread that signals the events of one client.
//!
//! A process can make its eventfd slow to signal, for instance by watching it 15,000 times with
//! epoll, and slow to close. The device thread only marks an event as due and wakes this thread.

use super::{Event, Foreign, Kind, Notices};
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

/// Stack of a signalling thread in bytes.
const STACK_BYTES: usize = 64 << 10;

/// An event that is signalled by the thread of its client.
#[derive(Debug)]
pub(super) struct Deferred {
    state: Arc<State>,
    fd: RawFd,
    thread: Thread,
}

#[derive(Debug, Default)]
struct State {
    /// Not 0: to be signalled.
    due: AtomicU32,
    /// Not 0: to be closed.
    gone: AtomicU32,
}

impl Deferred {
    pub fn signal(&self) {
        // The release pairs with the acquire in `Work::run`: what the event announces comes first.
        if self.state.due.swap(1, Ordering::AcqRel) == 0 {
            self.thread.unpark();
        }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the thread closes the descriptor after `drop` only.
        unsafe { BorrowedFd::borrow_raw(self.fd) }
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.state.gone.store(1, Ordering::Release);
        self.thread.unpark();
    }
}

/// An event and its descriptor, which the thread closes.
struct Listed(Arc<State>, Foreign);

#[derive(Default)]
struct List {
    /// Events that the thread has not taken over yet.
    events: Vec<Listed>,
    /// No more events will come.
    closed: bool,
}

/// Signals the events of one client in a thread of its own. The thread ends after this and all of
/// the events are dropped.
pub struct Signaller {
    list: Arc<Mutex<List>>,
    thread: Thread,
}

fn lock(list: &Mutex<List>) -> MutexGuard<'_, List> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Signaller {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread left; `Unsupported` if it has no asynchronous I/O.
    pub fn start() -> io::Result<Self> {
        let notices = Notices::new().ok_or_else(super::unsupported)?;
        let list = Arc::<Mutex<List>>::default();
        let mut work = Work { list: list.clone(), notices };
        let builder = std::thread::Builder::new().name("spfe-events".into());
        let thread = builder.stack_size(STACK_BYTES).spawn(move || work.run())?.thread().clone();
        Ok(Self { list, thread })
    }

    /// An eventfd that another process passed to us.
    ///
    /// # Errors
    /// `InvalidInput` if it is not an eventfd.
    pub fn event(&self, fd: OwnedFd) -> io::Result<Event> {
        let foreign = Foreign::new(fd)?;
        let (state, fd) = (Arc::<State>::default(), foreign.fd.as_raw_fd());
        lock(&self.list).events.push(Listed(state.clone(), foreign));
        Ok(Event(Kind::Deferred(Deferred { state, fd, thread: self.thread.clone() })))
    }
}

impl Drop for Signaller {
    fn drop(&mut self) {
        lock(&self.list).closed = true;
        self.thread.unpark();
    }
}

struct Work {
    list: Arc<Mutex<List>>,
    notices: Notices,
}

impl Work {
    fn run(&mut self) {
        let mut events = Vec::new();
        loop {
            // Not with the lock: signalling and closing can take long.
            let mut list = lock(&self.list);
            events.append(&mut list.events);
            let closed = list.closed;
            drop(list);
            events.retain(|Listed(state, _)| state.gone.load(Ordering::Acquire) == 0);
            for Listed(state, foreign) in &events {
                if state.due.swap(0, Ordering::AcqRel) != 0 {
                    self.notices.signal(&foreign.fd);
                }
            }
            if closed && events.is_empty() {
                return;
            }
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
    use rustix::fd::AsFd;

    fn readable(fd: &OwnedFd) -> bool {
        let soon = Timespec { tv_sec: 20, tv_nsec: 0 };
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&soon)).unwrap() == 1
    }

    #[test]
    fn events_are_signalled_and_closed_by_the_thread() {
        let signaller = Signaller::start().unwrap();
        let pair: Vec<_> = (0..2)
            .map(|_| {
                let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
                (signaller.event(fd.try_clone().unwrap()).unwrap(), fd)
            })
            .collect();
        for _ in 0..100 {
            for (event, fd) in &pair {
                event.signal();
                assert!(readable(fd), "an event was lost");
                rustix::io::read(fd, &mut [0u8; 8]).unwrap();
            }
        }
        let list = signaller.list.clone();
        drop(signaller);
        pair[1].0.signal();
        assert!(readable(&pair[1].1), "events outlive the handle");
        drop(pair);
        let start = std::time::Instant::now();
        while Arc::strong_count(&list) > 1 {
            assert!(start.elapsed().as_secs() < 20, "the thread does not end");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn a_full_blocking_counter_blocks_nobody() {
        let signaller = Signaller::start().unwrap();
        let fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        rustix::io::write(fd.as_fd(), &(u64::MAX - 1).to_ne_bytes()).unwrap();
        let event = signaller.event(fd.try_clone().unwrap()).unwrap();
        (0..3).for_each(|_| event.signal());
        assert!(readable(&fd));
    }

    #[test]
    fn only_eventfds_are_accepted() {
        let signaller = Signaller::start().unwrap();
        let pipe = rustix::pipe::pipe().unwrap();
        assert_eq!(signaller.event(pipe.1).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
