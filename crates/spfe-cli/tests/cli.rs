//! The command line without a daemon: results, JSON, exit codes, error messages.

mod common;

use common::{Directory, command, end, interrupt, spfe, start, wait_until};
use std::io::{BufRead, BufReader};

#[test]
fn list_shows_the_built_in_device() {
    let run = spfe(&["list"]).exits(0);
    assert!(run.text().starts_with("DEVICE"), "{}", run.text());
    assert_eq!(run.text().lines().filter(|line| line.starts_with("virtual: ")).count(), 4);
    let devices = spfe(&["list", "--json"]).exits(0).json();
    let device = &devices["devices"][0];
    assert_eq!((&device["device"], &device["state"]), (&"virtual:".into(), &"running".into()));
    assert_eq!(device["endpoints"][0]["ports"][2]["kind"], "SpaceWire");
}

#[test]
fn list_says_where_no_daemon_answers() {
    let run = common::Run::from(
        command(&["list", "--json"]).env("SPFE_SOCKET", "/no/such/socket").output().unwrap(),
    );
    let devices = run.exits(0).json();
    assert_eq!(devices["devices"][1]["state"], "DEVICE_GONE");
    assert!(devices["devices"][1]["error"].as_str().unwrap().contains("/no/such/socket"));
}

#[test]
fn info_shows_ports_and_rates() {
    let run = spfe(&["info"]).exits(0);
    assert!(run.text().contains("contract  1.") && run.text().contains("PORT  KIND"));
    let info = spfe(&["info", "virtual:?link=4x7.5G&mode=coop", "--json"]).exits(0).json();
    assert_eq!(info["mode"], "coop");
    assert_eq!(info["ports"][0]["rate"], "4x7.5G");
    assert_eq!(info["ports"][0]["rate_bps"], 7_500_000_000u64, "of a lane, as in `spfe topo`");
    assert_eq!(info["ports"][0]["lanes"], 4);
    assert_eq!(info["ports"][0]["peer"], "endpoint 0 port 1");
    let gbps = info["ports"][0]["user_gbps"].as_f64().unwrap();
    assert!((22.0..23.0).contains(&gbps), "{gbps}");
    let run =
        command(&["info", "--json"]).env("SPFE_DEVICE", "virtual:?peer=sink").output().unwrap();
    let info = common::Run::from(run).exits(0).json();
    assert_eq!(
        (&info["device"], &info["ports"][0]["peer"]),
        (&"virtual:?peer=sink".into(), &"sink".into())
    );
}

#[test]
fn devices_that_are_not_there_exit_with_5() {
    for (device, words) in
        [("virtual:lab/7", "endpoint 7"), ("unix:/no/such/socket/0", "/no/such/socket")]
    {
        let run = spfe(&["info", device, "--json"]).fails(5, words);
        let error = run.json();
        assert!(error["error"].as_str().unwrap().contains(words), "{error}");
        let status = error["status"].as_str().unwrap();
        assert!(["NOT_FOUND", "DEVICE_GONE"].contains(&status), "{error}");
        assert_eq!(error["exit"], 5);
    }
    spfe(&["ping", "--port", "9"]).fails(5, "ports 0 to 0");
}

