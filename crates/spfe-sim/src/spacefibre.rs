//! A SpaceFibre link of 1 to 16 lanes, symbol by symbol.
//!
//! In each word period of an end, the data link layer produces a row, the multi-lane layer turns it
//! into words, and 8b/10b coding turns those into bits on one [`LaneWire`] per lane. The other end
//! does the same in reverse. Where the clocks of the ends differ, an elastic buffer per lane
//! compensates.

mod burst;
mod config;
mod end;
mod foreign;
mod watch;

pub use config::{BufferSizes, SpaceFibreConfig, SpaceFibreConfigError, SpaceFibreEndConfig};
pub use end::{GrowingWords, SpaceFibreEnd};

use crate::fault::{FaultKind, FaultTarget, WireFault};
use crate::foreign::FarStream;
use crate::link::{self, EndEvent, Observer, Side, SimulatedLink};
use crate::time::{Ps, WordClock};
use crate::wire::{self, LaneWire, SILENCE};
use foreign::ForeignSide;
use spfe_link::ControlWord;
use spfe_link::word::Word;
use std::time::Duration;
use watch::RecoveryWatch;

/// A fault to apply at a time, or at the first matching word after it.
#[derive(Clone, Copy, Debug)]
struct PlannedFault {
    at: Ps,
    from: Side,
    fault: WireFault,
}

/// Creates a link.
pub fn new(config: &SpaceFibreConfig) -> Result<Box<dyn SimulatedLink>, SpaceFibreConfigError> {
    make(config, None)
}

/// Creates a link with a foreign end. The words of a message add to the delay of the cable in each
/// direction.
pub fn with_foreign_end(
    config: &SpaceFibreConfig,
    side: Side,
    stream: Box<dyn FarStream>,
) -> Result<Box<dyn SimulatedLink>, SpaceFibreConfigError> {
    let lanes = stream.lanes();
    if lanes != usize::from(config.lanes) {
        return Err(SpaceFibreConfigError::ForeignLanes { lanes: config.lanes, stream: lanes });
    }
    let [a, b] = config.ends.map(|end| end.clock_ppb);
    if a != b {
        return Err(SpaceFibreConfigError::ForeignClock(a, b));
    }
    make(config, Some((side, stream)))
}

/// The end of a link that is foreign, and its stream.
type ForeignPlace = Option<(Side, Box<dyn FarStream>)>;

fn make(
    config: &SpaceFibreConfig,
    foreign: ForeignPlace,
) -> Result<Box<dyn SimulatedLink>, SpaceFibreConfigError> {
    match config.lanes {
        0 => Err(SpaceFibreConfigError::Lanes(0)),
        1 => SpaceFibreLink::<1>::boxed(config, foreign),
        2 => SpaceFibreLink::<2>::boxed(config, foreign),
        3..=4 => SpaceFibreLink::<4>::boxed(config, foreign),
        5..=8 => SpaceFibreLink::<8>::boxed(config, foreign),
        _ => SpaceFibreLink::<16>::boxed(config, foreign),
    }
}

/// One end of a link.
#[expect(clippy::large_enum_variant, reason = "few links exist, and nearly all ends are exact")]
enum LinkEnd<const L: usize> {
    Exact(SpaceFibreEnd<L>),
    Foreign(Box<ForeignSide<L>>),
}

impl<const L: usize> LinkEnd<L> {
    #[inline(always)]
    fn transmit(&mut self) -> [u64; L] {
        match self {
            Self::Exact(end) => end.transmit_groups(),
            Self::Foreign(end) => end.transmit(),
        }
    }

    #[inline(always)]
    fn receive(&mut self, groups: &[u64; L]) {
        match self {
            Self::Exact(end) => end.receive(groups),
            Self::Foreign(end) => end.receive(groups),
        }
    }

    /// The end, unless it is foreign.
    #[inline(always)]
    const fn exact(&mut self) -> Option<&mut SpaceFibreEnd<L>> {
        match self {
            Self::Exact(end) => Some(end),
            Self::Foreign(_) => None,
        }
    }

    /// Word that a lane sent in this word period.
    fn sent(&self, lane: usize) -> Option<Word> {
        match self {
            Self::Exact(end) => end.lanes.lanes()[lane].sent(),
            Self::Foreign(end) => end.sent(lane),
        }
    }

    /// Word that a lane's decoder delivered in this word period.
    fn line(&self, lane: usize) -> Option<Word> {
        match self {
            Self::Exact(end) => end.lanes.lanes()[lane].line(),
            Self::Foreign(end) => end.line(lane),
        }
    }
}

