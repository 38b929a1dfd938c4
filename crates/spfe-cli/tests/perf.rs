//! The output of `spfe perf` in every mode. Rates are not checked.

mod common;

use common::{Directory, spfe};
use serde_json::Value;
use spfe::Scenario;
use spfe_host::{LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};
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
fn every_mode_measures_and_names_the_case() {
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
        for field in ["user_pct", "system_pct", "machine_pct", "interrupts_per_s"] {
            assert!(row["kernel"][field].is_number(), "{mode}: {field} in {row}");
        }
        assert!(row["floor_cpu_pct"].as_f64() >= Some(0.0), "{mode}: {row}");
    }
}

#[test]
fn random_sizes_arrive_undamaged_in_every_mode() {
    for mode in ["inline", "coop", "thread", "daemon"] {
        for direction in ["tx", "rx", "both"] {
            let traffic = ["random", "--mode", mode, "--direction", direction, "--seed", "7"];
            let size = ["--size-min", "64", "--size-max", "16K", "--step", "x256"];
            let rest = ["--seconds", "0.02", "--json"];
            let document = json(&[&traffic[..], &size, &rest].concat());
            let results = document["results"].as_array().expect("results");
            assert_eq!(results.len(), 2, "{mode} {direction}");
            for row in results {
                assert_eq!(row["integrity_errors"], 0, "{mode} {direction}: {row}");
                assert!(row["packets_per_s"].as_f64() > Some(0.0), "{mode} {direction}: {row}");
            }
        }
    }
}

#[test]
fn every_kind_of_traffic_ends_in_time() {
    // Generators never end, and links always have outstanding groups: both must stop in time.
    for words in [
        &["--direction", "rx"][..],
        &["--direction", "rx", "--threshold", "25", "--timeout", "50us"],
        &["--direction", "rx", "--packed", "--threshold", "100"],
        &["--direction", "rx", "--wait", "poll"],
        &["--direction", "tx", "--group", "1"],
        &["--direction", "tx", "--burst", "--check"],
        &["--direction", "tx", "--link", "4x7.5G", "--burst"],
        &["--direction", "both", "--link", "4x7.5G", "--group", "8"],
    ] {
        let size = ["--size-min", "1K", "--size-max", "64K", "--step", "x64"];
        let rest = ["--seconds", "0.02", "--json"];
        let document = json(&[&["rate"][..], words, &size, &rest].concat());
        for row in document["results"].as_array().expect("results") {
            assert!(row["packets_per_s"].as_f64() > Some(0.0), "{words:?}: {row}");
            assert!(row["host_cpu_pct"].as_f64() >= Some(0.0), "{words:?}: {row}");
        }
    }
}

#[test]
fn a_report_is_three_files() {
    let folder = std::env::temp_dir().join(format!("spfe-perf-report-{}", std::process::id()));
    let path = folder.to_str().expect("text");
    let size = ["--size-min", "1K", "--size-max", "1K", "--seconds", "0.01"];
    let output = perf(&[&["rate", "--report", path][..], &size].concat());
    let read = |name| std::fs::read_to_string(folder.join(name));
    let files = ["report.html", "results.json", "results.tsv"].map(read);
    std::fs::remove_dir_all(&folder).expect("the folder of the report");
    assert!(output.status.success());
    let [html, json, tsv] = files.map(|file| file.expect("a file of the report"));
    assert!(html.contains("rate-tx") && tsv.contains("\nscenario\t"));
    let document: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["results"].as_array().map(Vec::len), Some(1));
    assert!(document["calibration"].is_object());
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
fn a_loop_needs_more_than_the_link_alone() {
    for mode in ["inline", "thread", "daemon"] {
        let words = ["latency", "--loop", "--check", "--count", "20", "--link", "1x5G"];
        let size = ["--size-min", "4K", "--size-max", "4K", "--duration", "20ms", "--json"];
        let document = json(&[&words[..], &["--mode", mode], &size].concat());
        let row = &document["results"][0];
        assert_eq!(row["scenario"], "latency-loop");
        assert_eq!(row["integrity_errors"], 0, "{mode}: {row}");
        let link = row["link_minimum_ns"].as_f64().expect("a paced link");
        assert!((8000.0..10000.0).contains(&link), "4 KB at 3.8 Gbit/s: {link} ns");
        // One way in a loop, so all of the link's time is in it.
        assert!(row["latency_ns"]["min"].as_f64() > Some(0.95 * link), "{mode}: {row}");
    }
    let twice = perf(&["latency", "--loop", "--processes", "2"]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("--processes 2"));
}

