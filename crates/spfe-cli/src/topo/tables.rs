//! Logical addresses of units, and routing tables.

use crate::output::table;
use serde_json::{Value, json};
use spfe_report::diagram::Diagram;
use spfe_sim::scenario::unit::EntryMode;
use spfe_sim::scenario::{Scenario, TableEntry};

/// The logical address of each unit; a router's is that of its configuration port.
fn addresses(scenario: &Scenario) -> impl Iterator<Item = u8> {
    let nodes = scenario.nodes.iter().map(|node| node.logical_address);
    nodes.chain(scenario.routers.iter().map(|router| router.configuration.logical_address))
}

/// Tables of units and of routing table entries.
pub fn text(scenario: &Scenario) -> String {
    let units = Diagram::of(scenario).vertices;
    let rows: Vec<Vec<String>> = units
        .into_iter()
        .zip(addresses(scenario))
        .map(|(unit, address)| vec![unit.name, unit.about, format!("{address} ({address:#04x})")])
        .collect();
    let mut out = format!("\n{}", table(&["UNIT", "KIND", "LOGICAL ADDRESS"], 3, &rows));
    let mut rows = Vec::new();
    for router in &scenario.routers {
        rows.extend(router.entries.iter().map(|entry| row(&router.name, entry)));
    }
    if !rows.is_empty() {
        let head = ["ROUTER", "ADDRESS", "PORTS", "MODE", "ADDRESS BYTE", "VIRTUAL NETWORKS"];
        out.push_str(&format!("\n{}", table(&head, head.len(), &rows)));
    }
    out
}

fn list(numbers: &[u8]) -> String {
    numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}

fn mode(entry: &TableEntry) -> &'static str {
    match entry.mode {
        EntryMode::All => "all",
        EntryMode::Any => "any",
    }
}

fn row(router: &str, entry: &TableEntry) -> Vec<String> {
    vec![
        router.to_owned(),
        format!("{0} ({0:#04x})", entry.address),
        list(&entry.ports),
        mode(entry).to_owned(),
        if entry.delete { "deleted" } else { "kept" }.to_owned(),
        entry.networks.as_deref().map_or("all".to_owned(), list),
    ]
}

/// The units as JSON.
pub fn units(scenario: &Scenario) -> Vec<Value> {
    let units = Diagram::of(scenario).vertices;
    let unit = |(unit, address): (spfe_report::diagram::Vertex, u8)| json!({ "name": unit.name, "kind": unit.about, "logical_address": address });
    units.into_iter().zip(addresses(scenario)).map(unit).collect()
}

/// The entries of all routing tables as JSON.
pub fn entries(scenario: &Scenario) -> Vec<Value> {
    let of = |name: &str, entry: &TableEntry| {
        json!({
            "router": name,
            "address": entry.address,
            "ports": entry.ports,
            "mode": mode(entry),
            "delete": entry.delete,
            "priority": entry.priority,
            "networks": entry.networks,
        })
    };
    let routers = scenario.routers.iter();
    routers.flat_map(|r| r.entries.iter().map(move |entry| of(&r.name, entry))).collect()
}
