//! `spfe rdma` against the instrument, a daemon's target-only endpoint and `spfe rdma serve`.

mod common;

use common::{Directory, end, interrupt, spfe, start, wait_for_message, wait_until};
use serde_json::Value;
use sha2::Digest;
use spfe::{Endpoint, QueueOptions};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_remote::engine::{Local, WorkKind, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions};
use spfed::{Server, ServerConfig};
use std::io::BufRead;
use std::time::Duration;

const FILE: &str = r#"
logical_address = 0x42
notifications = 16
[[region]]
name = "frames"
size = "16M"
base = 0x1000
generation = 0xabc
[[region]]
name = "mailbox"
size = 64
generation = 0x123
notify = true
[[region]]
name = "table"
size = 64
rights = "r"
generation = 7
hidden = true
"#;

fn target_file(directory: &Directory) -> String {
    let path = directory.path("node.toml");
    std::fs::write(&path, FILE).unwrap();
    path
}

fn daemon(directory: &Directory, topology: Topology) -> (Server, String) {
    let socket = directory.path("sock");
    let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    (server, format!("unix:{socket}"))
}

/// A daemon with a target-only endpoint at its only port.
fn node(directory: &Directory) -> (Server, String) {
    let file = target_file(directory);
    daemon(directory, Topology::with_target(&file, LinkRate::Unlimited, Mode::Thread))
}

#[test]
fn the_default_device_has_a_target() {
    let run = spfe(&["rdma", "regions"]).exits(0);
    let text = run.text();
    let row = text.lines().nth(1).unwrap();
    assert!(row.starts_with("0 ") && row.contains("rwa"), "{text}");
    assert!(row.ends_with("0x0  1048576"), "{text}");
    let read = ["rdma", "read", "--address", "0xffff8", "--json"];
    let result = spfe(&read).exits(0).json();
    assert_eq!((&result["data"], &result["bytes"]), (&"0000000000000000".into(), &8.into()));
}

/// `spfe stats` has the counters of the target, those of refusals as well.
#[test]
fn stats_count_what_a_target_did() {
    let directory = Directory::new("rdma-stats");
    let (_server, device) = node(&directory);
    let before = spfe(&["stats", &device, "--json"]).exits(0).json();
    assert_eq!(before["rdma"], Value::Null);
    let ask =
        |words: &[&str]| spfe(&[&["rdma"], words, &[&device, "--target-logical", "0x42"]].concat());
    ask(&["write", "-k", "0xabc", "-a", "0x1000", "--data", "01020304"]).exits(0);
    ask(&["write", "-k", "0x2007", "-a", "0", "--data", "01"]).exits(1);
    let after = spfe(&["stats", &device, "--json"]).exits(0).json();
    let count = |name: &str| {
        let all = after["rdma"].as_array().unwrap().iter();
        all.filter(|counter| counter["counter"] == name).map(|c| c["count"].clone()).next()
    };
    assert_eq!((count("writes"), count("access")), (Some(1.into()), Some(1.into())), "{after}");
    let text = spfe(&["stats", &device]).exits(0).text();
    assert!(text.lines().any(|line| line.starts_with("rdma target  access")), "{text}");
}

/// Clients that move packets themselves cannot reach the memory of the daemon.
#[test]
fn a_daemon_with_a_target_has_mode_thread() {
    let directory = Directory::new("rdma-mode");
    for mode in [Mode::Inline, Mode::Coop] {
        let topology = Topology::with_target("1M", LinkRate::Unlimited, mode);
        let config = ServerConfig::new(topology).listen(directory.path("sock"));
        let error = Server::start(config).err().unwrap().to_string();
        assert!(error.contains("need mode thread"), "{error}");
    }
}

