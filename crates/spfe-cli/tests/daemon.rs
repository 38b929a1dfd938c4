//! Two processes on a daemon's network: files, echo, messages, and the end of one of them.

mod common;

use common::{Directory, Run, command, end, interrupt, spfe, start};
use common::{wait_for_message, wait_until, wait_until_it_catches_signals, wait_until_read};
use spfe_host::{LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};
use std::io::Write;
use std::process::{Child, Stdio};

const MODES: [Mode; 3] = [Mode::Thread, Mode::Inline, Mode::Coop];
/// Seconds after which a hanging command fails.
const DEADLINE: &str = "20";

/// A daemon with two endpoints, in this process.
struct Network {
    server: Server,
    directory: Directory,
    ends: [String; 2],
}

impl Network {
    fn new(mode: Mode, name: &str) -> Self {
        let directory = Directory::new(&format!("{name}-{mode}"));
        let socket = directory.path("sock");
        let topology = Topology::pairs(2, LinkRate::Unlimited, mode);
        let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
        let ends = [0, 1].map(|end| format!("unix:{socket}/{end}"));
        Self { server, directory, ends }
    }

    fn start(&self, end: usize, words: &[&str]) -> Child {
        start(&[&["--device", self.ends[end].as_str()], words].concat())
    }

    fn run(&self, end: usize, words: &[&str]) -> Run {
        spfe(&[&["--device", self.ends[end].as_str()], words].concat())
    }

    /// Waits until a client has a receive queue of this endpoint.
    fn wait_until_receiving(&self, end: usize) {
        wait_until("a receive queue", || {
            let stats = self.run(end, &["stats", "--json"]).exits(0).json();
            let channels = stats["ports"][0]["channels"].as_array().unwrap();
            channels.iter().any(|channel| channel["end"] == "rx" && channel["client"] != 0)
        });
    }

    /// Creates a file of this length with random contents.
    fn file(&self, name: &str, length: usize) -> (String, Vec<u8>) {
        let mut bytes = vec![0; length];
        fastrand::Rng::with_seed(length as u64).fill(&mut bytes);
        let path = self.directory.path(name);
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    }
}

#[test]
fn files_arrive_whole() {
    for mode in MODES {
        let network = Network::new(mode, "files");
        let copy = network.directory.path("copy");
        for (length, packet, vc) in [(3_000_000, "64K", "0"), (100_001, "333", "7"), (0, "1", "0")]
        {
            let (file, bytes) = network.file("file", length);
            let options = ["--packet", packet, "--vc", vc, "--deadline", DEADLINE, "--json"];
            let receiver = network.start(1, &[&["recv", copy.as_str()], &options[..]].concat());
            let sent = network.run(0, &[&["send", file.as_str()], &options[..]].concat());
            let (sent, received) = (sent.exits(0).json(), end(receiver).exits(0).json());
            assert_eq!(sent["sha256"], received["sha256"]);
            assert_eq!(sent["packets"], received["packets"]);
            assert_eq!(sent["bytes"], length);
            assert!(std::fs::read(&copy).unwrap() == bytes, "mode {mode} {length} bytes");
        }
    }
}

#[test]
fn packets_longer_than_buffers_arrive_in_parts() {
    let network = Network::new(Mode::Thread, "parts");
    let (file, bytes) = network.file("file", 500_000);
    let copy = network.directory.path("copy");
    let small = ["recv", &copy, "--packet", "1000", "--group", "3", "--deadline", DEADLINE];
    let receiver = network.start(1, &small);
    network.run(0, &["send", &file, "--packet", "70000", "--deadline", DEADLINE]).exits(0);
    let received = end(receiver).exits(0);
    assert!(std::fs::read(&copy).unwrap() == bytes);
    assert!(received.stderr.contains("in 8 packets"), "{}", received.stderr);
}

