//! Plain text: aligned tables for terminals, and tab-separated values.

use std::fmt::Write;

use crate::columns::{self, Column};
use crate::model::{Document, Meta, ResultRow};
use crate::num::trimmed;
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
        let name = if section.is_random() { &section.title } else { &section.key };
        let _ = writeln!(out, "\n{}", one_line(name));
        if !section.is_latency() {
            out.push_str(&aligned(&columns::rates(section)));
        }
        if section.is_latency() || section.has_latency() {
            out.push_str(&aligned(&columns::latencies(section)));
        }
    }
    let published = document.results.iter().any(|row| row.published().is_some());
    out.push_str(
        "\nRates are user payload, 10^9 bit/s; 1 KB = 1024 bytes; CPU loads are % of one core;\n\
         the worst of all iterations is in parentheses.\n",
    );
    if published {
        let _ = writeln!(
            out,
            "Paper: {};\n\
             its loads are published as % of four cores and shown here times {}, as % of one core.",
            paper::SOURCE,
            paper::CORES,
        );
    }
    out
}

/// Renders the document as tab-separated values: a header line, then one line per result in the
/// order of the document. A value that was not measured is an empty field.
#[must_use]
pub fn tsv(document: &Document) -> String {
    let mut out = String::from(
        "scenario\tsize_bytes\tgroup\trate_gbps\tworst_gbps\tpackets_per_s\tus_per_packet\t\
         host_cpu_pct\tdevice_cpu_pct\twakes_per_s\tlink_limit_gbps\n",
    );
    for row in &document.results {
        out.push_str(&tsv_line(row));
    }
    out
}

fn tsv_line(row: &ResultRow) -> String {
    let mut line = format!("{}\t{}\t{}", one_line(&row.scenario), row.size_bytes, row.group);
    let values = [
        Some(row.rate_gbps),
        Some(row.worst_gbps),
        Some(row.packets_per_s),
        row.packet_time_us(),
        Some(row.host_cpu_pct),
        Some(row.device_cpu_pct),
        Some(row.wakes_per_s),
        Some(row.link_limit_gbps),
    ];
    for value in values {
        line.push('\t');
        line.push_str(&machine(value));
    }
    line.push('\n');
    line
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
        push("limit ", format!("{} Gbit/s", trimmed(meta.link_limit_gbps)));
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
    let shown: Vec<(Vec<String>, usize)> = columns
        .iter()
        .filter(|column| !column.detail)
        .map(|column| {
            let heading = [column.title, column.unit].map(str::to_owned);
            let cells: Vec<String> =
                heading.into_iter().chain(column.cells.iter().map(|cell| one_line(cell))).collect();
            let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
            (cells, width)
        })
        .collect();
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
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
