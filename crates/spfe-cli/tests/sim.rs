//! The output of `spfe sim` and `spfe topo`.

mod common;

use common::{
    Directory, end, interrupt, spfe, start, wait_for_message, wait_until,
    wait_until_it_catches_signals,
};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    path.join(name).to_str().expect("a path in UTF-8").to_owned()
}

fn results(words: &[&str]) -> Value {
    let run = spfe(words).exits(0);
    serde_json::from_str(&run.text()).expect("a JSON document")
}

#[test]
fn topo_shows_links_and_routes() {
    let file = example("payload-network.toml");
    let text = spfe(&["topo", &file]).exits(0).text();
    assert!(text.starts_with("Payload network: 5 nodes, 2 routers, 7 links"), "{text}");
    for route in [
        "camera:1 > front 1>4 > back 4>1 > memory:1",
        "camera:1 > front 1>5 > back 5>1 > memory:1",
        "radar:1 > front 2>3 > processor:1",
        "processor:1 > front 3>4 > back 4>0",
    ] {
        assert!(text.contains(route), "{route}: {text}");
    }
    let json = spfe(&["topo", &file, "--json"]).exits(0).json();
    assert_eq!(json["links"][5]["lanes"], 4);
    assert_eq!(json["routes"][0]["ways"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["routes"][0]["discarded"], serde_json::json!([]));
}

#[test]
fn topo_finds_the_way_and_the_way_back() {
    let file = example("payload-network.toml");
    let text = spfe(&["topo", &file, "--path", "radar", "processor"]).exits(0).text();
    for line in [
        "radar:1 to processor:1 on VC 0\n  path addresses     3\n",
        "processor:1 to radar:1 on VC 0\n  path addresses     2\n",
        "  route              radar:1 > front 2>3 > processor:1\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let json = spfe(&["topo", &file, "--path", "camera", "memory", "--vc", "1", "--json"]);
    let json = json.exits(0).json();
    assert_eq!(json[0]["path"], serde_json::json!([4, 1]));
    assert_eq!(json[1]["path"], serde_json::json!([4, 1]));
    // The routing tables of the scenario lead there, too.
    let table = json[0]["table_addresses"].as_array().unwrap();
    assert!(!table.is_empty(), "{json}");
    let text = spfe(&["topo", &file]).exits(0).text();
    for address in table {
        assert!(text.contains(&format!("  {address} (0x")), "{address}: {text}");
    }
    let to_router = spfe(&["topo", &file, "--path", "processor", "back"]).exits(0).text();
    assert!(to_router.contains("processor:1 to back:0 on VC 0\n  path addresses     4 0"));
    assert!(to_router.contains("back:0 to processor:1"), "{to_router}");
    spfe(&["topo", &file, "--path", "camera", "moon"]).fails(2, "no node or router 'moon'");
    spfe(&["topo", &file, "--path", "camera"]).fails(2, "2 values");
}

#[test]
fn topo_shows_where_packets_are_discarded() {
    let directory = Directory::new("sim-lost");
    let file = directory.path("lost.toml");
    let text = std::fs::read_to_string(example("payload-network.toml")).unwrap();
    std::fs::write(&file, text.replace("route = 81", "route = 99")).unwrap();
    let why = "router 'back' has no entry for address 99 on virtual network 3";
    let text = spfe(&["topo", &file]).exits(0).text();
    assert!(text.contains(&format!("discarded: {why}")), "{text}");
    assert!(text.contains(&format!("refused by spfe sim: {why}")), "{text}");
    spfe(&["sim", &file, "--duration", "1us"]).fails(2, why);
}

#[test]
fn topo_draws_the_network() {
    let directory = Directory::new("sim-drawings");
    let file = example("spacewire-bridge.toml");
    let drawing = directory.path("net.svg");
    spfe(&["topo", &file, "--svg", &drawing]).exits(0);
    let drawing = std::fs::read_to_string(&drawing).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.contains("magnetometer"), "{drawing}");
    assert_eq!(drawing.matches("class=\"link thin\"").count(), 1, "SpaceWire is thin");
    let dot = spfe(&["topo", &file, "--dot"]).exits(0).text();
    assert!(dot.starts_with("graph ") && dot.contains("u0 -- u3"), "{dot}");
    spfe(&["topo", &file, "--dot", "--svg", "-"]).fails(2, "--svg");
}

#[test]
fn errors_of_a_scenario_name_their_lines() {
    let directory = Directory::new("sim-wrong");
    let file = directory.path("wrong.toml");
    let text = std::fs::read_to_string(example("point-to-point-1.toml")).unwrap();
    let text = text.replace("lanes = 1", "lanes = 17").replace("to = \"left\"", "to = \"middle\"");
    std::fs::write(&file, text).unwrap();
    for command in ["sim", "topo"] {
        let run = spfe(&[command, &file]).fails(2, "lanes 17 is not in 1 to 16");
        assert!(run.stderr.contains("line 22: link 'link': lanes 17"), "{}", run.stderr);
        assert!(run.stderr.contains("no node 'middle'; there are: left, right"), "{}", run.stderr);
        assert!(run.stderr.contains("(2 problems)"), "{}", run.stderr);
    }
    spfe(&["sim", "/no/such/file.toml"]).fails(1, "/no/such/file.toml");
    let file = example("point-to-point-1.toml");
    spfe(&["sim", &file, "--duration", "3 parsecs"]).fails(2, "3 parsecs");
}

#[test]
fn many_runs_give_what_single_runs_give_on_any_number_of_threads() {
    let directory = Directory::new("sim-runs");
    let file = example("every-fault.toml");
    let words = ["sim", &file, "--duration", "400us", "--seed", "5", "--runs", "4", "--threads"];
    let run = |threads, more: &[&str]| spfe(&[&words[..], &[threads], more].concat()).exits(0);
    let path = directory.path("all.json");
    let text = run("3", &["--results", &path]).text();
    assert_eq!(text, run("1", &["-q"]).text());
    let seeds = text.lines().map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(seeds.collect::<Vec<_>>(), ["SEED", "5", "6", "7", "8", "all"], "{text}");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let lines = run("2", &["--json"]).text();
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a document")).collect();
    assert_eq!(all, Value::from(lines));
    for (number, seed) in [(0, "5"), (3, "8")] {
        let single = results(&["sim", &file, "--duration", "400us", "--seed", seed, "--json"]);
        assert!(all[number] == single, "seed {seed}");
    }
    assert!(all[0] != all[1]);
    for (option, why) in [("--report", "--report"), ("--capture", "--capture")] {
        spfe(&["sim", &file, "--runs", "2", option, "x"]).fails(2, why);
    }
    let one = ["sim", &file, "--duration", "400us", "--seed", "5", "--json", "--threads", "2"];
    assert!(all[0] == results(&one), "two threads");
    spfe(&["sim", &file, "--threads", "2", "--capture", "x"]).fails(2, "--capture");
    spfe(&["sim", &file, "--runs", "0"]).fails(2, "'0'");
    let seed = u64::MAX.to_string();
    spfe(&["sim", &file, "--seed", &seed, "--runs", "2"]).fails(2, "the last seed is too large");
}

#[test]
fn sim_shows_rdma_and_hostile_links() {
    let directory = Directory::new("sim-rdma");
    let (file, page) = (example("rdma-hostile.toml"), directory.path("page.html"));
    let words = ["sim", &file, "--duration", "500us", "--report", &page];
    let text = spfe(&words).exits(0).text();
    for head in ["RDMA ", "HOSTILE ", "RESENT"] {
        assert!(text.contains(head), "{head}: {text}");
    }
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("RDMA operations") && page.contains("Hostile links"));
    let json = results(&["sim", &file, "--duration", "500us", "--json", "-q"]);
    for of in json["rdmas"].as_array().unwrap() {
        let count = |name: &str| of[name].as_u64().unwrap();
        assert!(count("completed") > 5, "{of}");
        assert_eq!(count("posted"), count("completed") + count("outstanding"), "{of}");
        assert_eq!((count("mismatches"), of["failed"].as_object().unwrap().len()), (0, 0), "{of}");
    }
    assert!(json["hostile"][0]["dropped"].as_u64().unwrap() > 0, "{}", json["hostile"]);
    let topo = spfe(&["topo", &file, "--json"]).exits(0).json();
    let kinds = topo["routes"].as_array().unwrap().iter().map(|route| &route["kind"]);
    assert_eq!(kinds.filter(|kind| *kind == "rdma").count(), 4, "{topo}");
}

