//! Two ports joined by a cable, in steps of 5 ns.

use spfe_link::spacewire::ds::DsSignals;
use spfe_link::spacewire::port::START_RATE_BPS;
use spfe_link::spacewire::serial::SerialPort;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter, SpaceWirePort, SpaceWireState,
    SpaceWireTiming,
};
use std::collections::VecDeque;

pub const STEP_NS: u64 = 5;

/// Events on the cable; each is stored with its time of arrival.
enum Event {
    Signal { until_ns: u64 },
    Silence,
    Character(SpaceWireCharacter),
}

pub struct Side<const TX: usize, const RX: usize> {
    pub port: SpaceWirePort<TX, RX>,
    pub codes: Vec<BroadcastCode>,
    /// Characters received.
    pub seen: Vec<SpaceWireCharacter>,
    cable: VecDeque<(u64, Event)>,
    free_ps: u64,
}

/// Two ports joined character by character.
pub struct Pair<const TX: usize, const RX: usize> {
    pub now_ns: u64,
    pub delay_ns: u64,
    pub cut: bool,
    pub sides: [Side<TX, RX>; 2],
}

pub fn port<const TX: usize, const RX: usize>(rate_bps: u64) -> SpaceWirePort<TX, RX> {
    SpaceWirePort::new(0, SpaceWireControl::default(), SpaceWireTiming::NOMINAL, rate_bps)
}

impl<const TX: usize, const RX: usize> Pair<TX, RX> {
    pub fn new(rates_bps: [u64; 2]) -> Self {
        let side = |rate_bps| Side {
            port: port(rate_bps),
            codes: Vec::new(),
            seen: Vec::new(),
            cable: VecDeque::new(),
            free_ps: 0,
        };
        Self { now_ns: 0, delay_ns: 20, cut: false, sides: rates_bps.map(side) }
    }

    /// A pair with both sides in Run.
    pub fn running(rates_bps: [u64; 2]) -> Self {
        let mut pair = Self::new(rates_bps);
        pair.until(|pair| pair.both(SpaceWireState::Run));
        pair
    }

    pub fn both(&self, state: SpaceWireState) -> bool {
        self.sides.iter().all(|side| side.port.state() == state)
    }

    pub fn step(&mut self) {
        for from in 0..2 {
            self.send(from);
        }
        for side in &mut self.sides {
            side.port.poll(self.now_ns);
            while side.cable.front().is_some_and(|(at_ns, _)| *at_ns <= self.now_ns) {
                match side.cable.pop_front().unwrap().1 {
                    Event::Signal { until_ns } => side.port.signal(self.now_ns, until_ns),
                    Event::Silence => side.port.silence(self.now_ns),
                    Event::Character(character) => {
                        side.seen.push(character);
                        let received = DecodedCharacter::Character(character);
                        side.codes.extend(side.port.receive(self.now_ns, received));
                    }
                }
            }
        }
        self.now_ns += STEP_NS;
    }

    fn send(&mut self, from: usize) {
        let now_ns = self.now_ns;
        let side = &mut self.sides[from];
        side.port.poll(now_ns);
        if !side.port.transmits() {
            // Characters that are not complete yet are lost.
            let limit_ns = now_ns + self.delay_ns;
            self.sides[1 - from].cable.retain(|(at_ns, _)| *at_ns <= limit_ns);
            if self.sides[from].free_ps > now_ns * 1000 {
                self.sides[1 - from].cable.push_back((limit_ns, Event::Silence));
            }
            self.sides[from].free_ps = now_ns * 1000;
        }
        let side = &mut self.sides[from];
        if now_ns * 1000 < side.free_ps {
            return;
        }
        let Some(character) = side.port.transmit(now_ns) else { return };
        side.free_ps += side.port.character_ps(character);
        let end_ns = side.free_ps / 1000 + self.delay_ns;
        if !self.cut {
            let cable = &mut self.sides[1 - from].cable;
            cable.push_back((now_ns + self.delay_ns, Event::Signal { until_ns: end_ns }));
            cable.push_back((end_ns, Event::Character(character)));
        }
    }

    pub fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..2_000_000 {
            if done(self) {
                return;
            }
            self.step();
        }
        panic!("not done at {} ns", self.now_ns);
    }

    pub fn run_ns(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        self.until(|pair| pair.now_ns >= end_ns);
    }

    /// Delivers a character or error to a side, out of turn.
    pub fn inject(&mut self, to: usize, received: DecodedCharacter) {
        let now_ns = self.now_ns;
        self.sides[to].port.receive(now_ns, received);
    }
}

/// Two ports joined bit by bit. Both start at the same time.
pub struct Wires {
    pub now_ns: u64,
    pub cut: bool,
    pub sides: [SerialPort<64, 64>; 2],
    pub codes: [Vec<BroadcastCode>; 2],
    /// Signals of side 0 at each change, with the time.
    pub trace: Vec<(u64, DsSignals)>,
    free_ps: [u64; 2],
}

impl Wires {
    pub fn new(rates_bps: [u64; 2]) -> Self {
        Self {
            now_ns: 0,
            cut: false,
            sides: rates_bps.map(|rate_bps| SerialPort::new(port(rate_bps))),
            codes: [Vec::new(), Vec::new()],
            trace: vec![(0, DsSignals::default())],
            free_ps: [0; 2],
        }
    }

    pub fn running() -> Self {
        let mut wires = Self::new([START_RATE_BPS; 2]);
        wires.until(|wires| wires.both(SpaceWireState::Run));
        wires
    }

    pub fn both(&self, state: SpaceWireState) -> bool {
        self.sides.iter().all(|side| side.port.state() == state)
    }

    pub fn step(&mut self) {
        for from in 0..2 {
            if self.now_ns * 1000 < self.free_ps[from] {
                continue;
            }
            let signals = self.sides[from].transmit(self.now_ns);
            if from == 0 && self.trace.last().is_some_and(|(_, last)| *last != signals) {
                self.trace.push((self.now_ns, signals));
            }

            self.free_ps[from] += self.sides[from].port.bit_ps();
            if !self.cut {
                let code = self.sides[1 - from].receive(self.now_ns, signals);
                self.codes[1 - from].extend(code);
            }
        }
        for side in &mut self.sides {
            side.port.poll(self.now_ns);
        }
        self.now_ns += STEP_NS;
    }

    pub fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..2_000_000 {
            if done(self) {
                return;
            }
            self.step();
        }
        panic!("not done at {} ns", self.now_ns);
    }

    pub fn run_ns(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        self.until(|wires| wires.now_ns >= end_ns);
    }
}

pub fn drain<const TX: usize, const RX: usize>(port: &mut SpaceWirePort<TX, RX>) -> Vec<NChar> {
    std::iter::from_fn(|| port.pop()).collect()
}

pub fn push<const TX: usize, const RX: usize>(port: &mut SpaceWirePort<TX, RX>, n_chars: &[NChar]) {
    for n_char in n_chars {
        assert!(port.push(*n_char));
    }
}

pub fn packet(data: &[u8]) -> Vec<NChar> {
    data.iter().map(|byte| NChar::Data(*byte)).chain([NChar::Eop]).collect()
}
