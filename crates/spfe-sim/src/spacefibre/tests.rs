//! What links put on their wires, bit by bit, compared with recorded traces.
//!
//! Each trace is a link with random traffic, commands and faults. It keeps a checksum of every group
//! on every wire, of all that users read, and of all events. `golden.txt` holds the checksums of the
//! first implementation, which went through all layers for each single word. A link whose words are
//! shown still does, and has to give the same checksums in other traces, too.

use super::*;
use crate::fault::{EndCommand, FOREVER};
use crate::time::US;
use fastrand::Rng;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::word::k;
use std::fmt::Write;

/// The traces: number of lanes, clock offset of the second end, what happens, and word periods.
const TRACES: [(u8, i32, Trouble, u32); 24] = [
    (1, 0, Trouble::None, 30_000),
    (1, 0, Trouble::Faults, 60_000),
    (1, 0, Trouble::Errors, 60_000),
    (1, 0, Trouble::Commands, 60_000),
    (1, 50_000, Trouble::None, 60_000),
    (1, -200_000, Trouble::None, 60_000),
    (1, 50_000, Trouble::Faults, 60_000),
    (1, 20_000, Trouble::Errors, 60_000),
    (1, -90_000, Trouble::Commands, 60_000),
    (2, 0, Trouble::None, 30_000),
    (2, 0, Trouble::Faults, 60_000),
    (2, 7_000, Trouble::Commands, 60_000),
    (3, 0, Trouble::None, 20_000),
    (3, 60_000, Trouble::Faults, 40_000),
    (4, 0, Trouble::None, 20_000),
    (4, 100_000, Trouble::None, 30_000),
    (4, 0, Trouble::Faults, 40_000),
    (4, 0, Trouble::Errors, 40_000),
    (4, -3_000, Trouble::Commands, 40_000),
    (7, 0, Trouble::None, 10_000),
    (8, 30_000, Trouble::Faults, 20_000),
    (11, 0, Trouble::Faults, 20_000),
    (16, 0, Trouble::None, 10_000),
    (16, 80_000, Trouble::Errors, 20_000),
];

/// What goes wrong in a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    None,
    Faults,
    Errors,
    Commands,
}

/// FNV-1a over 64-bit values.
#[derive(Clone, Copy)]
struct Sum(u64);

impl Sum {
    const NEW: Self = Self(0xcbf2_9ce4_8422_2325);

    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }
}

impl Observer for Sum {
    fn event(&mut self, at: Ps, _: u32, side: Side, event: EndEvent) {
        self.add(at << 1 | side as u64);
        format!("{event:?}").bytes().for_each(|byte| self.add(byte.into()));
    }
}

/// Does to a link what its seed says.
struct Script<const L: usize> {
    link: SpaceFibreLink<L>,
    rng: Rng,
    trouble: Trouble,
    wires: Sum,
    users: Sum,
    events: Sum,
    /// States of the lanes and their counters of errors. They are not in the recorded traces.
    lanes: Sum,
    read: u64,
}

impl<const L: usize> Script<L> {
    fn new(number: usize, seed: u64) -> Self {
        let (lanes, ppb, trouble, _) = TRACES[number];
        let mut rng = Rng::with_seed(seed);
        let mut config = SpaceFibreConfig::new(lanes, 6250);
        config.ends[1].clock_ppb = ppb;
        config.seed = rng.u64(..);
        config.delay_ps = [0, 10_000, 50_000, 300_000, 3_000_000][rng.usize(..5)];
        config.scrambled = rng.u8(..4) != 0;
        if rng.bool() {
            config.skew_bits = (0..lanes).map(|_| rng.u32(..60)).collect();
        }
        if lanes > 2 && rng.bool() {
            config.max_data_sending = lanes - 1;
        }
        let link = SpaceFibreLink::new(&config, None).unwrap();
        let new = Sum::NEW;
        let (wires, users, events, lanes) = (new, new, new, new);
        Self { link, rng, trouble, wires, users, events, lanes, read: 0 }
    }