#[test]
fn regions_and_atomic_operations() {
    let directory = Directory::new("rdma-regions");
    let (_server, device) = node(&directory);
    let ask =
        |words: &[&str]| spfe(&[&["rdma"], words, &[&device, "--target-logical", "0x42"]].concat());
    let list = ask(&["regions", "--json"]).exits(0).json();
    let region = |index: usize| list["regions"][index].clone();
    assert_eq!((&region(0)["key"], &region(0)["base"]), (&"0x00000abc".into(), &"0x1000".into()));
    assert_eq!((&region(1)["rights"], &region(1)["notifies"]), (&"rwa".into(), &true.into()));
    assert_eq!((&region(2)["key"], &region(2)["rights"]), (&().into(), &"r--".into()));

    assert_eq!(ask(&["atomic", "--add", "5"]).exits(0).text(), "0x0\n");
    assert_eq!(ask(&["atomic", "--compare", "5", "--swap", "0x77"]).exits(0).text(), "0x5\n");
    let run = ask(&["atomic", "--compare", "5", "--swap", "1"]).exits(0);
    assert_eq!(run.text(), "0x77  not changed\n");
    let run = ask(&["read", "--length", "8"]).exits(0);
    assert!(run.text().starts_with("0000001000  77 00 00 00 00 00 00 00"), "{}", run.text());
    let run = ask(&["ping", "--count", "3", "--interval", "0", "--json"]).exits(0);
    assert_eq!(run.json()["reads"], 3);
    // 32 bytes become a notification of a node without queue pairs.
    ask(&["send", "--queue", "0", "--data", "01020304"]).exits(0);
    ask(&["send", "--queue", "0", "--data", &"00".repeat(33)]).fails(1, "longer than the receive");
}

#[test]
fn a_file_goes_there_and_back() {
    let directory = Directory::new("rdma-file");
    let (_server, device) = node(&directory);
    let ask =
        |words: &[&str]| spfe(&[&["rdma"], words, &[&device, "--target-logical", "0x42"]].concat());
    // More than one piece of 8 MiB, and not a multiple of anything.
    let data: Vec<u8> = (0..9_000_001u32).map(|n| (n.wrapping_mul(40_503) >> 8) as u8).collect();
    let (path, copy) = (directory.path("data"), directory.path("copy"));
    std::fs::write(&path, &data).unwrap();
    let written = ask(&["write", "--address", "0x1003", "--data", &format!("@{path}")]).exits(0);
    let read = ["read", "-a", "0x1003", "-l", "9000001", "-o", &copy];
    let back = ask(&read).exits(0);
    let digest = |text: &str| text.split_whitespace().next().unwrap().to_owned();
    assert_eq!(digest(&written.text()), digest(&back.text()));
    assert_eq!(digest(&back.text()).len(), 64);
    assert!(std::fs::read(&copy).unwrap() == data);
    let run = ask(&["read", "-k", "0xabc", "-a", "0x1003", "-l", "5000", "-o", "-"]).exits(0);
    assert!(run.stdout == data[..5000]);
    let empty = ask(&["write", "--data", ""]).exits(0);
    assert!(empty.text().starts_with("e3b0c44298fc1c149afbf4c8996fb924"), "{}", empty.text());
}

#[test]
fn refusals_and_mistakes_say_what_to_do() {
    let directory = Directory::new("rdma-refused");
    let (_server, device) = node(&directory);
    let ask =
        |words: &[&str]| spfe(&[&["rdma"], words, &[&device, "--target-logical", "0x42"]].concat());
    ask(&["read", "-k", "0xabd", "-l", "4"]).fails(1, "no region of the target has this key");
    ask(&["read", "-k", "0xabc", "-l", "4"]).fails(1, "beyond the region");
    ask(&["write", "-k", "0x2007", "--data", "00"]).fails(1, "does not allow this access");
    ask(&["read", "--region", "2", "-l", "4"]).fails(2, "does not tell its key; use --key");
    ask(&["read", "--region", "9", "-l", "4"]).fails(5, "`spfe rdma regions` lists them");
    ask(&["read", "-k", "0xabc"]).fails(2, "--length: needed with --key");
    ask(&["read"]).fails(2, "use --output FILE, or --length");
    ask(&["read", "-a", "0x999", "-l", "1"]).fails(2, "16777216 bytes at 0x1000");
    ask(&["send", "--queue", "9", "--data", "00"]).fails(1, "queue pair does not exist");
    let silent = ["rdma", "read", &device, "-l", "4", "--timeout", "50ms"];
    spfe(&silent).fails(3, "is there a target with these --target-logical");
    for (words, text) in [
        (&["read", "--segment", "1000"][..], "a power of two"),
        (&["read", "--protocol", "1"], "240 to 254"),
        (&["read", "--key", "0x100000000"], "at most 0xffffffff"),
        (&["write", "--data", "123"], "in pairs"),
        (&["write", "--data", "@/no/such/file"], "/no/such/file"),
        (&["atomic"], "--add"),
        (&["atomic", "--swap", "1"], "--compare"),
        (&["serve", "--target", "/no/such/file"], "/no/such/file"),
        (&["serve", "virtual:"], "exists in this process only"),
    ] {
        spfe(&[&["rdma"], words].concat())
            .fails(if text == "/no/such/file" && words[0] == "write" { 1 } else { 2 }, text);
    }
}

