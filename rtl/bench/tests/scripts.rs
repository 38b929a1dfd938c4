//! Runs all scripts against the reference endpoint, in every build that they need.

use spfe_tcp_bench::drill::endpoint::Build;
use spfe_tcp_bench::drill::suite::{POINTS, load, run_all};
use spfe_tcp_bench::reference::Reference;
use std::collections::BTreeSet;
use std::path::Path;

fn builds() -> Vec<(&'static str, Build)> {
    let base = Build::default();
    vec![
        ("default", base.clone()),
        ("cut-through", Build { rx_checksum: false, ..base.clone() }),
        ("instant ACK", Build { instant_ack: true, ..base.clone() }),
        ("reordering", Build { rx_reordering: true, ..base.clone() }),
        ("out of sequence", Build { rx_out_of_sequence: true, ..base.clone() }),
        ("congestion control", Build { tx_congestion_control: true, ..base }),
    ]
}

#[test]
fn reference_passes_all_scripts() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let scripts = load(&dir).expect("scripts");
    let mut run = BTreeSet::new();
    let mut failures = Vec::new();
    for (name, build) in builds() {
        let record = run_all(&scripts, "", name, &mut Reference::new(build), true);
        for row in &record.rows {
            match row.result.as_str() {
                "passed" => {
                    run.insert(row.script.clone());
                }
                "failed" => failures.push(format!("{name}: {}: {}", row.script, row.detail)),
                _ => {}
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(run.len(), scripts.len(), "each script runs in one build at least");
    let points: BTreeSet<&str> = scripts.iter().map(|(_, s)| s.point.as_str()).collect();
    for point in 1..=POINTS {
        assert!(points.contains(format!("C{point}").as_str()), "no script for C{point}");
    }
}