#[test]
fn a_socket_named_like_a_device_file_is_told_with_the_right_name() {
    let directory = Directory::new("socket-name");
    let socket = directory.path("sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let right = format!("{socket} is not a device; did you mean unix:{socket}?");
    for command in ["info", "stats"] {
        let error = spfe(&[command, &socket, "--json"]).fails(5, &right).json();
        assert_eq!(error["status"], "NOT_FOUND", "{error}");
    }
}

#[test]
fn malformed_device_names_are_wrong_usage() {
    for (device, words) in [
        ("pci:0", "unknown scheme 'pci'"),
        ("nonsense", "it has no scheme"),
        ("virtual:?link=fast", "LANESxRATE"),
    ] {
        let error = spfe(&["info", device, "--json"]).fails(2, words).json();
        assert_eq!((&error["status"], &error["exit"]), (&"BAD_FIELD".into(), &2.into()));
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for (words, text) in [
        (&["send"][..], "required arguments were not provided: <FILE>"),
        (&["send", "x", "--packet", "0"], "packet of 0: 1 to 1073741824 allowed"),
        (&["send", "x", "--packet", "64KB"], "not a size such as 65536, 64K"),
        (&["send", "unix:/tmp/x/0"], "'unix:/tmp/x/0' is a device, and no FILE follows"),
        (&["recv", "/dev/spfe0"], "is a device, and no FILE follows"),
        (&["recv", "x", "--group", "9999"], "group of 9999"),
        (&["info", "virtual:?link=4x7.5"], "rate '7.5' has no unit: 7.5G"),
        (&["recv", "x", "--count", "1"], "--raw"),
        (&["ping", "--interval", "soon"], "not a time such as 10us"),
        (&["ping", "--vc", "9"], "port 0 has VCs 0 to 7"),
        (&["broadcast", "send", "--data", "0x123"], "no whole number of bytes"),
        (&["broadcast", "send", "--type", "256"], "0 to 255"),
        (&["broadcast", "send", "--port", "2"], "no broadcast messages"),
        (&["timecode", "send", "--time", "64"], "time '64': 0 to 63 allowed"),
        (&["timecode", "send", "--flags", "4"], "flags '4': 0 to 3 allowed"),
        (&["stats", "--watch", "0"], "'0' is shorter than 100ms"),
        (&["send", "Cargo.toml"], "use a device that other processes reach: unix:SOCKET/N"),
        (&["recv", "virtual:lab/0", "x"], "exists in this process only, and nothing sends"),
        (&["ping", "virtual:lab/1", "--respond"], "exists in this process only"),
        (&["rmap", "serve"], "exists in this process only"),
        (&["broadcast", "listen"], "exists in this process only"),
        (&["timecode", "listen"], "exists in this process only"),
        (&["timecode", "send", "--port", "0"], "no time-codes"),
        (&["interrupt", "send", "--number", "32"], "interrupt '32': 0 to 31 allowed"),
        (&["interrupt", "send", "--port", "0"], "no interrupts"),
        (&["completions", "dosshell"], "dosshell"),
        (&["pong"], "pong"),
        (&[], "a command is missing"),
    ] {
        let run = spfe(words).fails(2, text);
        assert!(run.stdout.is_empty(), "{}", run.text());
    }
    let error = spfe(&["pong", "--json"]).fails(2, "pong").json();
    assert_eq!((&error["status"], &error["exit"]), (&"USAGE".into(), &2.into()));
}

#[test]
fn ping_measures_the_echo() {
    let run = spfe(&["ping", "--count", "3", "--interval", "0"]).exits(0);
    let text = run.text();
    assert_eq!(text.lines().filter(|line| line.contains("seq=")).count(), 3, "{text}");
    assert!(text.contains("3 packets of 64 bytes sent, 3 came back"), "{text}");
    for size in ["1", "8", "23", "64K"] {
        let words = ["ping", "--json", "--count", "20", "--interval", "0", "--size", size];
        let run = spfe(&words).exits(0);
        let first = run.text().lines().next().unwrap().to_owned();
        assert!(first.contains("\"seq\":0") && first.contains("\"rtt_ns\":"), "{first}");
        assert_eq!(run.text().lines().count(), 21, "one for each answer, and the summary");
        let result = run.json();
        assert_eq!((&result["sent"], &result["received"]), (&20.into(), &20.into()));
        let rtt = |name: &str| result["rtt_ns"][name].as_u64().unwrap();
        assert!(rtt("min") <= rtt("p50") && rtt("p50") <= rtt("p99") && rtt("p99") <= rtt("max"));
        assert!(rtt("min") <= rtt("mean") && rtt("mean") <= rtt("max"));
    }
}

#[test]
fn ping_in_virtual_time_is_exact() {
    let device = "virtual:?peer=echo&link=1x6.25G&time=virtual";
    let words = ["ping", device, "--json", "--count", "5", "--interval", "0"];
    let first = spfe(&words).exits(0).json();
    assert_eq!(first["rtt_ns"], spfe(&words).exits(0).json()["rtt_ns"]);
}

#[test]
fn ping_without_an_answer_times_out() {
    let words = ["ping", "virtual:?peer=sink", "--deadline", "0.05", "--json"];
    let run = spfe(&words).fails(3, "seq=0: no answer for 50 ms");
    let lines: Vec<_> = run.text().lines().map(str::to_owned).collect();
    assert!(lines[0].contains("\"received\":0") && lines[0].contains("\"rtt_ns\":null"));
    assert_eq!(run.json()["status"], "TIMED_OUT");
}

#[test]
fn an_interrupted_ping_reports_what_it_has() {
    let mut child = start(&["ping", "--count", "0", "--interval", "0.001"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("seq=")), "no reply");
    interrupt(&child);
    let report = lines.find(|line| line.contains("came back")).unwrap();
    assert!(!report.contains(" 0 came back"), "{report}");
    lines.for_each(drop);
    end(child).exits(0);
}

#[test]
fn messages_are_sent() {
    for mode in ["inline", "coop", "thread"] {
        let device = format!("virtual:?mode={mode}");
        let words = ["--json", "broadcast", "send", &device, "--type", "0x20"];
        let more = ["--data", "hello", "--count", "200", "--interval", "0"];
        let result = spfe(&[&words[..], &more].concat()).exits(0).json();
        assert_eq!((&result["sent"], &result["type"]), (&200.into(), &0x20.into()));
        assert_eq!(result["data"], "68656c6c6f000000");
        let words = ["--json", "timecode", "send", &device, "--time", "62"];
        let more = ["--count", "4", "--rate", "1000"];
        let result = spfe(&[&words[..], &more].concat()).exits(0).json();
        assert_eq!((&result["sent"], &result["last"]), (&4.into(), &1.into()));
    }
    let words = ["timecode", "send", "--tick", "--count", "3", "--rate", "1000", "--json"];
    assert_eq!(spfe(&words).exits(0).json()["last"], 3);
}

#[test]
fn files_go_to_a_sink_and_not_from_a_generator() {
    let directory = Directory::new("ends");
    let file = directory.path("file");
    let words = ["recv", "virtual:?peer=generator:1000", &file, "--raw", "--count", "30"];
    let run = spfe(&words).exits(0);
    assert!(run.stderr.contains("30 packets"), "{}", run.stderr);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 30_000);
    let digest = run.text().split_whitespace().next().unwrap().to_owned();
    let words = ["--json", "-q", "send", "virtual:?peer=sink", &file, "--packet", "1000"];
    let run = spfe(&words).exits(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let result = run.json();
    assert_eq!((&result["bytes"], &result["packets"]), (&30_000.into(), &30.into()));
    assert_eq!(result["sha256"], digest);
    // The packets of the generator are not a file sent by `spfe send`.
    let words = ["--json", "recv", "virtual:?peer=generator:1000", &file];
    let run = spfe(&words).fails(4, "no header of `spfe send`");
    assert_eq!(run.json()["status"], "DAMAGED");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 30_000, "the old file was touched");
}

#[test]
fn an_interrupted_raw_reception_keeps_what_it_has() {
    let directory = Directory::new("raw");
    let file = directory.path("file");
    let device = "virtual:?peer=generator:100&link=spw:1M";
    let child = start(&["recv", device, &file, "--raw", "--json"]);
    wait_until("received bytes", || {
        directory
            .parts()
            .first()
            .is_some_and(|part| part.metadata().is_ok_and(|part| part.len() > 0))
    });
    interrupt(&child);
    let result = end(child).exits(0).json();
    let length = std::fs::metadata(&file).unwrap().len();
    assert!(length > 0 && result["bytes"] == length, "{result} {length}");
    assert!(directory.parts().is_empty());
}

#[test]
fn raw_reception_ends_at_its_limits() {
    let device = "virtual:?peer=generator:100";
    for (option, value, bytes) in [("--bytes", "250", 300), ("--count", "7", 700)] {
        let run = spfe(&["recv", device, "-", "--raw", option, value]).exits(0);
        assert_eq!(run.stdout.len(), bytes);
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = Directory::new("none");
    spfe(&["send", "virtual:?peer=sink", &directory.path("none")]).fails(1, "No such file");
    spfe(&["send", "virtual:?peer=sink", &directory.path("")]).fails(1, "directory");
}

#[test]
fn stats_show_what_is_not_zero() {
    let run = spfe(&["stats"]).exits(0);
    assert_eq!(run.text().lines().count(), 1, "{}", run.text());
    let run = spfe(&["stats", "--all", "--port", "0"]).exits(0);
    assert_eq!(run.text().lines().filter(|line| line.starts_with("0 ")).count(), 17);
    let stats = spfe(&["stats", "--all", "--json"]).exits(0).json();
    assert_eq!(stats["ports"].as_array().unwrap().len(), 4);
    assert_eq!(stats["ports"][0]["channels"][0]["packets"], 0);
    assert_eq!(stats["ports"][0]["messages"]["dropped"], 0);
}

#[test]
fn the_device_is_the_first_argument() {
    let device = "virtual:?peer=echo";
    let broadcast = ["broadcast", "send", device, "--json"];
    assert_eq!(spfe(&broadcast).exits(0).json()["sent"], 1);
    spfe(&["stats", device, "--port", "1"]).fails(5, "port 1");
    // It has precedence over the variable, which commands share.
    for words in [&["info"][..], &["link"], &["stats"], &["ping", "--count", "1"]] {
        let words = [words, &[device]].concat();
        let run = command(&words).env("SPFE_DEVICE", "unix:/no/such/socket").output().unwrap();
        common::Run::from(run).exits(0);
        let run = command(&words[..1]).env("SPFE_DEVICE", "unix:/no/such/socket").output().unwrap();
        common::Run::from(run).fails(5, "/no/such/socket");
    }
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = spfe(&["completions", shell]).exits(0);
        assert!(run.text().contains("broadcast"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = Directory::new("man");
    let man = directory.path("man/man1");
    spfe(&["man", &man]).exits(0);
    let page = |name: &str| std::fs::read_to_string(format!("{man}/{name}")).unwrap();
    assert!(page("spfe.1").contains("130"), "exit codes are missing");
    for name in
        ["list", "info", "send", "recv", "ping", "stats", "broadcast-listen", "timecode-send"]
    {
        assert!(page(&format!("spfe-{name}.1")).contains(".SH NAME"), "{name}");
    }
    spfe(&["man", "/proc/nowhere"]).fails(1, "directory '/proc/nowhere'");
}

#[test]
fn help_is_not_an_error() {
    for words in [&["--help"][..], &["send", "--help"], &["broadcast", "send", "-h"], &["-V"]] {
        let run = spfe(words).exits(0);
        assert!(run.stderr.is_empty() && !run.stdout.is_empty());
    }
    assert!(spfe(&["--help"]).text().contains("4    data damaged"));
}

#[test]
fn a_full_stdout_is_an_error() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    for words in [
        &["info"][..],
        &["list", "--json"],
        &["stats", "--all"],
        &["topo", scenario],
        &["ping", "--count", "0", "--interval", "0"],
        &["completions", "bash"],
        &["link"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = command(words).stdout(full).output().unwrap();
        common::Run::from(run).fails(1, "standard output: No space left on device");
    }
    // Remarks are lost without harm.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run =
        command(&["timecode", "send", "--count", "2", "--rate", "1000"]).stderr(full).output();
    common::Run::from(run.unwrap()).exits(0);
}

#[test]
fn a_closed_stdout_ends_the_command() {
    let mut child = start(&["ping", "--count", "0", "--interval", "0.001"]);
    drop(child.stdout.take());
    // Without a limit the command would ping forever.
    assert_ne!(end(child).code, Some(0));
}