#[test]
fn a_served_region_and_its_notifications() {
    let directory = Directory::new("rdma-serve");
    let (_daemon, socket) =
        daemon(&directory, Topology::pairs(2, LinkRate::Unlimited, Mode::Thread));
    let [here, there] = [0, 1].map(|end| format!("{socket}/{end}"));
    let file = target_file(&directory);
    let words = ["rdma", "serve", &here, "--target", &file, "--watch", "--json"];
    let mut server = start(&words);
    wait_for_message(&mut server, "target 0x42 with 3 regions");
    let ask = |words: &[&str]| {
        let options = ["--target-logical", "0x42", "--timeout", "20"];
        spfe(&[&["rdma"], words, &[&there], &options].concat())
    };
    ask(&["write", "--region", "1", "-a", "8", "--data", "68656c6c6f"]).exits(0);
    let run = ask(&["read", "--region", "1", "-a", "8", "-l", "5"]).exits(0);
    assert!(run.text().ends_with("|hello|\n"), "{}", run.text());
    ask(&["send", "--queue", "0", "--immediate", "7", "--data", "0102"]).exits(0);
    interrupt(&server);
    let run = end(server).exits(0);
    let seen: Vec<serde_json::Value> =
        run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let writes = seen.iter().find(|event| event["operation"] == "WRITE").unwrap();
    assert_eq!((&writes["region"], &writes["bytes"]), (&1.into(), &5.into()));
    let message = seen.iter().find(|event| event["operation"] == "SEND").unwrap();
    assert_eq!((&message["data"], &message["immediate"]), (&"0102".into(), &7.into()));
}

/// The device serves shared memory; when the process ends, its key is gone.
#[test]
fn shared_memory_is_there_until_the_end() {
    let directory = Directory::new("rdma-share");
    let (_daemon, socket) =
        daemon(&directory, Topology::pairs(2, LinkRate::Unlimited, Mode::Thread));
    let [here, there] = [0, 1].map(|end| format!("{socket}/{end}"));
    let ask = |words: &[&str]| spfe(&[&["rdma"], words, &[&there, "--timeout", "20"]].concat());
    let share = ["rdma", "share", &here, "--size", "64K", "--address", "0x1000", "--json"];
    let mut keys: Vec<String> = Vec::new();
    for killed in [true, false] {
        let mut server = start(&share);
        let mut lines = std::io::BufReader::new(server.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let key = serde_json::from_str::<Value>(&first).unwrap()["key"].to_string();
        ask(&["write", "-k", &key, "-a", "0x1004", "--data", "68656c6c6f"]).exits(0);
        let run = ask(&["read", "-a", "0x1004", "-l", "5"]).exits(0);
        assert!(run.text().ends_with("|hello|\n"), "{}", run.text());
        ask(&["read", "-k", &key, "-a", "0x10ffe", "-l", "5"]).fails(1, "status 4");
        for old in &keys {
            ask(&["read", "-k", old, "-a", "0x1004", "-l", "5"]).fails(1, "status 3");
        }
        keys.push(key);
        if killed {
            server.kill().unwrap();
            server.wait().unwrap();
        } else {
            interrupt(&server);
            let last = lines.next().unwrap().unwrap();
            let mut data = vec![0; 64 << 10];
            data[4..9].copy_from_slice(b"hello");
            let sha256 = format!("{:x}", sha2::Sha256::digest(&data));
            assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["sha256"], sha256);
            end(server).exits(0);
        }
        let gone = ["read", "-k", &keys[0], "-a", "0x1004", "-l", "5"];
        spfe(&[&["rdma"], &gone[..], &[&there, "--timeout", "1"]].concat()).exits(3);
    }
}

