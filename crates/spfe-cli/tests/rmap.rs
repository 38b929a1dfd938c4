//! `spfe rmap` against the instrument, a daemon's memory and `spfe rmap serve`.

mod common;

use common::{Directory, end, spfe, start};
use spfe_host::{LinkRate, Mode, Peer, Topology};
use spfed::{Server, ServerConfig};
use std::io::BufRead;

/// A daemon with an RMAP memory at its only port.
fn memory(directory: &Directory, unit: &str) -> (Server, String) {
    let socket = directory.path("sock");
    let peer = Peer::Rmap(unit.parse().unwrap());
    let topology = Topology::instrument(peer, LinkRate::Unlimited, Mode::Thread);
    let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    (server, format!("unix:{socket}"))
}

#[test]
fn the_default_device_has_a_memory() {
    let run = spfe(&["rmap", "read", "--address", "0x3f8", "--length", "20"]).exits(0);
    let zeros = |count| vec!["00"; count].join(" ");
    let text = format!(
        "00000003f8  {}  |................|\n0000000408  {:<47}  |....|\n",
        zeros(16),
        zeros(4)
    );
    assert_eq!(run.text(), text);
    let device = "virtual:?peer=rmap:64K:base=0xff00000000:key=0x20";
    let words = ["rmap", "read", device, "--extended", "0xff", "-a", "16", "-l", "4", "-k", "32"];
    let result = spfe(&[&words[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&result["address"], &result["data"]), (&"0xff00000010".into(), &"00000000".into()));
    assert_eq!((&result["status"], &result["commands"]), (&0.into(), &1.into()));
}

#[test]
fn written_data_are_read_back() {
    let directory = Directory::new("rmap-back");
    let (_server, device) = memory(&directory, "8M:key=7");
    let ask = |words: &[&str]| spfe(&[&["rmap"], words, &[&device, "--key", "7"]].concat());
    let run = ask(&["write", "-a", "0x10", "--data", "dead beef"]).exits(0);
    assert_eq!(run.text(), "4 bytes written\n");
    let old = ask(&["rmw", "-a", "0x11", "--data", "ffff", "--mask", "0x0f00", "--json"]).exits(0);
    assert_eq!(old.json()["old"], "adbe");
    let run = ask(&["read", "-a", "0x10", "-l", "4"]).exits(0);
    assert!(run.text().ends_with("de af be ef                                      |....|\n"));
    // Write a file in unverified commands of 4 KiB, and read it back.
    let data: Vec<u8> = (0..3_000_001u32).map(|n| (n.wrapping_mul(40_503) >> 8) as u8).collect();
    let (path, copy) = (directory.path("data"), directory.path("copy"));
    std::fs::write(&path, &data).unwrap();
    let file = format!("@{path}");
    let words = ["write", "-a", "1000", "--data", &file, "--no-verify", "--max-data", "4K"];
    assert_eq!(ask(&[&words[..], &["--json"]].concat()).exits(0).json()["bytes"], 3_000_001);
    let run = ask(&["read", "-a", "1000", "-l", "3000001", "-o", &copy]).exits(0);
    assert_eq!(run.text(), "3000001 bytes read\n");
    assert!(std::fs::read(&copy).unwrap() == data);
    let run = ask(&["read", "-a", "1000", "-l", "3000001", "-o", "-", "--json"]).exits(0);
    assert!(run.stdout == data);
    // Write to a single address without replies: the last word remains.
    let words = ["write", "-a", "0", "--data", "0000000100000002", "--no-reply", "--no-increment"];
    assert_eq!(ask(&words).exits(0).text(), "8 bytes sent\n");
    let run = ask(&["read", "-a", "0", "-l", "8", "--no-increment", "--json"]).exits(0);
    assert_eq!(run.json()["data"], "0000000200000002");
}

#[test]
fn refusals_have_their_status() {
    let device = "virtual:?peer=rmap:4K:key=0x20:logical=0x42:allow=r";
    let right = ["--target-logical", "0x42", "--key", "0x20"];
    for (words, text) in [
        (&["--key", "1", "--target-logical", "0x42"][..], "status 3: invalid key"),
        (&["--key", "0x20"], "status 12: invalid target logical address"),
        (&right, "status 10: command not implemented or not authorised"),
    ] {
        let write = ["rmap", "write", device, "--address", "0", "--data", "00"];
        let run = spfe(&[&write[..], words].concat()).fails(1, text);
        assert!(run.stderr.contains("(ECSS-E-ST-50-52C 5.6)"), "{}", run.stderr);
    }
    let read = ["rmap", "read", device, "--address", "4093", "--length", "4", "--json"];
    let error = spfe(&[&read[..], &right].concat()).fails(1, "status 10").json();
    assert!(error["error"].as_str().unwrap().contains("beyond the target's memory"), "{error}");
    assert_eq!((&error["status"], &error["exit"]), (&"FAILED".into(), &1.into()));
}

#[test]
fn a_missing_reply_is_a_time_out() {
    let read = ["rmap", "read", "virtual:", "-a", "0", "-l", "4", "--timeout", "10ms"];
    spfe(&read).fails(3, "no reply to transaction 0 by the deadline");
    // No router removes these path bytes, so the target does not see its logical address.
    let words = ["rmap", "read", "-a", "0", "-l", "4", "--path", "1,2", "--timeout", "10ms"];
    spfe(&words).fails(3, "no reply");
}

#[test]
fn wrong_values_are_usage_errors() {
    let place = ["--address", "0"];
    for (words, text) in [
        (&["read", "--address", "0x10000000000", "--length", "1"][..], "at most 0xffffffffff"),
        (&["read", "--address", "0x100000000", "--extended", "1", "--length", "1"], "0xffffffff"),
        (&["read", "--address", "x", "--length", "1"], "no number such as"),
        (&[&["read", "--length", "1", "--reply-path", "0,1"][..], &place].concat(), "first byte 0"),
        (&[&["write", "--data", "123"][..], &place].concat(), "in pairs"),
        (&[&["rmw", "--data", "12", "--mask", "1234"][..], &place].concat(), "and as many"),
        (&[&["rmw", "--data", "", "--mask", ""][..], &place].concat(), "1 to 4 allowed"),
        (&["serve", "--bytes", "0"], "1 to 4G"),
        (&["serve", "--allow", "x"], "some of r, w, m"),
        (&["serve", "--logical", "31"], "32 to 254"),
    ] {
        spfe(&[&["rmap"], words].concat()).fails(2, text);
    }
    spfe(&["rmap", "read", "virtual:?peer=rmap:5G", "-a", "0", "-l", "1"]).fails(2, "1 to 4G");
}

#[test]
fn a_served_memory_is_read_and_written() {
    for mode in [Mode::Thread, Mode::Inline, Mode::Coop] {
        let directory = Directory::new(&format!("rmap-serve-{mode}"));
        let socket = directory.path("sock");
        let topology = Topology::pairs(2, LinkRate::Unlimited, mode);
        let _server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
        let [here, there] = [0, 1].map(|end| format!("unix:{socket}/{end}"));
        let words = ["rmap", "serve", &here, "--bytes", "64K", "--base", "0x40000000"];
        let options = ["--key", "0x20", "--allow", "rw", "--count", "3", "--json"];
        let server = start(&[&words[..], &options].concat());
        // Commands wait in the link until the target listens.
        let ask = |words: &[&str]| {
            let timeout = ["--timeout", "20", "--key", "0x20", "--address", "0x40000ffe"];
            spfe(&[&["rmap"], words, &[&there], &timeout].concat())
        };
        ask(&["write", "--data", "68656c6c6f"]).exits(0);
        let run = ask(&["read", "--length", "5"]).exits(0);
        assert!(run.text().ends_with("|hello|\n"), "{}", run.text());
        ask(&["rmw", "--data", "00", "--mask", "00"]).fails(1, "status 10");
        let counters = end(server).exits(0).json();
        for (name, count) in [("writes", 1), ("reads", 1), ("not_authorised", 1), ("replies", 3)] {
            assert_eq!(counters[name], count, "{mode} {name}");
        }
    }
}

#[test]
fn serving_ends_at_a_signal() {
    let directory = Directory::new("rmap-ends");
    let (_server, device) = memory(&directory, "4K");
    let mut server = start(&["rmap", "serve", &device, "--vc", "7"]);
    let pid = server.id();
    let mut said = String::new();
    let stderr = server.stderr.take().unwrap();
    std::io::BufReader::new(stderr).read_line(&mut said).unwrap();
    assert!(said.starts_with("RMAP target 0xfe with 1048576 bytes at 0x0, rwm"), "{said}");
    let kill = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(kill.unwrap().success());
    let run = end(server).exits(0);
    assert!(run.text().starts_with("COUNTER"), "{}", run.text());
}
