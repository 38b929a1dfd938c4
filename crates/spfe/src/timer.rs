//! A thread that signals event descriptors at a given time.
//!
//! A queue needs it when its threshold will be met by time alone. The thread starts with the first
//! such request; most programs never start it.

use rustix::fd::OwnedFd;
use spfe_host::os;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// The event descriptor of a queue.
pub(crate) struct Event {
    pub fd: OwnedFd,
    /// When the latest request is due, ns; 0 if it has no time.
    due_ns: AtomicU64,
}

impl Event {
    pub fn new(fd: OwnedFd) -> Arc<Self> {
        Arc::new(Self { fd, due_ns: AtomicU64::new(0) })
    }

    /// Makes the descriptor readable.
    pub fn signal(&self) {
        // The write fails only if the counter is full, and then the descriptor is readable.
        let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
    }

    /// Makes the descriptor unreadable.
    pub fn clear(&self) {
        // The read fails only if the counter is 0 already.
        let _ = rustix::io::read(&self.fd, &mut [0; 8]);
    }

    /// Forgets the time of earlier requests.
    pub fn forget(&self) {
        self.due_ns.store(0, Ordering::Release);
    }

    /// Makes the descriptor readable at a time of CLOCK_MONOTONIC, unless another request comes
    /// first.
    pub fn signal_at(self: &Arc<Self>, at_ns: u64) -> io::Result<()> {
        self.due_ns.store(at_ns, Ordering::Release);
        Timer::get()?.add(at_ns, Arc::downgrade(self));
        Ok(())
    }
}

#[derive(Default)]
struct Timer {
    due: Mutex<BinaryHeap<Reverse<Due>>>,
    changed: Condvar,
}

struct Due(u64, Weak<Event>);

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl Timer {
    fn get() -> io::Result<&'static Self> {
        static TIMER: OnceLock<&'static Timer> = OnceLock::new();
        if let Some(timer) = TIMER.get() {
            return Ok(timer);
        }
        static STARTING: Mutex<()> = Mutex::new(());
        let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = TIMER.get() {
            return Ok(timer);
        }
        let timer: &'static Self = Box::leak(Box::default());
        std::thread::Builder::new().name("spfe-timer".into()).spawn(|| timer.run())?;
        Ok(TIMER.get_or_init(|| timer))
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Due>>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, at_ns: u64, event: Weak<Event>) {
        self.lock().push(Reverse(Due(at_ns, event)));
        self.changed.notify_one();
    }

    fn run(&self) {
        let mut due = self.lock();
        loop {
            let now = os::now_ns();
            while let Some(Reverse(Due(at, _))) = due.peek()
                && *at <= now
            {
                let Some(Reverse(Due(at, event))) = due.pop() else { break };
                if let Some(event) = event.upgrade()
                    && event.due_ns.load(Ordering::Acquire) == at
                {
                    event.signal();
                }
            }
            let next = due.peek().map_or(u64::MAX, |Reverse(next)| next.0);
            let wait = Duration::from_nanos(next.saturating_sub(now));
            due = self.changed.wait_timeout(due, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