#[test]
fn a_count_ends_a_measurement() {
    let beside = ["latency", "--beside", "--check", "--size", "32"];
    for words in [&["latency"][..], &["latency", "--loop"], &beside, &["broadcast"]] {
        let rest = ["--count", "7", "--duration", "1000ms", "--json"];
        let document = json(&[words, &rest].concat());
        let row = &document["results"][0];
        assert!(row["latency_ns"]["p50"].as_f64() > Some(0.0), "{words:?}");
        assert!(row["integrity_errors"].as_u64().is_none_or(|errors| errors == 0), "{row}");
    }
}

#[test]
fn messages_are_measured_idle_and_beside_data() {
    for mode in ["inline", "thread"] {
        let words =
            ["broadcast", "--mode", mode, "--link", "4x7.5G", "--duration", "20ms", "--json"];
        let document = json(&words);
        let rows = document["results"].as_array().expect("results");
        let names: Vec<_> = rows.iter().map(|row| row["scenario"].as_str().unwrap()).collect();
        let expected = ["broadcast-idle", "broadcast-data", "timecode-idle", "timecode-data"];
        assert_eq!(names, expected, "{mode}");
        for row in rows {
            assert_eq!(row["integrity_errors"], 0, "{mode}: {row}");
            assert!(row["latency_ns"]["p50"].as_f64() > Some(0.0), "{mode}: {row}");
        }
    }
}

