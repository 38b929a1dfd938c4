//! Price of moving a cache line between two CPUs.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Stats, now_ns, pin_to};

/// Round trips per run: about 6 us with near lines, 40 us with very far ones.
const ROUNDS: u32 = 64;
/// Lines in play; every run uses another one.
const LINES: usize = 1024;
/// Distance between the lines of two runs, coprime to [`LINES`].
const STRIDE: usize = 397;
/// Polls before the CPU is offered to others (both threads may share one).
const POLLS: u32 = 20_000;
/// Value that ends the game; an odd number the count never reaches.
const STOP: u32 = u32::MAX;

/// One-way times of cache lines between two CPUs, in nanoseconds.
///
/// On processors with a distributed last-level cache the time depends on the
/// physical address of the line, often by a factor of two: where its home is.
/// A single line therefore says little about a pair of CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinePingPong {
    /// Mean over many lines, the slowest tenth of the runs left out.
    pub mean_ns: f64,
    /// 10th percentile: the well-placed lines.
    pub p10_ns: f64,
    /// 90th percentile: the badly placed ones.
    pub p90_ns: f64,
}

impl LinePingPong {
    /// Plays between two CPUs for `budget` (at most one second).
    pub fn measure(cpu_a: usize, cpu_b: usize, budget: Duration) -> Self {
        let lines: Vec<Ball> = (0..LINES).map(|_| Ball(AtomicU32::new(0))).collect();
        let start = Barrier::new(2);
        let budget_ns = budget.min(Duration::from_secs(1)).as_nanos() as u64;
        let samples = thread::scope(|scope| {
            scope.spawn(|| {
                pin_to(cpu_b);
                start.wait();
                reflect(&lines);
            });
            let leader = scope.spawn(|| {
                pin_to(cpu_a);
                start.wait();
                lead(&lines, now_ns() + budget_ns)
            });
            leader.join().unwrap_or_default()
        });
        let stats = Stats::new(&samples);
        let p90_ns = stats.percentile(90.0);
        let usual: Vec<f64> = samples.into_iter().filter(|&ns| ns <= p90_ns).collect();
        Self { mean_ns: Stats::from(usual).mean(), p10_ns: stats.percentile(10.0), p90_ns }
    }
}

/// One-way time of a cache line between two CPUs in nanoseconds: half of a
/// round trip, mean over many lines in about 50 ms.
///
/// On virtual machines the value is often bimodal in time, since the host moves
/// virtual CPUs between core complexes: take it before and after what it explains.
pub fn line_ping_pong_ns(cpu_a: usize, cpu_b: usize) -> f64 {
    line_ping_pong_within(cpu_a, cpu_b, Duration::from_millis(50))
}

/// [`line_ping_pong_ns`] with another time budget (at most one second).
pub fn line_ping_pong_within(cpu_a: usize, cpu_b: usize, budget: Duration) -> f64 {
    LinePingPong::measure(cpu_a, cpu_b, budget).mean_ns
}

/// The ball: odd values travel to the reflecting thread, even ones back. It
/// has two lines to itself, so that adjacent-line prefetch stays out of it.
#[repr(align(128))]
struct Ball(AtomicU32);

/// The ball of run number `run`.
fn ball(lines: &[Ball], run: usize) -> &AtomicU32 {
    &lines[run * STRIDE % lines.len()].0
}

/// Plays until `deadline`, then stops the other side; one-way times in
/// nanoseconds, at least one.
fn lead(lines: &[Ball], deadline: u64) -> Vec<f64> {
    let mut samples = Vec::with_capacity(8192);
    for run in 0.. {
        let ball = ball(lines, run);
        let from = now_ns();
        if from >= deadline && !samples.is_empty() {
            ball.store(STOP, Ordering::Release);
            break;
        }
        let mut count = ball.load(Ordering::Relaxed);
        for played in 1..=ROUNDS {
            ball.store(count + 1, Ordering::Release);
            count += 2;
            if !wait_for(ball, count, deadline) {
                // An incomplete run is only worth something if there is no other.
                if samples.is_empty() {
                    samples.push((now_ns() - from) as f64 / f64::from(2 * played));
                }
                ball.store(STOP, Ordering::Release);
                return samples;
            }
        }
        samples.push((now_ns() - from) as f64 / f64::from(2 * ROUNDS));
    }
    samples
}

/// Polls until the ball shows `value`; `false` if it still does not at `deadline`.
fn wait_for(ball: &AtomicU32, value: u32, deadline: u64) -> bool {
    loop {
        for _ in 0..POLLS {
            if ball.load(Ordering::Acquire) == value {
                return true;
            }
        }
        if now_ns() >= deadline {
            return false;
        }
        thread::yield_now();
    }
}

/// Returns every odd ball as the next even one, line after line, until [`STOP`].
fn reflect(lines: &[Ball]) {
    for run in 0.. {
        let ball = ball(lines, run);
        let (mut returned, mut idle) = (0u32, 0u32);
        while returned < ROUNDS {
            let value = ball.load(Ordering::Acquire);
            if value == STOP {
                return;
            }
            if value & 1 == 1 {
                // A failure means that the leader gave up and stored STOP meanwhile.
                let order = (Ordering::AcqRel, Ordering::Relaxed);
                let _ = ball.compare_exchange(value, value + 1, order.0, order.1);
                returned += 1;
                idle = 0;
            } else if idle == POLLS {
                thread::yield_now();
                idle = 0;
            } else {
                idle += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement_cpus;

    #[test]
    fn gives_times_on_two_cpus_and_on_one() {
        let (a, b) = measurement_cpus();
        for (a, b) in [(a, b), (a, a)] {
            let line = LinePingPong::measure(a, b, Duration::from_millis(3));
            assert!(line.mean_ns.is_finite() && line.p10_ns > 0.0, "{line:?}");
            assert!(line.p10_ns <= line.p90_ns && line.mean_ns <= line.p90_ns);
        }
    }

    #[test]
    fn a_missing_cpu_is_no_obstacle() {
        let ns = line_ping_pong_within(0, usize::MAX, Duration::from_millis(2));
        assert!(ns.is_finite() && ns > 0.0, "{ns}");
    }

    #[test]
    fn every_line_gets_its_turn() {
        let lines: Vec<Ball> = (0..LINES).map(|_| Ball(AtomicU32::new(0))).collect();
        for run in 0..LINES {
            ball(&lines, run).store(1, Ordering::Relaxed);
        }
        assert!(lines.iter().all(|l| l.0.load(Ordering::Relaxed) == 1));
    }
}
