//! All connections: whose they are, what they are doing, and which one a newcomer may replace.
//!
//! A connection has a thread of its own, because receiving, using and closing the descriptors that a
//! client has sent can block for as long as the client likes: in the close of a socket that lingers, or
//! of a file whose file system is a process. A thread that hangs there takes a place of its user only.

use crate::answer::no_descriptor;
use crate::config::{CLIENTS_MAX, ServerConfig};
use crate::control::Control;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use spfe_contract::Status;
use spfe_session::{Error, Result};
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Largest number of connections that have not attached.
pub(crate) const UNATTACHED_MAX: usize = 32;
/// Largest number of them of one user.
pub(crate) const UNATTACHED_PER_USER: usize = 16;
/// Largest number of connections of one user that have ended but still close descriptors: all clients
/// may end at once, and on a busy machine none of their threads has run when the next one comes.
const LEAVING_PER_USER: usize = CLIENTS_MAX;
/// Largest number of connections that are being refused. None has received a descriptor, so each ends
/// soon after [`CLOSE_TIMEOUT`].
const REFUSED_MAX: usize = 32;
/// A close that takes longer is interrupted, if it can be.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(10);
/// Interrupts a close. Its default action is to do nothing.
const INTERRUPT: libc::c_int = libc::SIGURG;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It has made no request.
    Silent,
    /// It has made requests, but is not attached.
    Asking,
    /// It runs a capture and is not attached.
    Capturing,
    Attached,
    /// It has ended and closes its descriptors.
    Leaving,
    /// As `Leaving`; it was refused.
    Refused,
}

impl Phase {
    fn is_unattached(self) -> bool {
        matches!(self, Self::Silent | Self::Asking | Self::Capturing)
    }
}

struct Entry {
    id: u64,
    user: u32,
    phase: Phase,
    /// Tells its thread that it must go: to make room, or because the server stops.
    bell: Arc<OwnedFd>,
    /// A newcomer has its place.
    replaced: bool,
    /// Since when it has been handling or closing descriptors of its client.
    closing: Option<Instant>,
    thread: Option<JoinHandle<()>>,
    done: bool,
}

#[derive(Default)]
struct Inner {
    entries: Vec<Entry>,
    last: u64,
    /// Whether a client has ever attached.
    served: bool,
}

/// The connections of a server.
pub(crate) struct Roster {
    inner: Mutex<Inner>,
    control: Arc<Control>,
    clients_per_user: usize,
}

/// The place of a connection; it is free again when this is dropped.
pub(crate) struct Place {
    roster: Arc<Roster>,
    id: u64,
    bell: Arc<OwnedFd>,
    /// User at the other end of the socket.
    pub user: u32,
}

impl Roster {
    pub fn new(config: &ServerConfig, control: Arc<Control>) -> Arc<Self> {
        catch_interrupts();
        let clients_per_user = config.max_clients;
        Arc::new(Self { inner: Mutex::default(), control, clients_per_user })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a new connection of a user.
    ///
    /// # Errors
    /// NO_RESOURCES if there is none, not even by ending a connection that has not attached.
    pub fn admit(self: &Arc<Self>, user: u32) -> Result<Place> {
        let mut inner = self.lock();
        if inner.count(|entry| entry.user == user && entry.phase == Phase::Leaving)
            >= LEAVING_PER_USER
        {
            return full(format!(
                "{LEAVING_PER_USER} connections of user {user} have ended, but their descriptors do \
                 not close"
            ));
        }
        if inner.unattached(Some(user)) >= UNATTACHED_PER_USER {
            inner.replace(user)?;
        } else if inner.unattached(None) >= UNATTACHED_MAX {
            let heaviest = inner.entries.iter().map(|entry| entry.user);
            let heaviest = heaviest.max_by_key(|user| inner.unattached(Some(*user)));
            inner.replace(heaviest.unwrap_or(user))?;
        }
        self.enter(&mut inner, user, Phase::Silent)
    }

    /// Takes a place for a connection that is refused. `None` if there are too many.
    pub fn admit_refused(self: &Arc<Self>, user: u32) -> Option<Place> {
        self.enter(&mut self.lock(), user, Phase::Refused).ok()
    }

    /// Whether a connection can be refused without waiting.
    pub fn can_refuse(&self) -> bool {
        self.lock().count(|entry| entry.phase == Phase::Refused) < REFUSED_MAX
    }

    fn enter(self: &Arc<Self>, inner: &mut Inner, user: u32, phase: Phase) -> Result<Place> {
        // A refused connection is not told to go, and there may be no descriptor left.
        let bell = match phase {
            Phase::Refused => self.control.bell().clone(),
            _ => {
                let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
                Arc::new(eventfd(0, flags).map_err(|_| no_descriptor())?)
            }
        };
        inner.last += 1;
        let id = inner.last;
        let closing = (phase == Phase::Refused).then(Instant::now);
        inner.entries.push(Entry {
            id,
            user,
            phase,
            bell: bell.clone(),
            replaced: false,
            closing,
            thread: None,
            done: false,
        });
        Ok(Place { roster: self.clone(), id, bell, user })
    }

    /// Remembers the thread of a connection. The thread that calls [`Roster::tend`] calls this.
    pub fn started(&self, id: u64, thread: JoinHandle<()>) {
        self.lock().with(id, |entry| entry.thread = Some(thread));
    }

    /// Forgets connections that have ended and interrupts closes that take long. Returns whether any
    /// is under way, so that this must be called again soon.
    pub fn tend(&self) -> bool {
        let mut ended = Vec::new();
        let mut inner = self.lock();
        let mut index = 0;
        while let Some(entry) = inner.entries.get(index) {
            if entry.done {
                ended.push(inner.entries.swap_remove(index));
            } else {
                index += 1;
            }
        }
        let mut closing = false;
        for entry in &inner.entries {
            closing |= entry.closing.is_some();
            let late = entry.closing.is_some_and(|since| since.elapsed() > CLOSE_TIMEOUT);
            if let Some(thread) = entry.thread.as_ref().filter(|_| late) {
                // SAFETY: the thread has not been joined, so its id is valid.
                unsafe { libc::pthread_kill(thread.as_pthread_t(), INTERRUPT) };
            }
        }
        drop(inner);
        for entry in ended {
            // Being done is the last thing it says.
            let _ = entry.thread.map(JoinHandle::join);
        }
        closing
    }

    /// Tells all connections to end.
    pub fn stop(&self) {
        self.lock().entries.iter().for_each(|entry| ring(&entry.bell));
    }

    /// Whether there is no connection, not even one that is closing.
    pub fn is_empty(&self) -> bool {
        self.lock().entries.is_empty()
    }

    /// Whether clients have attached, and all have gone.
    pub fn is_served(&self) -> bool {
        let inner = self.lock();
        inner.served && inner.count(|entry| entry.phase == Phase::Attached) == 0
    }
}

impl Inner {
    fn count(&self, is_meant: impl Fn(&Entry) -> bool) -> usize {
        self.entries.iter().filter(|entry| is_meant(entry)).count()
    }

