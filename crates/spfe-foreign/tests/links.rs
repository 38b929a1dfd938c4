//! Exact links whose other end is behind a stream: here a thread that runs an end of its own.

use spfe_foreign::{ForeignEnd, StreamShape};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, EEP};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::{SpaceFibrePort, Word};
use spfe_sim::fault::{FaultKind, FaultTarget, WireFault};
use spfe_sim::foreign::{FarStream, SIGNAL, cell_of_word, word_of_cell};
use spfe_sim::link::{NoObserver, Observer, Side, SimulatedEnd, SimulatedLink};
use spfe_sim::spacefibre::{self, SpaceFibreConfig, SpaceFibreEnd};
use spfe_sim::time::{Ps, US};
use spfe_topology::{ForeignStream, StreamKind};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));
const SILENCE: u64 = u64::MAX;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("spfe-foreign-{}-{name}", std::process::id()))
}

/// The two sides of a stream of this kind.
fn streams(name: &str, options: &str) -> [ForeignStream; 2] {
    let place = path(name);
    let place = place.to_str().unwrap();
    [format!("unix-listen:{place}{options}"), format!("unix:{place}{options}")]
        .map(|text| text.parse().unwrap())
}

fn config(lanes: u8) -> SpaceFibreConfig {
    let mut config = SpaceFibreConfig::new(lanes, 6250);
    config.channels = 2;
    config
}

fn shape(config: &SpaceFibreConfig, stream: &ForeignStream) -> StreamShape {
    StreamShape {
        kind: Some(stream.kind),
        lanes: config.lanes.into(),
        words: stream.words,
        rate_bps: u64::from(config.mbps) * 1_000_000,
    }
}

/// What a far end of either kind does in a word period.
trait Far {
    fn period(&mut self, received: &[u64], sent: &mut [u64]);
    fn user(&mut self) -> &mut dyn Echo;
}

/// Words of virtual channel 0.
trait Echo {
    fn take(&mut self, words: &mut [Word]) -> usize;
    fn give(&mut self, words: &[Word]) -> usize;
}

/// An end that speaks bits.
struct OfGroups<const L: usize>(Box<SpaceFibreEnd<L>>);

impl<const L: usize> Echo for SpaceFibreEnd<L> {
    fn take(&mut self, words: &mut [Word]) -> usize {
        SimulatedEnd::read(self, 0, words)
    }

    fn give(&mut self, words: &[Word]) -> usize {
        SimulatedEnd::write(self, 0, words)
    }
}

impl<const L: usize> Far for OfGroups<L> {
    fn period(&mut self, received: &[u64], sent: &mut [u64]) {
        let out = self.0.transmit();
        let mut groups = [SILENCE; L];
        for (lane, group) in groups.iter_mut().enumerate() {
            if received[lane] & SIGNAL != 0 {
                *group = received[lane] & !SIGNAL;
            }
            sent[lane] = if out[lane] == SILENCE { 0 } else { SIGNAL | out[lane] };
        }
        self.0.receive(&groups);
    }

    fn user(&mut self) -> &mut dyn Echo {
        &mut *self.0
    }
}

/// An end that speaks words.
type Port<const L: usize> = SpaceFibrePort<Vec<Word>, L, 2>;

impl<const L: usize> Echo for Port<L> {
    fn take(&mut self, words: &mut [Word]) -> usize {
        self.link.read(0, words)
    }

    fn give(&mut self, words: &[Word]) -> usize {
        if self.link.is_initialised() { self.link.write(0, words) } else { 0 }
    }
}

impl<const L: usize> Far for Port<L> {
    fn period(&mut self, received: &[u64], sent: &mut [u64]) {
        let out = self.transmit();
        let mut lines = [None; L];
        for lane in 0..L {
            sent[lane] = cell_of_word(out[lane]);
            lines[lane] = word_of_cell(received[lane]);
        }
        self.receive(lines);
    }

    fn user(&mut self) -> &mut dyn Echo {
        self
    }
}

fn far<const L: usize>(kind: StreamKind) -> Box<dyn Far> {
    let config = config(L as u8);
    if kind == StreamKind::Groups {
        let end = SpaceFibreEnd::<L>::new(&config, &config.ends[1], 600, true).unwrap();
        return Box::new(OfGroups(Box::new(end)));
    }
    let memory = |words: usize| vec![Word::default(); words];
    let buffers = Buffers {
        output: [memory(1024), memory(1024)],
        input: [memory(4096), memory(4096)],
        recovery: memory(4096),
    };
    let settings = DataLinkConfig {
        fct_multiplier: L as u8,
        segment_multiplier: L as u8,
        multi_lane_capable: L > 1,
        ..DataLinkConfig::default()
    };
    let lanes = MultiLane::new(&MultiLaneConfig::new());
    Box::new(Port::<L>::new_starting(DataLink::new(settings, buffers).unwrap(), lanes))
}

