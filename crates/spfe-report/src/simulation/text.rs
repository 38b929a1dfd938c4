//! Renders the results as tables for a terminal.

use super::axis::{count, time};
use super::links::axis_rate;
use super::tables::drops;
use crate::num::{NONE, fixed};
use spfe_sim::results::{
    BroadcastResults, Histogram, HostileResults, RdmaResults, RecordedEventKind, Results,
    RmapResults, StreamResults,
};
use std::fmt::Write;

/// Maximum number of violations listed.
const LISTED: usize = 10;

/// Renders links, traffic, faults and the verdict.
#[must_use]
pub fn text(results: &Results) -> String {
    let mut out = format!(
        "{}: {} simulated, {} words, seed {}\n",
        clean(&results.title),
        time(results.duration_ps as f64),
        count(results.words),
        results.seed
    );
    out.push_str(&section(
        &["LINK", "DIRECTION", "RATE", "USED", "ERRORS", "RETRIES", "RECOVERY 50 %", "MAX"],
        2,
        &links(results),
    ));
    out.push_str(&section(
        &[
            "FLOW",
            "WAY",
            "VC",
            "OFFERED",
            "DELIVERED",
            "EEP",
            "IN FLIGHT",
            "GOODPUT",
            "50 %",
            "99 %",
            "MAX",
        ],
        2,
        &flows(results),
    ));
    out.push_str(&section(
        &["RMAP", "WAY", "COMMANDS", "SUCCEEDED", "FAILED", "TIMED OUT", "50 %", "MAX"],
        2,
        &rmaps(results),
    ));
    out.push_str(&section(
        &[
            "RDMA",
            "WAY",
            "KIND",
            "POSTED",
            "COMPLETED",
            "FAILED",
            "RESENT",
            "GOODPUT",
            "50 %",
            "99 %",
            "MAX",
        ],
        3,
        &rdmas(results),
    ));
    out.push_str(&section(
        &[
            "HOSTILE",
            "FROM",
            "PACKETS",
            "DROPPED",
            "TWICE",
            "REORDERED",
            "DELAYED",
            "DAMAGED",
            "CUT",
        ],
        2,
        &hostile(results),
    ));
    out.push_str(&section(
        &["BROADCAST", "FROM", "SENT", "RECEIVED", "LATE", "50 %", "MAX"],
        2,
        &broadcasts(results),
    ));
    let faults =
        results.faults.iter().map(|fault| vec![fault.name.clone(), fault.times.to_string()]);
    out.push_str(&section(&["FAULT", "TIMES"], 1, &faults.collect::<Vec<_>>()));
    for flow in results.flows.iter().filter(|flow| !flow.dropped.is_empty()) {
        let _ = writeln!(out, "{}: dropped {}", clean(&flow.name), clean(&drops(flow)));
    }
    out.push_str(&verdict(results));
    out
}

fn verdict(results: &Results) -> String {
    let conservation = &results.conservation;
    if conservation.kept {
        return format!(
            "\nconservation kept: {} packets delivered once, in order, unaltered, or accounted for\n",
            conservation.packets
        );
    }
    let count = conservation.violations.len() as u64 + conservation.left_out;
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let mut out = format!("\nconservation VIOLATED, {times}:\n");
    for violation in conservation.violations.iter().take(LISTED) {
        let _ = writeln!(out, "  {}", clean(violation));
    }
    let more = count.saturating_sub(LISTED.min(conservation.violations.len()) as u64);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
    out
}

/// A time of a histogram as text, or [`NONE`] if the histogram is empty.
fn of(histogram: &Histogram, pick: fn(&Histogram) -> u64) -> String {
    if histogram.count == 0 { NONE.to_owned() } else { time(pick(histogram) as f64) }
}