#[test]
fn several_runs_are_compared_in_one_report() {
    let directory = Directory::new("perf-compare");
    let (near, far) = (directory.path("a"), directory.path("b.json"));
    let words = ["rate", "--size-min", "1K", "--size-max", "2K", "--duration", "10ms"];
    assert!(perf(&[&words[..], &["--report", &near]].concat()).status.success());
    let output = perf(&[&words[..], &["--wait", "poll", "--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "one object a line: {text}");
    std::fs::write(&far, &text).unwrap();
    let run = spfe(&["perf", "compare", &near, &far, "--report", &near]).exits(0);
    let table = run.text();
    assert!(table.contains("The runs differ in: wait."), "{table}");
    assert!(table.contains("Data rate 1") && table.contains("Data rate 2"), "{table}");
    assert_eq!(table.lines().filter(|line| line.trim().starts_with("1 KB")).count(), 1, "{table}");
    let page = std::fs::read_to_string(format!("{near}/compare.html")).unwrap();
    assert!(page.contains("curve v0") && page.contains("curve v1") && page.contains("b.json"));
    let run = spfe(&["perf", "compare", &near, "/no/such/file"]);
    assert!(run.code != Some(0) && run.stderr.contains("/no/such/file"), "{}", run.stderr);
    std::fs::write(&far, "{}").unwrap();
    let run = spfe(&["perf", "compare", &near, &far]);
    assert!(run.code != Some(0) && run.stderr.contains("not the results"), "{}", run.stderr);
}

#[test]
fn tsv_has_a_header_and_one_row_per_size() {
    let words = ["rate", "--size-min", "1K", "--size-max", "4K", "--seconds", "0.01", "--tsv"];
    let output = perf(&words);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let (facts, table): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("# "));
    for fact in ["date", "cpu", "kernel", "link", "wait", "command", "revision"] {
        let start = format!("# {fact}\t");
        assert!(facts.iter().any(|line| line.starts_with(&start)), "no {fact} in {text}");
    }
    assert!(table[0].starts_with("scenario\t"), "{text}");
    assert_eq!(table.len(), 4, "{text}");
    let fields = |line: &str| line.split('\t').count();
    assert!(table.iter().all(|line| fields(line) == fields(table[0])), "{text}");
}

#[test]
fn contradictory_options_are_usage_errors() {
    for words in [
        &["rate", "--link", "4y5"][..],
        &["rate", "--mode", "magic"],
        &["rate", "--size-min", "0", "--size-max", "0"],
    ] {
        assert_eq!(perf(words).status.code(), Some(2), "{words:?}");
    }
}

/// A daemon with two linked endpoints, and their names for `--ends`.
fn joined(test: &str, mode: Mode) -> (Server, Directory, String) {
    let directory = Directory::new(&format!("perf-{test}-{mode}"));
    let socket = directory.path("sock");
    let link = LinkRate::SpaceFibre { lanes: 4, mbps: 7500 };
    let topology = Topology::pairs(2, link, mode);
    let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    let ends = format!("unix:{socket}/0,unix:{socket}/1");
    (server, directory, ends)
}

#[test]
fn existing_devices_are_measured_like_a_new_network() {
    let (_server, _directory, ends) = joined("tables", Mode::Thread);
    let words = ["tables", "--quick", "--published", "--seconds", "0.02", "--json"];
    let (own, there) = (json(&words), json(&[&words[..], &["--ends", &ends]].concat()));
    assert_eq!(there["meta"]["mode"], "virtual, daemon");
    assert_eq!(there["meta"]["link"], own["meta"]["link"], "the devices say their link");
    let notes = there["meta"]["notes"].to_string();
    assert!(notes.contains(&ends.replace(',', " and ")) && notes.contains("not measured"));
    assert!(own["meta"]["notes"].is_null());
    let rows = |document: &Value| document["results"].as_array().expect("results").clone();
    let (own, there) = (rows(&own), rows(&there));
    assert_eq!((own.len(), there.len()), (36, 36));
    for (own, there) in own.iter().zip(&there) {
        assert_eq!(own["under_way"], 1, "the publication waits for each operation: {own}");
        assert!(own["paper"].is_object(), "{own}");
        for field in ["scenario", "size_bytes", "group", "paper", "link_limit_gbps"] {
            assert_eq!(own[field], there[field], "{there}");
        }
        for field in ["rate_gbps", "packets_per_s", "host_cpu_pct"] {
            assert!(there[field].as_f64() > Some(0.0), "{field}: {there}");
        }
        assert!(there["device_cpu_pct"].is_null(), "nobody measured that: {there}");
        assert!(own["device_cpu_pct"].is_number(), "{own}");
    }
}

#[test]
fn the_tables_of_rdma_stand_beside_published_figures() {
    let words = ["tables", "--paper", "rdma", "--quick", "--duration", "2ms", "--json"];
    let document = json(&words);
    assert_eq!(document["meta"]["link"], "4x6.25G");
    let rows = document["results"].as_array().expect("results");
    assert_eq!(rows.len(), 48);
    for row in rows {
        assert!(row["rate_gbps"].as_f64() > Some(0.0), "{row}");
        let published = !row["scenario"].as_str().unwrap().ends_with("-ahead")
            && row["size_bytes"].as_u64() < Some(512 << 10);
        assert_eq!(row["paper"].is_object(), published, "{row}");
    }
    let text = spfe(&[
        "perf",
        "tables",
        "--paper",
        "rdma",
        "--published",
        "--quick",
        "--duration",
        "2ms",
        "-q",
    ]);
    assert!(text.exits(0).text().contains("Tables 4-1 to 4-4"));
}

#[test]
fn rdma_is_measured_with_chosen_groups() {
    for (words, scenario, bytes) in [
        (&["write", "--size", "4K", "--group", "8", "--under-way", "3"][..], "rdma-write", 4096),
        (&["read", "--size", "100", "--group", "8", "--under-way", "3"], "rdma-read", 100),
        (&["atomic", "--group", "8", "--under-way", "3"], "rdma-atomic", 8),
        (&["send", "--size", "1000", "--group", "8", "--under-way", "3"], "rdma-send", 1000),
    ] {
        let row =
            &json(&[&["rdma"], words, &["--seconds", "0.01", "--json"]].concat())["results"][0];
        assert_eq!((&row["scenario"], &row["size_bytes"]), (&scenario.into(), &bytes.into()));
        assert_eq!((&row["group"], &row["under_way"]), (&8.into(), &3.into()));
        assert!(row["rate_gbps"].as_f64() > Some(0.0), "{row}");
    }
    // One at a time, the time of each is the latency. A device thread has queue pairs, too.
    let one = ["rdma", "send", "--size", "64", "--group", "1", "--under-way", "1"];
    let one = [&one[..], &["--mode", "thread", "--seconds", "0.01", "--json"]].concat();
    let row = &json(&one)["results"][0];
    assert!(row["latency_ns"]["p50"].as_f64() > Some(0.0), "{row}");
    // Both ends write and poll: half of a round trip.
    for mode in ["inline", "thread"] {
        let words = ["rdma", "latency", "--size", "64", "--mode", mode];
        let row = &json(&[&words[..], &["--seconds", "0.01", "--json"]].concat())["results"][0];
        assert_eq!((&row["scenario"], &row["size_bytes"]), (&"rdma-latency".into(), &64.into()));
        assert!(row["latency_ns"]["p50"].as_f64() > Some(0.0), "{row}");
    }
    let many = ["perf", "rdma", "write", "--group", "16384", "--under-way", "2"];
    spfe(&many).fails(2, "more than the 16384 of a queue");
    let words = ["perf", "rdma", "write", "--processes", "2"];
    spfe(&words).fails(2, "in a network of its own");
}

#[test]
fn published_figures_stand_beside_the_same_link_only() {
    let words = ["tables", "--published", "--quick", "--duration", "2ms", "--json"];
    for (link, published) in [("4x7.5G", true), ("4x25G", false), ("unlimited", false)] {
        let document = json(&[&words[..], &["--link", link]].concat());
        for row in document["results"].as_array().expect("results") {
            assert_eq!(row["paper"].is_object(), published, "{link}: {row}");
        }
    }
}

#[test]
fn every_test_runs_between_existing_devices() {
    let size = ["--size-min", "1K", "--size-max", "1K", "--seconds", "0.02", "--json"];
    for mode in [Mode::Thread, Mode::Inline] {
        let (_server, _directory, daemon) = joined("tests", mode);
        for ends in [&daemon, &format!("virtual:ends/0?mode={mode},virtual:ends/1?mode={mode}")] {
            for (words, processes) in [
                (&["rate", "--direction", "tx"][..], "1"),
                (&["rate", "--direction", "both", "--check"], "1"),
                (&["random", "--direction", "rx"], "1"),
                (&["random", "--direction", "tx"], "2"),
                (&["latency", "--check"], "2"),
                (&["latency", "--check", "--beside"], "2"),
            ] {
                // Another process cannot use a network inside this one.
                let processes = if ends == &daemon { processes } else { "1" };
                let place = ["--ends", ends, "--processes", processes];
                let document = json(&[words, &size, &place].concat());
                let row = &document["results"][0];
                assert!(row["packets_per_s"].as_f64() > Some(0.0), "{ends} {words:?}: {row}");
                assert!(row["integrity_errors"].as_u64().is_none_or(|errors| errors == 0), "{row}");
                // Only a device thread of another process cannot be measured.
                let foreign = ends == &daemon && mode == Mode::Thread;
                assert_eq!(row["device_cpu_pct"].is_null(), foreign, "{ends} {words:?}: {row}");
            }
        }
    }
}

/// A case of 1 KiB that takes no time.
const SHORT: [&str; 5] = ["--size", "1K", "--seconds", "0.02", "--json"];

#[test]
fn any_two_ports_are_measured() {
    let cable = "virtual:?link=4x7.5G";
    for (from, to, limit) in [
        ("virtual::0.1", "virtual::1.1", None),
        (":1.7", ":0.7", Some(22.92)),
        (":2.0", ":3.0", Some(0.16)),
    ] {
        let name =
            |end: &str| if limit.is_none() { end.to_owned() } else { format!("{cable}{end}") };
        let ends = ["--from", &name(from), "--to", &name(to)];
        for words in [
            &["rate"][..],
            &["rate", "--direction", "rx", "--check"],
            &["rate", "--direction", "both"],
            &["random"],
            &["latency"],
            &["latency", "--loop"],
        ] {
            let document = json(&[words, &SHORT, &ends].concat());
            let row = &document["results"][0];
            assert!(row["packets_per_s"].as_f64() > Some(0.0), "{ends:?} {words:?}: {row}");
            assert!(row["integrity_errors"].as_u64().is_none_or(|errors| errors == 0), "{row}");
            let known = row["link_limit_gbps"].as_f64();
            assert_eq!(known.is_some(), limit.is_some(), "{row}");
            assert!(known.is_none_or(|known| known <= limit.unwrap_or(0.0)), "{row}");
        }
    }
    // A device alone stands for its ports 0 and 1.
    let document = json(&[&["rate", "virtual:?link=4x7.5G"][..], &SHORT].concat());
    assert_eq!(document["results"][0]["link_limit_gbps"].as_f64().map(f64::round), Some(23.0));
    spfe(&["perf", "rate", "virtual:", "--from", "virtual::1"]).exits(2);
    spfe(&["perf", "rate", "--from", "virtual::9", "--to", "virtual::1"]).exits(5);
    spfe(&["perf", "rate", "--from", "virtual::1", "--to", "virtual::1.0"]).exits(2);
    spfe(&["perf", "latency", "--from", "virtual::1"]).exits(2);
}

#[test]
fn one_end_is_measured_alone() {
    for words in [&["--logical", "0x40"][..], &["--path", "1,3", "--burst"], &["--packets", "100"]]
    {
        let ends = ["--from", "virtual:?peer=sink"];
        let document = json(&[&["rate"], &SHORT[..], &ends, words].concat());
        let row = &document["results"][0];
        assert!(row["packets_per_s"].as_f64() > Some(0.0), "{words:?}: {row}");
    }
    let document =
        json(&[&["rate"], &SHORT[..], &["--to", "virtual:?peer=generator:1024:0.0"]].concat());
    assert_eq!(document["results"][0]["scenario"], "rate-rx");
}

#[test]
fn two_testers_started_by_hand_measure_together() {
    let (_server, _directory, daemon) = joined("hand", Mode::Thread);
    let [near, far] = daemon.split(',').collect::<Vec<_>>()[..] else { panic!("two ends") };
    let sizes = ["--size-min", "1K", "--size-max", "4K", "--seconds", "0.05", "--json"];
    let mut receiver = common::command(&[&["perf", "rate", "--to", far][..], &sizes].concat());
    let receiver = receiver.stdout(std::process::Stdio::piped()).spawn().expect("spfe runs");
    let sent = json(&[&["rate", "--from", near][..], &sizes].concat());
    let got = receiver.wait_with_output().expect("the receiver ends");
    assert!(got.status.success());
    let got: Value = serde_json::from_slice(&got.stdout).expect("JSON");
    for document in [sent, got] {
        let rows = document["results"].as_array().expect("rows").clone();
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|row| row["rate_gbps"].as_f64() > Some(0.0)), "{rows:?}");
    }
}

