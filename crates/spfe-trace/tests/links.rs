//! Links of the simulator, decoded at both ends: the decoder finds exactly what was sent.

use std::collections::BTreeMap;

use spfe_link::datalink::LinkBroadcast;
use spfe_link::word::{Word, k};
use spfe_sim::fault::{EndCommand, FaultKind, FaultTarget, WireFault};
use spfe_sim::link::{Observer, Side, SimulatedLink};
use spfe_sim::spacefibre;
use spfe_sim::time::{Ps, US};
use spfe_trace::event::TraceEnd;
use spfe_trace::{
    LinkDirection, LinkPair, ListenerConfig, TraceEvent, TraceEventKind, TraceSummary,
};

const CHANNELS: usize = 4;

/// Decodes the words that come out of the decoders of both ends.
struct Tap {
    pair: LinkPair,
    lanes: usize,
    words: [[Option<Word>; 16]; 2],
    done: [bool; 2],
    seen: [Seen; 2],
}

#[derive(Default)]
struct Seen {
    summary: TraceSummary,
    packets: BTreeMap<u8, Vec<Vec<u8>>>,
    cut: u32,
    broadcasts: Vec<(u8, u8, [u8; 8])>,
    aligned: Vec<u16>,
    violations: Vec<(u64, String)>,
}

impl Seen {
    fn event(&mut self, event: &TraceEvent<'_>) {
        self.summary.event(event);
        match &event.what {
            TraceEventKind::Packet(packet) if packet.end == TraceEnd::Eop => {
                assert!(!packet.partial);
                self.packets.entry(packet.vc).or_default().push(packet.bytes.to_vec());
            }
            TraceEventKind::Packet(_) => self.cut += 1,
            TraceEventKind::BroadcastFrame(frame) if frame.accepted => {
                self.broadcasts.push((frame.channel, frame.kind, frame.data));
            }
            TraceEventKind::Aligned { lanes } => self.aligned.push(*lanes),
            TraceEventKind::Violation(violation) => {
                self.violations.push((event.at, violation.to_string()))
            }
            _ => {}
        }
    }
}

impl Observer for Tap {
    fn word(&mut self, _: Ps, _: u32, side: Side, lane: u8, word: Option<Word>) {
        // Words that come out at one end were sent from the other.
        let direction = side.other() as usize;
        self.words[direction][usize::from(lane)] = word;
        if usize::from(lane) + 1 < self.lanes {
            return;
        }
        self.done[direction] = true;
        if self.done == [true; 2] {
            self.done = [false; 2];
            let [a, b] = &self.words;
            let (lanes, seen) = (self.lanes, &mut self.seen);
            self.pair.push(&a[..lanes], &b[..lanes], &mut |direction: LinkDirection, event| {
                seen[direction as usize].event(&event);
            });
        }
    }
}

/// Both ends with packets to send, and a record of what was sent.
struct Bench {
    link: Box<dyn SimulatedLink>,
    tap: Tap,
    random: fastrand::Rng,
    /// Words that wait to be sent, by side and channel.
    waiting: [[Vec<Word>; CHANNELS]; 2],
    sent: [BTreeMap<u8, Vec<Vec<u8>>>; 2],
    read: [BTreeMap<u8, Vec<Word>>; 2],
    broadcasts: [Vec<(u8, u8, [u8; 8])>; 2],
}

fn words_of(packet: &[u8]) -> Vec<Word> {
    let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
    symbols.push((k::EOP, true));
    while !symbols.len().is_multiple_of(4) {
        symbols.push((k::FILL, true));
    }
    let word = |four: &[(u8, bool)]| {
        let mask = (0..4).fold(0, |mask, index| mask | u8::from(four[index].1) << index);
        Word::from_symbols([four[0].0, four[1].0, four[2].0, four[3].0], mask)
    };
    symbols.chunks(4).map(word).collect()
}

impl Bench {
    fn new(config: &spacefibre::SpaceFibreConfig, seed: u64) -> Self {
        let mut link = spacefibre::new(config).unwrap();
        link.show_words(true);
        let lanes = config.lanes;
        let pair = LinkPair::new(&ListenerConfig { lanes, ..ListenerConfig::default() });
        let tap = Tap {
            pair,
            lanes: usize::from(lanes),
            words: [[None; 16]; 2],
            done: [false; 2],
            seen: Default::default(),
        };
        Self {
            link,
            tap,
            random: fastrand::Rng::with_seed(seed),
            waiting: Default::default(),
            sent: Default::default(),
            read: Default::default(),
            broadcasts: Default::default(),
        }
    }

    /// Runs for a time, with new packets or only until everything is sent.
    fn run(&mut self, time: Ps, load: bool) {
        let end = self.link.now() + time;
        while self.link.now() < end {
            for side in Side::BOTH {
                self.feed(side, load);
            }
            let until = self.link.now() + US / 2;
            self.link.run(until, &mut self.tap);
        }
    }

    fn feed(&mut self, side: Side, load: bool) {
        let own = side as usize;
        let end = self.link.end(side);
        for channel in 0..CHANNELS {
            let mut words = [Word::default(); 256];
            let count = end.read(channel, &mut words);
            self.read[own ^ 1].entry(channel as u8).or_default().extend(&words[..count]);
            if self.waiting[own][channel].is_empty() && load && end.is_running() {
                let length = self.random.u64(..if channel == 0 { 2000 } else { 60 }) + 1;
                let packet: Vec<u8> = (0..length).map(|_| self.random.u64(..256) as u8).collect();
                self.waiting[own][channel] = words_of(&packet);
                self.sent[own].entry(channel as u8).or_default().push(packet);
            }
            let taken = end.write(channel, &self.waiting[own][channel]);
            self.waiting[own][channel].drain(..taken);
        }
        while end.receive_broadcast().is_some() {}
        if load && end.is_running() && self.random.u64(..8) == 0 {
            let data: [u8; 8] = std::array::from_fn(|_| self.random.u64(..256) as u8);
            let (channel, kind) = (self.random.u64(..256) as u8, self.random.u64(..256) as u8);
            let message = LinkBroadcast { channel, kind, data, late: false, delayed: false };
            if end.send_broadcast(message) {
                self.broadcasts[own].push((channel, kind, data));
            }
        }
    }

