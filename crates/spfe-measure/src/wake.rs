//! Costs of sleeping: futex wake-ups and timed sleeps.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Stats, measurement_cpus, now_ns, pin_to, thread_cpu_ns};

/// Maximum duration of a measurement in this module.
const LIMIT: Duration = Duration::from_millis(200);

/// Cost of one sleep and wake-up of a thread through a futex.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FutexWake {
    /// Median time of the waking thread in the wake call, in nanoseconds.
    pub waker_cost_ns: f64,
    /// Mean CPU time of the sleeping thread per sleep and wake-up, in nanoseconds.
    pub sleeper_cpu_ns: f64,
    /// Median time from the wake call until the sleeper runs, in nanoseconds.
    pub latency_p50_ns: f64,
    /// 99th percentile of this time, in nanoseconds.
    pub latency_p99_ns: f64,
    /// Duration of each sleep before the wake-up, in nanoseconds.
    pub gap_ns: u64,
    /// Number of wake-ups that found the sleeper asleep.
    pub samples: usize,
}

impl FutexWake {
    /// CPU time of both threads for one sleep and wake-up, in nanoseconds.
    pub fn pair_cost_ns(&self) -> f64 {
        self.waker_cost_ns + self.sleeper_cpu_ns
    }
}

/// Costs of a timed sleep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimerOvershoot {
    /// Requested duration of each sleep, in nanoseconds.
    pub requested_ns: u64,
    /// Median overshoot in nanoseconds.
    pub p50_ns: f64,
    /// 99th percentile of the overshoot in nanoseconds.
    pub p99_ns: f64,
    /// Mean CPU time per sleep in nanoseconds.
    pub cpu_per_sleep_ns: f64,
    /// Number of sleeps.
    pub samples: usize,
}

/// State shared by the two threads of [`futex_wake`].
struct Bed {
    /// The futex: number of the last wake-up.
    word: AtomicU32,
    /// Number of the wake-up that the sleeper waits for.
    armed: AtomicU32,
    /// Time of wake-up `word` in nanoseconds.
    given_at: AtomicU64,
    /// Number of wake-ups, which is reduced when time runs out.
    rounds: AtomicU32,
}

/// Measures up to `rounds` wake-ups of a thread on `sleeper_cpu` by a thread
/// on `waker_cpu`, each after a sleep of `gap`. Stops after 0.2 s.
///
/// The gap matters on machines whose idle loop polls before it halts the CPU:
/// waking from a shorter sleep is cheap.
pub fn futex_wake(waker_cpu: usize, sleeper_cpu: usize, gap: Duration, rounds: u32) -> FutexWake {
    let bed = Bed {
        word: AtomicU32::new(0),
        armed: AtomicU32::new(0),
        given_at: AtomicU64::new(0),
        rounds: AtomicU32::new(rounds.max(1)),
    };
    let start = Barrier::new(2);
    let (woken, (latencies, cpu_ns)) = thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            pin_to(sleeper_cpu);
            start.wait();
            sleep_rounds(&bed)
        });
        let waker = scope.spawn(|| {
            pin_to(waker_cpu);
            start.wait();
            wake_rounds(&bed, gap, waker_cpu == sleeper_cpu)
        });
        let woken = waker.join().unwrap_or_default();
        (woken, sleeper.join().unwrap_or_default())
    });
    let asleep = |(cost, latency): (&Option<f64>, &f64)| cost.map(|cost| (cost, *latency));
    let pairs: Vec<_> = woken.iter().zip(&latencies).filter_map(asleep).collect();
    let costs: Stats = pairs.iter().map(|p| p.0).collect::<Vec<_>>().into();
    let latency: Stats = pairs.iter().map(|p| p.1).collect::<Vec<_>>().into();
    // JSON has no NaN, so use 0 if there are no samples.
    let or_zero = |value: f64| if value.is_nan() { 0.0 } else { value };
    FutexWake {
        waker_cost_ns: or_zero(costs.median()),
        sleeper_cpu_ns: cpu_ns as f64 / latencies.len().max(1) as f64,
        latency_p50_ns: or_zero(latency.median()),
        latency_p99_ns: or_zero(latency.percentile(99.0)),
        gap_ns: gap.as_nanos() as u64,
        samples: pairs.len(),
    }
}

/// Sleeps until woken, again and again. Returns wake latencies and the
/// thread's CPU time in ns.
fn sleep_rounds(bed: &Bed) -> (Vec<f64>, u64) {
    let mut latencies = Vec::with_capacity(bed.rounds.load(Ordering::Acquire) as usize);
    let cpu_before = thread_cpu_ns();
    let mut round = 0u32;
    while round < bed.rounds.load(Ordering::Acquire) {
        bed.armed.store(round + 1, Ordering::Release);
        while bed.word.load(Ordering::Acquire) == round {
            futex_wait(&bed.word, round);
        }
        latencies.push(now_ns().saturating_sub(bed.given_at.load(Ordering::Acquire)) as f64);
        round += 1;
    }
    (latencies, thread_cpu_ns() - cpu_before)
}

