//! The document that `spfe perf` writes and that all renderings read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::number::number;
use crate::paper::{self, PaperFigure};

/// The results of one run of `spfe perf`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Conditions of the run.
    pub meta: Meta,
    /// One row per test case, in the order in which they ran.
    pub results: Vec<ResultRow>,
    /// Calibration record of the same run, in any form. It is shown row by row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Value>,
}

/// Conditions of a run, for judging and repeating it. An unknown text is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Version of spfe.
    pub version: String,
    /// Git revision of the build.
    pub git_revision: String,
    /// Start of the run as in RFC 3339.
    pub date: String,
    /// Command line.
    pub command: String,
    /// Name of the CPU.
    pub cpu_model: String,
    /// Number of cores available to the run.
    pub cores: u32,
    /// Name and release of the operating system's kernel.
    pub kernel: String,
    /// Mode of the device: `inline`, `coop`, `thread` or `daemon`, or a description of devices that
    /// existed before.
    pub mode: String,
    /// Lanes and rate of the link, for example `4x7.5G`.
    pub link: String,
    /// Highest payload rate of the link in one direction, Gbit/s; not a number or 0 if it is not
    /// paced.
    #[serde(deserialize_with = "number")]
    pub link_limit_gbps: f64,
    /// How the host waited, for example `block`, `spin` or `adaptive`.
    pub wait_strategy: String,
    /// Iterations per test case.
    pub iterations: u32,
    /// Duration of an iteration in s.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// Further notes, for example why a figure was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Costs measured in the same run, such as copying memory or waking a thread. Names end in
    /// units.
    pub calibration: BTreeMap<String, Value>,
}

/// The results of one test case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// Name of the scenario, see [`scenario`].
    pub scenario: String,
    /// Payload of a packet in bytes, or its mean if sizes are random.
    pub size_bytes: u64,
    /// Packets per operation.
    #[serde(default = "one")]
    pub group: u32,
    /// Mean payload rate, Gbit/s.
    #[serde(deserialize_with = "number")]
    pub rate_gbps: f64,
    /// Lowest payload rate of any iteration, Gbit/s.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub worst_gbps: f64,
    /// Mean packet rate, 1/s.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub packets_per_s: f64,
    /// Mean load of the threads that run application, library and driver, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub host_cpu_pct: f64,
    /// Mean load of the threads that run the device, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub device_cpu_pct: f64,
    /// Mean wake-ups of the host, 1/s.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub wakes_per_s: f64,
    /// Highest payload rate that the link allows in this scenario for packets of this size, Gbit/s;
    /// not a number or 0 if it is not paced.
    #[serde(default, deserialize_with = "number")]
    pub link_limit_gbps: f64,
    /// Mean loads as the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelLoad>,
    /// What the host's sleeps alone cost on this machine: as many sleeps of the same length by a
    /// thread that does nothing else, measured after the iterations, % of one core.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub floor_cpu_pct: Option<f64>,
    /// Most groups that were submitted before the first of them had completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<u32>,
    /// Time that passed on word-exact links over real time.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub pace: Option<f64>,

    /// One point per iteration, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<Point>,
    /// Highest host load of any iteration, % of one core.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub worst_host_cpu_pct: Option<f64>,
    /// Number of packets handled per wake-up of the host.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub packets_per_wake: Option<f64>,
    /// Time per packet, µs.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub time_per_packet_us: Option<f64>,
    /// Distribution of the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencyNs>,
    /// Time that the link alone needs for what was measured, ns.
    #[serde(default, skip_serializing_if = "unmeasured")]
    pub link_minimum_ns: Option<f64>,
    /// Smallest packet of a random test, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_min_bytes: Option<u64>,
    /// Largest packet of a random test, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_max_bytes: Option<u64>,
    /// Seed of a random test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The published figure of the same test case. `None` if the case was run in another way, for
    /// example on another link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<PaperFigure>,
    /// Number of packets that arrived damaged, or `None` if content was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity_errors: Option<u64>,
}

/// Results of one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Payload rate, Gbit/s.
    #[serde(deserialize_with = "number")]
    pub rate_gbps: f64,
    /// Host load, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub host_cpu_pct: f64,
    /// Device load, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub device_cpu_pct: f64,
    /// Wake-ups of the host, 1/s.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub wakes_per_s: f64,
    /// Loads as the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelLoad>,
}

/// Loads from the kernel's statistics. They include everything: the device where it runs in this
/// process, and for the machine all other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelLoad {
    /// Time of this process in the program, % of one core.
    #[serde(deserialize_with = "number")]
    pub user_pct: f64,
    /// Time of this process in the kernel, % of one core.
    #[serde(deserialize_with = "number")]
    pub system_pct: f64,
    /// The whole machine: programs, kernel and interrupts, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub machine_pct: f64,
    /// The same in % of all cores.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub machine_of_all_pct: f64,
    /// Part of the machine's load in interrupt handlers, % of one core.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub interrupt_pct: f64,
    /// Time that the hypervisor gave to other machines, % of one core. It is in no other figure.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub stolen_pct: f64,
    /// Interrupts of the whole machine, 1/s: devices, timers, and between processors.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub interrupts_per_s: f64,
}

impl KernelLoad {
    /// This process, user and system time, % of one core.
    #[must_use]
    pub fn process_pct(&self) -> f64 {
        self.user_pct + self.system_pct
    }

