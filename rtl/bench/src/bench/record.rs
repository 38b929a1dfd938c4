//! Records of measurements: JSON files in `target/rtl/report/data`.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::modes::Direction;
use crate::builds::root;
use crate::formula::{Formula, Line};

/// Latencies of one path through one build at one clock rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Name of the path in records.
    pub way: String,
    /// Name of the path for users.
    pub label: String,
    /// Direction of the transfer.
    pub direction: Direction,
    /// Name of the build.
    pub build: String,
    /// Name of the build of the jumbo points, if it is another one.
    #[serde(default)]
    pub jumbo_build: Option<String>,
    /// Parameters of the build that differ from their defaults.
    pub parameters: String,
    /// Number of open sessions, which are used in turn.
    pub sessions: u16,
    /// Special case: empty, `vlan` or `options`.
    pub case: String,
    /// Clock rate, width, headers.
    pub line: Line,
    /// Formula of the points.
    pub formula: Formula,
    /// The formula as text.
    pub rule: String,
    /// Points in ascending order of size.
    pub points: Vec<Point>,
}

/// A measured latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Length of the payload in bytes.
    pub n: u64,
    /// Latency in clocks.
    pub cycles: u64,
    /// Whether it needs a larger MTU than 1500, and was measured in a build with an MTU of 9000.
    pub jumbo: bool,
}

impl Series {
    /// Describes the points that differ from the formula.
    #[must_use]
    pub fn off(&self) -> Vec<String> {
        let expected = |point: &Point| self.formula.cycles(&self.line, point.n);
        let off = self.points.iter().filter(|point| point.cycles != expected(point));
        off.map(|point| {
            format!(
                "{} ({}, {} sessions, {} kHz{}{}): {} bytes take {} cycles, {} gives {}",
                self.way,
                self.build,
                self.sessions,
                self.line.khz,
                if self.case.is_empty() { "" } else { ", " },
                self.case,
                point.n,
                point.cycles,
                self.rule,
                expected(point)
            )
        })
        .collect()
    }

    /// Finds the point of a payload size.
    #[must_use]
    pub fn cycles(&self, n: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.n == n)
    }
}

/// Latency on a true line, over all positions of the decoder's pause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Absolute {
    /// Name of the path in records.
    pub way: String,
    /// Name of the path for users.
    pub label: String,
    /// Width of the MAC interface in bits.
    pub mac_bits: u64,
    /// Exact clock rate in kHz.
    pub khz: f64,
    /// Length of the payload in bytes.
    pub n: u64,
    /// Number of measured positions.
    pub phases: u32,
    /// Minimum latency in clocks.
    pub min: u64,
    /// Mean latency in clocks.
    pub mean: f64,
    /// Maximum latency in clocks.
    pub max: u64,
    /// Minimum time in ns from the first bit of the frame on the line, after the delimiter, to the
    /// first beat: the clocks plus the time of the first word on the line.
    pub min_ns: f64,
    /// Mean of this time.
    pub mean_ns: f64,
    /// Maximum of this time.
    pub max_ns: f64,
}

/// `latency.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Series with a MAC interface of 32 bits, as in the published runs.
    pub series: Vec<Series>,
    /// Series with a MAC interface of 64 bits.
    pub wide: Vec<Series>,
    /// Latencies on a true line.
    pub absolute: Vec<Absolute>,
}

/// The result of a run of 100 packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Name of the path in records.
    pub way: String,
    /// Name of the path for users.
    pub label: String,
    /// Direction of the transfer.
    pub direction: Direction,
    /// Name of the build.
    pub build: String,
    /// Clock rate in kHz.
    pub khz: u32,
    /// `limiter`: 10 Gbit/s of frames at the MAC interface, as published. `line`: including
    /// preamble, FCS and gap. `every`: no limit.
    pub limit: String,
    /// Whether each packet uses the next session instead of all using one.
    pub round_robin: bool,
    /// Length of the payload in bytes.
    pub n: u64,
    /// Number of packets.
    pub packets: u64,
    /// Sum of the lengths of all frames.
    pub bytes: u64,
    /// Clocks from the first beat of the first frame to the last beat of the last frame.
    pub clocks: u64,
    /// Minimum number of clocks that the limit allows.
    pub least: u64,
    /// Rate at the MAC interface in Mbit/s: that of the limit, times `least / clocks`.
    pub mbps: f64,
    /// Rate of these packets on a line in Mbit/s, including preamble, FCS and gap.
    pub wire_mbps: f64,
    /// Rate of the payload in Mbit/s.
    pub goodput_mbps: f64,
    /// Millions of packets per second.
    pub mpps: f64,
}

/// `bandwidth.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Results of all runs.
    pub rates: Vec<Rate>,
}

