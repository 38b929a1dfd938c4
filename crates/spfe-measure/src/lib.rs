//! Measures basic costs of the machine.
//!
//! A throughput or latency figure means little without the basic costs of the
//! machine: the time of a cache line from one CPU to the other, the rate of
//! `memcpy` with the same chunk and working set, the cost of a sleep and a
//! wake-up. On virtual machines these costs differ by an order of magnitude
//! from bare metal and change while a benchmark runs. They must be measured in
//! the same run as the figures that they explain.
//!
//! [`calibrate`] measures all costs in less than 1.5 s. Each cost also has a
//! function of its own. All functions measure on new threads, so the caller's
//! affinity and scheduling class do not change. New threads inherit the
//! caller's class: a caller under `SCHED_FIFO` gets figures for `SCHED_FIFO`.
//!
//! ```
//! let ns = spfe_measure::line_ping_pong_within(0, 1, std::time::Duration::from_millis(2));
//! assert!(ns > 0.0);
//! ```

mod calibrate;
mod copy;
mod facts;
mod limit;
mod line;
mod load;
mod stats;
mod thread;
mod wake;

pub use calibrate::{CHUNK_SIZES, Calibration, CopyLimit, calibrate, calibrate_on};
pub use copy::{memcpy_gbps, memcpy_gbps_within};
pub use facts::{MachineFacts, machine_facts};
pub use limit::{LimitSetup, limit_gbps};
pub use line::{LinePingPong, line_ping_pong_ns, line_ping_pong_within};
pub use load::{MachineTimes, ProcessTimes};
pub use stats::Stats;
pub use thread::{
    FIFO_PRIORITY, measurement_cpus, now_ns, pin_to, process_cpu_ns, set_fifo, thread_cpu_ns,
};
pub use wake::{
    FutexWake, TimerOvershoot, block_wake_cost_ns, futex_wake, timed_sleep_cpu_ns, timer_overshoot,
};
