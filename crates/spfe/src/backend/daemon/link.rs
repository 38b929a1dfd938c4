//! The connection to the daemon, shared by all its users, and the thread that watches it.

#[cfg(feature = "virtual")]
mod fetch;

use super::sleepers::Sleepers;
use crate::{Error, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use spfe_contract::Status;
use spfe_session::{Connection, Reply, Request};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A connection to a daemon; calls from any thread take turns.
pub(super) struct Link {
    connection: Mutex<Connection>,
    pub sleepers: Sleepers,
    /// Event descriptors of other participants, for the engine.
    #[cfg(feature = "virtual")]
    events: fetch::Events,
    /// Duplicate of the connection's socket, for the watcher.
    socket: OwnedFd,
    /// Eventfd that wakes the watcher.
    bell: OwnedFd,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub fn new(connection: Connection) -> Result<Self> {
        let socket = connection.socket().try_clone_to_owned()?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = eventfd(0, flags).map_err(|e| Error::io("eventfd", e.into()))?;
        Ok(Self {
            connection: Mutex::new(connection),
            sleepers: Sleepers::default(),
            #[cfg(feature = "virtual")]
            events: fetch::Events::default(),
            socket,
            bell,
            stop: AtomicBool::new(false),
        })
    }

    /// Sends a request to the daemon and waits for the reply.
    pub fn call(&self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<(Reply, Vec<OwnedFd>)> {
        if self.sleepers.is_gone() {
            return Err(Error::device(Status::DeviceGone, "the daemon is gone: open it again"));
        }
        let answer = lock(&self.connection).call(request, fds);
        if let Err(error) = &answer
            && error.status() == Status::DeviceGone
        {
            self.sleepers.set_gone();
        }
        Ok(answer?)
    }

    /// Wakes the watcher.
    pub fn ring(&self) {
        // The write fails only if the counter is full, and then the watcher is awake.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    fn watch(&self) {
        loop {
            let mut fds = [
                PollFd::new(&self.socket, PollFlags::RDHUP),
                PollFd::new(&self.bell, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // Without poll nothing could wake the sleepers later.
                Err(_) => return self.sleepers.set_gone(),
            }
            let ended = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR | PollFlags::NVAL;
            let hung_up = fds[0].revents().intersects(ended);
            let rung = !fds[1].revents().is_empty();
            if hung_up {
                return self.sleepers.set_gone();
            }
            if rung {
                let _ = rustix::io::read(&self.bell, &mut [0u8; 8]);
                #[cfg(feature = "virtual")]
                self.fetch_events();
            }
            if self.stop.load(Ordering::Acquire) {
                return;
            }
        }
    }
}

/// The thread that notices the end of the daemon. Dropping it stops the thread.
pub(super) struct Watcher {
    link: Arc<Link>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    pub fn start(link: &Arc<Link>) -> Result<Self> {
        let watched = link.clone();
        let thread = std::thread::Builder::new()
            .name("spfe-watch".into())
            .spawn(move || watched.watch())
            .map_err(|e| Error::io("thread that watches the daemon", e))?;
        Ok(Self { link: link.clone(), thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.link.stop.store(true, Ordering::Release);
        self.link.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