#[test]
fn sim_gives_the_same_results_every_time() {
    let file = example("bit-errors.toml");
    let words = ["sim", &file, "--duration", "120us", "--json", "-q"];
    let first = results(&words);
    assert_eq!(first["version"], 1);
    assert_eq!(first["duration_ps"], 120_000_000_u64);
    assert_eq!(first["conservation"]["kept"], true);
    assert!(first["flows"][0]["delivered"]["packets"].as_u64() > Some(0), "{first}");
    assert_eq!(first, results(&words));
    let other = results(&[&words[..], &["--seed", "4"]].concat());
    assert_eq!(other["seed"], 4);
    assert_ne!(first["flows"], other["flows"], "packet sizes are random");
}

#[test]
fn sim_writes_tables_results_and_reports() {
    let directory = Directory::new("sim-outputs");
    let file = example("point-to-point-1.toml");
    let (page, json) = (directory.path("page.html"), directory.path("results.json"));
    let words = ["sim", &file, "--duration", "100us", "--report", &page, "--results", &json];
    let run = spfe(&words).exits(0);
    assert!(run.text().starts_with("Point to point, 1 lane: 100 µs simulated"), "{}", run.text());
    assert!(run.text().contains("\nconservation kept: "), "{}", run.text());
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h1>Point to point, 1 lane</h1>") && page.ends_with("</html>\n"));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(written["links"][0]["kind"], "spacefibre");
    let folder = directory.path("report");
    let words = ["sim", &file, "--duration", "100us", "--report", &folder];
    let again = results(&[&words[..], &["--results", "-"]].concat());
    assert_eq!(again, written, "the same scenario gives the same results");
    for name in ["report.html", "results.json"] {
        assert!(Path::new(&folder).join(name).is_file(), "{name}");
    }
}

