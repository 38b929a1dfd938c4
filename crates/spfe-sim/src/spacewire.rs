//! SpaceWire links (50-12C), character by character.
//!
//! Both ends are ports of [`spfe_link::spacewire`]; between them go bits, each at its time to the
//! picosecond, so that a wrong or missing bit is what it is in a laboratory: a parity, escape,
//! credit or character sequence error, a disconnect, or, with an even number of wrong bits in a
//! character, a wrong character, which SpaceWire does not see. The timers of the ports count
//! nanoseconds. Data-strobe skew is not modelled.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `unit` | an end: port, words that wait, commands, reports |
//! | `wire`, `chunk` | a direction: bits on their way, the decoder at the far end |
//! | `disturb` | bit errors and other faults of a direction |
//! | [`words`] | N-Chars as words and back |
//! | `pace` | bits at a rate without drift |
//! | `count` | counters |
//!
//! Faults happen to the bits that leave: a dropped or doubled character has been encoded before, so
//! the parity of its neighbour may show it. There is no way for a link to find a data character
//! that is missing with matching parity. A cut without a target begins at its time, amid a
//! character if need be; the wire goes on where it left off.

mod chunk;
mod count;
mod disturb;
mod pace;
#[cfg(test)]
mod tests;
mod unit;
mod wire;
pub mod words;

use crate::fault::WireFault;
use crate::link::{EndEvent, Observer, Side, SimulatedEnd, SimulatedLink};
use crate::rng;
use crate::time::{MS, NS, Ps};
use disturb::{CharacterFate, Disturber};
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{DecodedCharacter, SpaceWireState, SpaceWireTiming};
use std::fmt;
use std::ops::RangeInclusive;
use unit::SpaceWireUnit;
use wire::{CharacterWire, WireStep};

/// Rates in Mbit/s.
pub const RATE_MBPS: RangeInclusive<u32> = 2..=1000;
/// The shortest delay: drivers and receivers of the two ends. Less is taken as this; what leaves
/// at a time never arrives at the same time.
pub const MIN_DELAY_PS: Ps = 5 * NS;
/// The longest delay: 2000 km of cable. Links do not start over much less.
pub const MAX_DELAY_PS: Ps = 10 * MS;

/// How an end is made.
#[derive(Clone, Copy, Debug)]
pub struct SpaceWireEndConfig {
    /// Rate of its transmitter in Run, 2 to 1000 Mbit/s. Before, it is 10 Mbit/s.
    pub rate_mbps: u32,
    /// Enabled, LinkStart, AutoStart.
    pub control: SpaceWireControl,
    /// Its timers, none of them 0; the standard's limits are not enforced.
    pub timing: SpaceWireTiming,
    /// Words that may wait to be sent, at least 1.
    pub transmit_words: usize,
    /// Words that may wait to be read, at least 1, beside 64 N-Chars in the port.
    pub receive_words: usize,
    /// Broadcast codes of reserved types are sent and received, too: the unit gives the two upper
    /// bits a meaning of its own.
    pub any_code: bool,
}

impl SpaceWireEndConfig {
    /// Starts by itself, with nominal timers.
    pub fn new(rate_mbps: u32) -> Self {
        Self {
            rate_mbps,
            control: SpaceWireControl::default(),
            timing: SpaceWireTiming::NOMINAL,
            transmit_words: 64,
            receive_words: 64,
            any_code: false,
        }
    }
}

/// How a link is made.
#[derive(Clone, Copy, Debug)]
pub struct SpaceWireConfig {
    /// Its number, for those who look on.
    pub id: u32,
    /// Time a bit is on its way, at least [`MIN_DELAY_PS`].
    pub delay_ps: Ps,
    /// Its random numbers follow from this and from its number.
    pub seed: u64,
    /// Both ends.
    pub ends: [SpaceWireEndConfig; 2],
}

impl SpaceWireConfig {
    /// Both ends alike.
    pub fn new(id: u32, rate_mbps: u32) -> Self {
        Self { id, delay_ps: 0, seed: 0, ends: [SpaceWireEndConfig::new(rate_mbps); 2] }
    }
}

/// Why there cannot be such a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceWireConfigError {
    /// Mbit/s out of range.
    Rate(Side, u32),
    /// A timer of 0 ns.
    Timing(Side),
    /// No word may wait.
    Words(Side),
    /// The delay is too long.
    Delay(Ps),
}

impl fmt::Display for SpaceWireConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (RATE_MBPS.start(), RATE_MBPS.end());
        match self {
            Self::Rate(side, mbps) => write!(
                f,
                "SpaceWire end {side:?}: rate of {mbps} Mbit/s; give {first} to {last} Mbit/s"
            ),
            Self::Timing(side) => {
                write!(f, "SpaceWire end {side:?}: a timer of 0 ns; give at least 1 ns")
            }
            Self::Words(side) => {
                write!(f, "SpaceWire end {side:?}: a buffer of 0 words; give at least 1 word")
            }
            Self::Delay(ps) => {
                write!(f, "SpaceWire link: delay of {ps} ps; give at most {MAX_DELAY_PS} ps")
            }
        }
    }
}

