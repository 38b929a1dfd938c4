//! `spfe capture` of a daemon.

mod common;

use common::{Directory, end, spfe, start};
use spfe::{Deadline, Endpoint};
use spfe_capture::{CaptureReader, RecordContent};
use spfe_host::{LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};
use std::process::Child;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

struct Network {
    server: Server,
    directory: Directory,
    device: String,
}

fn network(name: &str, mode: Mode) -> Network {
    let directory = Directory::new(name);
    let socket = directory.path("sock");
    let topology = Topology::pairs(2, LinkRate::Unlimited, mode);
    let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    Network { server, directory, device: format!("unix:{socket}") }
}

/// Sends packets of 100 bytes until the capture has ended, at most `most`.
fn send_until(network: &Network, capture: &mut Child, most: usize) -> usize {
    let open = |end| Endpoint::open(&format!("{}/{end}", network.device)).unwrap();
    let ends: [Endpoint; 2] = [open(0), open(1)];
    let mut tx = ends[0].port(0).unwrap().vc(2).unwrap().tx().unwrap();
    let mut rx = ends[1].port(0).unwrap().vc(2).unwrap().rx().unwrap();
    for number in 0..most {
        if capture.try_wait().unwrap().is_some() {
            return number;
        }
        rx.post(ends[1].alloc(4096).unwrap().buf(0..100).unwrap()).unwrap();
        let mut buf = ends[0].alloc(4096).unwrap().buf(0..100).unwrap();
        buf.fill(0xa5);
        tx.send(buf).unwrap();
        rx.recv(Deadline::after(SOON)).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    most
}

/// Number of packets in a capture; checks that this test sent all of them.
fn packets(bytes: &[u8]) -> usize {
    let mut reader = CaptureReader::new(bytes);
    let mut count = 0;
    while let Some(record) = reader.record().unwrap() {
        assert_eq!(
            (record.content, record.header.vc),
            (RecordContent::Packet(&[0xa5; 100]), Some(2))
        );
        assert!(record.time_ps > 0);
        count += 1;
    }
    let names: Vec<_> = reader.interfaces().iter().map(|interface| &*interface.name).collect();
    assert_eq!(names, ["0.0>1.0", "1.0>0.0", "0.1>1.1", "1.1>0.1"]);
    assert!(reader.interfaces().iter().all(|of| of.left_out == Some(0) && of.start_s > 0));
    count
}

#[test]
fn a_packet_limit_ends_a_capture_to_a_file() {
    let network = network("capture-file", Mode::Thread);
    let file = network.directory.path("live.pcapng");
    let words = ["capture", &network.device, "-w", &file, "--packets", "20", "--json"];
    let mut capture = start(&words);
    send_until(&network, &mut capture, usize::MAX);
    let run = end(capture).exits(0);
    assert_eq!(
        (run.json()["records"].as_u64(), run.json()["left_out"].as_u64()),
        (Some(20), Some(0))
    );
    assert_eq!(packets(&std::fs::read(&file).unwrap()), 20);
}

#[test]
fn a_time_limit_ends_a_capture_to_stdout() {
    let network = network("capture-pipe", Mode::Thread);
    let words = ["capture", &network.device, "-w", "-", "--link", "0.0-1.0", "--seconds", "0.3"];
    let run = end(start(&words)).exits(0);
    assert_eq!(packets(&run.stdout), 0);
    assert!(run.stderr.contains("0 records captured"), "{}", run.stderr);
}

#[test]
fn a_time_limit_and_a_signal_report_what_was_captured() {
    for (name, limit) in [("capture-time", Some("2s")), ("capture-signal", None)] {
        let network = network(name, Mode::Thread);
        let file = network.directory.path("live.pcapng");
        let mut words = vec!["capture", &network.device, "-w", &file, "--json"];
        words.extend(limit.into_iter().flat_map(|limit| ["--seconds", limit]));
        let mut capture = start(&words);
        while !std::fs::read(&file).is_ok_and(|bytes| !bytes.is_empty()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = send_until(&network, &mut capture, 3);
        if limit.is_none() {
            // SAFETY: the process is a child of this one and has not been waited for.
            assert_eq!(unsafe { libc::kill(capture.id() as libc::pid_t, libc::SIGINT) }, 0);
        }
        let run = end(capture).exits(0);
        assert_eq!((sent, packets(&std::fs::read(&file).unwrap())), (3, 3));
        assert!(run.stderr.contains("3 records captured"), "{}", run.stderr);
        assert_eq!(run.json()["records"].as_u64(), Some(3));
    }
}

#[test]
fn a_capture_reports_the_end_of_the_daemon() {
    let network = network("capture-dead", Mode::Thread);
    let file = network.directory.path("live.pcapng");
    let mut capture = start(&["capture", &network.device, "-w", &file]);
    while !std::fs::read(&file).is_ok_and(|bytes| !bytes.is_empty()) {
        assert!(capture.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(network.server);
    end(capture).fails(5, "the daemon is gone");
    // The records before the end are complete.
    assert!(CaptureReader::new(&std::fs::read(&file).unwrap()[..]).record().is_ok());
}

#[test]
fn errors_name_what_cannot_be_captured() {
    let thread = network("capture-names", Mode::Thread);
    let capture = |device: &str, words: &[&str]| {
        spfe(&[&["capture", device, "-w", "/dev/null"], words].concat())
    };
    capture(&thread.device, &["--link", "7"]).fails(5, "'7': this network has 0.0-1.0, 0.1-1.1");
    capture("unix:/no/such", &[]).fails(5, "no daemon at /no/such");
    capture("virtual:", &[]).fails(2, "unix:SOCKET");
    capture(&thread.device, &["--seconds", "x"]).fails(2, "is not a time");
    let inline = network("capture-inline", Mode::Inline);
    capture(&inline.device, &[]).fails(2, "--mode thread");
}
