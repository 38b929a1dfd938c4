//! Measures all costs in one run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    FutexWake, LinePingPong, MachineFacts, TimerOvershoot, block_wake_cost_ns, futex_wake,
    machine_facts, measurement_cpus, memcpy_gbps_within, now_ns, timer_overshoot,
};

/// Chunk sizes of the copy measurements in bytes.
pub const CHUNK_SIZES: [usize; 6] = [64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10];

/// Working set of each buffer of the "hot" copy in bytes. It fits in a second-level cache.
const HOT_SET: usize = 128 << 10;
/// Working sets of the "ring" copy in bytes, as large as the buffer rings of a busy channel.
const RING_SRC: usize = 1 << 20;
const RING_DST: usize = 4 << 20;

/// Rates of `memcpy` for one chunk size in Gbit/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyLimit {
    /// Bytes per copy.
    pub chunk_bytes: usize,
    /// One core that copies the same chunk to the same place again and again.
    pub reused_gbps: f64,
    /// One core that copies 128 KiB to 128 KiB, or one chunk if it is larger.
    pub hot_gbps: f64,
    /// One core that copies from 1 MiB to 4 MiB.
    pub ring_gbps: f64,
    /// Sum of two cores that each copy from 1 MiB to 4 MiB at the same time.
    pub ring_two_cores_gbps: f64,
}

/// Measured costs of this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Facts about the machine.
    pub facts: MachineFacts,
    /// The two CPUs that ran the measurements.
    pub cpus: (usize, usize),
    /// Time to move a cache line from one CPU to the other.
    pub line: LinePingPong,
    /// Copy rates, one entry per chunk size.
    pub copies: Vec<CopyLimit>,
    /// Cost of waking a thread after 50 us of sleep.
    pub futex_short: FutexWake,
    /// Cost of waking a thread after 400 us of sleep.
    pub futex_long: FutexWake,
    /// Overshoot of timed sleeps of 50 us.
    pub timer: TimerOvershoot,
    /// CPU time of blocking and waking up once, in ns. A thread should spin for as long before it
    /// blocks.
    pub block_wake_cost_ns: f64,
    /// Duration of all measurements in ms.
    pub elapsed_ms: f64,
}

/// Measures all costs on [`measurement_cpus`]. Takes at most 1.5 s.
pub fn calibrate() -> Calibration {
    calibrate_on(&CHUNK_SIZES)
}

/// Like [`calibrate`] with other chunk sizes in bytes. Takes about 0.1 s per size plus 0.4 s.
pub fn calibrate_on(chunk_sizes: &[usize]) -> Calibration {
    let from = now_ns();
    let cpus = measurement_cpus();
    let facts = machine_facts();
    let line = LinePingPong::measure(cpus.0, cpus.1, Duration::from_millis(50));
    let copies = chunk_sizes.iter().map(|&chunk| copy_limit(chunk)).collect();
    let futex_short = futex_wake(cpus.0, cpus.1, Duration::from_micros(50), 200);
    let futex_long = futex_wake(cpus.0, cpus.1, Duration::from_micros(400), 150);
    Calibration {
        facts,
        cpus,
        line,
        copies,
        futex_short,
        futex_long,
        timer: timer_overshoot(),
        block_wake_cost_ns: block_wake_cost_ns(),
        elapsed_ms: (now_ns() - from) as f64 / 1e6,
    }
}

