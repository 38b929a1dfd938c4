//! Plain text: aligned tables for terminals, and tab-separated values.

use std::fmt::Write;

use crate::columns::{self, Column};
use crate::model::{Document, Meta, ResultRow};
use crate::num::{self, trimmed};
use crate::paper;
use crate::section::sections;

/// Renders the document as aligned tables, one per scenario, below the conditions of the run.
#[must_use]
pub fn text(document: &Document) -> String {
    let mut out = conditions(&document.meta);
    let sections = sections(document);
    if sections.is_empty() {
        out.push_str("\nno results\n");
    }
    for section in &sections {
        let name = if section.is_named() { &section.title } else { &section.key };
        let _ = writeln!(out, "\n{}", one_line(name));
        if !section.is_latency() {
            out.push_str(&aligned(&columns::rates(section)));
        }
        if section.is_latency() || section.has_latency() {
            out.push_str(&aligned(&columns::latencies(section)));
        }
        out.push('\n');
        out.push_str(&aligned(&columns::loads(section)));
    }
    let published = document.results.iter().find(|row| row.paper.is_some());
    out.push_str(
        "\nRates are user payload, 10^9 bit/s; 1 KB = 1024 bytes; CPU loads are % of one core;\n\
         the worst of all iterations is in parentheses. Host: application and library. Device: what\n\
         hardware would do. User, System: this process. Machine: all programs and interrupts. Rest:\n\
         Machine without this process. Floor: as many sleeps by a thread that does nothing else.\n",
    );
    if let Some(row) = published {
        let _ = writeln!(
            out,
            "Paper: {};\n\
             its loads are published as % of four cores and shown here times {}, as % of one core.",
            paper::source(&row.scenario),
            paper::CORES,
        );
    }
    out
}

/// Renders the document as tab-separated values: lines of facts that start with `# `, a header
/// line, then one line per result in the order of the document, with everything that was measured.
/// A value that was not measured is an empty field.
#[must_use]
pub fn tsv(document: &Document) -> String {
    let mut out = String::new();
    for (name, value) in tsv_facts(&document.meta) {
        if !value.is_empty() {
            let _ = writeln!(out, "# {name}\t{}", one_line(&value));
        }
    }
    let names = TSV_COLUMNS.iter().map(|(name, _)| *name);
    let names: Vec<_> = ["scenario"].into_iter().chain(names).collect();
    let _ = writeln!(out, "{}", names.join("\t"));
    for row in &document.results {
        out.push_str(&one_line(&row.scenario));
        for (_, value) in &TSV_COLUMNS {
            out.push('\t');
            out.push_str(&value(row));
        }
        out.push('\n');
    }
    out
}

/// The facts about machine and run, by name.
fn tsv_facts(meta: &Meta) -> Vec<(&'static str, String)> {
    let number = |value: f64| if value > 0.0 { machine(Some(value)) } else { String::new() };
    let mut facts = vec![
        ("spfe", meta.version.clone()),
        ("revision", meta.git_revision.clone()),
        ("date", meta.date.clone()),
        ("command", meta.command.clone()),
        ("cpu", meta.cpu_model.clone()),
        ("cores", number(f64::from(meta.cores))),
        ("kernel", meta.kernel.clone()),
        ("device", meta.mode.clone()),
        ("link", meta.link.clone()),
        ("link_limit_gbps", number(meta.link_limit_gbps)),
        ("wait", meta.wait_strategy.clone()),
        ("iterations", number(f64::from(meta.iterations))),
        ("seconds", number(meta.seconds)),
    ];
    facts.extend(meta.notes.iter().map(|note| ("note", note.clone())));
    facts
}

