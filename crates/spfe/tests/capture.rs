//! Live captures of a network in this process.

use spfe::{CaptureOptions, Deadline, Embedded, Endpoint, LinkCommand, Mode, Topology};
use spfe_capture::{CaptureReader, EventCode, PacketEnd, RecordContent};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A file in memory.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The records of a capture, each with its interface.
#[derive(Default)]
struct Found {
    packets: Vec<(String, Vec<u8>, PacketEnd)>,
    codes: Vec<(String, u8)>,
    messages: Vec<(String, [u8; 8])>,
    events: Vec<(String, EventCode)>,
    words: usize,
    characters: usize,
    times: Vec<u64>,
}

/// Adds a record, given the name of its interface.
type Add = Box<dyn FnOnce(&mut Found, String)>;

/// Reads all records of a capture.
fn read(file: &File) -> Found {
    let bytes = file.0.lock().unwrap();
    let mut reader = CaptureReader::new(&bytes[..]);
    let mut found = Found::default();
    let mut names: Vec<String> = Vec::new();
    loop {
        let Some(record) = reader.record().unwrap() else { return found };
        let place = record.interface as usize;
        let (header, time) = (record.header, record.time_ps);
        found.times.push(time);
        let owned: Add = match record.content {
            RecordContent::Packet(bytes) => {
                let bytes = bytes.to_vec();
                Box::new(move |found, name| found.packets.push((name, bytes, header.end)))
            }
            RecordContent::Code(code) => {
                Box::new(move |found, name| found.codes.push((name, code.0)))
            }
            RecordContent::Broadcast(message) => {
                Box::new(move |found, name| found.messages.push((name, message.data)))
            }
            RecordContent::Event { code: Some(code), .. } => {
                Box::new(move |found, name| found.events.push((name, code)))
            }
            RecordContent::Words(words) => {
                let count = words.iter().count();
                Box::new(move |found, _| found.words += count)
            }
            RecordContent::Characters(characters) => {
                let count = characters.iter().count();
                Box::new(move |found, _| found.characters += count)
            }
            _ => continue,
        };
        if names.len() != reader.interfaces().len() {
            names = reader.interfaces().iter().map(|described| described.name.clone()).collect();
        }
        owned(&mut found, names[place].clone());
    }
}

fn network(rate: &str, mode: Mode, exact: bool, virtual_time: bool) -> Arc<Embedded> {
    let topology = Topology::pairs(2, rate.parse().unwrap(), mode);
    let model = if exact { spfe::LinkModel::Exact } else { spfe::LinkModel::Packet };
    Embedded::new(Topology { virtual_time, ..topology.with_model(model) }).unwrap()
}

fn payload(number: usize) -> Vec<u8> {
    (0..17 + 300 * number).map(|at| (at * 7 + number) as u8).collect()
}

/// Sends packets from endpoint 0 to endpoint 1 on a port and virtual channel, one by one.
fn send(ends: &[Endpoint; 2], port: u32, vc: u32, packets: std::ops::Range<usize>) {
    let mut tx = ends[0].port(port).unwrap().vc(vc).unwrap().tx().unwrap();
    let mut rx = ends[1].port(port).unwrap().vc(vc).unwrap().rx().unwrap();
    for number in packets {
        let bytes = payload(number);
        // Buffers that hold only a part of the packet.
        let mut bufs = ends[1].alloc(8192).unwrap().split(1024, 8).unwrap();
        rx.post_all(&mut bufs);
        let mut buf = ends[0].alloc(bytes.len()).unwrap().buf(0..bytes.len()).unwrap();
        buf.copy_from_slice(&bytes);
        tx.send(buf).unwrap();
        let mut got = Vec::new();
        loop {
            let part = rx.recv(Deadline::NEVER).unwrap();
            got.extend_from_slice(&part.buf);
            if !part.more() {
                break;
            }
        }
        assert!(got == bytes, "packet {number}");
    }
}

fn open(network: &Arc<Embedded>) -> [Endpoint; 2] {
    [0, 1].map(|endpoint| Endpoint::attach(network, endpoint, "capture").unwrap())
}

fn captured(found: &Found, name: &str) -> Vec<Vec<u8>> {
    let of = found.packets.iter().filter(|(interface, ..)| interface == name);
    of.map(|(_, bytes, _)| bytes.clone()).collect()
}

#[test]
fn packets_messages_and_events_of_exact_links() {
    let network = network("1x6.25G", Mode::Inline, true, true);
    let ends = open(&network);
    let file = File::default();
    let capture = network.capture(&CaptureOptions::default(), file.clone()).unwrap();
    send(&ends, 0, 3, 0..5);
    send(&ends, 1, 0, 5..8);
    ends[0].link_command(0, LinkCommand::Cut { lane: None, duration_ns: 3_000 }).unwrap();
    send(&ends, 0, 3, 8..10);
    let port = |endpoint: usize, port| ends[endpoint].port(port).unwrap();
    let mut listener = port(1, 0).broadcast().unwrap();
    let mut sender = port(0, 0).broadcast().unwrap();
    sender.send(1, 2, *b"schedule").unwrap();
    listener.recv(Deadline::NEVER).unwrap();
    let mut clock = port(1, 1).time_code().unwrap();
    let mut master = port(0, 1).time_code().unwrap();
    master.send(42, 0).unwrap();
    clock.recv(Deadline::NEVER).unwrap();
    let summary = capture.finish().unwrap();
    // After the capture has ended.
    send(&ends, 0, 3, 0..1);
    let found = read(&file);
    assert_eq!((summary.records, summary.left_out), (found.times.len() as u64, 0));
    let wanted = |packets: &[usize]| packets.iter().map(|n| payload(*n)).collect::<Vec<_>>();
    assert!(captured(&found, "0.0>1.0") == wanted(&[0, 1, 2, 3, 4, 8, 9]));
    assert!(captured(&found, "0.1>1.1") == wanted(&[5, 6, 7]));
    assert_eq!(found.messages, vec![("0.0>1.0".to_owned(), *b"schedule"); 2]);
    assert_eq!(found.codes, vec![("0.1>1.1".to_owned(), 42); 2]);
    let has = |code| found.events.iter().any(|(_, found)| *found == code);
    assert!(has(EventCode::FaultLaneCut) && has(EventCode::LaneState), "{:?}", found.events);
    assert!(has(EventCode::SpaceWireState), "{:?}", found.events);
    assert_eq!((found.words, found.characters), (0, 0));
    assert!(found.times.iter().all(|time| *time <= ends[0].now_ns() * 1000 + 1000));
}