    fn word(&mut self) -> Word {
        match self.rng.u8(..60) {
            0 => Word::from_symbols([k::EOP, k::FILL, k::FILL, k::FILL], 0xf),
            1 => Word::from_symbols([self.rng.u8(..), k::EEP, k::FILL, k::FILL], 0xe),
            2 => Word::from_symbols([self.rng.u8(..), k::FILL, 1, self.rng.u8(..)], 0x2),
            3 if self.trouble == Trouble::Faults => Word::control(self.rng.u32(..)),
            _ => Word::data(self.rng.u32(..)),
        }
    }

    /// Writes and reads as users do: mostly as much as fits.
    fn use_end(&mut self, side: Side, busy: bool) {
        let channel = self.rng.usize(..if busy { 3 } else { 8 });
        if busy || self.rng.u8(..8) == 0 {
            let count = self.rng.usize(..90);
            let words: Vec<Word> = (0..count).map(|_| self.word()).collect();
            let taken = self.link.end(side).write(channel, &words);
            self.users.add(taken as u64);
        }
        if self.rng.u8(..40) == 0 {
            let message = LinkBroadcast {
                channel: self.rng.u8(..),
                kind: self.rng.u8(..),
                data: self.rng.u64(..).to_le_bytes(),
                ..LinkBroadcast::default()
            };
            let sent = self.link.end(side).send_broadcast(message);
            self.users.add(u64::from(sent));
        }
        if self.rng.u8(..200) == 0 {
            let slot = self.rng.u8(..64);
            self.link.end(side).schedule(slot);
        }
        if self.rng.u8(..8) == 0 {
            return;
        }
        let mut waiting = self.link.end(side).waiting();
        while waiting != 0 {
            let vc = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let mut words = [Word::default(); 96];
            let most = self.rng.usize(1..96);
            let count = self.link.end(side).read(vc, &mut words[..most]);
            self.read += count as u64;
            for word in &words[..count] {
                self.users.add((vc as u64) << 40 | u64::from(word.k) << 32 | u64::from(word.bits));
            }
        }
        while let Some(message) = self.link.end(side).receive_broadcast() {
            format!("{message:?}").bytes().for_each(|byte| self.users.add(byte.into()));
        }
    }

    fn fault(&mut self) {
        let side = if self.rng.bool() { Side::A } else { Side::B };
        let kind = match self.rng.u8(..12) {
            0..=4 => FaultKind::BitError,
            5 => FaultKind::Burst { bits: self.rng.u32(1..100) },
            6 => FaultKind::Drop,
            7 => FaultKind::Duplicate,
            8 => FaultKind::Reorder,
            9 => FaultKind::Cut { duration_ps: self.rng.u64(1..US) },
            10 => FaultKind::PolaritySwap,
            _ => FaultKind::Skew { bits: self.rng.i32(-30..50) },
        };
        let target = match self.rng.u8(..10) {
            0 => FaultTarget::Ack,
            1 => FaultTarget::Fct,
            2 => FaultTarget::Sdf,
            3 => FaultTarget::Edf,
            4 => FaultTarget::Sbf,
            5 => FaultTarget::Sif,
            6 => FaultTarget::Nack,
            _ => FaultTarget::Any,
        };
        let lane = self.rng.bool().then(|| self.rng.u8(..self.link.lanes as u8));
        let at = self.link.now + self.rng.u64(..100_000);
        let done = self.link.inject(at, side, WireFault { lane, target, kind });
        self.users.add(u64::from(done));
    }

    fn command(&mut self) {
        let side = if self.rng.bool() { Side::A } else { Side::B };
        let lane = self.rng.bool().then(|| self.rng.u8(..self.link.lanes as u8));
        let on = self.rng.bool();
        let command = match self.rng.u8(..6) {
            0 => EndCommand::LinkReset,
            1 => EndCommand::InterfaceReset,
            2 | 3 => EndCommand::LaneReset(lane),
            4 => EndCommand::LaneStart(lane, on),
            _ => EndCommand::AutoStart(lane, on),
        };
        self.link.end(side).command(command);
        // Otherwise most lanes soon stay off.
        self.link.end(side).command(EndCommand::LaneStart(None, true));
    }