/// Wakes the sleeper again and again. Returns the cost of each wake-up in ns,
/// or `None` if the sleeper was not asleep.
fn wake_rounds(bed: &Bed, gap: Duration, same_cpu: bool) -> Vec<Option<f64>> {
    let deadline = now_ns() + LIMIT.as_nanos() as u64;
    let rounds = bed.rounds.load(Ordering::Acquire);
    let mut costs = Vec::with_capacity(rounds as usize);
    for round in 0..rounds {
        if now_ns() > deadline {
            // The sleeper reads this after its next wake-up, the last one.
            bed.rounds.store(round + 1, Ordering::Release);
        }
        while bed.armed.load(Ordering::Acquire) != round + 1 {
            thread::yield_now();
        }
        if same_cpu {
            thread::sleep(gap);
        } else {
            spin_for(gap);
        }
        let before = now_ns();
        bed.given_at.store(before, Ordering::Release);
        bed.word.store(round + 1, Ordering::Release);
        let woken = futex_wake_one(&bed.word);
        let cost = (now_ns() - before) as f64;
        costs.push((woken > 0).then_some(cost));
        if bed.rounds.load(Ordering::Relaxed) == round + 1 {
            break;
        }
    }
    costs
}

fn spin_for(time: Duration) {
    let until = now_ns() + time.as_nanos() as u64;
    while now_ns() < until {
        spin_loop();
    }
}

fn futex_wait(word: &AtomicU32, expected: u32) {
    let no_timeout = std::ptr::null::<libc::timespec>();
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call. The caller reads it again after every outcome.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, expected, no_timeout) };
}

fn futex_wake_one(word: &AtomicU32) -> i64 {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call and the kernel only uses its address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, 1) }
}

/// Measures `clock_nanosleep` of 50 us on the first measurement CPU with the
/// smallest timer slack, at most 300 times and for at most 0.2 s.
pub fn timer_overshoot() -> TimerOvershoot {
    const REQUESTED_NS: u64 = 50_000;
    let sleeper = thread::spawn(|| {
        pin_to(measurement_cpus().0);
        // SAFETY: the call only takes plain values. It changes the slack of this thread alone.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        let deadline = now_ns() + LIMIT.as_nanos() as u64;
        let mut late = Vec::with_capacity(300);
        let cpu_before = thread_cpu_ns();
        while late.len() < 300 && now_ns() < deadline {
            let from = now_ns();
            nanosleep(REQUESTED_NS);
            late.push((now_ns() - from).saturating_sub(REQUESTED_NS) as f64);
        }
        (late, thread_cpu_ns() - cpu_before)
    });
    let (late, cpu_ns) = sleeper.join().unwrap_or_default();
    let samples = late.len();
    let late = Stats::from(if late.is_empty() { vec![0.0] } else { late });
    TimerOvershoot {
        requested_ns: REQUESTED_NS,
        p50_ns: late.median(),
        p99_ns: late.percentile(99.0),
        cpu_per_sleep_ns: cpu_ns as f64 / samples.max(1) as f64,
        samples,
    }
}

/// Measures the processor time of a timed sleep, in nanoseconds: a thread that does nothing else
/// sleeps until one time after another, `gap` apart, for about `time` in all.
///
/// A core that sleeps longer wakes up more slowly, so the figure holds for this gap only.
pub fn timed_sleep_cpu_ns(gap: Duration, time: Duration) -> f64 {
    let gap_ns = (gap.as_nanos() as u64).max(1_000);
    let sleeper = thread::spawn(move || {
        // SAFETY: the call only takes plain values. It changes the slack of this thread alone.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        let (start, cpu_before) = (now_ns(), thread_cpu_ns());
        let (mut at, mut sleeps) = (start, 0u32);
        while sleeps == 0 || at < start + time.as_nanos() as u64 {
            // After a late end the next sleep is as long as the others.
            at = (at + gap_ns).max(now_ns() + gap_ns / 2);
            sleep_until(at);
            sleeps += 1;
        }
        (thread_cpu_ns() - cpu_before) as f64 / f64::from(sleeps)
    });
    sleeper.join().unwrap_or(0.0)
}

fn sleep_until(ns: u64) {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `time` is valid for the call. An absolute sleep has no remaining time.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &time,
            std::ptr::null_mut(),
        )
    };
}

fn nanosleep(ns: u64) {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `time` is valid for the call. The pointer for the remaining time may be null.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &time, std::ptr::null_mut()) };
}

/// Estimates the CPU time of waker and sleeper for blocking and waking up
/// once, in nanoseconds. Takes about 20 ms.
///
/// Spinning for this long before blocking never costs more than twice the best
/// possible choice. It is measured after short sleeps of 50 us, because
/// spinning competes with short sleeps.
pub fn block_wake_cost_ns() -> f64 {
    let (waker, sleeper) = measurement_cpus();
    futex_wake(waker, sleeper, Duration::from_micros(50), 200).pair_cost_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_ups_are_measured_on_two_cpus_and_on_one() {
        let (a, b) = measurement_cpus();
        for (a, b) in [(a, b), (a, a)] {
            let w = futex_wake(a, b, Duration::from_micros(30), 20);
            assert!(w.samples <= 20);
            assert!(w.sleeper_cpu_ns > 0.0);
            assert!(w.latency_p99_ns >= w.latency_p50_ns);
            assert_eq!(w.gap_ns, 30_000);
        }
    }

    #[test]
    fn timed_sleeps_are_counted() {
        let t = timer_overshoot();
        assert!(t.samples > 0 && t.samples <= 300);
        assert!(t.p99_ns >= t.p50_ns && t.cpu_per_sleep_ns > 0.0);
    }

    #[test]
    fn a_bare_sleep_costs_processor_time() {
        let cost = timed_sleep_cpu_ns(Duration::from_micros(200), Duration::from_millis(5));
        assert!(cost > 0.0, "{cost}");
        // A sleep longer than the measurement still happens once.
        assert!(timed_sleep_cpu_ns(Duration::from_millis(2), Duration::ZERO) > 0.0);
    }

    #[test]
    fn block_wake_cost_is_a_positive_number() {
        let ns = block_wake_cost_ns();
        assert!(ns.is_finite() && ns > 0.0);
    }
}
