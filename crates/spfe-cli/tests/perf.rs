//! `spfe perf`: what it prints, in every mode. Nothing about how fast it is.

use serde_json::Value;
use std::process::{Command, Output};

fn perf(words: &[&str]) -> Output {
    let spfe = env!("CARGO_BIN_EXE_spfe");
    Command::new(spfe).arg("perf").args(words).output().expect("spfe runs")
}

fn json(words: &[&str]) -> Value {
    let output = perf(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

#[test]
fn every_mode_measures_and_says_what() {
    for mode in ["inline", "coop", "thread", "daemon"] {
        let size = ["--size-min", "4K", "--size-max", "4K", "--seconds", "0.02", "--json"];
        let document = json(&[&["rate", "--mode", mode][..], &size].concat());
        assert_eq!(document["meta"]["mode"], mode);
        let row = &document["results"][0];
        assert_eq!((row["size_bytes"].as_u64(), row["group"].as_u64()), (Some(4096), Some(128)));
        for field in ["rate_gbps", "worst_gbps", "packets_per_s", "host_cpu_pct", "device_cpu_pct"]
        {
            assert!(row[field].is_number(), "{mode}: {field} is {}", row[field]);
        }
        assert!(row["packets_per_s"].as_f64() > Some(0.0), "{mode}: nothing moved");
    }
}

#[test]
fn latency_has_its_percentiles() {
    let words = ["latency", "--size-min", "64", "--size-max", "64", "--seconds", "0.02", "--json"];
    let document = json(&words);
    let latency = &document["results"][0]["latency_ns"];
    for field in ["mean", "p50", "p99", "p999", "max"] {
        assert!(latency[field].as_f64() > Some(0.0), "{field} is {}", latency[field]);
    }
}

#[test]
fn tsv_has_a_header_and_a_row_a_size() {
    let words = ["rate", "--size-min", "1K", "--size-max", "4K", "--seconds", "0.01", "--tsv"];
    let output = perf(&words);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("scenario\t"), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn nonsense_is_a_usage_error() {
    for words in [
        &["rate", "--link", "4y5"][..],
        &["rate", "--mode", "magic"],
        &["rate", "--size-min", "0", "--size-max", "0"],
    ] {
        assert_eq!(perf(words).status.code(), Some(2), "{words:?}");
    }
}