fn copy_limit(chunk_bytes: usize) -> CopyLimit {
    let budget = Duration::from_millis(25);
    let rate = |src, dst, cores| memcpy_gbps_within(chunk_bytes, src, dst, cores, budget);
    CopyLimit {
        chunk_bytes,
        reused_gbps: rate(chunk_bytes, chunk_bytes, 1),
        hot_gbps: rate(HOT_SET, HOT_SET, 1),
        ring_gbps: rate(RING_SRC, RING_DST, 1),
        ring_two_cores_gbps: rate(RING_SRC, RING_DST, 2),
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_facts(f)?;
        let us = |ns: f64| ns / 1e3;
        writeln!(
            f,
            "line ping-pong    {:.0} ns one way, by line p10 {:.0} p90 {:.0}",
            self.line.mean_ns, self.line.p10_ns, self.line.p90_ns
        )?;
        for (name, wake) in [("short", &self.futex_short), ("long", &self.futex_long)] {
            writeln!(
                f,
                "futex wake {name:<5}  waker {:.1} us, sleeper {:.1} us CPU, latency p50 {:.1} us \
                 p99 {:.1} us (after {:.0} us asleep, n={})",
                us(wake.waker_cost_ns),
                us(wake.sleeper_cpu_ns),
                us(wake.latency_p50_ns),
                us(wake.latency_p99_ns),
                us(wake.gap_ns as f64),
                wake.samples
            )?;
        }
        writeln!(
            f,
            "timed sleep       {:.0} us: late by p50 {:.1} us p99 {:.1} us, {:.1} us CPU (n={})",
            us(self.timer.requested_ns as f64),
            us(self.timer.p50_ns),
            us(self.timer.p99_ns),
            us(self.timer.cpu_per_sleep_ns),
            self.timer.samples
        )?;
        writeln!(f, "block and wake    {:.1} us CPU", us(self.block_wake_cost_ns))?;
        writeln!(f, "memcpy, Gbit/s     one chunk         hot        ring   ring, 2 cores")?;
        for row in &self.copies {
            writeln!(
                f,
                "{:>14}    {:>10.0}  {:>10.0}  {:>10.0}   {:>13.0}",
                size_text(row.chunk_bytes),
                row.reused_gbps,
                row.hot_gbps,
                row.ring_gbps,
                row.ring_two_cores_gbps
            )?;
        }
        write!(f, "taken in {:.0} ms", self.elapsed_ms)
    }
}

impl Calibration {
    fn fmt_facts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = &self.facts;
        writeln!(
            f,
            "machine           {}{}, {} CPUs (measured on {} and {}), Linux {}",
            facts.cpu_model,
            if facts.hypervisor { " (virtual)" } else { "" },
            facts.cpus_online,
            self.cpus.0,
            self.cpus.1,
            facts.kernel
        )?;
        writeln!(
            f,
            "memory            {:.1} GiB, L1d {}, L2 {}, L3 {}",
            facts.memory_bytes as f64 / (1u64 << 30) as f64,
            size_text(facts.l1d_bytes as usize),
            size_text(facts.l2_bytes as usize),
            size_text(facts.l3_bytes as usize)
        )?;
        let [one, five, fifteen] = facts.load_average;
        writeln!(
            f,
            "revision          {}, load {one:.2} {five:.2} {fifteen:.2}",
            facts.git_revision
        )
    }
}

/// Formats a size in the largest binary unit that divides it.
fn size_text(bytes: usize) -> String {
    match bytes {
        0 => "?".to_owned(),
        b if b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_survives_json_and_prints_a_row_per_size() {
        let taken = calibrate_on(&[64, 4096]);
        assert_eq!(taken.copies.len(), 2);
        assert!(taken.copies.iter().all(|c| c.hot_gbps > 0.0 && c.ring_gbps > 0.0));
        let text = serde_json::to_string(&taken).unwrap();
        let back: Calibration = serde_json::from_str(&text).unwrap();
        assert_eq!(back.copies.len(), taken.copies.len());
        assert_eq!(back.facts.cpu_model, taken.facts.cpu_model);
        let table = taken.to_string();
        assert!(table.contains("64 B") && table.contains("4 KiB"));
        assert!(!table.contains("NaN"), "{table}");
    }

    #[test]
    fn sizes_as_text() {
        assert_eq!(size_text(100), "100 B");
        assert_eq!(size_text(48 << 10), "48 KiB");
        assert_eq!(size_text(3 << 20), "3 MiB");
    }
}
