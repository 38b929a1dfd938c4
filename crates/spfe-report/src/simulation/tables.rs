//! Tables and charts of traffic, routers, nodes, faults and events.

use super::area::{Chart, Series};
use super::bars::{self, percentiles};
use super::grid::{Grid, TextColumns};
use super::links::axis_rate;
use super::rdma;
use crate::markup::escape;
use spfe_sim::results::{RecordedEventKind, Results, StreamResults};
use std::collections::BTreeMap;

/// Maximum number of events listed on the page.
const LISTED: usize = 500;
/// Maximum number of flows in one chart.
const DRAWN: usize = 8;

/// The section of flows, RMAP initiators, RDMA and broadcast messages.
pub(super) fn flows(results: &Results) -> String {
    let mut out = String::from("<section id=\"flows\">\n<h2>Traffic</h2>\n");
    out.push_str(&flow_table(results));
    out.push_str(&rmap_table(results));
    out.push_str(&rdma::tables(results));
    out.push_str(&broadcast_table(results));
    out.push_str("<div class=\"halves\">\n");
    for (index, flows) in results.flows.chunks(DRAWN).enumerate() {
        let title = "Delivered over time";
        let id = format!("rates-{index}");
        out.push_str(&rates(results, flows, &id, title).curves());
    }
    for (index, flow) in results.flows.iter().enumerate() {
        let title = format!("latency of {}", flow.name);
        out.push_str(&bars::figure(&format!("latency-{index}"), &title, &flow.latency));
    }
    for (index, rmap) in results.rmaps.iter().enumerate() {
        let title = format!("RMAP {}: command to reply", rmap.name);
        out.push_str(&bars::figure(&format!("rmap-{index}"), &title, &rmap.latency));
    }
    for (index, of) in results.rdmas.iter().enumerate() {
        let title = format!("RDMA {}: posted to completed", of.name);
        out.push_str(&bars::figure(&format!("rdma-{index}"), &title, &of.latency));
    }
    for (index, broadcast) in results.broadcasts.iter().enumerate() {
        let title = format!("broadcast {}", broadcast.name);
        out.push_str(&bars::figure(&format!("broadcast-{index}"), &title, &broadcast.latency));
    }
    out.push_str("</div>\n</section>\n");
    out
}

fn rates<'a>(results: &Results, flows: &[StreamResults], id: &'a str, title: &'a str) -> Chart<'a> {
    let step = results.step_ps.max(1);
    let gbps = |(index, bytes): (usize, &u64)| {
        let start = step.saturating_mul(index as u64);
        let length = results.duration_ps.saturating_sub(start).clamp(1, step);
        *bytes as f64 * 8e3 / length as f64
    };
    let series = flows
        .iter()
        .enumerate()
        .map(|(colour, flow)| Series {
            name: flow.name.clone(),
            colour,
            values: flow.series.iter().enumerate().map(gbps).collect(),
        })
        .collect();
    Chart { id, title, unit: "Gbit/s", duration: results.duration_ps, step, series }
}

/// Number of dropped packets by reason and place.
pub(super) fn drops(flow: &StreamResults) -> String {
    let mut reasons: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for drop in &flow.dropped {
        *reasons.entry((&drop.reason, &drop.place)).or_default() += drop.packets;
    }
    let text =
        |((reason, place), packets): ((&str, &str), u64)| format!("{packets} {reason} at {place}");
    let reasons: Vec<String> = reasons.into_iter().map(text).collect();
    if reasons.is_empty() { "0".to_owned() } else { reasons.join(", ") }
}

fn flow_table(results: &Results) -> String {
    let rows = results.flows.iter().map(|flow| {
        let [p50, p99, p999, most] = percentiles(&flow.latency);
        vec![
            flow.name.clone(),
            format!("{} → {}", flow.from, flow.to.join(", ")),
            flow.vc.to_string(),
            flow.route.clone(),
            flow.offered.packets.to_string(),
            flow.sent.packets.to_string(),
            flow.delivered.packets.to_string(),
            flow.truncated.packets.to_string(),
            drops(flow),
            flow.in_flight.packets.to_string(),
            axis_rate(flow.goodput_bps),
            p50,
            p99,
            p999,
            most,
        ]
    });
    let head = [
        ("Flow", ""),
        ("Way", ""),
        ("VC", ""),
        ("Route", ""),
        ("Offered", "packets"),
        ("Sent", "packets"),
        ("Delivered", "packets"),
        ("Truncated", "packets"),
        ("Dropped", "packets"),
        ("In flight", "packets"),
        ("Goodput", ""),
        ("50 %", "latency"),
        ("99 %", "latency"),
        ("99.9 %", "latency"),
        ("Max", "latency"),
    ];
    Grid { name: "Flows", head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }.html()
}

fn rmap_table(results: &Results) -> String {
    let rows = results.rmaps.iter().map(|rmap| {
        let failed = rmap.failed.iter().map(|(status, times)| format!("{times} {status}"));
        let failed: Vec<String> = failed.collect();
        let [p50, p99, _, most] = percentiles(&rmap.latency);
        vec![
            rmap.name.clone(),
            format!("{} → {}", rmap.from, rmap.to),
            rmap.commands.to_string(),
            rmap.succeeded.to_string(),
            if failed.is_empty() { "0".to_owned() } else { failed.join(", ") },
            rmap.timed_out.to_string(),
            rmap.outstanding.to_string(),
            rmap.mismatches.to_string(),
            rmap.bytes.to_string(),
            p50,
            p99,
            most,
        ]
    });
    let head = [
        ("RMAP", ""),
        ("Way", ""),
        ("Commands", ""),
        ("Succeeded", ""),
        ("Failed", ""),
        ("Timed out", ""),
        ("Outstanding", ""),
        ("Mismatches", ""),
        ("Data", "bytes"),
        ("50 %", "latency"),
        ("99 %", "latency"),
        ("Max", "latency"),
    ];
    Grid { name: "RMAP initiators", head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }
        .html()
}