    /// Everything sent was decoded, once and in order.
    fn check(&self, what: &str) {
        for direction in 0..2 {
            let seen = &self.tap.seen[direction];
            assert!(!self.sent[direction].is_empty(), "{what}: nothing sent");
            assert_eq!(seen.packets, self.sent[direction], "{what}, direction {direction}");
            assert_eq!(seen.broadcasts, self.broadcasts[direction], "{what}");
            assert!(!seen.broadcasts.is_empty() && seen.cut == 0, "{what}");
            let decoded = |packets: &Vec<Vec<u8>>| {
                packets.iter().flat_map(|packet| words_of(packet)).collect::<Vec<_>>()
            };
            for (channel, words) in &self.read[direction] {
                let packets = self.sent[direction].get(channel).map(decoded).unwrap_or_default();
                assert!(*words == packets, "{what}, channel {channel}: the link itself");
            }
        }
    }
}

#[test]
fn all_traffic_is_decoded_without_violations() {
    for lanes in [1, 2, 3, 4, 8, 16] {
        for scrambled in [true, false] {
            let mut config = spacefibre::SpaceFibreConfig::new(lanes, 6250);
            config.scrambled = scrambled;
            config.channels = CHANNELS as u8;
            config.skew_bits = (0..u32::from(lanes)).map(|lane| lane * 37 % 81).collect();
            let mut bench = Bench::new(&config, u64::from(lanes));
            bench.run(30 * US, true);
            bench.run(30 * US, false);
            let what = format!("{lanes} lanes, scrambled {scrambled}");
            bench.check(&what);
            for seen in &bench.tap.seen {
                assert_eq!(seen.violations, [], "{what}");
                assert_eq!(seen.summary.link_resets, 1, "{what}");
                // Lanes that join cut a frame; on a single lane nothing is sent again.
                assert!(lanes > 1 || seen.summary.resent == 0, "{what}");
                assert!(seen.summary.idle_frames > 10 && seen.summary.fcts > 10, "{what}");
            }
        }
    }
}

#[test]
fn resends_are_recognised() {
    let mut resent = 0;
    for lanes in [1, 2, 4] {
        for seed in 0..2 {
            let mut config = spacefibre::SpaceFibreConfig::new(lanes, 6250);
            config.channels = CHANNELS as u8;
            config.seed = seed;
            let mut bench = Bench::new(&config, 1000 + seed);
            bench.run(20 * US, true);
            for side in Side::BOTH {
                bench.link.set_bit_error_rate(side, None, 2e-5);
            }
            bench.run(100 * US, true);
            for side in Side::BOTH {
                bench.link.set_bit_error_rate(side, None, 0.0);
            }
            bench.run(60 * US, false);
            let what = format!("{lanes} lanes, seed {seed}");
            bench.check(&what);
            for seen in &bench.tap.seen {
                resent += seen.summary.resent;
                // Only damage and its consequences, but no violation by a sender.
                for (at, violation) in &seen.violations {
                    let damage = [
                        "damaged word",
                        "CRC-8 error",
                        "CRC-16 error",
                        "frame error",
                        "unknown control word",
                        "data outside a frame",
                        "idle words not pseudo-random",
                        "control row differs",
                        "invalid row",
                        "misaligned",
                    ];
                    let damage = damage.iter().any(|name| violation.starts_with(name));
                    assert!(damage, "{what}: {violation} at {at}");
                }
            }
        }
    }
    assert!(resent > 5, "{resent}");
}

#[test]
fn a_lane_that_fails_leaves_the_rows_and_comes_back() {
    let mut config = spacefibre::SpaceFibreConfig::new(3, 6250);
    config.max_data_sending = 2;
    config.channels = CHANNELS as u8;
    let mut bench = Bench::new(&config, 5);
    bench.run(30 * US, true);
    let kind = FaultKind::Cut { duration_ps: 20 * US };
    let fault = WireFault { lane: Some(1), target: FaultTarget::Any, kind };
    assert!(bench.link.inject(bench.link.now() + US, Side::A, fault));
    bench.run(100 * US, true);
    bench.run(60 * US, false);
    bench.check("a lane cut");
    let aligned = &bench.tap.seen[0].aligned;
    assert!(aligned.contains(&0b011) && aligned.contains(&0b101), "{aligned:?}");
    assert_eq!(aligned.last(), Some(&0b011), "{aligned:?}");
}

#[test]
fn a_link_reset_cuts_packets_and_numbers_start_again() {
    let mut config = spacefibre::SpaceFibreConfig::new(1, 6250);
    config.channels = CHANNELS as u8;
    let mut bench = Bench::new(&config, 9);
    bench.run(40 * US, true);
    assert!(bench.link.end(Side::A).command(EndCommand::LinkReset));
    bench.run(60 * US, true);
    for seen in &bench.tap.seen {
        assert_eq!(seen.summary.link_resets, 2);
        assert!(seen.summary.data_frames > 20);
        let allowed = ["damaged word", "data outside a frame", "frame error", "phase order"];
        for (at, violation) in &seen.violations {
            let known = allowed.iter().any(|name| violation.starts_with(name));
            assert!(known, "{violation} at {at}");
        }
    }
}