#[test]
fn messages_carry_a_file() {
    for mode in [Mode::Thread, Mode::Inline] {
        let directory = Directory::new(&format!("rdma-messages-{mode}"));
        let (_daemon, socket) = daemon(&directory, Topology::pairs(2, LinkRate::Unlimited, mode));
        let [here, there] = [0, 1].map(|end| format!("{socket}/{end}"));
        let (path, copy) = (directory.path("data"), directory.path("copy"));
        let data: Vec<u8> = (0..300_007u32).map(|n| (n.wrapping_mul(40_503) >> 8) as u8).collect();
        std::fs::write(&path, &data).unwrap();
        let words = ["rdma", "receive", &here, "--queue", "7", "--message", "10K"];
        let mut receiver = start(&[&words[..], &["--bytes", "300007", "--output", &copy]].concat());
        wait_for_message(&mut receiver, "queue pair 7");
        let send = ["rdma", "send", &there, "--queue", "7", "--timeout", "20"];
        let file = format!("@{path}");
        let run = spfe(&[&send[..], &["--message", "10K", "--data", &file]].concat()).exits(0);
        let digest = run.text().split_whitespace().next().unwrap().to_owned();
        let received = end(receiver).exits(0);
        assert!(received.text().starts_with(&digest), "{mode}: {}", received.text());
        assert!(std::fs::read(&copy).unwrap() == data, "{mode}");
    }
}

#[test]
fn a_message_longer_than_the_buffer_is_refused() {
    let directory = Directory::new("rdma-long");
    let (_daemon, socket) =
        daemon(&directory, Topology::pairs(2, LinkRate::Unlimited, Mode::Thread));
    let [here, there] = [0, 1].map(|end| format!("{socket}/{end}"));
    let mut receiver = start(&["rdma", "receive", &here, "--message", "16"]);
    wait_for_message(&mut receiver, "queue pair 1");
    let long = "00".repeat(17);
    let words = ["rdma", "send", &there, "--timeout", "20", "--data", &long];
    spfe(&words).fails(1, "longer than the receive buffer");
    let run = end(receiver).exits(1);
    assert!(run.text().is_empty());
}

