//! Prices of the machine a measurement runs on.
//!
//! A throughput or latency figure means little without the price list of the
//! machine it was taken on: how long a cache line takes from one CPU to the
//! other, how fast `memcpy` is with the same chunk and working set, what a
//! sleep and a wake-up cost. On virtual machines these prices differ by an
//! order of magnitude from bare metal and change while a benchmark runs, so
//! they have to be taken in the same run as the figures they explain.
//!
//! [`calibrate`] takes the whole list in well under 1.5 s; every row is also
//! available as a function of its own. All functions measure on threads of
//! their own: the affinity and the scheduling class of the caller stay as they
//! are (new threads inherit the caller's class, so a caller under
//! `SCHED_FIFO` gets figures for `SCHED_FIFO`).
//!
//! ```
//! let ns = spfe_measure::line_ping_pong_within(0, 1, std::time::Duration::from_millis(2));
//! assert!(ns > 0.0);
//! ```

mod calibrate;
mod copy;
mod facts;
mod line;
mod stats;
mod thread;
mod wake;

pub use calibrate::{CHUNK_SIZES, Calibration, CopyLimit, calibrate, calibrate_on};
pub use copy::{memcpy_gbps, memcpy_gbps_within};
pub use facts::{MachineFacts, machine_facts};
pub use line::{LinePingPong, line_ping_pong_ns, line_ping_pong_within};
pub use stats::Stats;
pub use thread::{
    FIFO_PRIORITY, measurement_cpus, now_ns, pin_to, process_cpu_ns, set_fifo, thread_cpu_ns,
};
pub use wake::{FutexWake, TimerOvershoot, block_wake_cost_ns, futex_wake, timer_overshoot};
