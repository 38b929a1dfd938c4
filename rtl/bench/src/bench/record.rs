//! What measurements leave behind: JSON below `target/rtl/report/data`.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::modes::Direction;
use crate::builds::root;
use crate::formula::{Formula, Line};

/// Latencies of one way through one build at one clock rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Name of the way.
    pub way: String,
    /// In words.
    pub label: String,
    /// Direction.
    pub direction: Direction,
    /// Build.
    pub build: String,
    /// Its parameters other than the defaults.
    pub parameters: String,
    /// Sessions that are open; the sizes go round them.
    pub sessions: u16,
    /// What is special: empty, `vlan`, `options`.
    pub case: String,
    /// Clock rate, width, headers.
    pub line: Line,
    /// What the points obey.
    pub formula: Formula,
    /// The same in words.
    pub rule: String,
    /// Points, by size.
    pub points: Vec<Point>,
}

/// A latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Bytes of payload.
    pub n: u64,
    /// Clocks.
    pub cycles: u64,
    /// Larger than a segment with an MTU of 1500; measured in a build with an MTU of 9000.
    pub jumbo: bool,
}

impl Series {
    /// Points that are not where the formula has them, in words.
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

    /// Clocks of a size.
    #[must_use]
    pub fn cycles(&self, n: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.n == n)
    }
}

/// Latency on a true line, over all positions of the decoder's pause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Absolute {
    /// Name of the way.
    pub way: String,
    /// In words.
    pub label: String,
    /// Width towards the MAC in bits.
    pub mac_bits: u64,
    /// Clock rate in kHz, exact.
    pub khz: f64,
    /// Bytes of payload.
    pub n: u64,
    /// Positions that were tried.
    pub phases: u32,
    /// Fewest clocks.
    pub min: u64,
    /// Mean of the clocks.
    pub mean: f64,
    /// Most clocks.
    pub max: u64,
    /// ns from when the first bit of the frame is on the line (after the delimiter) to the first beat: the clocks, and
    /// the time of the first word on the line.
    pub min_ns: f64,
    /// The same, mean.
    pub mean_ns: f64,
    /// The same, most.
    pub max_ns: f64,
}

/// `latency.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    /// 32 bits towards the MAC, as the published runs.
    pub series: Vec<Series>,
    /// 64 bits towards the MAC.
    pub wide: Vec<Series>,
    /// On a true line.
    pub absolute: Vec<Absolute>,
}

/// How a run of 100 packets went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Name of the way.
    pub way: String,
    /// In words.
    pub label: String,
    /// Direction.
    pub direction: Direction,
    /// Build.
    pub build: String,
    /// Clock rate in kHz.
    pub khz: u32,
    /// `limiter`: 10 Gbit/s of frames at the MAC interface, as published; `line`: with what a line carries
    /// beside frames; `every`: no limit.
    pub limit: String,
    /// All packets in one session, or each in the next one.
    pub round_robin: bool,
    /// Bytes of payload.
    pub n: u64,
    /// Packets.
    pub packets: u64,
    /// Bytes of all frames.
    pub bytes: u64,
    /// Clocks from the first beat of the first frame to the last one of the last frame.
    pub clocks: u64,
    /// Clocks that the limit alone would take.
    pub least: u64,
    /// Rate at the MAC interface in Mbit/s: the limit's own, times `least / clocks`.
    pub mbps: f64,
    /// The rate on a line that these packets stand for: with preamble, FCS and gap.
    pub wire_mbps: f64,
    /// Payload.
    pub goodput_mbps: f64,
    /// Millions of packets in a second.
    pub mpps: f64,
}

/// `bandwidth.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bandwidth {
    /// All runs.
    pub rates: Vec<Rate>,
}

/// Latency of messages while something else is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// Name.
    pub id: String,
    /// In words.
    pub label: String,
    /// Clock rate in kHz.
    pub khz: u32,
    /// Bytes of payload of a message.
    pub n: u64,
    /// Messages.
    pub messages: u64,
    /// Other frames the core has sent meanwhile.
    pub others: u64,
    /// Clocks, and how many messages took so many.
    pub histogram: Vec<(u64, u64)>,
    /// Most clocks it may take: one frame of the other kind, and what stands between frames.
    pub bound: u64,
}

/// `contention.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contention {
    /// Scenarios.
    pub scenarios: Vec<Scenario>,
}

/// Where the report is.
#[must_use]
pub fn directory() -> PathBuf {
    root().join("target/rtl/report")
}

/// Writes a record.
///
/// # Errors
/// It cannot be written.
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
/// It is not there, or is not of this shape.
pub fn read<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    let path = directory().join("data").join(name);
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| fail(&error))?;
    serde_json::from_str(&text).map_err(|error| fail(&error))
}

/// Reads a record, if it is there.
///
/// # Errors
/// It is not of this shape.
pub fn read_if<T: DeserializeOwned>(name: &str) -> Result<Option<T>, String> {
    if directory().join("data").join(name).exists() { read(name).map(Some) } else { Ok(None) }
}

/// Changes a record, which is empty if it is not there; what others change at the same time is not lost.
///
/// # Errors
/// It cannot be read or written, or is not of this shape.
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

/// `peers.json`: runs with the stack of Linux as the peer. A run stays until the same one is done again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Peers {
    /// Runs.
    pub runs: Vec<PeerRun>,
}

/// A run with a real peer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerRun {
    /// Build of the core, or `reference`.
    pub endpoint: String,
    /// Sources of the core ([`crate::builds::sources`]).
    pub core: String,
    /// `short` or `long`.
    pub form: String,
    /// The peer and its version.
    pub peer: String,
    /// What was done.
    pub name: String,
    /// `client` or `server`: the role of the endpoint; or `both`.
    pub role: String,
    /// Seed of the impairments.
    pub seed: u64,
    /// Bytes of payload, both directions.
    pub bytes: u64,
    /// Frames from the core.
    pub frames_out: u64,
    /// Frames to the core.
    pub frames_in: u64,
    /// Frames the line has lost or changed.
    pub impaired: u64,
    /// Segments the core has sent again.
    pub core_retransmissions: u64,
    /// Segments the peer has sent again.
    pub peer_retransmissions: u64,
    /// Whether all was as it must be.
    pub passed: bool,
    /// What was not.
    pub detail: String,
}

impl PeerRun {
    /// Puts it into a record in the place of an earlier one of the same.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn keep(&self, name: &str) -> Result<(), String> {
        let key = |run: &Self| [&run.endpoint, &run.form, &run.name, &run.role].map(Clone::clone);
        change(name, |all: &mut Peers| put(&mut all.runs, self.clone(), key))
    }
}

/// Puts a row in the place of the one with the same key, or last.
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
    fn a_run_takes_the_place_of_the_same_one() {
        let mut rows = vec![("a", 1), ("b", 2)];
        put(&mut rows, ("a", 3), |row| row.0);
        put(&mut rows, ("c", 4), |row| row.0);
        assert_eq!(rows, [("a", 3), ("b", 2), ("c", 4)]);
    }
}
