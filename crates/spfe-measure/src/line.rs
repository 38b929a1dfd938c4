//! Time to move a cache line between two CPUs.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Stats, now_ns, pin_to};

/// Round trips per run. A run takes about 6 us with near lines and 40 us with very distant ones.
const ROUNDS: u32 = 64;
/// Number of lines. Each run uses another one.
const LINES: usize = 1024;
/// Distance between the lines of consecutive runs, coprime to [`LINES`].
const STRIDE: usize = 397;
/// Number of polls before yielding the CPU, which both threads may share.
const POLLS: u32 = 20_000;

/// One-way times of cache lines between two CPUs, in nanoseconds.
///
/// On processors with a distributed last-level cache the time depends on the
/// physical address of the line, often by a factor of two. A single line
/// therefore says little about a pair of CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinePingPong {
    /// Mean over many lines, without the slowest tenth of the runs.
    pub mean_ns: f64,
    /// 10th percentile: well-placed lines.
    pub p10_ns: f64,
    /// 90th percentile: badly placed lines.
    pub p90_ns: f64,
}

impl LinePingPong {
    /// Measures between two CPUs for `budget`, at most one second.
    pub fn measure(cpu_a: usize, cpu_b: usize, budget: Duration) -> Self {
        let lines: Vec<Ball> = (0..LINES).map(|_| Ball(AtomicU32::new(0))).collect();
        let (start, ended) = (Barrier::new(2), AtomicBool::new(false));
        let budget_ns = budget.min(Duration::from_secs(1)).as_nanos() as u64;
        let samples = thread::scope(|scope| {
            scope.spawn(|| {
                pin_to(cpu_b);
                start.wait();
                reflect(&lines, &ended);
            });
            let leader = scope.spawn(|| {
                pin_to(cpu_a);
                start.wait();
                lead(&lines, now_ns() + budget_ns)
            });
            let samples = leader.join().unwrap_or_default();
            ended.store(true, Ordering::Relaxed);
            samples
        });
        let stats = Stats::new(&samples);
        let p90_ns = stats.percentile(90.0);
        let usual: Vec<f64> = samples.into_iter().filter(|&ns| ns <= p90_ns).collect();
        Self { mean_ns: Stats::from(usual).mean(), p10_ns: stats.percentile(10.0), p90_ns }
    }
}

/// One-way time of a cache line between two CPUs in nanoseconds: half of a
/// round trip, averaged over many lines in about 50 ms.
///
/// On virtual machines the value may change over time, because the host moves
/// virtual CPUs between core complexes. Measure before and after a benchmark.
pub fn line_ping_pong_ns(cpu_a: usize, cpu_b: usize) -> f64 {
    line_ping_pong_within(cpu_a, cpu_b, Duration::from_millis(50))
}

/// Like [`line_ping_pong_ns`] with another duration, at most one second.
pub fn line_ping_pong_within(cpu_a: usize, cpu_b: usize, budget: Duration) -> f64 {
    LinePingPong::measure(cpu_a, cpu_b, budget).mean_ns
}

/// The counter that both threads pass to each other. Odd values go to the
/// reflecting thread, even values back. It has two lines to itself, so that
/// adjacent-line prefetch has no effect.
#[repr(align(128))]
struct Ball(AtomicU32);

/// The counter of run number `run`.
fn ball(lines: &[Ball], run: usize) -> &AtomicU32 {
    &lines[run * STRIDE % lines.len()].0
}

/// Measures until `deadline`. Returns at least one one-way time in nanoseconds.
fn lead(lines: &[Ball], deadline: u64) -> Vec<f64> {
    let mut samples = Vec::with_capacity(8192);
    for run in 0.. {
        let ball = ball(lines, run);
        let from = now_ns();
        if from >= deadline && !samples.is_empty() {
            break;
        }
        let mut count = ball.load(Ordering::Relaxed);
        for played in 1..=ROUNDS {
            ball.store(count + 1, Ordering::Release);
            count += 2;
            if !wait_for(ball, count, deadline) {
                // Use an incomplete run only if there is no other.
                if samples.is_empty() {
                    samples.push((now_ns() - from) as f64 / f64::from(2 * played));
                }
                return samples;
            }
        }
        samples.push((now_ns() - from) as f64 / f64::from(2 * ROUNDS));
    }
    samples
}

/// Polls until the counter has `value`. Returns `false` at `deadline`.
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

/// Answers every odd value with the next even one, line after line, until the leader has `ended`. The
/// leader may give up at any time, also while its last value is being answered and this thread goes on
/// to the next line.
fn reflect(lines: &[Ball], ended: &AtomicBool) {
    for run in 0.. {
        let ball = ball(lines, run);
        let (mut returned, mut idle) = (0u32, 0u32);
        while returned < ROUNDS {
            let value = ball.load(Ordering::Acquire);
            if value & 1 == 1 {
                ball.store(value + 1, Ordering::Release);
                returned += 1;
                idle = 0;
            } else if idle == POLLS {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
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
    fn measures_on_two_cpus_and_on_one() {
        let (a, b) = measurement_cpus();
        for (a, b) in [(a, b), (a, a)] {
            let line = LinePingPong::measure(a, b, Duration::from_millis(3));
            assert!(line.mean_ns.is_finite() && line.p10_ns > 0.0, "{line:?}");
            assert!(line.p10_ns <= line.p90_ns && line.mean_ns <= line.p90_ns);
        }
    }

    #[test]
    fn a_leader_may_give_up_at_any_round() {
        for played in [0, 1, ROUNDS - 1, ROUNDS, ROUNDS + 1] {
            let lines: Vec<Ball> = (0..LINES).map(|_| Ball(AtomicU32::new(0))).collect();
            let ended = AtomicBool::new(false);
            thread::scope(|scope| {
                let reflector = scope.spawn(|| reflect(&lines, &ended));
                for round in 0..played {
                    let ball = ball(&lines, (round / ROUNDS) as usize);
                    let value = 2 * (round % ROUNDS) + 1;
                    ball.store(value, Ordering::Release);
                    // The last one is not waited for.
                    while round + 1 < played && ball.load(Ordering::Acquire) == value {
                        thread::yield_now();
                    }
                }
                ended.store(true, Ordering::Relaxed);
                reflector.join().unwrap();
            });
        }
    }

    #[test]
    fn a_missing_cpu_does_not_fail() {
        let ns = line_ping_pong_within(0, usize::MAX, Duration::from_millis(2));
        assert!(ns.is_finite() && ns > 0.0, "{ns}");
    }

    #[test]
    fn runs_use_every_line() {
        let lines: Vec<Ball> = (0..LINES).map(|_| Ball(AtomicU32::new(0))).collect();
        for run in 0..LINES {
            ball(&lines, run).store(1, Ordering::Relaxed);
        }
        assert!(lines.iter().all(|l| l.0.load(Ordering::Relaxed) == 1));
    }
}
