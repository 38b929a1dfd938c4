//! Real and virtual time.
//!
//! Virtual time stands still while anybody runs. Who would sleep until a time says so instead;
//! when every participant has said so, the clock goes to the earliest of these times and that
//! participant runs on. The same stamps that make a paced link wait in real time drive it.
//!
//! Where links take time of their own ([`Drive`]), the participant that waits last runs them up to
//! that time, or until they have something for somebody.

use crate::os;
use spfe_ring::sync::{AtomicU64, Ordering};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A source of time.
#[derive(Clone)]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Real,
    /// Time that moves only when everybody waits.
    Virtual(Arc<VirtualClock>),
}

/// What goes on by itself while everybody waits.
pub trait Drive: Send + Sync {
    /// Goes on until a time, moving the clock with it, or until `stop` is set: somebody is to look
    /// again. With `u64::MAX`, until nothing will happen any more.
    fn advance(&self, until_ns: u64, stop: &AtomicBool);
}

/// The state of virtual time.
pub struct VirtualClock {
    now: &'static AtomicU64,
    waits: Mutex<Waits>,
    turn: Condvar,
    driver: OnceLock<Weak<dyn Drive>>,
    /// Somebody was to be woken while the driver ran.
    stop: AtomicBool,
}

#[derive(Default)]
struct Waits {
    running: usize,
    sleepers: Vec<Sleeper>,
    next_id: u64,
    generation: u64,
    /// The driver runs, without the lock.
    driving: bool,
}

/// Somebody who waits.
struct Sleeper {
    id: u64,
    until: u64,
    /// The generation in which it looked for what it waits for.
    ticket: u64,
}

impl Waits {
    /// Whether everybody waits. Who has been woken and has not come to run yet does not.
    fn is_idle(&self, now: u64) -> bool {
        let sleeps = |who: &Sleeper| who.ticket == self.generation && now < who.until;
        self.running == 0 && !self.driving && self.sleepers.iter().all(sleeps)
    }
}

impl VirtualClock {
    /// A clock on a word of the network's memory, with one participant.
    pub fn new(now: &'static AtomicU64) -> Arc<Self> {
        let waits = Waits { running: 1, ..Waits::default() };
        let (driver, stop) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { now, waits: Mutex::new(waits), turn: Condvar::new(), driver, stop })
    }

    /// Sets what goes on by itself while everybody waits, once.
    pub fn set_driver(&self, driver: Weak<dyn Drive>) {
        let set = self.driver.set(driver);
        debug_assert!(set.is_ok());
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another thread takes part from now on (call before starting it).
    pub fn join(&self) {
        let mut waits = self.lock();
        waits.running += 1;
        // Time stands still from now on.
        self.stop.store(true, Ordering::Release);
    }

    /// A thread takes part no more.
    pub fn leave(&self) {
        let mut waits = self.lock();
        waits.running -= 1;
        drop(self.advance_if_idle(waits));
    }

    /// Something happened that somebody may wait for: all look again.
    pub fn poke(&self) {
        let mut waits = self.lock();
        if waits.driving {
            // Whoever runs the driver wakes them, when it has come to rest.
            self.stop.store(true, Ordering::Release);
            return;
        }
        waits.generation += 1;
        self.turn.notify_all();
    }

    /// A value to hand to [`VirtualClock::wait`], taken before looking for what is waited for.
    pub fn ticket(&self) -> u64 {
        self.lock().generation
    }

    /// Blocks until virtual time reaches `until_ns` or somebody pokes after `ticket` was taken.
    /// Returns false if nobody can ever wake this participant: all wait for ever.
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

    /// The last one to wait moves the clock. False if there is no time to move to.
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
    /// Time in ns.
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
mod tests {
    use super::*;

    fn clock() -> Arc<VirtualClock> {
        VirtualClock::new(Box::leak(Box::new(AtomicU64::new(0))))
    }

    #[test]
    fn a_single_participant_jumps() {
        let clock = clock();
        assert!(clock.wait(clock.ticket(), Some(5_000_000_000)));
        assert_eq!(clock.now.load(Ordering::Relaxed), 5_000_000_000);
    }

    #[test]
    fn waiting_for_ever_alone_is_reported() {
        let clock = clock();
        assert!(!clock.wait(clock.ticket(), None));
    }

    #[test]
    fn the_earliest_of_two_goes_first() {
        let clock = clock();
        clock.join();
        let other = clock.clone();
        let thread = std::thread::spawn(move || {
            assert!(other.wait(other.ticket(), Some(200)));
            let woke = other.now.load(Ordering::Relaxed);
            other.leave();
            woke
        });
        assert!(clock.wait(clock.ticket(), Some(100)));
        assert_eq!(clock.now.load(Ordering::Relaxed), 100);
        assert!(clock.wait(clock.ticket(), Some(300)));
        assert_eq!(thread.join().unwrap(), 200);
        assert_eq!(clock.now.load(Ordering::Relaxed), 300);
    }

    #[test]
    fn time_stands_still_for_who_was_woken() {
        const TURNS: u64 = 2000;
        let clock = clock();
        let (here, there) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        clock.join();
        let (other, theirs, ours) = (clock.clone(), there.clone(), here.clone());
        // Each answers the other; nobody has to wait for a time.
        let turn = |clock: &VirtualClock, mine: &AtomicU64, other: &AtomicU64, turn: u64| {
            mine.store(turn, Ordering::Release);
            clock.poke();
            loop {
                let ticket = clock.ticket();
                if other.load(Ordering::Acquire) >= turn {
                    return;
                }
                assert!(clock.wait(ticket, Some(1_000_000)));
            }
        };
        let thread = std::thread::spawn(move || {
            (1..=TURNS).for_each(|number| turn(&other, &theirs, &ours, number));
            other.leave();
        });
        (1..=TURNS).for_each(|number| turn(&clock, &here, &there, number));
        assert!(thread.join().is_ok());
        assert_eq!(clock.now.load(Ordering::Relaxed), 0);
    }
}