    fn trouble(&mut self) {
        match self.trouble {
            Trouble::None => {}
            Trouble::Faults if self.rng.u8(..120) == 0 => self.fault(),
            Trouble::Faults if self.rng.u16(..1000) == 0 => {
                self.link.inject(
                    self.link.now,
                    Side::A,
                    WireFault {
                        lane: Some(0),
                        target: FaultTarget::Any,
                        kind: FaultKind::Stuck { high: true, duration_ps: FOREVER },
                    },
                );
            }
            Trouble::Faults if self.rng.u16(..300) == 0 => {
                Side::BOTH.into_iter().for_each(|side| self.link.restore(side, None));
            }
            Trouble::Errors if self.rng.u16(..500) == 0 => {
                let rate = [0.0, 1e-6, 1e-5, 1e-4][self.rng.usize(..4)];
                self.link.set_bit_error_rate(Side::B, None, rate);
            }
            Trouble::Commands if self.rng.u16(..700) == 0 => self.command(),
            _ => {}
        }
    }

    /// Runs for at most 40 word periods, and adds what the ends sent to the checksum.
    fn step(&mut self, periods: u64) {
        let before = [0, 1].map(|side| self.link.clocks[side].count());
        let until = self.link.now + periods * 6400;
        self.link.run(until, &mut self.events);
        for (side, before) in before.into_iter().enumerate() {
            let sent = (self.link.clocks[side].count() - before) as usize;
            for wire in &self.link.wires[side] {
                (1..=sent).rev().for_each(|back| self.wires.add(wire.sent(back)));
            }
            let Some(end) = self.link.ends[side].exact() else { continue };
            for lane in end.lanes.lanes() {
                self.lanes.add((lane.state() as u64) << 8 | u64::from(lane.status().rxerr_count));
            }
        }
    }

    fn run(&mut self, periods: u32) {
        let (mut left, mut busy) = (u64::from(periods), true);
        while left != 0 {
            let step = self.rng.u64(1..=40).min(left);
            left -= step;
            self.step(step);
            if self.rng.u8(..250) == 0 {
                busy = !busy;
            }
            Side::BOTH.into_iter().for_each(|side| self.use_end(side, busy));
            self.trouble();
        }
        for side in Side::BOTH {
            let counters = format!("{:?}", self.link.end(side).counters());
            counters.bytes().for_each(|byte| self.users.add(byte.into()));
        }
    }

    /// The trace in a line, and the checksum of the lanes.
    fn line(number: usize, seed: u64, one_by_one: bool) -> (String, u64) {
        let (lanes, ppb, trouble, periods) = TRACES[number];
        let mut script = Self::new(number, seed);
        script.link.show_words(one_by_one);
        script.run(periods);
        let Self { wires, users, events, read, .. } = script;
        let line = format!(
            "{lanes} lanes {ppb} ppb {trouble:?}: {read} words read, wires {:016x}, users {:016x}, \
             events {:016x}",
            wires.0, users.0, events.0
        );
        (line, script.lanes.0)
    }
}

fn line(number: usize, seed: u64, one_by_one: bool) -> (String, u64) {
    match TRACES[number].0 {
        1 => Script::<1>::line(number, seed, one_by_one),
        2 => Script::<2>::line(number, seed, one_by_one),
        3..=4 => Script::<4>::line(number, seed, one_by_one),
        5..=8 => Script::<8>::line(number, seed, one_by_one),
        _ => Script::<16>::line(number, seed, one_by_one),
    }
}

/// The recorded traces have their number for a seed, from 1.
fn recorded(number: usize) -> String {
    line(number, number as u64 + 1, false).0
}

/// All traces with another seed. Without bursts, words go one by one.
#[test]
fn bursts_send_the_same_words_as_single_steps() {
    for number in 0..TRACES.len() {
        let seed = 100 + number as u64;
        let (burst, single) = (line(number, seed, false), line(number, seed, true));
        assert_eq!(burst, single, "trace {number} with seed {seed}");
    }
}

/// Writes the traces, for a change of what links do.
#[test]
#[ignore = "prints golden.txt"]
fn record() {
    let mut all = String::new();
    for number in 0..TRACES.len() {
        writeln!(all, "{}", recorded(number)).unwrap();
    }
    print!("{all}");
}

#[test]
fn links_send_the_recorded_words() {
    let golden: Vec<&str> = include_str!("golden.txt").lines().collect();
    assert_eq!(golden.len(), TRACES.len());
    for (number, golden) in golden.into_iter().enumerate() {
        assert_eq!(recorded(number), golden, "trace {number}");
    }
}
