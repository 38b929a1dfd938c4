//! Real and virtual time.
//!
//! Virtual time stands still while a participant runs. A participant that would sleep announces its
//! deadline instead. When all participants wait, the clock jumps to the earliest deadline, and the
//! participant with that deadline continues. The stamps of paced links serve as deadlines.
//!
//! Exact links ([`Drive`]) run while all participants wait. The participant that waits last runs them
//! up to the earliest deadline, or until they wake a participant.

use crate::os;
use spfe_ring::sync::{AtomicU64, Ordering};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A source of time.
#[derive(Clone)]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Real,
    /// Time that advances only while all participants wait.
    Virtual(Arc<VirtualClock>),
}

/// Links that run while all participants wait.
pub trait Drive: Send + Sync {
    /// Runs until a time and moves the clock along, or until `stop` is set because a participant must
    /// check its condition. `u64::MAX` means: as long as there are events.
    fn advance(&self, until_ns: u64, stop: &AtomicBool);
}

/// The state of virtual time.
pub struct VirtualClock {
    now: &'static AtomicU64,
    waits: Mutex<Waits>,
    turn: Condvar,
    driver: OnceLock<Weak<dyn Drive>>,
    /// A participant was woken while the driver ran.
    stop: AtomicBool,
}

#[derive(Default)]
struct Waits {
    running: usize,
    sleepers: Vec<Sleeper>,
    next_id: u64,
    generation: u64,
    /// A participant runs the driver and has released the lock.
    driving: bool,
}

/// A waiting participant.
struct Sleeper {
    id: u64,
    until: u64,
    /// The generation in which it last checked its condition.
    ticket: u64,
}

impl Waits {
    /// Whether all participants wait. One that was woken counts as running, even if its thread has
    /// not been scheduled yet.
    fn is_idle(&self, now: u64) -> bool {
        let sleeps = |who: &Sleeper| who.ticket == self.generation && now < who.until;
        self.running == 0 && !self.driving && self.sleepers.iter().all(sleeps)
    }
}

impl VirtualClock {
    /// A clock in a word of the network's memory, with one participant.
    pub fn new(now: &'static AtomicU64) -> Arc<Self> {
        let waits = Waits { running: 1, ..Waits::default() };
        let (driver, stop) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { now, waits: Mutex::new(waits), turn: Condvar::new(), driver, stop })
    }

    /// Sets the links that run while all participants wait. Call it at most once.
    pub fn set_driver(&self, driver: Weak<dyn Drive>) {
        let set = self.driver.set(driver);
        debug_assert!(set.is_ok());
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a participant. Call it before the thread starts.
    pub fn join(&self) {
        let mut waits = self.lock();
        waits.running += 1;
        // A running driver stops: a participant is running now.
        self.stop.store(true, Ordering::Release);
    }

    /// Removes a participant.
    pub fn leave(&self) {
        let mut waits = self.lock();
        waits.running -= 1;
        drop(self.advance_if_idle(waits));
    }

    /// Makes all participants check their conditions again.
    pub fn poke(&self) {
        let mut waits = self.lock();
        if waits.driving {
            // The participant that runs the driver wakes the others when it stops.
            self.stop.store(true, Ordering::Release);
            return;
        }
        waits.generation += 1;
        self.turn.notify_all();
    }

    /// A ticket for [`VirtualClock::wait`]. Take it before checking the condition.
    pub fn ticket(&self) -> u64 {
        self.lock().generation
    }

    /// Waits until virtual time reaches `until_ns`, or until [`VirtualClock::poke`] is called after
    /// the ticket was taken. Returns false if all participants wait without a deadline, so that none
    /// can ever continue.
    pub fn wait(&self, ticket: u64, until_ns: Option<u64>) -> bool {
        let mut waits = self.lock();
        if waits.generation != ticket {
            return true;
        }
        let until = until_ns.unwrap_or(u64::MAX);
        let id = waits.next_id;
        waits.next_id += 1;
        waits.sleepers.push(Sleeper { id, until, ticket });
        waits.running -= 1;
        let alive;
        (waits, alive) = self.advance_if_idle(waits);
        while alive && waits.generation == ticket && self.now.load(Ordering::Acquire) < until {
            waits = self.turn.wait(waits).unwrap_or_else(PoisonError::into_inner);
        }
        waits.sleepers.retain(|sleeper| sleeper.id != id);
        waits.running += 1;
        alive
    }

    /// Moves the clock if all participants wait. False if there is no deadline to move to.
    fn advance_if_idle<'a>(
        &'a self,
        mut waits: MutexGuard<'a, Waits>,
    ) -> (MutexGuard<'a, Waits>, bool) {
        if !waits.is_idle(self.now.load(Ordering::Acquire)) {
            return (waits, true);
        }
        let Some(earliest) = waits.sleepers.iter().map(|sleeper| sleeper.until).min() else {
            return (waits, true);
        };
        if let Some(driver) = self.driver.get().and_then(Weak::upgrade) {
            waits.driving = true;
            self.stop.store(false, Ordering::Release);
            drop(waits);
            driver.advance(earliest, &self.stop);
            waits = self.lock();
            waits.driving = false;
            if self.stop.load(Ordering::Acquire) {
                waits.generation += 1;
                self.turn.notify_all();
                return (waits, true);
            }
        }
        if earliest == u64::MAX {
            return (waits, false);
        }
        let now = self.now.load(Ordering::Relaxed).max(earliest);
        self.now.store(now, Ordering::Release);
        self.turn.notify_all();
        (waits, true)
    }
}

impl Clock {
    /// Current time in ns.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Real => os::now_ns(),
            Self::Virtual(clock) => clock.now.load(Ordering::Acquire),
        }
    }

    /// Whether time is virtual.
    pub const fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }
}

#[cfg(test)]
mod tests;
