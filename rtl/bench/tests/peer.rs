//! Tests the reference endpoint against the stack of smoltcp.

use spfe_tcp_bench::drill::endpoint::Build;
use spfe_tcp_bench::peer::cases::{Case, CaseResult, all, plants, run};
use spfe_tcp_bench::peer::channel::Impair;
use spfe_tcp_bench::reference::Reference;

const SEED: u64 = 0x5eed_0001;

fn check(build: &Build, cases: &[Case]) -> Vec<CaseResult> {
    let mut ep = Reference::new(build.clone());
    let rows: Vec<CaseResult> = cases.iter().map(|c| run(c, &mut ep, SEED)).collect();
    for r in &rows {
        println!("{r:?}");
    }
    let failed: Vec<String> = rows
        .iter()
        .filter(|r| r.result == "failed")
        .map(|r| format!("{} (seed {:#x}): {}", r.case, r.seed, r.detail))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    rows
}

#[test]
fn the_reference_passes_all_cases() {
    let rows = check(&Build::default(), &all(1));
    assert!(rows.iter().all(|r| r.result == "passed" && r.checked_segments > 0));
    for r in rows.iter().filter(|r| r.case.contains("drop, 10 %")) {
        assert!(r.impaired_frames > 10 && r.sent_again_out > 0 && r.sent_again_in > 0);
    }
}

#[test]
fn other_builds_of_the_reference_pass() {
    let base = Build::default();
    check(&Build { rx_checksum: false, instant_ack: true, ..base.clone() }, &all(1));
    check(&Build { rx_reordering: true, tx_congestion_control: true, ..base }, &all(1));
}

#[test]
fn the_rules_find_every_planted_fault() {
    let found = plants(&mut Reference::new(Build::default()), SEED).expect("all are found");
    assert_eq!(found, 10);
}

/// Shows that the cases can fail: this line loses every frame.
#[test]
fn a_dead_line_fails() {
    let mut case = all(1).remove(0);
    case.impair = Impair { drop: 1000, ..Impair::default() };
    case.ticks = 5000;
    let row = run(&case, &mut Reference::new(Build::default()), SEED);
    assert_eq!(row.result, "failed");
}