/// A link with capacity for `L` lanes. Unused lanes stay in reset.
struct SpaceFibreLink<const L: usize> {
    id: u32,
    /// Number of lanes in use.
    lanes: usize,
    ends: [LinkEnd<L>; 2],
    /// `wires[side][lane]` leads from that end to the other.
    wires: [[LaneWire; L]; 2],
    clocks: [WordClock; 2],
    /// Both ends run from the same clock.
    locked: bool,
    now: Ps,
    /// The end whose word period is next, where the clocks differ.
    turn: Side,
    /// Faults for later, in the order of their times.
    planned: Vec<PlannedFault>,
    /// Faults that are due and wait for a matching word.
    armed: Vec<PlannedFault>,
    watch: RecoveryWatch<L>,
    /// Word periods until the ends are checked for events again, at least 1.
    patience: u64,
    show_words: bool,
    /// Words sent on all lanes in both directions.
    words: u64,
}

impl<const L: usize> SpaceFibreLink<L> {
    /// Allocates the link on the heap. Each number of lanes has a function of its own, because one
    /// function with all variants would need the stack of all of them together.
    #[inline(never)]
    fn boxed(
        config: &SpaceFibreConfig,
        foreign: ForeignPlace,
    ) -> Result<Box<dyn SimulatedLink>, SpaceFibreConfigError> {
        Ok(Box::new(Self::new(config, foreign)?))
    }