/// A client that is killed in the middle of a write leaves a server that works for the next one, and
/// a server that is killed leaves a client that says so.
#[test]
fn either_end_may_be_killed() {
    let directory = Directory::new("rdma-kill");
    let (_daemon, socket) =
        daemon(&directory, Topology::pairs(2, LinkRate::Unlimited, Mode::Thread));
    let [here, there] = [0, 1].map(|end| format!("{socket}/{end}"));
    let serve = ["rdma", "serve", &here, "--target", "64M", "-q"];
    let mut server = start(&serve);
    let path = directory.path("data");
    std::fs::write(&path, vec![7; 48 << 20]).unwrap();
    let file = format!("@{path}");
    let write = ["rdma", "write", &there, "--data", &file, "--timeout", "20"];
    let read = |address: &str| {
        let words = ["rdma", "read", &there, "-a", address, "-l", "4", "--timeout", "20", "--json"];
        spfe(&words).exits(0).json()["data"].clone()
    };
    for _ in 0..3 {
        let mut client = start(&write);
        // Until some of it is on its way.
        wait_until("100 packets are sent", || {
            let text = spfe(&["stats", &there, "--json"]).text();
            let counts = text.split("\"packets\":").skip(1);
            let mut counts = counts.map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..end].parse().unwrap_or(0)
            });
            counts.any(|count: u64| count > 100) || client.try_wait().unwrap().is_some()
        });
        client.kill().unwrap();
        client.wait().unwrap();
        let small = ["rdma", "write", &there, "-a", "0x3f00000", "--timeout", "20"];
        spfe(&[&small[..], &["--data", "01020304"]].concat()).exits(0);
        assert_eq!(read("0x3f00000"), "01020304");
    }
    let words = ["rdma", "ping", &there, "--count", "0", "--interval", "1ms", "--timeout", "1"];
    let mut client = start(&words);
    let mut lines = std::io::BufReader::new(client.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("8 bytes"));
    server.kill().unwrap();
    server.wait().unwrap();
    while lines.next().is_some() {}
    let run = end(client).fails(3, "0xfe.0");
    assert!(run.stderr.contains("waits for") || run.stderr.contains("no answer"), "{}", run.stderr);
    // A new server has the keys and the contents of a new one.
    let server = start(&serve);
    assert_eq!(read("0x3f00000"), "00000000");
    interrupt(&server);
    end(server).exits(0);
}

/// A message without a buffer at the far end: the command names the credit that it waits for.
#[test]
fn why_names_what_a_queue_pair_waits_for() {
    let directory = Directory::new("rdma-why");
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let (_server, device) = daemon(&directory, topology);
    let open = |endpoint: u32, own, partner| {
        let endpoint = Endpoint::open(&format!("{device}/{endpoint}")).unwrap();
        let mut options = RdmaQueueOptions::default();
        (options.initiator.queue, options.initiator.target_queue) = (own, partner);
        // Longer than the test: without an announcement the message is tried after this time.
        options.initiator.timeout_ns = 600_000_000_000;
        let vc = endpoint.port(0).unwrap().vc(3).unwrap();
        let mut queue = RdmaQueue::open(&vc, options).unwrap();
        queue.open_buffers(&QueueOptions::default().depth(4)).unwrap();
        queue
    };
    let (mut near, mut far) = (open(0, 5, 7), open(1, 7, 5));
    near.connect(Duration::from_secs(30)).unwrap();
    let inline = Some((*b"to nobody").into());
    near.post(WorkRequest { inline, ..WorkRequest::new(1, WorkKind::Send) }).unwrap();
    near.ring().unwrap();
    let why = ["rdma", "why", &device, "--json"];
    let pairs = || {
        let text = spfe(&why).exits(0).text();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    wait_until("it waits for credit", || {
        pairs()[0]["waiting"].as_str().unwrap().contains("post a receive buffer")
    });
    let found = pairs();
    let place = |pair: &Value| {
        ["endpoint", "port", "vc", "pair", "outstanding"].map(|key| pair[key].as_u64().unwrap())
    };
    assert_eq!(place(&found[0]), [0, 0, 3, 5, 1]);
    assert_eq!((found.len(), place(&found[1])), (2, [1, 0, 3, 7, 0]));
    assert!(found[0]["waiting"].as_str().unwrap().contains("0xfe.7"), "{found:?}");
    assert_eq!(found[1]["counters"]["target_connects"], 1, "{found:?}");
    let table = spfe(&["rdma", "why", &device, "--counters"]).exits(0).text();
    assert!(table.contains("WAITS FOR") && table.contains("VC 3 target_connects 1"), "{table}");
    let memory = far.register(vec![0; 64]).unwrap();
    far.post_buffer(1, Local { memory, offset: 0, length: 64 }).unwrap();
    near.wait(1, Duration::from_secs(30)).unwrap();
    assert_eq!(near.poll().unwrap().unwrap().result, Ok(()));
    wait_until("the message is acknowledged", || pairs()[0]["outstanding"] == 0);
    drop((near, far));
    assert!(pairs().is_empty());
    spfe(&["rdma", "why", "virtual:"]).fails(2, "need a daemon");
}
