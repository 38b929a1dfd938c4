//! Lets helpers work on the same step as their leader, and waits for them.
//!
//! Steps take microseconds, so nobody sleeps between them: all look at counters, and yield when they
//! have looked often, for a machine with fewer processors than threads.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// Looks before a processor is offered to others.
const LOOKS: u32 = 1000;

/// What a helper has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Units exchange words with links, at a time.
    Exchange(u64),
    /// Links run until a time.
    Run(u64),
    /// Links run until a time, and say what they have sent.
    Sample(u64),
}

/// Has cache lines of its own, of which processors fetch two at once: what one thread writes does not
/// slow down those that read something else.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub T);

/// Where the leader and its helpers meet.
#[derive(Default)]
pub(super) struct Gate {
    given: Apart<Given>,
    /// Helpers that have done the last job.
    done: Apart<AtomicUsize>,
}

/// What the leader writes.
#[derive(Default)]
struct Given {
    /// Jobs given so far.
    count: AtomicU64,
    /// Kind and time of the last one.
    kind: AtomicU8,
    time: AtomicU64,
    /// No job follows.
    over: AtomicBool,
}

fn wait(mut until: impl FnMut() -> bool) {
    let mut looks = 0;
    while !until() {
        looks += 1;
        if looks < LOOKS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Gate {
    /// Gives the next job.
    pub fn give(&self, job: Job) {
        let (kind, time) = match job {
            Job::Exchange(time) => (0, time),
            Job::Run(time) => (1, time),
            Job::Sample(time) => (2, time),
        };
        self.given.0.kind.store(kind, Ordering::Relaxed);
        self.given.0.time.store(time, Ordering::Relaxed);
        self.done.0.store(0, Ordering::Relaxed);
        self.given.0.count.fetch_add(1, Ordering::Release);
    }

    /// Waits until so many helpers have done it.
    pub fn wait(&self, helpers: usize) {
        wait(|| self.done.0.load(Ordering::Acquire) >= helpers || self.is_over());
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.given.0.over.load(Ordering::Acquire)
    }

    /// Does the jobs of a helper until it is over.
    pub fn help(&self, mut work: impl FnMut(Job)) {
        let _ends = Ends(self);
        let mut seen = 0;
        loop {
            wait(|| self.given.0.count.load(Ordering::Acquire) != seen || self.is_over());
            if self.is_over() {
                return;
            }
            seen += 1;
            let time = self.given.0.time.load(Ordering::Relaxed);
            work(match self.given.0.kind.load(Ordering::Relaxed) {
                0 => Job::Exchange(time),
                1 => Job::Run(time),
                _ => Job::Sample(time),
            });
            self.done.0.fetch_add(1, Ordering::Release);
        }
    }
}

/// It is over when this is dropped, also because a thread panics: nobody waits for it then.
pub(super) struct Ends<'a>(pub &'a Gate);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.given.0.over.store(true, Ordering::Release);
    }
}