#[test]
fn a_number_of_packets_is_timed_from_the_first_to_the_last() {
    for words in [
        &["--link", "spw:200M", "--packets", "200"][..],
        &["--link", "spw:200M", "--packets", "200", "--direction", "both"],
        &["--link", "1x100M", "--packets", "100", "--direction", "rx"],
        &["--link", "exact:1x1G", "--packets", "20"],
    ] {
        let document = json(&[&["rate", "--size", "60", "--json"], words].concat());
        let row = &document["results"][0];
        let (rate, limit) =
            (row["rate_gbps"].as_f64().unwrap(), row["link_limit_gbps"].as_f64().unwrap());
        // Nothing but the link's own time is in the way, and it cannot be shorter.
        assert!(rate > 0.0 && rate <= limit * 1.001, "{words:?}: {rate} of {limit}");
    }
}

#[test]
fn exact_links_say_how_fast_their_time_passes() {
    let words = ["rate", "--size", "256", "--packets", "20", "--json", "--link"];
    let row = |link| json(&[&words[..], &[link]].concat())["results"][0].clone();
    assert!(row("1x1G")["pace"].is_null(), "packets of a paced link are on time");
    let exact = row("exact:1x1G");
    let number = |name: &str| exact[name].as_f64().unwrap_or_else(|| panic!("{name} in {exact}"));
    // In the time of the link, which is read in whole microseconds, the rate is one of the link. It is
    // low where the tester waits for its processor, because the link goes on meanwhile.
    let on_the_link = number("rate_gbps") / number("pace");
    assert!(on_the_link > 0.0 && on_the_link < number("link_limit_gbps") * 1.1, "{exact}");
    let run = spfe(&["perf", "rate", "--size", "256", "--packets", "9", "--link", "exact:1x1G"]);
    assert!(run.exits(0).text().contains("Pace"));
}