/// A foreign end that never comes, or comes and says nothing, does not hold up the end of the run.
#[test]
fn a_wait_for_a_foreign_end_is_interrupted() {
    let directory = Directory::new("foreign");
    let (file, socket) = (directory.path("hung.toml"), directory.path("end.sock"));
    let scenario = format!(
        r#"
        title = "A foreign end that hangs"
        [[node]]
        name = "near"
        [[node]]
        name = "core"
        kind = "foreign"
        [[link]]
        name = "a"
        ends = ["near:1", "core:1"]
        foreign = "unix-listen:{socket}"
        "#
    );
    std::fs::write(&file, scenario).unwrap();
    spfe(&["sim", &file, "--runs", "2"]).fails(2, "such a scenario has one run");
    for comes in [false, true] {
        let mut child = start(&["sim", &file]);
        wait_until_it_catches_signals(&child);
        wait_for_message(&mut child, "link 'a': waiting");
        let mut line = None;
        if comes {
            // The socket has a name before anybody listens.
            wait_until("an end that listens", || {
                line = UnixStream::connect(&socket).ok();
                line.is_some()
            });
        }
        if let Some(stream) = &mut line {
            let mut greeting = [0; 64];
            greeting[..10].copy_from_slice(b"SPFEWORD\x01\x00");
            stream.write_all(&greeting).unwrap();
            // The greeting and the first message: the simulation waits for ours now.
            stream.read_exact(&mut [0; 64 + 16 + 64 * 8]).unwrap();
        }
        interrupt(&child);
        let since = std::time::Instant::now();
        wait_until("the end", || {
            let ended = child.try_wait().unwrap().is_some();
            if !ended && since.elapsed() > std::time::Duration::from_secs(25) {
                child.kill().unwrap();
                panic!("SIGINT did not end the wait");
            }
            ended
        });
        assert_eq!(end(child).code, Some(130), "a foreign end came: {comes}");
        drop(line);
    }
}
