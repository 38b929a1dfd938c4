//! The columns of result tables, for the terminal and the page.

use crate::model::{KernelLoad, LatencyNs, ResultRow};
use crate::num::{self, NONE, fixed, optional, short, significant, size, trimmed, with_worst};
use crate::paper;
use crate::section::Section;

/// A column with one cell per row.
pub(crate) struct Column {
    pub title: &'static str,
    /// Unit below the title, may be empty.
    pub unit: &'static str,
    /// Whether narrow tables leave the column out.
    pub detail: bool,
    /// Whether the column holds published figures.
    pub published: bool,
    pub cells: Vec<String>,
}

/// Collects the columns of a table.
struct Table<'a> {
    rows: &'a [&'a ResultRow],
    columns: Vec<Column>,
}

impl Table<'_> {
    fn add(
        &mut self,
        title: &'static str,
        unit: &'static str,
        cell: impl Fn(&ResultRow) -> String,
    ) {
        let cells = self.rows.iter().map(|row| cell(row)).collect();
        self.columns.push(Column { title, unit, detail: false, published: false, cells });
    }

    fn detail(
        &mut self,
        title: &'static str,
        unit: &'static str,
        cell: impl Fn(&ResultRow) -> String,
    ) {
        self.add(title, unit, cell);
        self.columns.last_mut().expect("just added").detail = true;
    }

    fn published(
        &mut self,
        title: &'static str,
        unit: &'static str,
        cell: impl Fn(&ResultRow) -> String,
    ) {
        self.add(title, unit, cell);
        self.columns.last_mut().expect("just added").published = true;
    }

    fn any(&self, has: impl Fn(&ResultRow) -> bool) -> bool {
        self.rows.iter().any(|row| has(row))
    }

    fn add_case(&mut self, section: &Section<'_>) {
        if section.is_named() {
            self.add("Test", "", |row| row.scenario.clone());
        }
        if section.is_random() {
            self.add("Sizes", "", sizes);
            self.detail("Seed", "", |row| row.seed.map_or(NONE.into(), |seed| seed.to_string()));
        } else if !section.is_named() {
            self.add("Size", "", sizes);
        }
        if self.any(|row| row.group != 1) {
            self.add("Group", "", |row| row.group.to_string());
        }
    }

    /// Loads of one core as we take them, and what sleeping alone costs.
    fn add_loads(&mut self) {
        self.add("Host (worst)", "% core", |row| {
            with_worst(row.host_cpu_pct, row.highest_host_cpu_pct(), 1)
        });
        if self.any(|row| row.floor_cpu_pct.is_some()) {
            self.add("Floor", "% core", |row| optional(row.floor_cpu_pct, 1));
        }
        self.add("Device", "% core", |row| fixed(row.device_cpu_pct, 1));
        self.detail("Sum", "% core", |row| fixed(row.sum_cpu_pct(), 1));
    }

    /// Loads as the kernel counts them.
    fn add_kernel_loads(&mut self) {
        if !self.any(|row| row.kernel.is_some()) {
            return;
        }
        let of = |pick: fn(&KernelLoad) -> f64| {
            move |row: &ResultRow| optional(row.kernel.as_ref().map(pick), 1)
        };
        self.add("User", "% core", of(|load| load.user_pct));
        self.add("System", "% core", of(|load| load.system_pct));
        self.add("Machine", "% core", of(|load| load.machine_pct));
        self.add("Rest", "% core", of(KernelLoad::rest_pct));
        self.add("Machine", "% of all", of(|load| load.machine_of_all_pct));
        if self.any(|row| row.kernel.is_some_and(|load| load.stolen_pct >= 0.05)) {
            self.add("Stolen", "% core", of(|load| load.stolen_pct));
        }
        self.detail("Interrupts", "% core", of(|load| load.interrupt_pct));
    }

    fn add_wakes(&mut self) {
        self.add("Wakes", "1/s", |row| short(row.wakes_per_s));
        if self.any(|row| row.kernel.is_some()) {
            let interrupts = |load: &KernelLoad| short(load.interrupts_per_s);
            self.add("IRQs", "1/s", move |row| row.kernel.as_ref().map_or(NONE.into(), interrupts));
        }
        if self.any(|row| row.published_interrupts_per_s().is_some()) {
            self.published("Paper IRQs", "1/s", |row| {
                optional(row.published_interrupts_per_s(), 0)
            });
        }
        if self.any(|row| row.packets_each_wake().is_some()) {
            self.detail("Per wake", "packets", |row| {
                row.packets_each_wake().map_or(NONE.into(), short)
            });
        }
    }
}

