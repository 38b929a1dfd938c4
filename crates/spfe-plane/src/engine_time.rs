//! Processor time that the engine takes inside a thread of the application.
//!
//! Steps that move packets are sampled with the wall clock: one sample stands for the short steps
//! before it, and each long step is a sample. Samples are taken at random, so that a regular pattern
//! of steps does not bias them. A thread's processor time would leave out the time in which it was
//! interrupted, but reading it is a system call that costs as much as a step with a few small
//! packets. Only at the end of a long step the kernel is asked whether it has interrupted the thread;
//! then the mean of such steps counts instead.

use spfe_host::os;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};

/// Duration from which a step is long: interrupting a thread takes longer, ns.
const LONG_NS: u64 = 20_000;
/// Duration from which every step is measured ns.
const WORTH_NS: u64 = 2_000;
/// Maximum average number of steps that a sample stands for.
const STRIDE_MAX: u64 = 32;

/// Reads a clock after all earlier stores: the stores that a copy leaves in the store buffer belong
/// to the step that made them.
fn after_stores(read: fn() -> u64) -> u64 {
    fence(Ordering::SeqCst);
    read()
}

/// What is read of a thread.
#[derive(Clone, Copy)]
struct Clocks {
    /// Wall clock, ns.
    wall: fn() -> u64,
    /// The shortest time between two readings of it, ns.
    takes_ns: u64,
    /// Number of times that the thread was interrupted.
    interruptions: fn() -> u64,
}

/// Measures the time of steps that move packets.
pub struct EngineTime {
    on: bool,
    /// Number of steps until the next sample.
    left: u32,
    /// Number of steps since the last sample that moved packets.
    missed: u64,
    started_ns: Option<u64>,
    /// Moving averages of the duration of all steps and of long ones, ns; 0 before the first.
    mean_ns: u64,
    long_ns: u64,
    /// Interruptions at the end of the last long step.
    interruptions: u64,
    draw: u64,
    clocks: Clocks,
}

impl EngineTime {
    /// Starts to measure the calling thread, if `on`.
    pub fn new(on: bool) -> Self {
        static TAKES_NS: OnceLock<u64> = OnceLock::new();
        let takes_ns = if on { *TAKES_NS.get_or_init(|| least(os::now_ns)) } else { 0 };
        Self::by(Clocks { wall: os::now_ns, takes_ns, interruptions: os::thread_preemptions }, on)
    }

    fn by(clocks: Clocks, on: bool) -> Self {
        let (left, missed, started_ns, mean_ns, long_ns, draw) = (1, 0, None, 0, 0, 1);
        let interruptions = if on { (clocks.interruptions)() } else { 0 };
        Self { on, left, missed, started_ns, mean_ns, long_ns, interruptions, draw, clocks }
    }

    /// Whether it measures.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Marks the start of a step, or its continuation on another path.
    #[inline(always)]
    pub fn begin(&mut self) {
        if self.on {
            self.count_down();
        }
    }

    #[inline]
    fn count_down(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 && self.started_ns.is_none() {
            self.started_ns = Some(after_stores(self.clocks.wall));
        }
    }

    /// Marks the end of a step and returns the time to count, ns. A step that moved nothing is
    /// polling by the application and counts 0.
    #[inline(always)]
    pub fn end(&mut self, moved: bool) -> u64 {
        if !self.on {
            return 0;
        }
        match self.started_ns.take() {
            Some(started) => self.taken(started, moved),
            None => {
                self.missed += u64::from(moved);
                0
            }
        }
    }

    fn taken(&mut self, started_ns: u64, moved: bool) -> u64 {
        // An empty step is no sample. The next one is measured instead.
        self.left = 1;
        if !moved {
            return 0;
        }
        let read = after_stores(self.clocks.wall) - started_ns;
        let mut took = read.saturating_sub(self.clocks.takes_ns);
        if took >= LONG_NS {
            took = self.without_interruption(took);
        }
        self.mean_ns = average(self.mean_ns, took);
        let stride = (WORTH_NS / self.mean_ns.max(1)).clamp(1, STRIDE_MAX);
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.left = 1 + ((self.draw >> 33) % (2 * stride - 1)) as u32;
        took * (1 + std::mem::take(&mut self.missed))
    }