impl std::error::Error for SpaceWireConfigError {}

/// A link.
pub struct SpaceWireLink {
    id: u32,
    units: [SpaceWireUnit; 2],
    /// By the end that sends.
    wires: [CharacterWire; 2],
    disturbers: [Disturber; 2],
    /// Time of the link: it stands still while time is left out.
    now: Ps,
    skipped: Ps,
    characters: u64,
    show_words: bool,
}

/// What is due at an end.
#[derive(Clone, Copy, Debug)]
enum NextStep {
    Cut,
    Arrival,
    Timer,
    Transmit,
}

impl SpaceWireLink {
    /// A link, both ends in ErrorReset at time 0.
    pub fn new(config: SpaceWireConfig) -> Result<Self, SpaceWireConfigError> {
        for (side, end) in Side::BOTH.into_iter().zip(&config.ends) {
            let SpaceWireTiming { reset_ns, wait_ns, disconnect_ns } = end.timing;
            if !RATE_MBPS.contains(&end.rate_mbps) {
                return Err(SpaceWireConfigError::Rate(side, end.rate_mbps));
            }
            if [reset_ns, wait_ns, disconnect_ns].contains(&0) {
                return Err(SpaceWireConfigError::Timing(side));
            }
            if end.transmit_words == 0 || end.receive_words == 0 {
                return Err(SpaceWireConfigError::Words(side));
            }
        }
        if config.delay_ps > MAX_DELAY_PS {
            return Err(SpaceWireConfigError::Delay(config.delay_ps));
        }
        let [a, b] = &config.ends;
        let delay_ps = config.delay_ps.max(MIN_DELAY_PS);
        let stream = |side| rng::stream(config.seed, &format!("SpaceWire {} {side:?}", config.id));
        Ok(Self {
            id: config.id,
            units: [SpaceWireUnit::new(a, b), SpaceWireUnit::new(b, a)],
            wires: [CharacterWire::new(delay_ps), CharacterWire::new(delay_ps)],
            disturbers: Side::BOTH.map(|side| Disturber::new(stream(side))),
            now: 0,
            skipped: 0,
            characters: 0,
            show_words: false,
        })
    }

    /// The state at an end.
    pub fn state(&self, side: Side) -> SpaceWireState {
        self.units[side as usize].state()
    }

    /// Management asks for something else at an end.
    pub fn set_control(&mut self, side: Side, control: SpaceWireControl) {
        self.units[side as usize].set_control(control);
    }

    /// What is due next, and when. At the same time what arrives goes first.
    #[inline]
    fn next(&self) -> (Ps, usize, NextStep) {
        let [a, b] = &self.units;
        let arrival = [self.wires[1].next_at(), self.wires[0].next_at()];
        let timer = [a.timer_at, b.timer_at];
        let transmit = [a.transmit_at, b.transmit_at];
        let first = |pair: [Ps; 2]| pair[0].min(pair[1]);
        let at = first(arrival).min(first(timer)).min(first(transmit));
        let (pair, due) = if first(arrival) == at {
            (arrival, NextStep::Arrival)
        } else if first(timer) == at {
            (timer, NextStep::Timer)
        } else {
            (transmit, NextStep::Transmit)
        };
        (at, usize::from(pair[0] != at), due)
    }

    /// A cut that begins before, or with, what is due.
    fn next_cut(&self, before: Ps) -> Option<(Ps, usize, NextStep)> {
        let cut =
            |side: usize| self.disturbers[side].next_cut().map(|at| (at, side, NextStep::Cut));
        let first = [cut(0), cut(1)].into_iter().flatten().min_by_key(|(at, ..)| *at);
        first.filter(|(at, ..)| *at <= before)
    }

    fn arrival(&mut self, side: usize, now: Ps, observer: &mut dyn Observer) {
        let unit = &mut self.units[side];
        match self.wires[1 - side].step() {
            WireStep::Nothing => {}
            WireStep::Edge(at) => unit.edge(at),
            WireStep::Received(received) => {
                unit.receive(now, received);
                if self.show_words
                    && let DecodedCharacter::Character(character) = received
                {
                    observer.character(now + self.skipped, self.id, SIDES[side], character);
                }
            }
        }
    }