/// The columns about the rate. Columns without any value are left out.
pub(crate) fn rates(section: &Section<'_>) -> Vec<Column> {
    let mut table = Table { rows: &section.rows, columns: Vec::new() };
    table.add_case(section);
    let (unit, scale) = rate_unit(&section.rows);
    table.add("Rate (worst)", unit, |row| {
        rate_and_worst(scale * row.rate_gbps, Some(scale * row.worst_gbps))
    });
    if table.any(|row| row.link_share_pct().is_some()) {
        table.add("Of link", "%", |row| optional(row.link_share_pct(), 1));
    }
    if table.any(|row| row.paper.is_some()) {
        table.published("Paper (worst)", unit, |row| paper_rate(row, scale));
    }
    table.add("Packets", "1/s", |row| short(row.packets_per_s));
    table.add("Per packet", "µs", |row| optional(row.packet_time_us(), 3));
    if table.any(|row| row.pace.is_some()) {
        table.add("Pace", "× real time", |row| row.pace.map_or(NONE.into(), significant));
    }
    if table.any(|row| row.integrity_errors.is_some()) {
        table.add("Errors", "packets", |row| {
            row.integrity_errors.map_or(NONE.into(), |errors| errors.to_string())
        });
    }
    table.columns
}

/// The columns about processor load.
pub(crate) fn loads(section: &Section<'_>) -> Vec<Column> {
    let mut table = Table { rows: &section.rows, columns: Vec::new() };
    table.add_case(section);
    table.add_loads();
    if table.any(|row| row.paper.is_some()) {
        table.published("Paper (worst)", "% core, ×4", paper_cpu);
    }
    table.add_kernel_loads();
    table.add_wakes();
    table.columns
}

/// The columns about latency.
pub(crate) fn latencies(section: &Section<'_>) -> Vec<Column> {
    let mut table = Table { rows: &section.rows, columns: Vec::new() };
    table.add_case(section);
    let of = |pick: fn(&LatencyNs) -> f64| {
        move |row: &ResultRow| optional(row.latency_ns.as_ref().map(|ns| pick(ns) / 1e3), 3)
    };
    table.add("Mean", "µs", of(|ns| ns.mean));
    table.add("Min", "µs", of(|ns| ns.min));
    table.add("50 %", "µs", of(|ns| ns.p50));
    table.add("99 %", "µs", of(|ns| ns.p99));
    table.add("99.9 %", "µs", of(|ns| ns.p999));
    table.add("Max", "µs", of(|ns| ns.max));
    if table.any(|row| row.link_minimum_ns.is_some()) {
        table.add("Link alone", "µs", |row| optional(row.link_minimum_ns.map(|ns| ns / 1e3), 3));
        table.add("Above it (max)", "µs", above_minimum);
    }
    if section.is_latency() {
        let (unit, scale) = rate_unit(&section.rows);
        table.add("Rate", unit, |row| significant(scale * row.rate_gbps));
        table.add("Packets", "1/s", |row| short(row.packets_per_s));
        if table.any(|row| row.pace.is_some()) {
            table.add("Pace", "× real time", |row| row.pace.map_or(NONE.into(), significant));
        }
    }
    table.columns
}

/// The unit of the rates of these rows, and how many of it are 1 Gbit/s.
pub(crate) fn rate_unit(rows: &[&ResultRow]) -> (&'static str, f64) {
    let published = |row: &ResultRow| row.paper.map_or(0.0, |figure| figure.rate_gbps);
    let values = rows.iter().flat_map(|row| [row.rate_gbps, published(row)]);
    num::rate_unit(values.filter(|rate| rate.is_finite()).fold(0.0, f64::max))
}