    /// The time that a long step took, or what is likely if the thread was interrupted, ns.
    #[cold]
    fn without_interruption(&mut self, took: u64) -> u64 {
        let before = std::mem::replace(&mut self.interruptions, (self.clocks.interruptions)());
        if self.interruptions != before {
            // The interruption may have been before this step, but not before the last long one.
            let likely = if self.long_ns == 0 { self.mean_ns } else { self.long_ns };
            return likely.min(took);
        }
        self.long_ns = average(self.long_ns, took);
        took
    }
}

/// Moving average.
fn average(mean: u64, next: u64) -> u64 {
    if mean == 0 { next } else { (7 * mean + next) / 8 }
}

/// The shortest time between two readings of a clock, ns.
fn least(read: fn() -> u64) -> u64 {
    let pair = |_| {
        let first = after_stores(read);
        after_stores(read) - first
    };
    (0..32).map(pair).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static WALL: Cell<u64> = const { Cell::new(0) });
    thread_local!(static INTERRUPTIONS: Cell<u64> = const { Cell::new(0) });

    /// A clock that takes 20 ns to read.
    fn clocks() -> Clocks {
        let wall = || {
            WALL.set(WALL.get() + 20);
            WALL.get()
        };
        Clocks { wall, takes_ns: 20, interruptions: || INTERRUPTIONS.get() }
    }

    /// Runs steps of given lengths and interruptions. Returns the number of samples and the time
    /// counted.
    fn run(steps: impl Iterator<Item = (u64, u64)>, moved: bool) -> (u32, u64) {
        let mut time = EngineTime::by(clocks(), true);
        let (mut measured, mut ns) = (0, 0);
        for (step, interrupted) in steps {
            time.begin();
            measured += u32::from(time.started_ns.is_some());
            WALL.set(WALL.get() + step + interrupted);
            INTERRUPTIONS.set(INTERRUPTIONS.get() + u64::from(interrupted > 0));
            ns += time.end(moved);
        }
        (measured, ns)
    }

    /// Runs steps and checks that the time counted is within a part in `part` of theirs. Returns the
    /// number of samples.
    #[track_caller]
    fn counted<I: Iterator<Item = (u64, u64)>>(steps: impl Fn() -> I, part: u64) -> u32 {
        let (measured, ns) = run(steps(), true);
        let all = steps().map(|step| step.0).sum::<u64>();
        assert!(ns.abs_diff(all) < all / part, "{ns} ns, not {all}");
        measured
    }

    #[test]
    fn long_steps_are_all_measured_without_interruptions() {
        let interrupted = |n| if n % 3 == 2 { 4_000_000 } else { 0 };
        let measured = counted(|| (0..100).map(|n| (50_000, interrupted(n))), 1000);
        assert_eq!(measured, 100);
    }

    #[test]
    fn short_steps_are_sampled() {
        let interrupted = |n| if n % 5000 == 0 { 4_000_000 } else { 0 };
        let measured = counted(|| (0..100_000).map(|n| (200, interrupted(n))), 20);
        assert!((5000..20_000).contains(&measured), "{measured} of 100000");
    }

    #[test]
    fn a_regular_pattern_does_not_bias_the_samples() {
        let step = |n| (if n % 8 == 0 { 1500 } else { 100 }, 0);
        assert!(counted(|| (0..200_000).map(step), 20) < 100_000);
    }

    #[test]
    fn steps_that_become_long_are_noticed() {
        counted(|| (0..2000).map(|n| (if n < 1000 { 500 } else { 80_000 }, 0)), 20);
    }

    #[test]
    fn long_steps_among_short_ones_count() {
        for (period, short) in [(2, 500), (5, 3000), (40, 200), (70, 700)] {
            let step = |n| (if n % period == 1 { 40_000 } else { short }, 0);
            counted(|| (0..100_000).map(step), 8);
            let interrupted = |n| (step(n).0, if n % 1000 == 71 { 4_000_000 } else { 0 });
            counted(|| (0..100_000).map(interrupted), 8);
        }
    }

    #[test]
    fn empty_steps_and_no_measurement_count_nothing() {
        assert_eq!(run((0..100).map(|_| (1000, 0)), false).1, 0);
        let mut off = EngineTime::by(clocks(), false);
        off.begin();
        assert_eq!((off.end(true), off.started_ns), (0, None));
    }
}
