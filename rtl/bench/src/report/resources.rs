//! Resources: the published tables 1 to 3, and the estimate of the open tools for all eight
//! configurations.

use super::html::{Cell, Table, Tone, paragraph, part, section};
use crate::published::{Published, Resources};

/// A published table as it is.
fn published(table: &Resources) -> Result<String, String> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let heads = table.columns.iter().map(|column| text(&serde_json::Value::from(column.clone())));
    let mut out = Table::new(format!("Published table {}: {}", table.number, table.title), heads);
    for row in &table.rows {
        let mut cells = row.iter().map(text);
        let name = cells.next().unwrap_or_default();
        out.row(name, cells.map(|cell| Cell::toned(cell, Tone::Published)));
    }
    out.html("cells")
}

/// The section.
///
/// # Errors
/// A published table is missing.
pub fn html(source: &Published) -> Result<String, String> {
    let mut body = paragraph(
        "Published: after place and route, external retransmission memory excluded. Ours: an estimate of yosys before packing of LUTs and before \
         place and route, the same memory excluded; read it as an upper estimate, never as a clock rate.",
    );
    for table in &source.resources {
        body.push_str(&part(&table.title, &published(table)?));
    }
    let mut ours =
        Table::new("Ours", ["Sessions · width · congestion control", "Result"].map(str::to_owned));
    for sessions in [2, 64] {
        for width in [32, 64] {
            for congestion in ["off", "on"] {
                ours.row(
                    format!("{sessions} · {width} · {congestion}"),
                    [Cell::absent("make synth has not been run")],
                );
            }
        }
    }
    body.push_str(&part("All eight configurations", &ours.html("plain-first")?));
    Ok(section("resources", "Resources and clock rates", &body))
}