/// A column in the tab-separated values: its name, and the field of a row.
type TsvColumn = (&'static str, fn(&ResultRow) -> String);

/// The columns after the scenario.
const TSV_COLUMNS: [TsvColumn; 34] = [
    ("size_bytes", |row| row.size_bytes.to_string()),
    ("size_min_bytes", |row| row.size_min_bytes.unwrap_or(row.size_bytes).to_string()),
    ("size_max_bytes", |row| row.size_max_bytes.unwrap_or(row.size_bytes).to_string()),
    ("seed", |row| whole(row.seed)),
    ("group", |row| row.group.to_string()),
    ("under_way", |row| whole(row.under_way.map(u64::from))),
    ("rate_gbps", |row| machine(Some(row.rate_gbps))),
    ("worst_gbps", |row| machine(Some(row.worst_gbps))),
    ("link_limit_gbps", |row| machine(Some(row.link_limit_gbps))),
    ("packets_per_s", |row| machine(Some(row.packets_per_s))),
    ("us_per_packet", |row| machine(row.packet_time_us())),
    ("host_cpu_pct", |row| machine(Some(row.host_cpu_pct))),
    ("worst_host_cpu_pct", |row| machine(row.highest_host_cpu_pct())),
    ("floor_cpu_pct", |row| machine(row.floor_cpu_pct)),
    ("device_cpu_pct", |row| machine(Some(row.device_cpu_pct))),
    ("user_pct", |row| machine(row.kernel.map(|load| load.user_pct))),
    ("system_pct", |row| machine(row.kernel.map(|load| load.system_pct))),
    ("machine_pct", |row| machine(row.kernel.map(|load| load.machine_pct))),
    ("machine_of_all_pct", |row| machine(row.kernel.map(|load| load.machine_of_all_pct))),
    ("rest_pct", |row| machine(row.kernel.map(|load| load.rest_pct()))),
    ("interrupt_pct", |row| machine(row.kernel.map(|load| load.interrupt_pct))),
    ("stolen_pct", |row| machine(row.kernel.map(|load| load.stolen_pct))),
    ("interrupts_per_s", |row| machine(row.kernel.map(|load| load.interrupts_per_s))),
    ("wakes_per_s", |row| machine(Some(row.wakes_per_s))),
    ("packets_per_wake", |row| machine(row.packets_each_wake())),
    ("latency_mean_ns", |row| machine(row.latency_ns.map(|ns| ns.mean))),
    ("latency_min_ns", |row| machine(row.latency_ns.map(|ns| ns.min))),
    ("latency_p50_ns", |row| machine(row.latency_ns.map(|ns| ns.p50))),
    ("latency_p99_ns", |row| machine(row.latency_ns.map(|ns| ns.p99))),
    ("latency_p999_ns", |row| machine(row.latency_ns.map(|ns| ns.p999))),
    ("latency_max_ns", |row| machine(row.latency_ns.map(|ns| ns.max))),
    ("link_minimum_ns", |row| machine(row.link_minimum_ns)),
    ("pace", |row| machine(row.pace)),
    ("integrity_errors", |row| whole(row.integrity_errors)),
];

/// A whole number, or empty if it is missing.
fn whole(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A number for other tools: at most six decimals, empty if it is missing.
fn machine(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        None => String::new(),
        Some(value) if value.abs() >= 1e15 => format!("{value:e}"),
        Some(value) => {
            let text = format!("{value:.6}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if text == "-0" { "0".to_owned() } else { text.to_owned() }
        }
    }
}

fn conditions(meta: &Meta) -> String {
    let mut facts = vec![format!("spfe {}", meta.version)];
    let mut push = |label: &str, value: String| {
        if !value.is_empty() {
            facts.push(format!("{label}{value}"));
        }
    };
    push("revision ", meta.git_revision.clone());
    push("", meta.date.clone());
    push("device ", meta.mode.clone());
    push("wait ", meta.wait_strategy.clone());
    push("link ", meta.link.clone());
    if meta.link_limit_gbps > 0.0 {
        push("limit ", num::rate(meta.link_limit_gbps));
    }
    push("", meta.cpu_model.clone());
    if meta.cores > 0 {
        push("", format!("{} cores", meta.cores));
    }
    push("", meta.kernel.clone());
    if meta.iterations > 0 {
        push("", format!("{} x {} s", meta.iterations, trimmed(meta.seconds)));
    }
    let mut out = wrapped(&facts.iter().map(|fact| one_line(fact)).collect::<Vec<_>>());
    if !meta.command.is_empty() {
        let _ = writeln!(out, "$ {}", one_line(&meta.command));
    }
    for note in &meta.notes {
        let _ = writeln!(out, "Note: {}", one_line(note));
    }
    out
}

/// Joins facts by commas, in lines of at most 100 characters if they fit.
fn wrapped(facts: &[String]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for (index, fact) in facts.iter().enumerate() {
        let comma = usize::from(index + 1 < facts.len());
        let length = fact.chars().count() + comma;
        if width > 0 && width + 1 + length > 100 {
            out.push('\n');
            width = 0;
        }
        if width > 0 {
            out.push(' ');
        }
        out.push_str(fact);
        out.push_str(if comma == 1 { "," } else { "" });
        width += length + 1;
    }
    out.push('\n');
    out
}

/// Right-aligned columns below a line of titles and a line of units, without details.
fn aligned(columns: &[Column]) -> String {
    let cells = |column: &Column| {
        let heading = [column.title, column.unit].map(str::to_owned);
        heading.into_iter().chain(column.cells.iter().map(|cell| one_line(cell))).collect()
    };
    let shown = columns.iter().filter(|column| !column.detail);
    aligned_cells(&shown.map(cells).collect::<Vec<_>>())
}

/// Right-aligned columns of equal length.
pub(crate) fn aligned_cells(columns: &[Vec<String>]) -> String {
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let shown: Vec<_> = columns.iter().map(|cells| (cells, width(cells))).collect();
    let lines = shown.first().map_or(0, |(cells, _)| cells.len());
    let mut out = String::new();
    for line in 0..lines {
        let cells = shown.iter().map(|(cells, width)| format!("{:>width$}", cells[line]));
        let text = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", text.trim_end());
    }
    out
}

/// Replaces control characters, which could break a line, a field or the terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
