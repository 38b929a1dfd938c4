//! The parts of the page around its sections: header, definitions and facts about the machine.

use std::fmt::Write;

use crate::columns::flatten;
use crate::html_table::{HtmlTable, TableCell};
use crate::markup::escape;
use crate::model::{Document, Meta, ResultRow};
use crate::num::{self, NONE, fixed, size, time_ns, trimmed};
use crate::paper;
use crate::section::Section;

pub(crate) fn title(meta: &Meta) -> String {
    let date = meta.date.split('T').next().unwrap_or_default();
    let date = if date.is_empty() { String::new() } else { format!(", {date}") };
    format!("spfe performance{date}")
}

/// Anchor of a section in the page.
pub(crate) fn anchor(index: usize) -> String {
    format!("s{}", index + 1)
}

/// The heading, main facts, and a tile for each section with its best figure and a link.
pub(crate) fn header(document: &Document, sections: &[Section<'_>]) -> String {
    let meta = &document.meta;
    let mut out = String::from("<header>\n<h1>spfe performance</h1>\n<p class=\"facts\">");
    out.push_str(&main_facts(meta).iter().map(|fact| escape(fact)).collect::<Vec<_>>().join(" · "));
    out.push_str("</p>\n");
    out.push_str(&integrity(document));
    if !sections.is_empty() {
        out.push_str("<ul class=\"tiles\">\n");
        for (index, section) in sections.iter().enumerate() {
            let (value, detail) = best(section);
            let _ = writeln!(
                out,
                "<li><a href=\"#{}\">{}</a><strong>{}</strong><span>{}</span></li>",
                anchor(index),
                escape(&section.title),
                escape(&value),
                escape(&detail)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</header>\n");
    out
}

fn main_facts(meta: &Meta) -> Vec<String> {
    let mut facts = vec![format!("spfe {}", meta.version).trim_end().to_owned()];
    let mut push = |label: &str, value: &str| {
        if !value.is_empty() {
            facts.push(format!("{label}{value}"));
        }
    };
    push("", meta.date.split('T').next().unwrap_or_default());
    push("revision ", &meta.git_revision);
    push("device ", &meta.mode);
    push("wait ", &meta.wait_strategy);
    push("link ", &meta.link);
    push("", &meta.cpu_model);
    if meta.iterations > 0 {
        push("", &format!("{} × {}\u{a0}s per case", meta.iterations, trimmed(meta.seconds)));
    }
    facts
}

/// The best figure of a section and its conditions.
fn best(section: &Section<'_>) -> (String, String) {
    if section.is_latency() {
        return quickest(section);
    }
    let Some(row) = section.fastest() else {
        return ("no rate".to_owned(), String::new());
    };
    let mut detail = at(row);
    let _ = write!(
        detail,
        "; CPU host {}\u{a0}%, device {}\u{a0}%",
        fixed(row.host_cpu_pct, 1),
        fixed(row.device_cpu_pct, 1)
    );
    if let Some(share) = row.link_share_pct() {
        let _ = write!(detail, "; {}\u{a0}% of the link", fixed(share, 1));
    }
    (num::rate(row.rate_gbps), detail)
}

fn quickest(section: &Section<'_>) -> (String, String) {
    let medians = section.rows.iter().filter_map(|row| row.latency_ns.map(|ns| (row, ns)));
    let finite = medians.filter(|(_, ns)| ns.p50.is_finite());
    let best = finite.reduce(|best, other| if other.1.p50 < best.1.p50 { other } else { best });
    match best {
        None => ("not measured".to_owned(), String::new()),
        Some((row, ns)) => {
            (time_ns(ns.p50), format!("median {}; 99.9 % within {}", at(row), time_ns(ns.p999)))
        }
    }
}

fn at(row: &ResultRow) -> String {
    if row.size_min_bytes.is_some() || row.size_max_bytes.is_some() {
        return format!("in {}", row.scenario);
    }
    let group = if row.group == 1 { String::new() } else { format!(" × {}", row.group) };
    format!("at {}{group}", size(row.size_bytes))
}

/// Says whether content was checked, and warns if packets arrived damaged.
fn integrity(document: &Document) -> String {
    let checked: Vec<u64> =
        document.results.iter().filter_map(|row| row.integrity_errors).collect();
    let errors = checked.iter().fold(0_u64, |sum, errors| sum.saturating_add(*errors));
    match (checked.len(), errors) {
        (0, _) => String::new(),
        (cases, 0) => format!(
            "<p class=\"good\">Content was checked in {cases} of {} cases: no errors.</p>\n",
            document.results.len()
        ),
        (cases, errors) => format!(
            "<p class=\"bad\">Integrity errors: {errors} packets did not arrive as they were sent \
             ({cases} of {} cases checked).</p>\n",
            document.results.len()
        ),
    }
}

/// Defines the figures of the page.
pub(crate) fn definitions(document: &Document) -> String {
    let mut out = String::from(
        "<section id=\"definitions\">\n<h2>What the figures mean</h2>\n<dl>\n\
         <dt>Rate</dt><dd>User payload in 10<sup>9</sup> bit per second; 1 KB is 1024 bytes. The \
         mean of all iterations, with the lowest in parentheses.</dd>\n\
         <dt>Host CPU</dt><dd>User and system time of the threads that run the application, the \
         library and the driver, with all spinning and waking up. The mean, with the highest \
         iteration in parentheses.</dd>\n\
         <dt>Device CPU</dt><dd>Time of the threads that stand for the FPGA. Inline, where the \
         application's own thread runs the device, it is the measured time of the device engine, \
         counted only when it moved packets. Hardware would take this load off the \
         processor.</dd>\n\
         <dt>Sum</dt><dd>What this machine spent altogether. Nothing is left out of one column \
         unless it is in the other.</dd>\n\
         <dt>% of a core</dt><dd>Loads are % of <em>one</em> core: two busy cores are \
         200&nbsp;%.</dd>\n",
    );
    if let Some(row) = document.results.iter().find(|row| row.paper.is_some()) {
        let rdma = paper::source(&row.scenario) == paper::RDMA_SOURCE;
        let (lane, limit) = match rdma {
            true => ("6.25", paper::RDMA_LINK_LIMIT_GBPS),
            false => ("7.5", paper::LINK_LIMIT_GBPS),
        };
        let _ = writeln!(
            out,
            "<dt>Paper</dt><dd>{}: the same scenarios with an endpoint in the programmable logic \
             of a Zynq UltraScale+ (four Cortex-A53 cores, Linux, 4 lanes at {lane} Gbit/s, link \
             limit about {limit} Gbit/s). Its loads are % of four cores and are multiplied by {} here. \
             Another processor and real hardware: compare the shape of the curves before their \
             values.</dd>",
            escape(paper::source(&row.scenario)),
            paper::CORES,
        );
    }
    out.push_str("</dl>\n</section>\n");
    out
}

/// Facts about the machine and the run, and the calibration of the same run.
pub(crate) fn machine(document: &Document) -> String {
    let meta = &document.meta;
    let limit = match meta.link_limit_gbps {
        limit if limit > 0.0 => num::rate(limit),
        _ => "not paced".to_owned(),
    };
    let facts = [
        ("Date", meta.date.clone()),
        ("Version", meta.version.clone()),
        ("Git revision", meta.git_revision.clone()),
        ("Command", meta.command.clone()),
        ("CPU", meta.cpu_model.clone()),
        ("Cores", count(meta.cores)),
        ("Kernel", meta.kernel.clone()),
        ("Device mode", meta.mode.clone()),
        ("Wait strategy", meta.wait_strategy.clone()),
        ("Link", meta.link.clone()),
        ("Link limit", limit),
        ("Iterations", count(meta.iterations)),
        ("Length of one iteration", format!("{} s", trimmed(meta.seconds))),
    ];
    let notes = meta.notes.iter().map(|note| ("Note", note.clone()));
    let facts: Vec<(String, String)> =
        facts.into_iter().chain(notes).map(|(name, value)| (name.to_owned(), value)).collect();
    let mut out = String::from("<section id=\"machine\">\n<h2>Machine and run</h2>\n");
    out.push_str("<div class=\"pair facts-pair\">\n");
    out.push_str(&facts_table("Machine and run", &facts));
    let mut prices = Vec::new();
    for (name, value) in &meta.calibration {
        flatten(name, value, &mut prices);
    }
    if let Some(record) = &document.calibration {
        flatten("", record, &mut prices);
    }
    if !prices.is_empty() {
        out.push_str(&facts_table("Calibration, measured in the same run", &prices));
    }
    out.push_str("</div>\n</section>\n");
    out
}

/// Formats a count. 0 means unknown and becomes an empty text.
fn count(number: u32) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

fn facts_table(name: &str, facts: &[(String, String)]) -> String {
    let mut table = HtmlTable::new(name);
    for (name, value) in facts {
        table.row(name, [TableCell::new(if value.is_empty() { NONE } else { value })]);
    }
    table.html("plain")
}
