//! Measurements of simulated cores (`rtl:`), in cycles.
//!
//! Two cores are joined by a cable. Hosts use the library, and answer after a stated number of
//! cycles; memory answers after a stated number of cycles too. So the results are the same on every
//! machine, and say nothing about software.
//!
//! | module | contents |
//! | --- | --- |
//! | [`host`] | models of hosts that send and receive |
//! | [`bench`] | the cores, and runs of hosts |
//! | [`tables`] | the published tables |
//! | [`times`] | times of single packets |
//! | [`recovery`] | times after bit errors |

mod bench;
mod host;
mod recovery;
mod tables;
mod times;

use crate::context::Context;
use crate::error::Failure;
use crate::perf::args::{RecoveryArgs, TablesArgs};
use serde_json::{Value, json};
use spfe::LinkRate;
use spfe_rtl::Timing;
use std::time::Duration;

/// The fill threshold of the published receiver, and its time limit.
const FILL_PERCENT: u32 = 25;
const FILL_TIME: Duration = Duration::from_micros(100);
/// The time in which a host answers, us, unless the command line says how many cycles.
const ANSWER_US: f64 = 1.0;
/// Delay of the cable, ns: 10 m.
const CABLE_NS: f64 = 50.0;
/// Bits of a word on a lane.
const WORD_BITS: f64 = 40.0;

/// A link of so many lanes, and the time of a word on it.
#[derive(Clone, Copy, Debug)]
struct Line {
    lanes: usize,
    mbps: u32,
}

impl Line {
    fn rate(self) -> LinkRate {
        LinkRate::SpaceFibre { lanes: self.lanes as u32, mbps: self.mbps }
    }

    /// Nanoseconds of a cycle.
    fn cycle_ns(self) -> f64 {
        WORD_BITS * 1e3 / f64::from(self.mbps)
    }

    fn cycles(self, ns: f64) -> u64 {
        (ns / self.cycle_ns()).ceil() as u64
    }

    /// Highest payload in a cycle, bytes.
    fn user_bytes(self, both: bool) -> f64 {
        let timing = self.rate().timing().expect("the link has a rate");
        timing.user_bps(both) / 8e9 * self.cycle_ns()
    }
}

/// What a measurement was made with.
fn meta(device: &str, line: Line, answer: u64) -> Value {
    let memory = Timing::default();
    json!({
        "device": device,
        "link": line.rate().to_string(),
        "cycle_ns": line.cycle_ns(),
        "cable_cycles": line.cycles(CABLE_NS),
        "answer_cycles": answer,
        "memory_read_cycles": memory.read,
        "memory_write_cycles": memory.write,
        "git_revision": spfe_measure::machine_facts().git_revision,
    })
}

/// The description of a measurement for people.
fn describe(meta: &Value) -> String {
    format!(
        "{}: {}, a cycle is {:.2} ns; the cable takes {} cycles, memory {} (read) and {} (write), \
         and a host answers after {}.\n",
        meta["device"].as_str().unwrap_or_default(),
        meta["link"].as_str().unwrap_or_default(),
        meta["cycle_ns"].as_f64().unwrap_or_default(),
        meta["cable_cycles"],
        meta["memory_read_cycles"],
        meta["memory_write_cycles"],
        meta["answer_cycles"],
    )
}

/// Runs `spfe perf tables` on a simulated core.
pub fn tables(args: &TablesArgs, device: &str, context: &Context) -> Result<(), Failure> {
    tables::run(args, device, context)
}

/// Runs `spfe perf recovery`.
pub fn recovery(args: &RecoveryArgs, context: &Context) -> Result<(), Failure> {
    recovery::run(args, context)
}
