//! Processor time that the engine takes inside a thread of the application.
//!
//! A wall clock includes the time in which the thread was interrupted. The thread's processor time
//! does not, but reading it is a system call that costs as much as a step with a few small packets
//! and slows down the code after it. So every long step is measured in processor time. Short steps
//! are sampled with the wall clock: one sample stands for the steps before it, and an interrupted
//! sample is so long that it can be told apart. Samples are taken at random, so that a regular
//! pattern of steps does not bias them.

use spfe_host::os;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};

/// Duration from which a step is measured in processor time, ns.
const LONG_NS: u64 = 20_000;
/// Duration from which every step is measured with the wall clock, ns.
const WORTH_NS: u64 = 2_000;
/// Maximum average number of steps that a sample stands for.
const STRIDE_MAX: u64 = 32;

/// Reads a clock after all earlier stores: the stores that a copy leaves in the store buffer belong
/// to the step that made them.
fn after_stores(read: fn() -> u64) -> u64 {
    fence(Ordering::SeqCst);
    read()
}

/// A clock, and the shortest time between two readings, ns.
#[derive(Clone, Copy)]
struct Watch {
    read: fn() -> u64,
    takes_ns: u64,
}

/// Measures the time of steps that move packets.
pub struct EngineTime {
    on: bool,
    /// Steps are long, so all are measured in processor time.
    long: bool,
    /// Number of steps until the next sample.
    left: u32,
    /// Number of steps since the last sample that moved packets.
    missed: u64,
    started_ns: Option<u64>,
    /// Moving average of the duration of a step, ns.
    mean_ns: u64,
    draw: u64,
    wall: Watch,
    cpu: Watch,
}

impl EngineTime {
    /// Starts to measure the calling thread, if `on`.
    pub fn new(on: bool) -> Self {
        static WATCHES: OnceLock<[Watch; 2]> = OnceLock::new();
        let watch = |read: fn() -> u64| Watch { read, takes_ns: if on { least(read) } else { 0 } };
        let watches = || [watch(os::now_ns), watch(os::thread_cpu_ns)];
        let [wall, cpu] = if on { *WATCHES.get_or_init(watches) } else { watches() };
        Self::by(wall, cpu, on)
    }

    fn by(wall: Watch, cpu: Watch, on: bool) -> Self {
        let (left, missed, started_ns, mean_ns, draw) = (1, 0, None, LONG_NS, 1);
        Self { on, long: true, left, missed, started_ns, mean_ns, draw, wall, cpu }
    }

    fn watch(&self) -> Watch {
        if self.long { self.cpu } else { self.wall }
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
            self.started_ns = Some(after_stores(self.watch().read));
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
        let watch = self.watch();
        let took = (after_stores(watch.read) - started_ns).saturating_sub(watch.takes_ns);
        let steps = 1 + std::mem::take(&mut self.missed);
        if !self.long && took > LONG_NS {
            // Interrupted, or longer than earlier steps: the next sample tells.
            self.long = true;
            return self.mean_ns * steps;
        }
        self.mean_ns = (7 * self.mean_ns + took) / 8;
        self.long = self.mean_ns >= LONG_NS;
        let stride = (WORTH_NS / self.mean_ns.max(1)).clamp(1, STRIDE_MAX);
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.left = 1 + ((self.draw >> 33) % (2 * stride - 1)) as u32;
        took * steps
    }
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
    thread_local!(static CPU: Cell<u64> = const { Cell::new(0) });

    /// Advances both clocks by `ns`, and the wall clock by `interrupted_ns` in addition.
    fn pass(ns: u64, interrupted_ns: u64) {
        CPU.set(CPU.get() + ns);
        WALL.set(WALL.get() + ns + interrupted_ns);
    }

    /// Clocks that take 20 and 200 ns to read.
    fn watches() -> (Watch, Watch) {
        let wall = || {
            pass(20, 0);
            WALL.get()
        };
        let cpu = || {
            pass(200, 0);
            CPU.get()
        };
        (Watch { read: wall, takes_ns: 20 }, Watch { read: cpu, takes_ns: 200 })
    }

    /// Runs steps of given lengths and interruptions. Returns the number of samples and the time
    /// counted.
    fn run(steps: impl Iterator<Item = (u64, u64)>, moved: bool) -> (u32, u64) {
        let (wall, cpu) = watches();
        let mut time = EngineTime::by(wall, cpu, true);
        let (mut measured, mut ns) = (0, 0);
        for (step, interrupted) in steps {
            time.begin();
            measured += u32::from(time.started_ns.is_some());
            pass(step, interrupted);
            ns += time.end(moved);
        }
        (measured, ns)
    }

    #[test]
    fn long_steps_are_all_measured_without_interruptions() {
        let steps = (0..100).map(|n| (50_000, if n % 3 == 0 { 4_000_000 } else { 0 }));
        assert_eq!(run(steps, true), (100, 100 * 50_000));
    }

    #[test]
    fn short_steps_are_sampled() {
        let steps = (0..100_000).map(|n| (200, if n % 5000 == 0 { 4_000_000 } else { 0 }));
        let (measured, ns) = run(steps, true);
        assert!((5000..20_000).contains(&measured), "{measured} of 100000");
        let all = 100_000 * 200;
        // The first steps are treated as long.
        assert!(ns.abs_diff(all) < all / 20, "{ns} ns, not {all}");
    }

    #[test]
    fn a_regular_pattern_does_not_bias_the_samples() {
        let steps = || (0..200_000).map(|n| (if n % 8 == 0 { 1500 } else { 100 }, 0));
        let (measured, ns) = run(steps(), true);
        let all = steps().map(|step| step.0).sum::<u64>();
        assert!(measured < 100_000 && ns.abs_diff(all) < all / 20, "{ns} ns, not {all}");
    }

    #[test]
    fn steps_that_become_long_are_noticed() {
        let steps = || (0..2000).map(|n| (if n < 1000 { 500 } else { 80_000 }, 0));
        let (_, ns) = run(steps(), true);
        let all = steps().map(|step| step.0).sum::<u64>();
        assert!(ns.abs_diff(all) < all / 20, "{ns} ns, not {all}");
    }

    #[test]
    fn empty_steps_and_no_measurement_count_nothing() {
        assert_eq!(run((0..100).map(|_| (1000, 0)), false).1, 0);
        let (wall, cpu) = watches();
        let mut off = EngineTime::by(wall, cpu, false);
        off.begin();
        assert_eq!((off.end(true), off.started_ns), (0, None));
    }
}
