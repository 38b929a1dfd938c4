//! The section of a link: traffic over time, events and counters.

use super::area::{Chart, Series};
use super::grid::{Grid, TextColumns};
use super::{axis, bars, timeline};
use crate::markup::escape;
use crate::num::fixed;
use spfe_sim::results::{DirectionResults, LinkResults, Results};
use std::collections::BTreeSet;

pub(super) fn section(results: &Results, index: usize) -> String {
    let Some(link) = results.links.get(index) else { return String::new() };
    let mut out = format!(
        "<section id=\"link-{index}\">\n<h2>Link {} <small>{}</small></h2>\n",
        escape(&link.name),
        escape(&about(link))
    );
    out.push_str("<div class=\"halves\">\n");
    for (end, direction) in link.directions.iter().enumerate() {
        let (from, to) = (&link.ends[end], &link.ends[1 - end]);
        let title = format!("{from} → {to}: {} %", fixed(direction.utilisation * 100.0, 1));
        let id = format!("link-{index}-{end}");
        out.push_str(&chart(results, direction, &id, &title).stacked());
    }
    out.push_str("</div>\n");
    out.push_str(&timeline::figure(results, index));
    out.push_str("<div class=\"halves\">\n");
    let histograms = [
        ("recovery after an error", &link.recovery_after_error),
        ("recovery after a lane was cut", &link.recovery_after_cut),
    ];
    for (kind, (name, histogram)) in histograms.into_iter().enumerate() {
        out.push_str(&bars::figure(&format!("recovery-{index}-{kind}"), name, histogram));
    }
    out.push_str("</div>\n");
    out.push_str(&counters(link));
    out.push_str("</section>\n");
    out
}

fn about(link: &LinkResults) -> String {
    let rate = axis_rate(link.rate_bps as f64);
    let (kind, words) = if link.kind == "spacewire" {
        ("SpaceWire", "characters")
    } else {
        ("SpaceFibre", "words")
    };
    format!(
        "{kind}, {} × {rate}, {} to {}, {} {words}",
        link.lanes,
        link.ends[0],
        link.ends[1],
        axis::count(link.words)
    )
}

/// Formats a rate with the largest unit in which it is at least 1.
pub(super) fn axis_rate(bps: f64) -> String {
    let (scale, unit) = match bps {
        bps if bps >= 1e9 => (1e9, "Gbit/s"),
        bps if bps >= 1e6 => (1e6, "Mbit/s"),
        bps if bps >= 1e3 => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    };
    format!("{} {unit}", crate::num::trimmed(bps / scale))
}

fn chart<'a>(
    results: &Results,
    direction: &DirectionResults,
    id: &'a str,
    title: &'a str,
) -> Chart<'a> {
    let full = results.step_ps.max(1);
    let share = |step: usize, words: u64| {
        let start = full.saturating_mul(step as u64);
        let length = results.duration_ps.saturating_sub(start).clamp(1, full);
        let capacity = direction.capacity_words * (length as f64 / full as f64);
        if capacity > 0.0 { words as f64 / capacity * 100.0 } else { 0.0 }
    };
    let series = (direction.channels.iter())
        .map(|channel| Series {
            name: format!("VC {}", channel.vc),
            colour: channel.vc as usize,
            values: channel.series.iter().enumerate().map(|(i, words)| share(i, *words)).collect(),
        })
        .collect();
    Chart { id, title, unit: "% of the words", duration: results.duration_ps, step: full, series }
}

/// A table of the counters of both ends, without counters that are 0 at both.
fn counters(link: &LinkResults) -> String {
    let [a, b] = &link.counters;
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of = |end: &std::collections::BTreeMap<String, u64>, name: &String| {
        end.get(name).map_or_else(|| crate::num::NONE.to_owned(), u64::to_string)
    };
    let rows = (names.into_iter())
        .filter(|name| a.get(*name).is_some_and(|n| *n > 0) || b.get(*name).is_some_and(|n| *n > 0))
        .map(|name| vec![name.clone(), of(a, name), of(b, name)])
        .collect();
    let name = format!("Counters of {}; those at 0 at both ends are left out", link.name);
    let head =
        [("Counter", ""), (link.ends[0].as_str(), "end A"), (link.ends[1].as_str(), "end B")];
    let grid = Grid { name: &name, head: &head, rows, text: TextColumns::First };
    let table = grid.html();
    if table.is_empty() {
        return table;
    }
    let recoveries = &link.recovery_after_error;
    let summary = match recoveries.count {
        0 => "Counters".to_owned(),
        count => format!(
            "Counters; {count} recoveries, half within {}",
            axis::time(recoveries.p50_ps as f64)
        ),
    };
    format!("<details>\n<summary>{}</summary>\n{table}</details>\n", escape(&summary))
}