#[test]
fn words_of_one_link_and_not_of_the_other() {
    let network = network("2x6.25G", Mode::Inline, true, true);
    let ends = open(&network);
    for (link, words, characters) in [("0.0-1.0", true, false), ("0.1-1.1", false, true)] {
        let file = File::default();
        let links = vec![link.to_owned()];
        let options = CaptureOptions { links, words: true, ..CaptureOptions::default() };
        let capture = network.capture(&options, file.clone()).unwrap();
        send(&ends, 0, 0, 1..3);
        send(&ends, 1, 0, 1..3);
        capture.finish().unwrap();
        let found = read(&file);
        assert_eq!((found.words > 200, found.characters > 200), (words, characters), "{link}");
        assert_eq!(found.packets.len(), 2, "{link}");
    }
    let links = vec!["0.7-1.7".to_owned()];
    let options = CaptureOptions { links, ..CaptureOptions::default() };
    let error = network.capture(&options, File::default()).err().unwrap();
    assert!(error.to_string().contains("'0.7-1.7': this network has 0.0-1.0, 0.1-1.1"), "{error}");
}

#[test]
fn packets_of_packet_level_links_in_every_mode() {
    for (mode, rate) in [
        (Mode::Inline, "unlimited"),
        (Mode::Inline, "4x7.5G"),
        (Mode::Coop, "unlimited"),
        (Mode::Thread, "unlimited"),
    ] {
        let network = network(rate, mode, false, false);
        let ends = open(&network);
        send(&ends, 0, 3, 0..2);
        let file = File::default();
        let capture = network.capture(&CaptureOptions::default(), file.clone()).unwrap();
        send(&ends, 0, 3, 2..8);
        let port = |endpoint: usize, port| ends[endpoint].port(port).unwrap();
        let mut clock = port(1, 1).time_code().unwrap();
        let mut master = port(0, 1).time_code().unwrap();
        master.send(42, 1).unwrap();
        clock.recv(Deadline::NEVER).unwrap();
        let summary = capture.finish().unwrap();
        send(&ends, 0, 3, 0..2);
        let found = read(&file);
        assert_eq!((summary.records, summary.left_out), (7, 0), "{mode} {rate}");
        assert!(captured(&found, "0.0>1.0") == (2..8).map(payload).collect::<Vec<_>>());
        assert!(found.packets.iter().all(|(_, _, end)| *end == PacketEnd::Eop));
        assert_eq!(found.codes, [("0.1>1.1".to_owned(), 42 | 1 << 6)]);
    }
}

#[test]
fn a_packet_that_began_before_the_capture_is_left_out() {
    let network = network("unlimited", Mode::Inline, false, false);
    let ends = open(&network);
    let mut tx = ends[0].port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = ends[1].port(0).unwrap().vc(0).unwrap().rx().unwrap();
    let mut bufs = ends[1].alloc(400).unwrap().split(100, 4).unwrap();
    let late = bufs.split_off(1);
    rx.post_all(&mut bufs);
    tx.send(ends[0].alloc(250).unwrap().buf(0..250).unwrap()).unwrap();
    assert!(rx.recv(Deadline::NEVER).unwrap().more());
    let file = File::default();
    let options = CaptureOptions { packets: Some(1), ..CaptureOptions::default() };
    let capture = network.capture(&options, file.clone()).unwrap();
    let mut late = late;
    rx.post_all(&mut late);
    while rx.recv(Deadline::NEVER).unwrap().more() {}
    assert!(!capture.has_ended());
    send(&ends, 0, 1, 2..4);
    assert!(capture.has_ended());
    capture.finish().unwrap();
    let found = read(&file);
    assert!(captured(&found, "0.0>1.0") == [payload(2)]);
}

/// A writer that blocks until the test releases it.
struct Slow(Arc<Mutex<()>>, File);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _held = self.0.lock().unwrap();
        self.1.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn links_do_not_wait_for_a_slow_reader() {
    let network = network("unlimited", Mode::Inline, false, false);
    let ends = open(&network);
    let (gate, file) = (Arc::new(Mutex::new(())), File::default());
    let held = gate.lock().unwrap();
    let options = CaptureOptions { buffer_bytes: 20_000, ..CaptureOptions::default() };
    let capture = network.capture(&options, Slow(gate.clone(), file.clone())).unwrap();
    // All packets arrive, even when the capture is slow.
    for _ in 0..10 {
        send(&ends, 0, 0, 10..15);
    }
    drop(held);
    let summary = capture.finish().unwrap();
    assert!(summary.left_out > 0 && summary.records > 0, "{summary:?}");
    assert_eq!(summary.records + summary.left_out, 50);
    let found = read(&file);
    assert_eq!(found.packets.len() as u64, summary.records);
}