#[test]
fn a_transfer_from_stdin_ends_when_stdin_is_closed() {
    let network = Network::new(Mode::Thread, "stdin");
    let receiver = network.start(1, &["recv", "-", "--deadline", DEADLINE]);
    let mut sender = command(&["--device", &network.ends[0], "send", "-", "--deadline", DEADLINE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = sender.stdin.take().unwrap();
    for _ in 0..3 {
        input.write_all(b"a few bytes ").unwrap();
        wait_until_read(&input);
    }
    drop(input);
    assert!(end(sender).exits(0).text().ends_with("  -\n"));
    assert_eq!(end(receiver).exits(0).text(), "a few bytes ".repeat(3));
}

#[test]
fn the_receiver_reports_damage_when_the_sender_gives_up() {
    for mode in MODES {
        let network = Network::new(mode, "gives-up");
        let copy = network.directory.path("copy");
        let receiver = network.start(1, &["recv", &copy, "--deadline", DEADLINE, "--json"]);
        let mut sender = command(&["--device", &network.ends[0], "send", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = sender.stdin.take().unwrap();
        input.write_all(b"a few bytes").unwrap();
        // The sender reads its input after it has sent the header.
        wait_until_read(&input);
        // SAFETY: the child has not been waited for, so its process id is still valid.
        unsafe { libc::kill(sender.id() as libc::pid_t, libc::SIGTERM) };
        let sender = sender.wait_with_output().unwrap();
        drop(input);
        assert_eq!(sender.status.code(), Some(130));
        let received = end(receiver).fails(4, "EEP");
        assert_eq!(received.json()["status"], "DAMAGED");
        assert!(!std::fs::exists(&copy).unwrap() && network.directory.parts().is_empty());
    }
}

#[test]
fn raw_reception_ends_after_silence() {
    let network = Network::new(Mode::Coop, "idle");
    let (file, bytes) = network.file("file", 20_000);
    let copy = network.directory.path("copy");
    let words = ["recv", &copy, "--raw", "--idle", "0.5", "--deadline", DEADLINE];
    let receiver = network.start(1, &words);
    network.run(0, &["send", &file, "--raw", "--packet", "999", "--deadline", DEADLINE]).exits(0);
    end(receiver).exits(0);
    assert!(std::fs::read(&copy).unwrap() == bytes);
}

#[test]
fn a_second_receiver_is_refused() {
    let network = Network::new(Mode::Thread, "second");
    let first = network.start(1, &["recv", "-", "--deadline", "2"]);
    network.wait_until_receiving(1);
    network.run(1, &["recv", "-", "--deadline", DEADLINE]).fails(1, "BUSY");
    end(first).exits(3);
}

#[test]
fn pings_go_to_another_process() {
    for mode in MODES {
        let network = Network::new(mode, "ping");
        let echo = network.start(1, &["ping", "--respond", "--count", "200", "--json"]);
        let words = ["ping", "--count", "200", "--interval", "0", "--size", "1000", "--json"];
        let result = network.run(0, &words).exits(0).json();
        assert_eq!((&result["received"], &result["size"]), (&200.into(), &1000.into()));
        let echoed = end(echo).exits(0).json();
        assert_eq!((&echoed["packets"], &echoed["bytes"]), (&200.into(), &200_000.into()));
    }
}

#[test]
fn messages_go_to_another_process() {
    for mode in MODES {
        let network = Network::new(mode, "messages");
        let listen = ["broadcast", "listen", "--type", "7", "--count", "3", "--json"];
        let mut listener = network.start(1, &[&listen[..], &["--deadline", DEADLINE]].concat());
        let clock = ["timecode", "listen", "--count", "3", "--json", "--deadline", DEADLINE];
        let mut clock = network.start(1, &clock);
        wait_for_message(&mut listener, "listening on port");
        wait_for_message(&mut clock, "listening on port");
        let send = ["broadcast", "send", "--type", "7", "--data", "0xff00", "--channel", "3"];
        network.run(0, &[&send[..], &["--count", "3", "--interval", "0"]].concat()).exits(0);
        network
            .run(0, &["timecode", "send", "--time", "9", "--count", "3", "--rate", "100"])
            .exits(0);
        let message = end(listener).exits(0).json();
        assert_eq!((&message["channel"], &message["type"]), (&3.into(), &7.into()));
        assert_eq!(
            (&message["data"], &message["lost_before"]),
            (&"ff00000000000000".into(), &false.into())
        );
        let time_code = end(clock).exits(0).json();
        assert_eq!((&time_code["time"], &time_code["flags"]), (&11.into(), &0.into()));
        assert!(time_code["since_ns"].as_u64().unwrap() > 1_000_000);
    }
}

#[test]
fn list_and_stats_show_other_clients() {
    let network = Network::new(Mode::Thread, "see");
    let socket = network.directory.path("sock");
    let (file, _) = network.file("file", 1000);
    let echo = network.start(1, &["ping", "--respond", "--count", "5"]);
    network.run(0, &["ping", "--count", "4", "--interval", "0"]).exits(0);
    let list = command(&["list", "--json"]).env("SPFE_SOCKET", &socket).output().unwrap();
    let list = Run::from(list).exits(0).json();
    let daemon = &list["devices"][1];
    assert_eq!((&daemon["state"], &daemon["mode"]), (&"running".into(), &"thread".into()));
    assert_eq!(daemon["endpoints"].as_array().unwrap().len(), 2);
    assert_eq!(daemon["endpoints"][0]["clients"].as_array().unwrap().len(), 0);
    assert_eq!(daemon["endpoints"][1]["clients"].as_array().unwrap().len(), 1);
    let list = command(&["list"]).env("SPFE_SOCKET", &socket).output().unwrap();
    assert!(Run::from(list).exits(0).text().contains(&format!("{}  0", network.ends[1])));
    let stats = network.run(0, &["stats", "--json"]).exits(0).json();
    let sent = &stats["ports"][0]["channels"][0];
    assert_eq!(
        (&sent["end"], &sent["packets"], &sent["bytes"]),
        (&"tx".into(), &4.into(), &256.into())
    );
    // The echo ends with its fifth packet, whose answer has no receiver.
    network.run(0, &["send", &file, "--raw", "--deadline", DEADLINE]).exits(0);
    drop(network.server);
    end(echo);
}

#[test]
fn clients_end_with_their_daemon() {
    let network = Network::new(Mode::Thread, "goes");
    let receiver = network.start(1, &["recv", "-", "--json"]);
    network.wait_until_receiving(1);
    drop(network.server);
    end(receiver).fails(5, "DEVICE_GONE");
    spfe(&["--device", &network.ends[0], "info"]).fails(5, "no daemon");
}

#[test]
fn interrupts_are_sent_and_acknowledged() {
    for mode in MODES {
        let network = Network::new(mode, "interrupts");
        let words = ["interrupt", "listen", "--acknowledge", "--count", "2", "--json"];
        let mut handler = network.start(1, &[&words[..], &["--deadline", DEADLINE]].concat());
        let words = ["interrupt", "listen", "--count", "2", "--json", "--deadline", DEADLINE];
        let mut node = network.start(0, &words);
        wait_for_message(&mut handler, "listening on port");
        wait_for_message(&mut node, "listening on port");
        let send = ["interrupt", "send", "--number", "31", "--count", "2", "--rate", "100"];
        let sent = network.run(0, &[&send[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(sent["sent"], 2);
        for (end, acknowledge) in [(end(handler), false), (end(node), true)] {
            let code = end.exits(0).json();
            assert_eq!((&code["number"], &code["acknowledge"]), (&31.into(), &acknowledge.into()));
        }
    }
}

#[test]
fn an_interrupted_command_exits_with_130() {
    let network = Network::new(Mode::Thread, "interrupted");
    for (words, code) in
        [(&["broadcast", "listen", "--count", "1"][..], 130), (&["timecode", "listen"], 0)]
    {
        let child = network.start(1, words);
        wait_until_it_catches_signals(&child);
        interrupt(&child);
        assert_eq!(end(child).code, Some(code));
    }
}

#[test]
fn transfers_without_progress_time_out() {
    let network = Network::new(Mode::Thread, "stuck");
    let (file, _) = network.file("file", 1);
    network
        .run(0, &["send", &file, "--raw", "--deadline", "0.05"])
        .fails(3, "taken by the far end for 50 ms");
    let words = ["recv", "-", "--deadline", "0.05", "--json"];
    let run = network.run(1, &words).fails(3, "no packet for 50 ms");
    assert!(run.stdout.is_empty(), "an error among the data");
    let words = ["recv", &network.directory.path("new"), "--deadline", "0.05"];
    network.run(1, &words).exits(3);
    assert!(network.directory.parts().is_empty());
    network
        .run(1, &["broadcast", "listen", "--deadline", "50ms"])
        .fails(3, "no broadcast message for 50 ms");
}

/// Kills a process at once.
fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_sender_hears_that_the_receiver_has_failed() {
    for mode in MODES {
        let network = Network::new(mode, "full");
        let (file, _) = network.file("file", 300_000);
        let receiver = network.start(1, &["recv", "/dev/full", "--deadline", DEADLINE]);
        let sent = network.run(0, &["send", &file, "--deadline", DEADLINE]);
        let why = "the receiver has failed: file '/dev/full': No space left on device";
        sent.fails(1, why);
        end(receiver).fails(1, "No space left");
    }
}

#[test]
fn a_sender_without_a_receiver_ends() {
    let network = Network::new(Mode::Thread, "alone");
    let (file, _) = network.file("file", 1000);
    let words = ["send", &file, "--deadline", "0.2"];
    network.run(0, &words).fails(3, "no answer of a receiver for 200 ms: start `spfe recv`");
    // One that is not acknowledged ends, too.
    let words = ["send", &file, "--deadline", "0.2", "--no-ack"];
    network.run(0, &words).fails(3, "no packet was taken by the far end for 200 ms");
}

#[test]
fn a_new_receiver_does_not_get_the_rest_of_an_old_transfer() {
    let network = Network::new(Mode::Thread, "rest");
    let copy = network.directory.path("copy");
    for replaced in [false, true] {
        let mut first = network.start(1, &["recv", &copy, "--deadline", DEADLINE]);
        let deadline = if replaced { DEADLINE } else { "1" };
        let mut sender =
            command(&["send", &network.ends[0], "-", "--packet", "1000", "--deadline", deadline])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
        let mut input = sender.stdin.take().unwrap();
        input.write_all(&[1; 10_000]).unwrap();
        // The sender reads its input when the receiver has answered.
        wait_until_read(&input);
        kill(&mut first);
        let feeder = std::thread::spawn(move || {
            let _ = input.write_all(&[2; 3_000_000]);
        });
        if replaced {
            let (file, bytes) = network.file("file", 100_000);
            let second = network.start(1, &["recv", &copy, "--deadline", DEADLINE]);
            // The packet under way may be the one that tells.
            let run = end(sender).exits(1);
            let told = ["another receiver has taken the place", "went away with the packet"];
            assert!(told.iter().any(|what| run.stderr.contains(what)), "{}", run.stderr);
            network.run(0, &["send", &file, "--deadline", DEADLINE]).exits(0);
            end(second).exits(0);
            assert!(std::fs::read(&copy).unwrap() == bytes);
        } else {
            let run = end(sender);
            if run.stderr.contains("went away with the packet") {
                // The packet under way was the one that told.
                run.exits(1);
            } else {
                let run = run.exits(3);
                let told = ["the receiver has been silent", "no packet was taken by the far end"];
                assert!(told.iter().any(|what| run.stderr.contains(what)), "{}", run.stderr);
            }
        }
        feeder.join().unwrap();
    }
}

#[test]
fn packets_are_sent_and_shown() {
    let network = Network::new(Mode::Thread, "packet");
    let listen = ["packet", "listen", "--count", "3", "--deadline", DEADLINE];
    let text = network.start(1, &[&listen[..], &["--vc", "1"]].concat());
    let json = network.start(1, &[&listen[..], &["--json"]].concat());
    for vc in ["0", "1"] {
        let send = |words: &[&str]| {
            network.run(0, &[&["packet", "send", "--vc", vc], words].concat()).exits(0)
        };
        send(&["--logical", "0x40", "--pid", "0xf0", "--hex", "01 02", "--text", "AB"]);
        send(&["--path", "1,3", "--pid", "2", "--hex", "ff", "--eep"]);
        send(&["--text", "plain"]);
    }
    let text = end(text).exits(0).text();
    let heads: Vec<_> = text.lines().filter(|line| line.contains("port 0 VC 1: ")).collect();
    assert_eq!(heads.len(), 3, "{text}");
    assert!(heads[0].ends_with("6 bytes, EOP") && heads[1].ends_with("5 bytes, EEP"), "{text}");
    assert!(text.contains("  40 f0 01 02 41 42") && text.contains("|@...AB|"), "{text}");
    let json = end(json).exits(0).text();
    let objects: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[0]["data"], &objects[0]["end"]), (&"40f001024142".into(), &"EOP".into()));
    assert_eq!((&objects[1]["data"], &objects[1]["end"]), (&"0103fe02ff".into(), &"EEP".into()));
    assert_eq!((&objects[2]["bytes"], &objects[2]["offset"]), (&5.into(), &0.into()));
    assert!(objects[2]["time_ns"].as_u64() >= objects[1]["time_ns"].as_u64());
    network.run(0, &["packet", "send"]).fails(2, "an empty packet");
}

#[test]
fn packets_find_their_way_through_routers() {
    let directory = Directory::new("routed");
    let socket = directory.path("sock");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    let scenario = spfe::Scenario::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    let config = ServerConfig::new(Topology::pairs(2, LinkRate::Unlimited, Mode::Thread));
    let config = ServerConfig { scenario: Some(scenario), ..config.listen(&socket) };
    let server = Server::start(config).unwrap();
    let ends = [0, 1].map(|end| format!("unix:{socket}/{end}"));
    let (source, copy) = (directory.path("source"), directory.path("copy"));
    std::fs::write(&source, "through two routers").unwrap();
    // The routers discard packets without an address, and the sender is not content.
    let words = ["send", &ends[0], &source, "--deadline", "0.5"];
    spfe(&words).fails(3, "a router may have discarded it");
    let receiver = start(&["recv", &ends[1], &copy, "--deadline", DEADLINE]);
    let words = ["send", &ends[0], &source, "--path", "3,1", "--reply-path", "3,1"];
    spfe(&[&words[..], &["--deadline", DEADLINE]].concat()).exits(0);
    end(receiver).exits(0);
    assert_eq!(std::fs::read(&copy).unwrap(), b"through two routers");
    let echo = start(&["ping", &ends[1], "--respond", "--count", "3", "--path", "3,1"]);
    let words = ["ping", &ends[0], "--count", "3", "--interval", "0", "--path", "3,1", "--json"];
    let result = spfe(&[&words[..], &["--deadline", DEADLINE]].concat()).exits(0).json();
    assert_eq!(result["received"], 3);
    end(echo).exits(0);
    // Port 1 of the first router is the one that the packet came from.
    let words = ["ping", &ends[0], "--count", "2", "--interval", "0", "--path", "1"];
    spfe(&[&words[..], &["--deadline", DEADLINE]].concat()).exits(0);
    drop(server);
}
