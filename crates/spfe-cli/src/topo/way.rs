//! `spfe topo --path A B`: the addresses that lead from one unit to another, and back.

use super::words;
use crate::error::Failure;
use serde_json::{Value, json};
use spfe_sim::scenario::route::{RouteFinder, Ways};
use spfe_sim::scenario::{PortName, Scenario, UnitId};
use std::fmt::Write;

/// Shows both directions.
pub fn show(
    scenario: &Scenario,
    [from, to]: [&PortName; 2],
    vc: u8,
    as_json: bool,
) -> Result<String, Failure> {
    let finder = RouteFinder::new(scenario);
    let find = |from: &PortName, to: &PortName, vc: u8| {
        let ways = finder.ways(from, to, vc);
        ways.map_err(|why| Failure::usage(format!("from {from} to {to} on VC {vc}: {why}")))
    };
    let there = find(from, to, vc)?;
    // Answers start on the channel and port on which packets arrive.
    let arrived = there.path.trace.destinations.first();
    let back_vc = arrived.map_or(vc, |end| end.vc);
    let back = find(to, from, back_vc)?;
    let mut text = String::new();
    let mut list = Vec::new();
    for (from, to, vc, ways) in [(from, to, vc, &there), (to, from, back_vc, &back)] {
        match as_json {
            true => list.push(document(scenario, from, to, vc, ways)),
            false => text.push_str(&paragraph(scenario, from, to, vc, ways)),
        }
    }
    Ok(if as_json { format!("{}\n", Value::from(list)) } else { text })
}

/// The name of a unit's port; a router stands for its configuration port.
fn name(scenario: &Scenario, port: &PortName) -> String {
    match scenario.unit(&port.unit) {
        Some(UnitId::Router(_)) => format!("{}:0", port.unit),
        _ => port.to_string(),
    }
}

fn routes(scenario: &Scenario, from: &PortName, ways: &Ways) -> Vec<String> {
    let (routes, _) = ways.path.trace.routes(super::MAX_ROUTES);
    routes.iter().map(|route| words(scenario, from, route)).collect()
}

fn hex(bytes: impl Iterator<Item = u8>) -> String {
    bytes.map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn paragraph(scenario: &Scenario, from: &PortName, to: &PortName, vc: u8, ways: &Ways) -> String {
    let (path, target) = (&ways.path.path, ways.path.target);
    let mut out = format!("{} to {} on VC {vc}\n", name(scenario, from), name(scenario, to));
    let shown: Vec<_> = path.iter().map(u8::to_string).collect();
    let shown = if path.is_empty() { "none, one link".to_owned() } else { shown.join(" ") };
    let _ = writeln!(out, "  path addresses     {shown}");
    let _ = writeln!(out, "  logical address    {target} ({target:#04x}) of the destination");
    let bytes = hex(path.iter().copied().chain([target]));
    let _ = writeln!(out, "  bytes in front     {bytes}");
    let logical: Vec<_> = ways.logical.iter().map(|one| format!("{one} ({one:#04x})")).collect();
    let logical = if logical.is_empty() { "none".to_owned() } else { logical.join(", ") };
    let _ = writeln!(out, "  in routing tables  {logical}");
    for route in routes(scenario, from, ways) {
        let _ = writeln!(out, "  route              {route}");
    }
    out
}

fn document(scenario: &Scenario, from: &PortName, to: &PortName, vc: u8, ways: &Ways) -> Value {
    json!({
        "from": name(scenario, from),
        "to": name(scenario, to),
        "vc": vc,
        "path": ways.path.path,
        "logical_address": ways.path.target,
        "table_addresses": ways.logical,
        "routes": routes(scenario, from, ways),
    })
}