    fn new(
        config: &SpaceFibreConfig,
        foreign: ForeignPlace,
    ) -> Result<Self, SpaceFibreConfigError> {
        config.check()?;
        let clock = |end: &SpaceFibreEndConfig| WordClock::new(config.mbps, end.clock_ppb);
        let clocks = [clock(&config.ends[0]), clock(&config.ends[1])];
        let delay = wire::SHORTEST + wire::periods(config.delay_ps, &clocks[0]) as usize;
        let wires = [0, 1].map(|side| {
            core::array::from_fn(|lane| {
                let bits = config.skew_bits.get(lane).copied().unwrap_or(0);
                let seed =
                    config.seed ^ (side << 8 | lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                LaneWire::new(delay, bits, seed)
            })
        });
        let locked = config.ends[0].clock_ppb == config.ends[1].clock_ppb;
        let message = foreign.as_ref().map_or(0, |(_, stream)| stream.words());
        let round_trip = 2 * (delay + message);
        let end = |of: &SpaceFibreEndConfig| {
            Ok(LinkEnd::Exact(SpaceFibreEnd::new(config, of, round_trip, locked)?))
        };
        let ends = match foreign {
            None => [end(&config.ends[0])?, end(&config.ends[1])?],
            Some((side, stream)) => {
                let foreign = LinkEnd::Foreign(Box::new(ForeignSide::new(stream)));
                let near = end(&config.ends[side.other() as usize])?;
                if side == Side::A { [foreign, near] } else { [near, foreign] }
            }
        };
        Ok(Self {
            id: config.id,
            lanes: usize::from(config.lanes),
            ends,
            wires,
            clocks,
            locked,
            now: 0,
            turn: Side::A,
            planned: vec![],
            armed: vec![],
            watch: RecoveryWatch::new(usize::from(config.lanes)),
            patience: 1,
            show_words: false,
            words: 0,
        })
    }

    /// Simulates one word period of both ends, which share a clock.
    #[inline(always)]
    fn period(&mut self, observer: &mut dyn Observer) {
        let [a, b] = &mut self.ends;
        let sent = [a.transmit(), b.transmit()];
        let disturbed = !self.armed.is_empty();
        let mut groups = [[SILENCE; L]; 2];
        for side in Side::BOTH {
            let from = side as usize;
            if disturbed {
                self.trigger(side, observer);
            }
            let mut changed = false;
            for ((wire, group), out) in
                self.wires[from].iter_mut().zip(sent[from]).zip(&mut groups[1 - from])
            {
                changed |= wire.send(group);
                *out = wire.receive();
            }
            if changed {
                self.changed(side, observer);
            }
        }
        self.words += 2 * self.lanes as u64;
        for side in Side::BOTH {
            self.ends[side as usize].receive(&groups[side as usize]);
            if self.show_words {
                self.show(side, observer);
            }
        }
    }

    /// Simulates one word period of one end, where the clocks differ.
    fn period_of(&mut self, side: Side, observer: &mut dyn Observer) {
        let at = side as usize;
        let sent = self.ends[at].transmit();
        if !self.armed.is_empty() {
            self.trigger(side, observer);
        }
        let mut changed = false;
        for (lane, (wire, group)) in self.wires[at].iter_mut().zip(sent).enumerate() {
            changed |= wire.send(group);
            let out = wire.receive();
            if let Some(end) = self.ends[1 - at].exact() {
                end.arrive(lane, out);
            }
        }
        if changed {
            self.changed(side, observer);
        }
        self.words += self.lanes as u64;
        if let Some(end) = self.ends[at].exact() {
            end.receive_elastic();
        }
        if self.show_words {
            self.show(side, observer);
        }
    }

    #[cold]
    fn show(&self, side: Side, observer: &mut dyn Observer) {
        let now = self.time();
        for lane in 0..self.lanes {
            observer.word(now, self.id, side, lane as u8, self.ends[side as usize].line(lane));
        }
    }

    /// Applies armed faults that wait for one of the words just sent.
    #[cold]
    fn trigger(&mut self, side: Side, observer: &mut dyn Observer) {
        let mut index = 0;
        while let Some(planned) = self.armed.get(index).copied() {
            let lanes = planned
                .fault
                .lane
                .map_or(0..self.lanes, |lane| usize::from(lane)..usize::from(lane) + 1);
            let met = planned.from == side
                && lanes.clone().any(|lane| {
                    is_target(planned.fault.target, self.ends[side as usize].sent(lane))
                });
            if !met {
                index += 1;
                continue;
            }
            self.armed.remove(index);
            for lane in lanes {
                let clock = &self.clocks[side as usize];
                if self.wires[side as usize][lane].fail(planned.fault.kind, clock) {
                    let event = EndEvent::Fault { lane: lane as u8, fault: planned.fault };
                    observer.event(self.time(), self.id, side, event);
                }
            }
            self.damage(side);
        }
    }

    /// Arms the faults that are due.
    #[cold]
    fn arm(&mut self) {
        while let Some(first) = self.planned.first().copied() {
            if first.at > self.now {
                break;
            }
            self.planned.remove(0);
            self.armed.push(first);
        }
    }

    /// Time of the next event other than word periods, at most `until`.
    fn next_stop(&self, until: Ps) -> Ps {
        self.planned.first().map_or(until, |planned| planned.at.clamp(self.now + 1, until))
    }

    fn run_locked(&mut self, until: Ps, observer: &mut dyn Observer) {
        let mut left = self.clocks[0].before(until).saturating_sub(self.clocks[0].count());
        while left != 0 {
            let count = left.min(self.patience);
            left -= count;
            self.patience -= count;
            let mut rest = count;
            while rest != 0 {
                let burst = self.burst_locked(rest);
                if burst == 0 {
                    self.clocks[0].advance();
                    self.period(observer);
                }
                rest -= burst.max(1);
            }
            if self.patience == 0 {
                self.look(observer);
            }
        }
        self.clocks[1].set_count(self.clocks[0].count());
    }

    fn run_free(&mut self, until: Ps, observer: &mut dyn Observer) {
        let mut next = [self.clocks[0].next_ps(), self.clocks[1].next_ps()];
        loop {
            let side = if next[1] < next[0] { Side::B } else { Side::A };
            if next[side as usize] >= until {
                return;
            }
            if self.burst_free(side, until) != 0 {
                next = [self.clocks[0].next_ps(), self.clocks[1].next_ps()];
                continue;
            }
            self.turn = side;
            self.clocks[side as usize].advance();
            next[side as usize] = self.clocks[side as usize].next_ps();
            self.period_of(side, observer);
            if side == Side::A {
                self.patience -= 1;
                if self.patience == 0 {
                    self.look(observer);
                }
            }
        }
    }

    /// Start of the current word period.
    fn time(&self) -> Ps {
        let clock = &self.clocks[self.turn as usize];
        clock.at(clock.count().saturating_sub(1))
    }

    fn look(&mut self, observer: &mut dyn Observer) {
        self.patience = self.watch.look(self.time(), self.id, &mut self.ends, observer);
    }

    /// Reports that words from an end were changed on the wire.
    #[cold]
    fn changed(&mut self, from: Side, observer: &mut dyn Observer) {
        self.damage(from);
        let time = self.time();
        for (lane, wire) in self.wires[from as usize].iter_mut().enumerate() {
            if wire.take_random() {
                let lane = lane as u8;
                let fault = WireFault {
                    lane: Some(lane),
                    target: FaultTarget::Any,
                    kind: FaultKind::BitError,
                };
                observer.event(time, self.id, from, EndEvent::Fault { lane, fault });
            }
        }
    }

    /// Starts watching the recovery from a fault in what an end sends.
    #[cold]
    fn damage(&mut self, from: Side) {
        self.watch.damage(from.other(), self.time());
        self.patience = 1;
    }
}

/// Whether a fault waits for this word.
fn is_target(target: FaultTarget, word: Option<Word>) -> bool {
    let Some(word) = word else { return target == FaultTarget::Any };
    match (target, ControlWord::decode(word)) {
        (FaultTarget::Any, _)
        | (FaultTarget::Ack, Some(ControlWord::Ack { .. }))
        | (FaultTarget::Nack, Some(ControlWord::Nack { .. }))
        | (FaultTarget::Retry, Some(ControlWord::Retry))
        | (FaultTarget::Full, Some(ControlWord::Full { .. }))
        | (FaultTarget::Fct, Some(ControlWord::Fct { .. }))
        | (FaultTarget::Sdf, Some(ControlWord::Sdf { .. }))
        | (FaultTarget::Edf, Some(ControlWord::Edf { .. }))
        | (FaultTarget::Sbf, Some(ControlWord::Sbf { .. }))
        | (FaultTarget::Ebf, Some(ControlWord::Ebf { .. }))
        | (FaultTarget::Sif, Some(ControlWord::Sif { .. })) => true,
        (FaultTarget::Data, None) => word.k == 0,
        _ => false,
    }
}

impl<const L: usize> SimulatedLink for SpaceFibreLink<L> {
    fn run(&mut self, until: Ps, observer: &mut dyn Observer) {
        while self.now < until {
            self.arm();
            let stop = self.next_stop(until);
            if self.locked {
                self.run_locked(stop, observer);
            } else {
                self.run_free(stop, observer);
            }
            self.now = stop;
        }
    }