fn broadcast_table(results: &Results) -> String {
    let rows = results.broadcasts.iter().map(|broadcast| {
        let [p50, p99, _, most] = percentiles(&broadcast.latency);
        vec![
            broadcast.name.clone(),
            broadcast.from.clone(),
            broadcast.sent.to_string(),
            broadcast.refused.to_string(),
            broadcast.received.to_string(),
            broadcast.late.to_string(),
            broadcast.delayed.to_string(),
            p50,
            p99,
            most,
        ]
    });
    let head = [
        ("Broadcast", ""),
        ("From", ""),
        ("Sent", ""),
        ("Refused", ""),
        ("Received", "all nodes"),
        ("LATE", ""),
        ("DELAYED", ""),
        ("50 %", "latency"),
        ("99 %", "latency"),
        ("Max", "latency"),
    ];
    let name = "Broadcast messages and time-codes";
    Grid { name, head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }.html()
}

/// The section of routers and nodes.
pub(super) fn units(results: &Results) -> String {
    let mut out = String::from("<section id=\"units\">\n<h2>Routers and nodes</h2>\n");
    let drops = results.routers.iter().flat_map(|router| {
        router.drops.iter().map(|drop| {
            let port = format!("{}:{}", router.name, drop.port);
            vec![port, drop.vc.to_string(), drop.reason.clone(), drop.packets.to_string()]
        })
    });
    let head = [("Port", "input"), ("VC", ""), ("Reason", ""), ("Packets", "")];
    let name = "Packets that routers discarded";
    out.push_str(
        &Grid { name, head: &head, rows: drops.collect(), text: TextColumns::First }.html(),
    );
    let counters = results.routers.iter().map(|router| (&router.name, &router.counters));
    let counters = counters.chain(results.nodes.iter().map(|node| (&node.name, &node.counters)));
    let rows = counters.flat_map(|(unit, counters)| {
        counters.iter().map(|(name, value)| vec![unit.clone(), name.clone(), value.to_string()])
    });
    let nodes = results.nodes.iter().map(|node| {
        vec![
            node.name.clone(),
            node.sent.packets.to_string(),
            node.sent.bytes.to_string(),
            node.received.packets.to_string(),
            node.received.bytes.to_string(),
            node.truncated.packets.to_string(),
        ]
    });
    let head = [
        ("Node", ""),
        ("Sent", "packets"),
        ("Sent", "bytes"),
        ("Received", "packets"),
        ("Received", "bytes"),
        ("Truncated", "packets"),
    ];
    out.push_str(
        &Grid { name: "Nodes", head: &head, rows: nodes.collect(), text: TextColumns::First }
            .html(),
    );
    let head = [("Unit", ""), ("Counter", ""), ("Value", "")];
    let table =
        Grid { name: "Counters", head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }
            .html();
    if !table.is_empty() {
        out.push_str(&format!("<details>\n<summary>Counters</summary>\n{table}</details>\n"));
    }
    out.push_str("</section>\n");
    out
}

/// The section of injected faults, empty if there were none.
pub(super) fn faults(results: &Results) -> String {
    let rows = results.faults.iter().map(|fault| vec![fault.name.clone(), fault.times.to_string()]);
    let grid = Grid {
        name: "Injected faults",
        head: &[("Fault", ""), ("Times", "")],
        rows: rows.collect(),
        text: TextColumns::First,
    };
    match grid.html() {
        table if table.is_empty() => table,
        table => format!("<section id=\"faults\">\n<h2>Faults</h2>\n{table}</section>\n"),
    }
}

/// The section with the list of events, empty if there were none.
pub(super) fn events(results: &Results) -> String {
    let name = |kind: RecordedEventKind| match kind {
        RecordedEventKind::State => "state",
        RecordedEventKind::Error => "error",
        RecordedEventKind::Retry => "retry",
        RecordedEventKind::Recovered => "recovered",
        RecordedEventKind::Fault => "fault",
    };
    let rows: Vec<Vec<String>> = (results.events.iter().take(LISTED))
        .map(|event| {
            let link = event.link.and_then(|link| results.links.get(link as usize));
            let place = link.map_or(String::new(), |link| {
                let end = link.ends.get(usize::from(event.end)).map_or("", String::as_str);
                format!("{} at {end}", link.name)
            });
            let at = format!("{:.3} µs", event.at_ps as f64 / 1e6);
            vec![at, place, name(event.kind).to_owned(), event.text.clone()]
        })
        .collect();
    let all = results.events.len() as u64 + results.events_left_out;
    let caption = format!("The first {} of {all} events", rows.len());
    let head = [("Time", ""), ("Link", ""), ("Kind", ""), ("What", "")];
    let table = Grid { name: &caption, head: &head, rows, text: TextColumns::All }.html();
    if table.is_empty() {
        return table;
    }
    format!(
        "<section id=\"events\">\n<h2>Events</h2>\n<details>\n<summary>{}</summary>\n{table}\
         </details>\n</section>\n",
        escape(&caption)
    )
}