/// Starts a far end that sends back what it receives, and ends after some messages.
fn echo<const L: usize>(stream: &ForeignStream, messages: u64) -> JoinHandle<u64> {
    let stream = stream.clone();
    thread::spawn(move || {
        let mut line = ForeignEnd::wait(&stream, StreamShape::ANY, "echo", PATIENCE).unwrap();
        assert_eq!(line.lanes(), L);
        let mut end = far::<L>(line.kind());
        let (words, lanes) = (line.words(), line.lanes());
        let (mut received, mut sent) = (vec![0; words * lanes], vec![0; words * lanes]);
        let mut waiting: Vec<Word> = Vec::new();
        for message in 0..messages {
            for (from, to) in received.chunks(lanes).zip(sent.chunks_mut(lanes)) {
                end.period(from, to);
            }
            let mut words = [Word::default(); 64];
            let count = end.user().take(&mut words);
            waiting.extend(&words[..count]);
            let given = end.user().give(&waiting);
            waiting.drain(..given);
            if !line.exchange(&sent, &mut received) {
                return message;
            }
        }
        messages
    })
}

/// Notes the words on the lines.
#[derive(Default)]
struct Shown([Vec<Option<Word>>; 2]);

impl Observer for Shown {
    fn word(&mut self, _: Ps, _: u32, side: Side, _: u8, word: Option<Word>) {
        self.0[side as usize].push(word);
    }
}

fn near(stream: &ForeignStream, lanes: u8) -> Box<dyn SimulatedLink> {
    let config = config(lanes);
    let shape = shape(&config, stream);
    let line = ForeignEnd::wait(stream, shape, "near", PATIENCE).unwrap();
    spacefibre::with_foreign_end(&config, Side::B, Box::new(line)).unwrap()
}

fn packet(number: u32) -> [Word; 3] {
    [Word::data(number), Word::data(!number), EEP]
}

/// Sends packets and reads them back until a time. Returns the words that came back.
fn converse(link: &mut dyn SimulatedLink, until: Ps, observer: &mut dyn Observer) -> Vec<Word> {
    let (mut number, mut back) = (0, Vec::new());
    let mut now = link.now();
    while now < until {
        now += 100_000;
        link.run(now, observer);
        let end = link.end(Side::A);
        if end.is_running() && end.write(0, &packet(number)) == 3 {
            number += 1;
        }
        let mut words = [Word::default(); 64];
        let count = end.read(0, &mut words);
        back.extend(&words[..count]);
    }
    back
}

fn expected(words: usize) -> Vec<Word> {
    (0..).flat_map(packet).take(words).collect()
}

fn carries_packets<const L: usize>(kind: &str, words: u32) {
    let name = format!("carries-{L}-{kind}-{words}");
    let [listens, connects] = streams(&name, &format!(",kind={kind},words={words}"));
    let run = || {
        let far = echo::<L>(&connects, u64::MAX);
        let mut link = near(&listens, L as u8);
        link.show_words(true);
        let mut shown = Shown::default();
        let back = converse(&mut *link, 60 * US, &mut shown);
        assert_eq!(back, expected(back.len()));
        assert!(back.len() > 300, "{} words came back", back.len());
        drop(link);
        assert!(far.join().unwrap() > 0);
        shown.0
    };
    let words = run();
    assert!(words.iter().all(|side| side.iter().flatten().count() > 8000), "words are shown");
    assert!(words == run(), "the same words in every run");
}

#[test]
fn an_end_of_words_carries_packets() {
    carries_packets::<1>("words", 64);
    carries_packets::<4>("words", 8);
}

#[test]
fn an_end_of_groups_carries_packets() {
    carries_packets::<1>("groups", 1);
    carries_packets::<4>("groups", 64);
}