#[test]
fn packets_with_a_path_are_measured_through_routers() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    let mut scenario = Scenario::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    scenario.faults.clear();
    scenario.flows.clear();
    let directory = Directory::new("perf-routers");
    let socket = directory.path("sock");
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let config = ServerConfig { scenario: Some(scenario), ..ServerConfig::new(topology) };
    let _server = Server::start(config.listen(&socket)).unwrap();
    let [from, to] = ["alpha", "beta"].map(|name| format!("unix:{socket}/{name}"));
    let words = ["rate", "--from", &from, "--to", &to, "--size", "256", "--packets", "10"];
    let words = [&words[..], &["--check", "--json"]].concat();
    let row = json(&[&words[..], &["--path", "3,1"]].concat())["results"][0].clone();
    assert_eq!(row["integrity_errors"], 0, "{row}");
    assert!(row["rate_gbps"].as_f64() > Some(0.0), "{row}");
}

#[test]
fn limits_depend_on_the_size_and_unlimited_links_have_none() {
    let limit = |words: &[&str]| json(words)["results"][0]["link_limit_gbps"].clone();
    assert!(limit(&[&["rate"], &SHORT[..]].concat()).is_null());
    let short = ["rate", "--link", "spw:200M", "--size", "1", "--seconds", "0.02", "--json"];
    assert!((limit(&short).as_f64().unwrap() - 0.8 / 7.0).abs() < 1e-6);
    let text = spfe(&["perf", "theory", "--link", "spw:200M", "--size", "60"]).exits(0).text();
    assert!(text.contains("158.9 Mbit/s"), "{text}");
    let run = spfe(&["perf", "rate", "--pin", "0,70000"]).exits(2);
    assert!(run.stderr.contains("CPU 70000"), "{}", run.stderr);
}

