//! Random campaigns: random rates, delays, bit errors, cuts, restarts and packets.

use crate::kit::{A, B, Kit, Log, config, n_chars, packet};
use fastrand::Rng;
use spfe_link::Word;
use spfe_link::spacewire::{BroadcastCode, NChar};
use spfe_sim::fault::{EndCommand, FaultKind, FaultTarget, WireFault};
use spfe_sim::link::{EndEvent, Side, SimulatedEnd, SimulatedLink};
use spfe_sim::spacewire::SpaceWireConfig;
use spfe_sim::time::{NS, Ps, US};

/// Seeds of campaigns from 1 on, or from `SPFE_SEED` on.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = std::env::var("SPFE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    first..first + count
}

/// Bytes of a packet: its number, and a random part that depends on the number.
fn body(number: u32) -> Vec<u8> {
    let mut rng = Rng::with_seed(u64::from(number));
    let length = [rng.u64(..4), rng.u64(..40), rng.u64(..400)][rng.u64(..3) as usize];
    let rest = (0..length).map(|_| rng.u64(..) as u8);
    number.to_be_bytes().into_iter().chain(rest).collect()
}

/// Traffic in one direction.
#[derive(Default)]
struct Traffic {
    next: u32,
    words: Vec<Word>,
    position: usize,
    sent_n_chars: u64,
    received: Vec<Word>,
}

impl Traffic {
    fn write(&mut self, end: &mut dyn SimulatedEnd, most: usize) {
        if self.position == self.words.len() {
            let bytes = body(self.next);
            self.sent_n_chars += bytes.len() as u64 + 1;
            (self.words, self.position) = (packet(&bytes), 0);
            self.next += 1;
        }
        let last = self.words.len().min(self.position + most);
        self.position += end.write(0, &self.words[self.position..last]);
    }

    fn read(&mut self, end: &mut dyn SimulatedEnd, most: usize) {
        let mut words = [Word::default(); 8];
        let count = end.read(0, &mut words[..most]);
        self.received.extend_from_slice(&words[..count]);
    }

    /// Checks that packets arrived in order, whole or truncated with an EEP. Returns how many were
    /// whole.
    fn check(&self) -> u32 {
        let n_chars = n_chars(&self.received);
        let mut next = 0;
        let mut whole = 0;
        for got in n_chars.split_inclusive(|n_char| n_char.is_end()) {
            let (end, data) = got.split_last().unwrap();
            let bytes: Vec<u8> = data
                .iter()
                .filter_map(|n_char| match n_char {
                    NChar::Data(byte) => Some(*byte),
                    _ => None,
                })
                .collect();
            assert!(end.is_end(), "without end: {got:?}");
            let Some((number, _)) = bytes.split_first_chunk() else {
                assert_eq!(*end, NChar::Eep, "too short: {got:?}");
                continue;
            };
            let number = u32::from_be_bytes(*number);
            assert!(number >= next && number < self.next, "{number} after {next}");
            let expected = body(number);
            assert_eq!(bytes, expected[..bytes.len().min(expected.len())], "packet {number}");
            if *end == NChar::Eop {
                assert_eq!(bytes.len(), expected.len(), "packet {number} short without EEP");
                whole += 1;
            }
            next = number + 1;
        }
        whole
    }
}

/// Runs a link with faults for some time, then without. Returns the log, the received words, and
/// the number of whole packets.
fn campaign(seed: u64, steps: u32) -> (Log, [Vec<Word>; 2], u64) {
    let mut rng = Rng::with_seed(seed);
    let mbps = [10, 25, 100, 200, 333][rng.u64(..5) as usize];
    let mut config = SpaceWireConfig { seed, delay_ps: rng.u64(..400 * NS), ..config(mbps) };
    config.ends[1].rate_mbps = [10, 100, 200][rng.u64(..3) as usize];
    config.ends[1].receive_words = rng.u64(1..=64) as usize;
    let mut kit = Kit::new(config);
    kit.link.show_words(true);
    let mut traffic = Side::BOTH.map(|_| Traffic::default());
    for side in Side::BOTH {
        kit.link.set_bit_error_rate(side, None, [0.0, 1e-6, 1e-5][rng.u64(..3) as usize]);
    }
    for _ in 0..steps {
        for from in Side::BOTH {
            let flow = &mut traffic[from as usize];
            flow.write(kit.link.end(from), rng.u64(..9) as usize);
            flow.read(kit.link.end(from.other()), rng.u64(..9) as usize);
        }
        let side = Side::BOTH[rng.u64(..2) as usize];
        match rng.u64(..800) {
            0 => kit.link.end(side).command(EndCommand::LinkReset),
            1 => cut(&mut kit, &mut rng, side),
            2 => bit_error(&mut kit, &mut rng, side),
            3..30 => kit.link.end(side).send_code(BroadcastCode::time(rng.u64(..) as u8)),
            _ => false,
        };
        kit.run(rng.u64(..2 * US));
    }
    finish(&mut kit, &mut traffic);
    let mut whole = 0;
    for from in Side::BOTH {
        let flow = &traffic[from as usize];
        whole += flow.check();
        conserve(&mut kit, from, flow);
    }
    let words = kit.link.words();
    let [a, b] = traffic;
    println!("{mbps} Mbit/s: {words} characters, {whole} of {} packets whole", a.next + b.next);
    assert!(whole > 0);
    (kit.log, [a.received, b.received], words)
}