    fn transmit(&mut self, side: usize, now: Ps) {
        // Ends with the first character that is not dropped: each takes a fault.
        while let Some(mut chunk) = self.units[side].transmit(now) {
            self.characters += 1;
            let (unit, wire) = (&mut self.units[side], &mut self.wires[side]);
            let report = |fault| unit.report(now, EndEvent::Fault { lane: 0, fault });
            match self.disturbers[side].pass(&mut chunk, report) {
                CharacterFate::Send => {}
                CharacterFate::Drop => {
                    unit.repeat(&chunk, 0);
                    continue;
                }
                CharacterFate::Twice => {
                    wire.push(chunk);
                    chunk.at = unit.transmit_at;
                    unit.repeat(&chunk, 1);
                }
                CharacterFate::Cut(duration_ps) => self.cut(side, now, duration_ps),
            }
            self.wires[side].push(chunk);
            return;
        }
    }

    fn cut(&mut self, side: usize, now: Ps, duration_ps: Ps) {
        if let Some(at) = self.wires[side].cut(now, duration_ps) {
            self.units[1 - side].edge(at);
        }
    }

    /// The state of an end has changed.
    #[cold]
    fn follow(&mut self, side: usize, now: Ps) {
        let fell = self.units[side].follow(now);
        let on = self.units[side].state() != SpaceWireState::ErrorReset;
        if fell && let Some(at) = self.wires[side].stop(now) {
            self.units[1 - side].edge(at);
        }
        let ear = &mut self.wires[1 - side];
        if fell || on != ear.listens() {
            ear.listen(now, on);
        }
    }

    /// Follows both ends, if they have changed.
    #[inline]
    fn follow_both(&mut self, now: Ps) {
        // What one does may change the other, and that in turn the first.
        for side in [0, 1, 0] {
            if self.units[side].has_changed() {
                self.follow(side, now);
            }
        }
    }

    #[inline]
    fn show(&mut self, observer: &mut dyn Observer) {
        for (side, unit) in SIDES.into_iter().zip(&mut self.units) {
            if !unit.events.is_empty() {
                unit.events.drain(..).for_each(|(at, event)| {
                    observer.event(at, self.id, side, event);
                });
            }
        }
    }
}

const SIDES: [Side; 2] = Side::BOTH;

impl SimulatedLink for SpaceWireLink {
    fn run(&mut self, until: Ps, observer: &mut dyn Observer) {
        let until = until.saturating_sub(self.skipped);
        // Commands since the last time.
        self.follow_both(self.now);
        self.show(observer);
        let cuts = self.disturbers.iter().any(|disturber| disturber.next_cut().is_some());
        loop {
            let mut next = self.next();
            if cuts && let Some(cut) = self.next_cut(next.0) {
                next = cut;
            }
            let (at, side, due) = next;
            if at >= until {
                break;
            }
            match due {
                NextStep::Arrival => self.arrival(side, at, observer),
                NextStep::Timer => self.units[side].poll(at),
                NextStep::Transmit => self.transmit(side, at),
                NextStep::Cut => {
                    if let Some((fault, duration_ps)) = self.disturbers[side].take_cut(at) {
                        self.units[side].report(at, EndEvent::Fault { lane: 0, fault });
                        self.cut(side, at, duration_ps);
                    }
                }
            }
            self.follow_both(at);
            self.show(observer);
        }
        self.now = self.now.max(until);
        let now = self.now;
        self.units.iter_mut().for_each(|unit| unit.settle(now));
    }

    fn now(&self) -> Ps {
        self.now + self.skipped
    }

    fn end(&mut self, side: Side) -> &mut dyn SimulatedEnd {
        &mut self.units[side as usize]
    }

    fn inject(&mut self, at: Ps, from: Side, fault: WireFault) -> bool {
        let local = at.checked_sub(self.skipped).filter(|at| *at >= self.now);
        local.is_some_and(|at| self.disturbers[from as usize].inject(at, fault))
    }

    fn set_bit_error_rate(&mut self, from: Side, lane: Option<u8>, rate: f64) {
        if lane.unwrap_or(0) == 0 {
            self.disturbers[from as usize].set_rate(rate);
        }
    }

    fn show_words(&mut self, on: bool) {
        self.show_words = on;
    }

    fn words(&self) -> u64 {
        self.characters
    }

    fn is_quiet(&self) -> bool {
        let running = self.units.iter().all(|unit| unit.state() == SpaceWireState::Run);
        let still = |wire: &CharacterWire| if running { wire.is_quiet() } else { wire.is_silent() };
        self.disturbers.iter().all(Disturber::is_quiet)
            && self.wires.iter().all(still)
            && self.units.iter().all(|unit| unit.is_quiet() && !unit.has_changed())
    }

    fn skip_to(&mut self, time: Ps) {
        self.follow_both(self.now);
        self.skipped += time.saturating_sub(self.now());
        let skipped = self.skipped;
        self.units.iter_mut().for_each(|unit| unit.skipped = skipped);
    }
}
