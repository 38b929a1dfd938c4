//! The connection, shared by everything that asks the daemon, and the thread that watches it.

use super::sleepers::Sleepers;
use crate::{Error, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use spfe_contract::Status;
use spfe_device::memory::RegionKey;
use spfe_net::Event;
use spfe_net::os::SharedMemory;
use spfe_net::view::Fetch;
use spfe_session::{Connection, Reply, Request};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

type EventKey = (u32, u32);

/// Most descriptors of others kept: most are of queues that are gone.
const KNOWN_MAX: usize = 256;

#[derive(Default)]
struct Events {
    /// What others' vectors are; numbers are never used again, so what is old is never wrong.
    known: HashMap<EventKey, Arc<Event>>,
    wanted: Vec<EventKey>,
}

/// A connection to a daemon; calls from any thread take turns.
pub(super) struct Link {
    connection: Mutex<Connection>,
    pub sleepers: Sleepers,
    events: Mutex<Events>,
    /// Watched beside the connection.
    socket: OwnedFd,
    /// Gets the watcher's attention.
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
            events: Mutex::default(),
            socket,
            bell,
            stop: AtomicBool::new(false),
        })
    }

    /// Asks the daemon and waits for its answer.
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

    fn ring(&self) {
        // A full counter already signals.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Gets the event descriptors the data path has asked for, and signals them once.
    fn fetch_events(&self) {
        let wanted = std::mem::take(&mut lock(&self.events).wanted);
        for (participant, vector) in wanted {
            let answer = self.call(&Request::Event { participant, vector }, &[]);
            let Ok((Reply::Event, fds)) = answer else {
                continue;
            };
            let Some(fd) = fds.into_iter().next() else {
                continue;
            };
            // One trust domain: the daemon gives these out in modes inline and coop only.
            let event = Event::own(fd);
            event.signal();
            let mut events = lock(&self.events);
            if events.known.len() >= KNOWN_MAX {
                events.known.clear();
            }
            events.known.insert((participant, vector), Arc::new(event));
        }
    }

    fn watch(&self) {
        loop {
            let mut fds = [
                PollFd::new(&self.socket, PollFlags::RDHUP),
                PollFd::new(&self.bell, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // Nobody could wake the sleepers any more.
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
                self.fetch_events();
            }
            if self.stop.load(Ordering::Acquire) {
                return;
            }
        }
    }
}

impl Fetch for Link {
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        let request = Request::RegionMemory { endpoint, key: key.0 };
        let Ok((Reply::Memory { size }, fds)) = self.call(&request, &[]) else {
            return None;
        };
        let fd = fds.into_iter().next()?;
        let memory = SharedMemory::open(fd, usize::try_from(size).ok()?).ok()?;
        memory.populate(0, memory.size());
        Some(Arc::new(memory))
    }

    /// Called by the engine with a flow's seat held, which the daemon may be waiting for: it must
    /// not wait for the daemon. The watcher asks, and signals when it has the answer.
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        let mut events = lock(&self.events);
        let key = (participant, vector);
        let known = events.known.get(&key).cloned();
        if known.is_none() && !events.wanted.contains(&key) {
            events.wanted.push(key);
            self.ring();
        }
        known
    }
}

/// The thread that notices the end of the daemon; it stops when dropped.
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