#[test]
fn faults_on_the_wires_are_recovered() {
    for kind in ["words", "groups"] {
        let [listens, connects] = streams(&format!("faults-{kind}"), &format!(",kind={kind}"));
        let far = echo::<1>(&connects, u64::MAX);
        let mut link = near(&listens, 1);
        for from in Side::BOTH {
            for (at, target) in [(30, FaultTarget::Edf), (40, FaultTarget::Data)] {
                let fault = WireFault { lane: None, target, kind: FaultKind::BitError };
                assert!(link.inject(at * US, from, fault));
            }
        }
        let back = converse(&mut *link, 90 * US, &mut NoObserver);
        assert_eq!(back, expected(back.len()));
        assert!(back.len() > 600, "{} words came back", back.len());
        let counters = link.end(Side::A).counters();
        let of = |name| counters.named.iter().find(|(of, _)| *of == name).unwrap().1;
        assert!(of("NACKs sent") >= 2 && of("NACKs received") >= 2, "{counters:?}");
        drop(link);
        far.join().unwrap();
    }
}

#[test]
fn a_foreign_end_that_goes_is_a_lost_signal() {
    let [listens, connects] = streams("goes", "");
    let far = echo::<1>(&connects, 60);
    let mut link = near(&listens, 1);
    converse(&mut *link, 22 * US, &mut NoObserver);
    assert!(link.end(Side::A).is_running() && !link.is_quiet());
    // 60 messages of 64 words are 25 us.
    converse(&mut *link, 60 * US, &mut NoObserver);
    assert!(!link.end(Side::A).is_running());
    assert_eq!(far.join().unwrap(), 60);
    assert!(link.is_quiet(), "nothing can happen any more");
}

#[test]
fn foreign_ends_come_and_go() {
    let [listens, connects] = streams("later", "");
    let config = config(1);
    let line = ForeignEnd::later(&listens, shape(&config, &listens), "near").unwrap();
    let mut link = spacefibre::with_foreign_end(&config, Side::B, Box::new(line)).unwrap();
    let no_time = Duration::ZERO;
    for _ in 0..2 {
        while !link.is_quiet() {
            assert_eq!(link.ready(no_time), Ps::MAX, "without a foreign end it waits for nothing");
            link.run(link.now() + US, &mut NoObserver);
        }
        let far = echo::<1>(&connects, 100);
        while !link.end(Side::A).is_running() {
            let ready = link.ready(Duration::from_millis(1));
            if ready == Ps::MAX {
                link.skip_to(link.now() + US);
            } else {
                link.run(ready, &mut NoObserver);
            }
        }
        while link.end(Side::A).is_running() {
            let until = link.ready(Duration::from_millis(1)).min(link.now() + US);
            link.run(until, &mut NoObserver);
        }
        assert_eq!(far.join().unwrap(), 100);
    }
}

#[test]
fn streams_over_tcp_and_pipes() {
    let [from, to] = ["pipe-a", "pipe-b"].map(path);
    for pipe in [&from, &to] {
        let made = std::process::Command::new("mkfifo").arg(pipe).status().unwrap();
        assert!(made.success());
    }
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    let pipes = [format!("pipes:{from}:{to}"), format!("pipes:{to}:{from}")];
    // A port of the system's choice: it is free again when the listener is closed.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tcp = [format!("tcp-listen:127.0.0.1:{port}"), format!("tcp:localhost:{port}")];
    for both in [pipes, tcp] {
        let [near_side, far_side] = both.map(|text| text.parse::<ForeignStream>().unwrap());
        let far = echo::<1>(&far_side, u64::MAX);
        let mut link = near(&near_side, 1);
        let back = converse(&mut *link, 40 * US, &mut NoObserver);
        assert!(back.len() > 100 && back == expected(back.len()));
        drop(link);
        assert!(far.join().unwrap() > 0);
    }
    for pipe in [from, to] {
        std::fs::remove_file(pipe).unwrap();
    }
}

#[test]
fn another_link_is_refused_on_both_sides() {
    let [listens, connects] = streams("refused", "");
    let ours = shape(&config(1), &listens);
    let theirs = StreamShape { lanes: 2, ..ours };
    let far = thread::spawn(move || ForeignEnd::wait(&connects, theirs, "far", PATIENCE).err());
    let near = ForeignEnd::wait(&listens, ours, "near", PATIENCE).err().unwrap().to_string();
    assert!(near.contains("its number of lanes is 2, ours 1"), "{near}");
    let far = far.join().unwrap().unwrap().to_string();
    assert!(far.contains("is 1, ours 2") || far.contains("closed the connection"), "{far}");

    let [listens, connects] = streams("nobody", "");
    let short = Some(Duration::from_millis(20));
    for stream in [&listens, &connects] {
        let error = ForeignEnd::wait(stream, ours, "near", short).err().unwrap().to_string();
        assert!(error.contains("nobody came in time") && error.contains("nobody"), "{error}");
    }
    let error = ForeignEnd::later(&connects, ours, "near").err().unwrap().to_string();
    assert!(error.contains("No such file"), "{error}");
}