    fn now(&self) -> Ps {
        self.now
    }

    fn end(&mut self, side: Side) -> &mut dyn link::SimulatedEnd {
        match &mut self.ends[side as usize] {
            LinkEnd::Exact(end) => end,
            LinkEnd::Foreign(end) => end.user(),
        }
    }

    fn ready(&mut self, wait: Duration) -> Ps {
        let ([LinkEnd::Foreign(end), _] | [_, LinkEnd::Foreign(end)]) = &mut self.ends else {
            return Ps::MAX;
        };
        match end.ready(wait) {
            u64::MAX => Ps::MAX,
            periods => self.clocks[0].at(self.clocks[0].count() + periods),
        }
    }

    fn has_foreign_end(&self) -> bool {
        self.ends.iter().any(|end| matches!(end, LinkEnd::Foreign(_)))
    }

    fn inject(&mut self, at: Ps, from: Side, fault: WireFault) -> bool {
        let no_lane = fault.lane.is_some_and(|lane| usize::from(lane) >= self.lanes);
        if no_lane || !fault.target.is_spacefibre() {
            return false;
        }
        let place = self.planned.partition_point(|planned| planned.at <= at);
        self.planned.insert(place, PlannedFault { at, from, fault });
        true
    }

    fn set_bit_error_rate(&mut self, from: Side, lane: Option<u8>, rate: f64) {
        for (index, wire) in self.wires[from as usize].iter_mut().enumerate() {
            if lane.is_none_or(|lane| usize::from(lane) == index) {
                wire.set_rate(rate);
            }
        }
    }

    fn restore(&mut self, from: Side, lane: Option<u8>) {
        let ends = |planned: &PlannedFault| {
            planned.from == from && (lane.is_none() || planned.fault.lane == lane)
        };
        self.planned.retain(|planned| !ends(planned));
        self.armed.retain(|planned| !ends(planned));
        for (index, wire) in self.wires[from as usize].iter_mut().enumerate() {
            if lane.is_none_or(|lane| usize::from(lane) == index) {
                wire.restore();
            }
        }
    }

    fn show_words(&mut self, on: bool) {
        self.show_words = on;
    }

    fn words(&self) -> u64 {
        self.words
    }

    fn is_quiet(&self) -> bool {
        let foreign = self.has_foreign_end();
        let quiet = |end: &LinkEnd<L>| match end {
            LinkEnd::Exact(end) if foreign => end.is_down(),
            LinkEnd::Exact(end) => end.is_quiet(),
            // Nothing happens before a foreign end connects.
            LinkEnd::Foreign(end) => !end.is_connected(),
        };
        // An end whose partner has stopped a lane will notice it.
        let active = |end: &LinkEnd<L>| match end {
            LinkEnd::Exact(end) => Some(end.active_lanes()),
            LinkEnd::Foreign(_) => None,
        };
        let agree = match &self.ends {
            [near, far] => active(near).zip(active(far)).is_none_or(|(near, far)| near == far),
        };
        self.armed.is_empty()
            && self.ends.iter().all(quiet)
            && agree
            && self.wires.iter().flatten().all(LaneWire::is_quiet)
    }

    fn may_sleep(&self) -> bool {
        self.planned.is_empty() && !self.has_foreign_end()
    }

    fn skip_to(&mut self, time: Ps) {
        let time = self.next_stop(time);
        for (clock, end) in self.clocks.iter_mut().zip(&mut self.ends) {
            let count = clock.before(time);
            if count > clock.count() {
                if let Some(end) = end.exact() {
                    end.skip_idle_periods(count - clock.count());
                }
                clock.set_count(count);
            }
        }
        self.now = self.now.max(time);
    }
}

#[cfg(test)]
mod tests;