#[test]
fn the_output_marks_unmeasured_figures() {
    let (_server, _directory, ends) = joined("notes", Mode::Thread);
    let words = ["rate", "--size-max", "1K", "--seconds", "0.02", "--ends", &ends];
    let run = spfe(&[&["perf"][..], &words].concat()).exits(0);
    assert!(run.text().contains("\nNote: device load and sum: not measured"), "{}", run.text());
    let run = spfe(&[&["perf"][..], &words, &["--tsv"]].concat()).exits(0);
    let text = run.text();
    let table = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>();
    let [header, row] = table[..] else { panic!("two lines in {table:?}") };
    let column = header.split('\t').position(|name| name == "device_cpu_pct").expect("a column");
    assert_eq!(row.split('\t').nth(column), Some(""), "{row}");
    assert!(run.stderr.contains("not measured"), "{}", run.stderr);
}

#[test]
fn invalid_ends_are_refused() {
    let refused = |words: &[&str], why: &str| {
        let run = spfe(&[&["perf", "rate", "--ends"][..], words].concat()).exits(2);
        assert!(run.stderr.contains(why), "no '{why}' in: {}", run.stderr);
    };
    refused(&["virtual:x/0"], "is not two devices");
    refused(&["virtual:x/0,virtual:x/1,virtual:x/2"], "is not two devices");
    refused(&["virtual:x/0,"], "name of a device is missing");
    refused(&["virtual:x/0,virtual:x/0"], "both ends are the same device");
    refused(&["virtual:x/0,virtual:x/1", "--mode", "coop"], "cannot be used with");
    refused(&["virtual:x/0,virtual:x/1", "--link", "1x5G"], "cannot be used with");
    let words = ["perf", "rate", "--processes", "2", "--ends", "virtual:x/0,virtual:x/1"];
    let run = spfe(&words);
    assert!(run.code != Some(0) && run.stderr.contains("--processes 2"), "{}", run.stderr);
    let run = spfe(&["perf", "rate", "--ends", "virtual:x/0,/dev/no-such-device"]);
    assert!(run.code != Some(0) && run.stderr.contains("/dev/no-such-device"), "{}", run.stderr);
}