/// Latency of messages while the core sends other frames.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// Name in records.
    pub id: String,
    /// Name for users.
    pub label: String,
    /// Clock rate in kHz.
    pub khz: u32,
    /// Payload of a message in bytes.
    pub n: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of other frames that the core sent meanwhile.
    pub others: u64,
    /// Pairs of a latency in clocks and the number of messages with this latency.
    pub histogram: Vec<(u64, u64)>,
    /// Maximum latency in clocks: one frame of the other kind and the gaps.
    pub bound: u64,
}

/// `contention.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contention {
    /// All scenarios.
    pub scenarios: Vec<Scenario>,
}

/// Directory of the report.
#[must_use]
pub fn directory() -> PathBuf {
    root().join("target/rtl/report")
}

/// Writes a record.
///
/// # Errors
/// The file cannot be written.
pub fn write<T: Serialize>(name: &str, record: &T) -> Result<(), String> {
    let path = directory().join("data").join(name);
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    std::fs::create_dir_all(directory().join("data")).map_err(|error| fail(&error))?;
    let text = serde_json::to_string_pretty(record).map_err(|error| fail(&error))?;
    std::fs::write(&path, text + "\n").map_err(|error| fail(&error))
}

/// Reads a record.
///
/// # Errors
/// The file does not exist or does not have this form.
pub fn read<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    let path = directory().join("data").join(name);
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| fail(&error))?;
    serde_json::from_str(&text).map_err(|error| fail(&error))
}

/// Reads a record. Returns `None` if the file does not exist.
///
/// # Errors
/// The file does not have this form.
pub fn read_if<T: DeserializeOwned>(name: &str) -> Result<Option<T>, String> {
    if directory().join("data").join(name).exists() { read(name).map(Some) } else { Ok(None) }
}

/// Changes a record, which is empty if the file does not exist. Changes by other processes at the
/// same time are not lost.
///
/// # Errors
/// The file cannot be read or written, or does not have this form.
pub fn change<T: Serialize + DeserializeOwned + Default>(
    name: &str,
    act: impl FnOnce(&mut T),
) -> Result<(), String> {
    let path = directory().join("data").join(format!("{name}.lock"));
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(directory().join("data")).map_err(fail)?;
    let lock = std::fs::File::create(&path).map_err(fail)?;
    lock.lock().map_err(fail)?;
    let mut record = read_if(name)?.unwrap_or_default();
    act(&mut record);
    write(name, &record)
}

/// `peers.json`: runs against the TCP of Linux. A later run with the same key replaces a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Peers {
    /// Latest run of each key.
    pub runs: Vec<PeerRun>,
}

/// A run with a real peer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerRun {
    /// Build of the core, or `reference`.
    pub endpoint: String,
    /// Hash of the core's sources ([`crate::builds::sources`]).
    pub core: String,
    /// Length of the test: `short` or `long`.
    pub form: String,
    /// Name and version of the peer.
    pub peer: String,
    /// Name of the test.
    pub name: String,
    /// Role of the endpoint: `client`, `server` or `both`.
    pub role: String,
    /// Seed of the impairments.
    pub seed: u64,
    /// Bytes of payload in both directions.
    pub bytes: u64,
    /// Number of frames from the core.
    pub frames_out: u64,
    /// Number of frames to the core.
    pub frames_in: u64,
    /// Number of frames that the line lost or changed.
    pub impaired: u64,
    /// Number of segments that the core sent again.
    pub core_retransmissions: u64,
    /// Number of segments that the peer sent again.
    pub peer_retransmissions: u64,
    /// Whether the test passed.
    pub passed: bool,
    /// Reason of a failure.
    pub detail: String,
}

impl PeerRun {
    /// Stores the run in a record, where it replaces an earlier run of the same test.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn keep(&self, name: &str) -> Result<(), String> {
        let key = |run: &Self| [&run.endpoint, &run.form, &run.name, &run.role].map(Clone::clone);
        change(name, |all: &mut Peers| put(&mut all.runs, self.clone(), key))
    }
}

/// Replaces the row with the same key, or appends the row.
pub fn put<T, K: PartialEq>(rows: &mut Vec<T>, row: T, key: impl Fn(&T) -> K) {
    let wanted = key(&row);
    match rows.iter_mut().find(|other| key(other) == wanted) {
        Some(other) => *other = row,
        None => rows.push(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_replaces_the_earlier_one_of_the_same_test() {
        let mut rows = vec![("a", 1), ("b", 2)];
        put(&mut rows, ("a", 3), |row| row.0);
        put(&mut rows, ("c", 4), |row| row.0);
        assert_eq!(rows, [("a", 3), ("b", 2), ("c", 4)]);
    }
}