/// Cuts the wire for long enough that the far end notices.
fn cut(kit: &mut Kit, rng: &mut Rng, from: Side) -> bool {
    let at = kit.link.now() + rng.u64(..US);
    let kind = FaultKind::Cut { duration_ps: rng.u64(US..=30 * US) };
    kit.link.inject(at, from, WireFault { lane: Some(0), target: FaultTarget::Any, kind })
}

fn bit_error(kit: &mut Kit, rng: &mut Rng, from: Side) -> bool {
    let at = kit.link.now() + rng.u64(..US);
    let target = [FaultTarget::Any, FaultTarget::Fct, FaultTarget::Data, FaultTarget::EndMarker]
        [rng.u64(..4) as usize];
    kit.link.inject(at, from, WireFault { lane: None, target, kind: FaultKind::BitError })
}

/// Stops all faults and lets packets in flight end.
fn finish(kit: &mut Kit, traffic: &mut [Traffic; 2]) {
    for side in Side::BOTH {
        kit.link.set_bit_error_rate(side, None, 0.0);
    }
    let mut idle: Ps = 0;
    while idle < 200 * US {
        idle += US;
        for from in Side::BOTH {
            let flow = &mut traffic[from as usize];
            if flow.position < flow.words.len() {
                flow.write(kit.link.end(from), usize::MAX / 2);
                idle = 0;
            }
            let before = flow.received.len();
            flow.read(kit.link.end(from.other()), 8);
            if flow.received.len() != before || !kit.is_running() {
                idle = 0;
            }
        }
        kit.run(US);
        assert!(kit.link.now() < 1_000_000 * US, "does not end: {:?}", kit.log.events.last());
    }
}

/// Checks that every N-Char was sent or discarded, and that all sent ones arrived, except for those
/// in flight when the link failed: at most the credit each time.
fn conserve(kit: &mut Kit, from: Side, flow: &Traffic) {
    let sent = kit.link.end(from).counters().sent_words[0];
    let received = kit.link.end(from.other()).counters().received_words[0];
    assert_eq!(sent + kit.count(from, "N-Chars spilled"), flow.sent_n_chars);
    let falls = kit.count(from.other(), "runs") + kit.count(from, "runs");
    assert!(sent >= received && sent - received <= 56 * (falls - 2), "{sent} {received} {falls}");
    let got = n_chars(&flow.received).len() as u64;
    assert_eq!(got, received + kit.count(from.other(), "EEPs appended"));
}

#[test]
fn detected_errors_alter_and_lose_nothing_silently() {
    let mut falls = 0;
    for seed in seeds(24) {
        println!("seed {seed}");
        let (log, ..) = campaign(seed, 4_000);
        falls += log.errors(A).len() + log.errors(B).len();
    }
    println!("{falls} errors");
    assert!(falls > 100);
}

#[test]
fn the_same_seed_gives_the_same_link() {
    for seed in seeds(2) {
        println!("seed {seed}");
        let first = campaign(seed, 1_000);
        assert!(first == campaign(seed, 1_000));
        assert!(first != campaign(seed + 1, 1_000));
        assert!(!first.0.events.is_empty() && !first.0.characters.is_empty());
    }
}

/// SpaceWire may not detect some faults, so contents may change. Even so the link must come back,
/// and later packets must arrive.
#[test]
fn after_any_faults_the_link_works() {
    for seed in seeds(60) {
        println!("seed {seed}");
        let mut rng = Rng::with_seed(seed);
        let mbps = rng.u64(2..=400) as u32;
        let mut kit =
            Kit::running(SpaceWireConfig { seed, delay_ps: rng.u64(..US), ..config(mbps) });
        for _ in 0..rng.u64(1..=30) {
            let targets = [
                FaultTarget::Any,
                FaultTarget::Null,
                FaultTarget::Fct,
                FaultTarget::Data,
                FaultTarget::EndMarker,
            ];
            let kinds = [
                FaultKind::BitError,
                FaultKind::Burst { bits: rng.u64(..100) as u32 },
                FaultKind::Drop,
                FaultKind::Duplicate,
                FaultKind::Cut { duration_ps: rng.u64(..3 * US) },
            ];
            let at = kit.link.now() + rng.u64(..20 * US);
            let target = targets[rng.u64(..5) as usize];
            let kind = kinds[rng.u64(..5) as usize];
            let side = Side::BOTH[rng.u64(..2) as usize];
            assert!(kit.link.inject(at, side, WireFault { lane: None, target, kind }));
            kit.link.end(A).write(0, &packet(&body(rng.u64(..) as u32)));
            kit.link.end(B).write(0, &packet(&body(rng.u64(..) as u32)));
            kit.run(rng.u64(..30 * US));
            kit.read(A);
            kit.read(B);
        }
        // Lets pending faults find their characters, and their effects end.
        for _ in 0..40 {
            for side in Side::BOTH {
                kit.link.end(side).write(0, &packet(&[0; 12]));
                kit.read(side);
            }
            kit.run(40 * US);
        }
        for side in Side::BOTH {
            assert!(kit.link.end(side).command(EndCommand::InterfaceReset));
        }
        kit.run(US);
        kit.until_running();
        // The next packet ends the rests of truncated ones.
        for side in Side::BOTH {
            kit.write(side, &packet(&[0xff; 1]));
        }
        kit.run(100 * US);
        for side in Side::BOTH {
            kit.read(side);
        }
        for side in Side::BOTH {
            kit.write(side, &packet(&[1, 2, 3, 4, 5]));
            assert_eq!(kit.read_all(side.other()), packet(&[1, 2, 3, 4, 5]), "{side:?}");
        }
        assert!(kit.log.events.iter().any(|(.., event)| matches!(event, EndEvent::Fault { .. })));
    }
}
