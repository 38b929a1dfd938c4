//! What `spfe stats` shows of RDMA: the counters of targets and queue pairs.

use crate::output::table;
use serde_json::{Value, json};
use spfe::{MibEntry, MibValue};

/// A counter that is not zero.
struct Counter {
    port: u32,
    vc: Option<u32>,
    /// `rdma target` or `queue pair`.
    of: String,
    name: String,
    count: u64,
}

/// The counters of all ports.
#[derive(Default)]
pub struct RdmaCounters(Vec<Counter>);

impl RdmaCounters {
    /// Takes those of a port from its entries.
    pub fn add(&mut self, port: u32, entries: &[MibEntry]) {
        for entry in entries {
            if !matches!(&*entry.layer, "rdma target" | "queue pair") {
                continue;
            }
            let MibValue::Number(count) = entry.value else { continue };
            let (of, name) = (entry.layer.clone(), entry.name.clone());
            self.0.push(Counter { port, vc: entry.index, of, name, count });
        }
    }

    /// Lines below the other counters; empty without RDMA.
    pub fn text(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let row = |counter: &Counter| {
            vec![
                counter.of.clone(),
                counter.name.clone(),
                counter.port.to_string(),
                counter.vc.map_or("-".to_owned(), |vc| vc.to_string()),
                counter.count.to_string(),
            ]
        };
        let rows: Vec<_> = self.0.iter().map(row).collect();
        format!("\n{}", table(&["RDMA", "COUNTER", "PORT", "VC", "COUNT"], 2, &rows))
    }

    /// Adds them to a JSON object.
    pub fn add_to(&self, object: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        let counter = |counter: &Counter| {
            json!({
                "of": counter.of,
                "counter": counter.name,
                "port": counter.port,
                "vc": counter.vc,
                "count": counter.count,
            })
        };
        object["rdma"] = self.0.iter().map(counter).collect();
    }
}