    /// The machine without this process, % of one core: the driver's work outside of the process,
    /// interrupts, and all other programs.
    #[must_use]
    pub fn rest_pct(&self) -> f64 {
        self.machine_pct - self.process_pct()
    }

    /// Means of all fields.
    fn mean(all: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| Self {
            user_pct: mean(|load| load.user_pct),
            system_pct: mean(|load| load.system_pct),
            machine_pct: mean(|load| load.machine_pct),
            machine_of_all_pct: mean(|load| load.machine_of_all_pct),
            interrupt_pct: mean(|load| load.interrupt_pct),
            stolen_pct: mean(|load| load.stolen_pct),
            interrupts_per_s: mean(|load| load.interrupts_per_s),
        })
    }
}

/// Distribution of a latency, all in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyNs {
    /// Mean.
    #[serde(deserialize_with = "number")]
    pub mean: f64,
    /// Median.
    #[serde(deserialize_with = "number")]
    pub p50: f64,
    /// 99th percentile.
    #[serde(deserialize_with = "number")]
    pub p99: f64,
    /// 99.9th percentile.
    #[serde(deserialize_with = "number")]
    pub p999: f64,
    /// Slowest.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Fastest.
    #[serde(deserialize_with = "number")]
    pub min: f64,
}

impl Document {
    /// Reads a document. Unknown fields are ignored.
    ///
    /// # Errors
    /// The text is not JSON, or a field has another type than in the model.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Writes the document as JSON in one line, without a line feed.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).expect("no map with other keys than text")
    }

    /// Writes the document as indented JSON with a final line feed. A number that is not finite
    /// becomes `null`, which reads back as "not measured".
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self)
            .expect("no map with other keys than text, no writer that can fail");
        json.push('\n');
        json
    }
}

impl ResultRow {
    /// Makes a row whose rates and loads are 0 and whose optional fields are absent.
    #[must_use]
    pub fn new(scenario: &str, size_bytes: u64, group: u32) -> Self {
        Self { scenario: scenario.to_owned(), size_bytes, group, ..Self::default() }
    }

    /// Makes a row from its iterations. It computes means, worst cases, packet rate, time per
    /// packet and packets per wake-up, and adds the published figure if there is one.
    #[must_use]
    pub fn from_points(scenario: &str, size_bytes: u64, group: u32, points: Vec<Point>) -> Self {
        let mut row = Self::new(scenario, size_bytes, group);
        row.paper = paper::figure(scenario, size_bytes, group).map(|case| case.figure());
        if points.is_empty() {
            return row;
        }
        let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        row.rate_gbps = mean(|p| p.rate_gbps);
        row.host_cpu_pct = mean(|p| p.host_cpu_pct);
        row.device_cpu_pct = mean(|p| p.device_cpu_pct);
        row.wakes_per_s = mean(|p| p.wakes_per_s);
        let loads: Vec<_> = points.iter().filter_map(|p| p.kernel).collect();
        row.kernel = KernelLoad::mean(&loads);
        row.worst_gbps = points.iter().map(|p| p.rate_gbps).fold(f64::INFINITY, f64::min);
        row.worst_host_cpu_pct = points.iter().map(|p| p.host_cpu_pct).reduce(f64::max);
        if size_bytes > 0 {
            row.packets_per_s = row.rate_gbps * 1e9 / 8.0 / size_bytes as f64;
        }
        row.time_per_packet_us = positive(1e6 / row.packets_per_s);
        row.packets_per_wake = positive(row.packets_per_s / row.wakes_per_s);
        row.iterations = points;
        row
    }

    /// Host and device load together, % of one core.
    #[must_use]
    pub fn sum_cpu_pct(&self) -> f64 {
        self.host_cpu_pct + self.device_cpu_pct
    }

    /// Rate in % of the highest rate of the link, or `None` if the link is not paced.
    #[must_use]
    pub fn link_share_pct(&self) -> Option<f64> {
        (self.link_limit_gbps > 0.0).then(|| 100.0 * self.rate_gbps / self.link_limit_gbps)
    }

    /// Highest host load of any iteration, % of one core, as recorded or computed from the points.
    #[must_use]
    pub fn highest_host_cpu_pct(&self) -> Option<f64> {
        let highest = || self.iterations.iter().map(|p| p.host_cpu_pct).reduce(f64::max);
        self.worst_host_cpu_pct.or_else(highest)
    }

    /// Time per packet in µs, as recorded or computed from the packet rate.
    #[must_use]
    pub fn packet_time_us(&self) -> Option<f64> {
        self.time_per_packet_us.or_else(|| positive(1e6 / self.packets_per_s))
    }

    /// Packets per wake-up, as recorded or computed from the two rates.
    #[must_use]
    pub fn packets_each_wake(&self) -> Option<f64> {
        self.packets_per_wake.or_else(|| positive(self.packets_per_s / self.wakes_per_s))
    }

    /// The published interrupts per second of the same test case, where there are any.
    #[must_use]
    pub fn published_interrupts_per_s(&self) -> Option<f64> {
        self.paper?;
        paper::interrupts_per_s(&self.scenario, self.size_bytes, self.group)
    }
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Whether to leave out a field: it is absent or not finite, which JSON cannot express.
fn unmeasured(value: &Option<f64>) -> bool {
    !value.is_some_and(f64::is_finite)
}

fn one() -> u32 {
    1
}

fn unknown() -> f64 {
    f64::NAN
}
