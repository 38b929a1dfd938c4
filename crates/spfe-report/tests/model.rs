//! The form of the JSON, and the values that rows compute.

use spfe_report::{Document, LatencyNs, Point, ResultRow, scenario};

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().expect("object").keys().map(String::as_str).collect()
}

#[test]
fn a_plain_row_has_the_ten_required_fields_only() {
    let mut document = Document::default();
    document.results.push(ResultRow::new(scenario::RATE_TX, 4096, 1));
    let json: serde_json::Value = serde_json::from_str(&document.to_json()).expect("JSON");
    assert_eq!(keys(&json), ["meta", "results"]);
    let mut expected = [
        "scenario",
        "size_bytes",
        "group",
        "rate_gbps",
        "worst_gbps",
        "packets_per_s",
        "host_cpu_pct",
        "device_cpu_pct",
        "wakes_per_s",
        "link_limit_gbps",
    ];
    expected.sort_unstable();
    let mut found = keys(&json["results"][0]);
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn optional_fields_keep_their_names() {
    let mut row = ResultRow::from_points(scenario::SEND_SINGLE, 1024, 1, vec![Point::default()]);
    row.latency_ns =
        Some(LatencyNs { mean: 1.0, p50: 1.0, p99: 2.0, p999: 3.0, max: 4.0, min: 0.5 });
    row.integrity_errors = Some(0);
    let document = Document { results: vec![row], ..Document::default() };
    let json: serde_json::Value = serde_json::from_str(&document.to_json()).expect("JSON");
    let row = &json["results"][0];
    assert_eq!(row["latency_ns"]["p999"], 3.0);
    assert_eq!(row["iterations"][0]["wakes_per_s"], 0.0);
    assert_eq!(row["paper"]["cpu_pct_of_4_cores"], 25.06);
    assert_eq!(row["integrity_errors"], 0);
    assert_eq!(row.get("seed"), None);
}

#[test]
fn a_sparse_document_is_read_and_missing_numbers_are_marked() {
    let json = r#"{"meta": {"version": "9", "later": 1},
        "results": [{"scenario": "x", "size_bytes": 2048, "rate_gbps": null, "new": []}]}"#;
    let document = Document::from_json(json).expect("sparse but legal");
    assert_eq!(document.results[0].group, 1);
    assert!(document.results[0].rate_gbps.is_nan());
    let tsv = spfe_report::tsv(&document);
    let [.., names, values] = tsv.lines().collect::<Vec<_>>()[..] else { panic!("{tsv}") };
    let fields: Vec<_> =
        names.split('\t').zip(values.split('\t')).filter(|(_, value)| !value.is_empty()).collect();
    let sizes = ["size_bytes", "size_min_bytes", "size_max_bytes"].map(|name| (name, "2048"));
    let known = [&[("scenario", "x")][..], &sizes, &[("group", "1"), ("link_limit_gbps", "0")]];
    assert_eq!(fields, known.concat(), "a value that was not measured is empty");
    assert!(spfe_report::text(&document).contains("2 KB"));
    assert!(Document::from_json(r#"{"meta": {}}"#).is_err(), "no results");
}

#[test]
fn optional_values_that_are_not_finite_are_left_out() {
    let mut row = ResultRow::new(scenario::SEND_GROUP, 64, 1);
    row.worst_host_cpu_pct = Some(f64::NAN);
    row.packets_per_wake = Some(f64::INFINITY);
    row.time_per_packet_us = Some(f64::NEG_INFINITY);
    let json = Document { results: vec![row], ..Document::default() }.to_json();
    assert!(!json.contains("null"), "{json}");
    assert_eq!(Document::from_json(&json).expect("JSON").to_json(), json);
}

#[test]
fn rows_compute_means_and_worst_cases() {
    let point = |rate, host, wakes| Point {
        rate_gbps: rate,
        host_cpu_pct: host,
        device_cpu_pct: 40.0,
        wakes_per_s: wakes,
        kernel: None,
    };
    let points = vec![point(8.0, 10.0, 500.0), point(8.384, 30.0, 500.0)];
    let row = ResultRow::from_points(scenario::SEND_GROUP, 8192, 128, points);
    assert_eq!((row.rate_gbps, row.worst_gbps), (8.192, 8.0));
    assert_eq!((row.host_cpu_pct, row.worst_host_cpu_pct), (20.0, Some(30.0)));
    assert_eq!(row.sum_cpu_pct(), 60.0);
    assert_eq!(row.packets_per_s, 125_000.0);
    assert_eq!((row.time_per_packet_us, row.packets_per_wake), (Some(8.0), Some(250.0)));
    assert_eq!(row.paper.map(|paper| paper.rate_gbps), Some(22.01));
    assert_eq!(row.link_share_pct(), None);

    let empty = ResultRow::from_points(scenario::SEND_GROUP, 0, 1, Vec::new());
    assert_eq!((empty.rate_gbps, empty.packet_time_us()), (0.0, None));
    assert_eq!((empty.packets_each_wake(), empty.paper), (None, None));
}
