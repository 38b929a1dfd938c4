//! Tables of RDMA operations and hostile links.

use super::bars::percentiles;
use super::grid::{Grid, TextColumns};
use super::links::axis_rate;
use spfe_sim::results::Results;

/// Both tables, of which those without rows are left out.
pub(super) fn tables(results: &Results) -> String {
    operations(results) + &hostile(results)
}

fn operations(results: &Results) -> String {
    let rows = results.rdmas.iter().map(|rdma| {
        let failed = rdma.failed.iter().map(|(error, times)| format!("{times} {error}"));
        let failed: Vec<String> = failed.collect();
        let [p50, p99, _, most] = percentiles(&rdma.latency);
        vec![
            rdma.name.clone(),
            format!("{} → {}", rdma.from, rdma.to),
            rdma.operation.clone(),
            rdma.posted.to_string(),
            rdma.completed.to_string(),
            if failed.is_empty() { "0".to_owned() } else { failed.join(", ") },
            rdma.outstanding.to_string(),
            rdma.mismatches.to_string(),
            rdma.bytes.to_string(),
            axis_rate(rdma.goodput_bps),
            rdma.packets.to_string(),
            rdma.resent.to_string(),
            rdma.timeouts.to_string(),
            rdma.refusals.to_string(),
            p50,
            p99,
            most,
        ]
    });
    let head = [
        ("RDMA", ""),
        ("Way", ""),
        ("Kind", ""),
        ("Posted", "operations"),
        ("Completed", "operations"),
        ("Failed", "operations"),
        ("Outstanding", ""),
        ("Mismatches", ""),
        ("Data", "bytes"),
        ("Goodput", ""),
        ("Sent", "packets"),
        ("Sent again", "packets"),
        ("Time-outs", ""),
        ("Refusals", ""),
        ("50 %", "latency"),
        ("99 %", "latency"),
        ("Max", "latency"),
    ];
    let name = "RDMA operations";
    Grid { name, head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }.html()
}

fn hostile(results: &Results) -> String {
    let rows = results.hostile.iter().map(|of| {
        let counts =
            [of.packets, of.dropped, of.duplicated, of.reordered, of.delayed, of.damaged, of.cut];
        let names = [of.link.clone(), of.from.clone()].into_iter();
        names.chain(counts.map(|count| count.to_string())).collect()
    });
    let head = [
        ("Hostile link", ""),
        ("From", ""),
        ("Packets", ""),
        ("Dropped", ""),
        ("Twice", ""),
        ("Reordered", ""),
        ("Delayed", ""),
        ("Damaged", ""),
        ("Cut", ""),
    ];
    let name = "Hostile links";
    Grid { name, head: &head, rows: rows.collect(), text: TextColumns::FirstTwo }.html()
}
