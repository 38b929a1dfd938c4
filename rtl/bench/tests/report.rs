//! Tests the report with made-up records: complete records are rendered, wrong ones are refused.

use spfe_tcp_bench::bench::generics::{FIXED, Generics};
use spfe_tcp_bench::bench::modes::{
    Direction, FULL, MERGED, RATES, TABLE_SIZES, WAYS, WIDE, Way, sizes,
};
use spfe_tcp_bench::bench::record::{
    Absolute, Bandwidth, Contention, Latency, Point, Rate, Scenario, Series,
};
use spfe_tcp_bench::bench::{bandwidth, meta};
use spfe_tcp_bench::formula::{HEADERS, Line};
use spfe_tcp_bench::published::Published;
use spfe_tcp_bench::report::{Records, render};

fn series(way: &Way, line: Line, sessions: u16, case: &str, sizes: &[u64]) -> Series {
    let point = |n: &u64| Point { n: *n, cycles: way.formula.cycles(&line, *n), jumbo: *n > 1460 };
    Series {
        way: way.id.to_owned(),
        label: way.label.to_owned(),
        direction: way.direction,
        build: way.build.to_owned(),
        parameters: "none".to_owned(),
        sessions,
        case: case.to_owned(),
        line,
        formula: way.formula,
        rule: way.formula.text(),
        points: sizes.iter().map(point).collect(),
    }
}

fn latency() -> Latency {
    let mut out = Latency::default();
    let table: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    for khz in RATES {
        for way in WAYS.iter().chain([&MERGED]) {
            out.series.push(series(way, Line::published(khz), 16, "", &sizes()));
            out.series.push(series(way, Line::published(khz), 64, "", &table));
            for (case, more) in [("vlan", 4), ("options", 12)] {
                let line = Line { headers: HEADERS + more, ..Line::published(khz) };
                out.series.push(series(way, line, 16, case, &table));
            }
        }
    }
    for way in &FULL {
        out.series.push(series(way, Line::published(RATES[0]), 64, "full", &table));
    }
    for way in &WIDE {
        let line = Line { khz: 156_250, mac_bytes: 8, headers: HEADERS };
        out.wide.push(series(way, line, 16, "", &table));
    }
    out.absolute.push(Absolute {
        way: "rx_packed64".to_owned(),
        label: "Rx".to_owned(),
        mac_bits: 32,
        khz: 322_265.625,
        n: 64,
        phases: 33,
        min: 16,
        mean: 16.5,
        max: 17,
        min_ns: 52.8,
        mean_ns: 53.0,
        max_ns: 55.9,
    });
    out
}

fn rates() -> Bandwidth {
    let mut rates = Vec::new();
    let ways = ["tx_store", "tx_ct", "rx_store", "rx_ct"];
    for (way, khz) in ways.iter().flat_map(|way| RATES.map(|khz| (way, khz))) {
        let direction = if way.starts_with("rx") { Direction::Rx } else { Direction::Tx };
        for limit in ["limiter", "line", "every"] {
            for (round_robin, n) in [false, true]
                .into_iter()
                .flat_map(|robin| bandwidth::sizes().into_iter().map(move |n| (robin, n)))
            {
                rates.push(Rate {
                    way: (*way).to_owned(),
                    label: (*way).to_owned(),
                    direction,
                    build: "sf64".to_owned(),
                    khz,
                    limit: limit.to_owned(),
                    round_robin,
                    n,
                    packets: 100,
                    bytes: 6000,
                    clocks: 1545,
                    least: 1545,
                    mbps: 10_000.0,
                    wire_mbps: 14_000.0,
                    goodput_mbps: 100.0,
                    mpps: 14.88,
                });
            }
        }
    }
    Bandwidth { rates }
}

fn records() -> Records {
    let mut generics = Generics::default();
    let values = Published::load().generics.into_iter().map(|(name, _)| (name, 1));
    let own = ["RxPacked", "RxEopMerge", "MacTxPad"].map(|name| (name.to_owned(), 1));
    let values = values.filter(|(name, _)| FIXED.iter().all(|(fixed, _)| fixed != name)).chain(own);
    generics.builds.insert("sf64".to_owned(), values.collect());
    let scenario = |id: &str, bound| Scenario {
        id: id.to_owned(),
        label: id.to_owned(),
        khz: 322_000,
        n: 64,
        messages: 10,
        others: 5,
        histogram: vec![(1, 9), (bound, 1)],
        bound,
    };
    Records {
        meta: meta::Meta { revision: "none".to_owned(), ..meta::Meta::default() },
        latency: latency(),
        bandwidth: rates(),
        contention: Contention { scenarios: vec![scenario("idle", 1), scenario("arp", 17)] },
        generics,
        ..Records::default()
    }
}

#[test]
fn complete_records_make_a_report() {
    let (page, drawings) = render(&records()).expect("whole");
    for number in 1..=14 {
        assert!(page.contains(&format!("Published table {number}")), "table {number}");
    }
    for number in 1..=12 {
        assert!(page.contains(&format!("<b>Figure {number}.</b>")), "figure {number}");
    }
    assert!(drawings.len() >= 12);
    assert!(page.contains("not measured: run tools/rtl.sh synth --record"));
    assert!(!page.contains("<td></td>"));
}

#[test]
fn a_point_off_its_formula_is_refused() {
    let mut records = records();
    records.latency.series[0].points[3].cycles += 1;
    let error = render(&records).expect_err("one point is off");
    assert!(
        error.contains("1 points are off their formula") && error.contains("rx_packed64"),
        "{error}"
    );
}

#[test]
fn a_missing_series_or_run_is_refused() {
    let whole = records();
    let mut less = whole.clone();
    less.latency.series.retain(|series| series.way != "tx_ct64");
    assert!(render(&less).expect_err("no tx_ct64").contains("tx_ct64"));
    let mut less = whole.clone();
    less.bandwidth.rates.retain(|rate| rate.n != 128);
    assert!(render(&less).expect_err("no 128 B").contains("128 B"));
    let mut slow = whole.clone();
    slow.bandwidth.rates[5].clocks += 60;
    assert!(render(&slow).expect_err("too slow").contains("below their limiter"));
    let mut late = whole;
    late.contention.scenarios[1].histogram.push((900, 1));
    assert!(render(&late).expect_err("too late").contains("900 cycles"));
}
