//! SpaceWire links (50-12C), character by character.
//!
//! Both ends are ports of [`spfe_link::spacewire`]. Bits travel between them, each with its time to
//! the picosecond. A wrong or missing bit therefore has its real effect: a parity, escape, credit
//! or character sequence error, or a disconnect. An even number of wrong bits in a character can go
//! unnoticed, as in reality. The timers of the ports count nanoseconds. Data-strobe skew is not
//! modelled.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `unit` | one end: port, queues of words, commands, reports |
//! | `wire`, `chunk` | one direction: bits on the wire, the decoder at the far end |
//! | `disturb` | bit errors and other faults of a direction |
//! | [`words`] | conversion between N-Chars and words |
//! | `pace` | bit times without drift |
//! | `count` | counters |
//!
//! Faults change bits that leave the encoder. A dropped or duplicated character was encoded before,
//! so the parity of its neighbour may reveal it; if the parity matches, no link can detect it. A
//! cut without a target begins at its time, even within a character, and the transmitter continues
//! meanwhile.

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
use disturb::{CharacterFate, FaultInjector};
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{DecodedCharacter, SpaceWireState, SpaceWireTiming};
use std::fmt;
use std::ops::RangeInclusive;
use unit::SpaceWireUnit;
use wire::{CharacterWire, WireStep};

/// Signalling rates in Mbit/s.
pub const RATE_MBPS: RangeInclusive<u32> = 2..=1000;
/// Shortest delay: the drivers and receivers of both ends. Smaller values are raised to it. Nothing
/// arrives at the time it leaves.
pub const MIN_DELAY_PS: Ps = 5 * NS;
/// Longest delay: 2000 km of cable. Links fail to start long before that.
pub const MAX_DELAY_PS: Ps = 10 * MS;

/// Configuration of one end.
#[derive(Clone, Copy, Debug)]
pub struct SpaceWireEndConfig {
    /// Signalling rate in state Run, 2 to 1000 Mbit/s. It is 10 Mbit/s in all other states.
    pub rate_mbps: u32,
    /// Enable, LinkStart and AutoStart.
    pub control: SpaceWireControl,
    /// Timers; none may be 0. The limits of the standard are not enforced.
    pub timing: SpaceWireTiming,
    /// Size of the transmit queue in words, at least 1.
    pub transmit_words: usize,
    /// Size of the receive queue in words, at least 1. The port holds another 64 N-Chars.
    pub receive_words: usize,
    /// Whether broadcast codes of reserved types pass, for units that define the two upper bits
    /// themselves.
    pub any_code: bool,
}

impl SpaceWireEndConfig {
    /// An end that starts by itself, with nominal timers.
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

/// Configuration of a link.
#[derive(Clone, Copy, Debug)]
pub struct SpaceWireConfig {
    /// Number that observers see.
    pub id: u32,
    /// Delay of a bit, at least [`MIN_DELAY_PS`].
    pub delay_ps: Ps,
    /// Seed of the random faults; each link number has its own stream.
    pub seed: u64,
    /// Both ends.
    pub ends: [SpaceWireEndConfig; 2],
}

impl SpaceWireConfig {
    /// A link with two equal ends.
    pub fn new(id: u32, rate_mbps: u32) -> Self {
        Self { id, delay_ps: 0, seed: 0, ends: [SpaceWireEndConfig::new(rate_mbps); 2] }
    }
}

/// A configuration value that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceWireConfigError {
    /// A rate in Mbit/s.
    Rate(Side, u32),
    /// A timer of 0 ns.
    Timing(Side),
    /// A queue without room for a word.
    Words(Side),
    /// A delay that is too long, in ps.
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

/// A SpaceWire link with two ends.
pub struct SpaceWireLink {
    id: u32,
    units: [SpaceWireUnit; 2],
    /// The two directions, indexed by the sending end.
    wires: [CharacterWire; 2],
    disturbers: [FaultInjector; 2],
    /// Time of the link. It stands still while time is skipped.
    now: Ps,
    skipped: Ps,
    characters: u64,
    show_words: bool,
}

/// The next thing that is due.
#[derive(Clone, Copy, Debug)]
enum NextStep {
    Cut,
    Arrival,
    Timer,
    Transmit,
}

impl SpaceWireLink {
    /// A link with both ends in ErrorReset at time 0.
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
            disturbers: Side::BOTH.map(|side| FaultInjector::new(stream(side))),
            now: 0,
            skipped: 0,
            characters: 0,
            show_words: false,
        })
    }

    /// State of an end.
    pub fn state(&self, side: Side) -> SpaceWireState {
        self.units[side as usize].state()
    }

    /// Changes Enable, LinkStart and AutoStart of an end.
    pub fn set_control(&mut self, side: Side, control: SpaceWireControl) {
        self.units[side as usize].set_control(control);
    }

    /// The next event, with its time and end. Arrivals come first among events at the same time.
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

    /// A cut that begins at `before` or earlier.
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
        // Ends with the first character that is not dropped, because each dropped one uses up a
        // fault.
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

    /// Turns the wires of an end on or off after a change of its state.
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

    /// Does so for both ends, if their states have changed.
    #[inline]
    fn follow_both(&mut self, now: Ps) {
        // A change at one end can change the other end, and that the first again.
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
        // Applies commands given since the last call.
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

    fn restore(&mut self, from: Side, lane: Option<u8>) {
        if lane.unwrap_or(0) == 0 {
            self.disturbers[from as usize].restore();
            self.wires[from as usize].restore(self.now);
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
        self.disturbers.iter().all(FaultInjector::is_quiet)
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