fn links(results: &Results) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (index, link) in results.links.iter().enumerate() {
        for (end, direction) in link.directions.iter().enumerate() {
            let kind = |kind| {
                let mine = results.events.iter().filter(|event| {
                    event.kind == kind
                        && event.link == Some(index as u32)
                        // The far end detects errors of this direction. A retry belongs to the sender.
                        && (usize::from(event.end) == end) == (kind == RecordedEventKind::Retry)
                });
                mine.count().to_string()
            };
            rows.push(vec![
                link.name.clone(),
                format!("{} > {}", link.ends[end], link.ends[1 - end]),
                format!("{} x {}", link.lanes, axis_rate(link.rate_bps as f64)),
                format!("{} %", fixed(direction.utilisation * 100.0, 2)),
                kind(RecordedEventKind::Error),
                kind(RecordedEventKind::Retry),
                of(&link.recovery_after_error, |all| all.p50_ps),
                of(&link.recovery_after_error, |all| all.max_ps),
            ]);
        }
    }
    rows
}

fn flows(results: &Results) -> Vec<Vec<String>> {
    let row = |flow: &StreamResults| {
        vec![
            flow.name.clone(),
            format!("{} > {}", flow.from, flow.to.join(", ")),
            flow.vc.to_string(),
            flow.offered.packets.to_string(),
            flow.delivered.packets.to_string(),
            flow.truncated.packets.to_string(),
            flow.in_flight.packets.to_string(),
            axis_rate(flow.goodput_bps),
            of(&flow.latency, |all| all.p50_ps),
            of(&flow.latency, |all| all.p99_ps),
            of(&flow.latency, |all| all.max_ps),
        ]
    };
    results.flows.iter().map(row).collect()
}

fn rmaps(results: &Results) -> Vec<Vec<String>> {
    let row = |rmap: &RmapResults| {
        vec![
            rmap.name.clone(),
            format!("{} > {}", rmap.from, rmap.to),
            rmap.commands.to_string(),
            rmap.succeeded.to_string(),
            rmap.failed.values().sum::<u64>().to_string(),
            rmap.timed_out.to_string(),
            of(&rmap.latency, |all| all.p50_ps),
            of(&rmap.latency, |all| all.max_ps),
        ]
    };
    results.rmaps.iter().map(row).collect()
}

fn rdmas(results: &Results) -> Vec<Vec<String>> {
    let row = |rdma: &RdmaResults| {
        vec![
            rdma.name.clone(),
            format!("{} > {}", rdma.from, rdma.to),
            rdma.operation.clone(),
            rdma.posted.to_string(),
            rdma.completed.to_string(),
            rdma.failed.values().sum::<u64>().to_string(),
            rdma.resent.to_string(),
            axis_rate(rdma.goodput_bps),
            of(&rdma.latency, |all| all.p50_ps),
            of(&rdma.latency, |all| all.p99_ps),
            of(&rdma.latency, |all| all.max_ps),
        ]
    };
    results.rdmas.iter().map(row).collect()
}

fn hostile(results: &Results) -> Vec<Vec<String>> {
    let row = |of: &HostileResults| {
        let counts =
            [of.packets, of.dropped, of.duplicated, of.reordered, of.delayed, of.damaged, of.cut];
        let names = [of.link.clone(), of.from.clone()].into_iter();
        names.chain(counts.map(|count| count.to_string())).collect()
    };
    results.hostile.iter().map(row).collect()
}

fn broadcasts(results: &Results) -> Vec<Vec<String>> {
    let row = |broadcast: &BroadcastResults| {
        vec![
            broadcast.name.clone(),
            broadcast.from.clone(),
            broadcast.sent.to_string(),
            broadcast.received.to_string(),
            broadcast.late.to_string(),
            of(&broadcast.latency, |all| all.p50_ps),
            of(&broadcast.latency, |all| all.max_ps),
        ]
    };
    results.broadcasts.iter().map(row).collect()
}

/// An aligned table after an empty line, or nothing if there are no rows.
fn section(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines: Vec<Vec<String>> = std::iter::once(head.iter().map(|cell| clean(cell)).collect())
        .chain(rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()))
        .collect();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..head.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::from("\n");
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let text = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out
}

/// Replaces control characters, which could break a line or the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