    fn with(&mut self, id: u64, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            change(entry);
        }
    }

    /// Number of unattached connections, of one user or of all.
    fn unattached(&self, user: Option<u32>) -> usize {
        self.count(|entry| {
            let counts = entry.phase.is_unattached() && !entry.replaced;
            counts && user.is_none_or(|user| entry.user == user)
        })
    }

    /// Ends a connection of a user that has not attached: the oldest silent one, or else the oldest.
    fn replace(&mut self, user: u32) -> Result<()> {
        let idle = |entry: &&mut Entry| {
            entry.user == user
                && !entry.replaced
                && matches!(entry.phase, Phase::Silent | Phase::Asking)
        };
        let candidates = self.entries.iter_mut().filter(idle);
        let Some(entry) = candidates.min_by_key(|entry| (entry.phase, entry.id)) else {
            return full(format!("those of user {user} run captures"));
        };
        entry.replaced = true;
        ring(&entry.bell);
        Ok(())
    }
}

fn full<T>(what: String) -> Result<T> {
    Err(Error::new(Status::NoResources, format!("the daemon accepts no connection: {what}")))
}

impl Place {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Readable when the connection must end.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Clears the bell. Returns whether a newcomer has the place of the connection.
    pub fn is_replaced(&self) -> bool {
        let _ = rustix::io::read(&self.bell, &mut [0u8; 8]);
        let inner = self.roster.lock();
        inner.entries.iter().any(|entry| entry.id == self.id && entry.replaced)
    }

    /// Changes what the connection is doing.
    pub fn set(&self, phase: Phase) {
        self.roster.lock().with(self.id, |entry| entry.phase = phase);
    }

    /// Makes the connection an attached one.
    ///
    /// # Errors
    /// NO_RESOURCES if all seats are taken, or all that its user may have.
    pub fn attach(&self) -> Result<()> {
        let mut inner = self.roster.lock();
        let attached = |entry: &Entry| entry.phase == Phase::Attached;
        if inner.count(attached) >= CLIENTS_MAX {
            let what = format!("{CLIENTS_MAX} clients are attached, which is the limit");
            return Err(Error::new(Status::NoResources, what));
        }
        let (user, most) = (self.user, self.roster.clients_per_user);
        if inner.count(|entry| attached(entry) && entry.user == user) >= most {
            let what = format!(
                "{most} clients of user {user} are attached, the limit of a user; raise it with spfed \
                 --max-clients"
            );
            return Err(Error::new(Status::NoResources, what));
        }
        inner.with(self.id, |entry| entry.phase = Phase::Attached);
        inner.served = true;
        Ok(())
    }

    /// Says that the connection handles descriptors of its client, until the result is dropped.
    pub fn closing(&self) -> Closing<'_> {
        self.roster.lock().with(self.id, |entry| entry.closing = Some(Instant::now()));
        self.roster.control.ring();
        Closing(self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.roster.lock().with(self.id, |entry| entry.done = true);
        self.roster.control.ring();
    }
}

/// A connection that may hang in a close.
pub(crate) struct Closing<'a>(&'a Place);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.roster.lock().with(self.0.id, |entry| entry.closing = None);
    }
}

fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}

/// Gives [`INTERRUPT`] a handler: without one the kernel drops it, and it interrupts nothing.
fn catch_interrupts() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the action is initialised, and a handler that does nothing may interrupt any code.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigemptyset(&mut action.sa_mask);
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        libc::sigaction(INTERRUPT, &action, std::ptr::null_mut());
    }
}