/// A rate and its worst case, with four digits each.
fn rate_and_worst(mean: f64, worst: Option<f64>) -> String {
    match worst.filter(|worst| worst.is_finite()) {
        Some(worst) => format!("{} ({})", significant(mean), significant(worst)),
        None => significant(mean),
    }
}

/// Mean and longest time beyond what the link alone needs.
fn above_minimum(row: &ResultRow) -> String {
    let Some((ns, minimum)) = row.latency_ns.zip(row.link_minimum_ns) else { return NONE.into() };
    with_worst((ns.mean - minimum) / 1e3, Some((ns.max - minimum) / 1e3), 3)
}

/// Size of the packets, or the range of random sizes.
fn sizes(row: &ResultRow) -> String {
    match (row.size_min_bytes, row.size_max_bytes) {
        (Some(min), Some(max)) => format!("{} to {}", size(min), size(max)),
        _ => size(row.size_bytes),
    }
}

/// The published worst case, if the row's published mean comes from the same source.
fn paper_worst(row: &ResultRow) -> Option<&'static paper::PaperCase> {
    let case = paper::figure(&row.scenario, row.size_bytes, row.group)?;
    (Some(case.figure()) == row.paper).then_some(case)
}

fn paper_rate(row: &ResultRow, scale: f64) -> String {
    let worst = paper_worst(row).map(|case| case.worst_gbps);
    row.paper.map_or(NONE.into(), |figure| {
        // As many digits as were published.
        with_worst(scale * figure.rate_gbps, worst.map(|worst| scale * worst), 2)
    })
}

fn paper_cpu(row: &ResultRow) -> String {
    let worst = paper_worst(row).map(|case| case.worst_cpu_pct_of_4_cores * paper::CORES);
    row.paper.map_or(NONE.into(), |figure| with_worst(figure.cpu_pct_of_one_core(), worst, 1))
}

/// Collects names and values of a calibration record, for people to read. Parts of nested names are
/// joined by colons, and objects in a list are numbered from 1. Numbers take over the unit in which
/// a name ends.
pub(crate) fn flatten(name: &str, value: &serde_json::Value, into: &mut Vec<(String, String)>) {
    use serde_json::Value;
    let below = |key: &str| {
        if name.is_empty() { key.to_owned() } else { format!("{name}: {key}") }
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| flatten(&below(key), value, into)),
        Value::Array(values)
            if values.iter().any(|value| value.is_object() || value.is_array()) =>
        {
            for (index, value) in values.iter().enumerate() {
                flatten(&format!("{name} {}", index + 1), value, into);
            }
        }
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(plain).collect();
            into.push((name.to_owned(), values.join(", ")));
        }
        Value::Number(_) => {
            let unit = name.rsplit_once(", ").filter(|(_, unit)| UNITS.contains(unit));
            into.push(match unit {
                Some((name, unit)) => (name.to_owned(), format!("{} {unit}", plain(value))),
                None => (name.to_owned(), plain(value)),
            });
        }
        Value::String(_) | Value::Bool(_) | Value::Null => {
            into.push((name.to_owned(), plain(value)));
        }
    }
}

/// Units at the end of names in a calibration record.
const UNITS: [&str; 3] = ["ns", "us", "Gbit/s"];

/// A value that is neither a list nor an object, as text.
fn plain(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Number(number) => {
            let float = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64());
            float.map_or_else(|| number.to_string(), trimmed)
        }
        Value::String(text) => text.clone(),
        Value::Null => NONE.to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_a_calibration_read_as_text() {
        let record = json!({
            "CPUs": [0, 1],
            "load average": [0.5, null, "?"],
            "memcpy": [{ "bytes": 64 }, { "one core, hot, Gbit/s": 81.0 }],
            "wake-up after a long sleep": { "asleep before, us": 500.25, "of, hand": true },
        });
        let mut rows = Vec::new();
        flatten("", &record, &mut rows);
        let rows: Vec<_> = rows.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [
            ("CPUs", "0, 1"),
            ("load average", "0.5, -, ?"),
            ("memcpy 1: bytes", "64"),
            ("memcpy 2: one core, hot", "81 Gbit/s"),
            ("wake-up after a long sleep: asleep before", "500.25 us"),
            ("wake-up after a long sleep: of, hand", "true"),
        ];
        assert_eq!(rows, expected);
    }
}
