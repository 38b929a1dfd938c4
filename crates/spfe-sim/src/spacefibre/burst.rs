//! Many word periods of a link at once, see [`spfe_link::burst`].
//!
//! What arrives at an end within the delay of the wires was sent before. So one end can go through
//! that many word periods before the other one does, and within them through the layers one by one.

use super::SpaceFibreLink;
use super::end::{LaneLine, SpaceFibreEnd};
use crate::link::Side;
use crate::spacefibre::LinkEnd;
use crate::time::{Ps, WordClock};
use crate::wire::{LaneWire, SILENCE};
use spfe_link::burst::{LaneWords, PERIODS, Stretch};
use spfe_link::word::Word;

/// Fewer word periods go one by one: it would not pay.
const LEAST: usize = 2;

/// Line groups of the word periods of a burst on each lane.
type Groups<const L: usize> = [[u64; PERIODS]; L];

/// When the groups of the far end arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// In the word period itself: the ends share a clock.
    Within,
    /// In a word period of the far end just before it.
    Before,
    /// In a word period of the far end just after it.
    After,
}

impl<const L: usize> SpaceFibreEnd<L> {
    /// Whether the link runs normally at this end.
    #[inline]
    fn is_passing(&self) -> bool {
        self.data_link.is_initialised() && !self.says_reset && self.lanes.is_passing(self.count)
    }

    /// Runs word periods up to one that ends normal operation. Returns their number.
    fn burst(
        &mut self,
        arrival: Arrival,
        arriving: &Groups<L>,
        leaving: &mut Groups<L>,
        count: usize,
    ) -> usize {
        let decoders = self.coded.map(|coded| coded.decoder());
        let lines: Option<[LaneLine; L]> = self.elastic.as_deref().cloned();
        let mut words = [[Word::default(); PERIODS + 1]; L];
        let mut ready = self.decode(arrival, arriving, &mut words, count);
        if ready != count {
            self.go_back(&decoders, lines.as_ref());
            ready = self.decode(arrival, arriving, &mut words, ready);
        }
        let done = self.pass(&mut words, leaving, ready);
        if done != ready {
            self.go_back(&decoders, lines.as_ref());
            self.decode(arrival, arriving, &mut words, done);
        }
        done
    }

    fn go_back(
        &mut self,
        decoders: &[spfe_link::lane::LineDecoder; L],
        lines: Option<&[LaneLine; L]>,
    ) {
        for (coded, decoder) in self.coded.iter_mut().zip(decoders) {
            coded.set_decoder(*decoder);
        }
        if let (Some(now), Some(before)) = (self.elastic.as_deref_mut(), lines) {
            now.clone_from(before);
        }
    }

    /// Decodes groups. Returns the number of word periods up to one that has to be taken by itself.
    fn decode(
        &mut self,
        arrival: Arrival,
        arriving: &Groups<L>,
        words: &mut LaneWords<L>,
        count: usize,
    ) -> usize {
        let (mut ready, lanes) = (count, self.lanes.lanes());
        let of = self.coded.iter_mut().zip(lanes).zip(arriving).zip(&mut *words);
        for (((coded, lane), groups), words) in of.take(self.count) {
            ready = ready.min(coded.receive_all(lane, &groups[..count], &mut words[1..=count]));
        }
        if ready != count {
            return ready;
        }
        if let Some(lines) = self.elastic.as_deref_mut() {
            for (line, words) in lines.iter_mut().zip(words).take(self.count) {
                if !line.signal {
                    return 0;
                }
                line.elastic.pass(&mut words[1..=count], arrival == Arrival::Before);
            }
        }
        ready
    }

    /// Runs the layers above the code. Returns the number of word periods up to one that ends normal
    /// operation.
    fn pass(&mut self, words: &mut LaneWords<L>, leaving: &mut Groups<L>, count: usize) -> usize {
        let lanes = self.count;
        self.lanes.begin_burst(words, lanes);
        // A bit for each word period in which a lane hands up a word that is not data, and one behind.
        let mut others = 1u32 << count;
        for words in words.iter().take(lanes) {
            for (place, word) in words[..count].iter().enumerate() {
                others |= u32::from(word.k != 0) << place;
            }
        }
        let mut out = [[Word::default(); PERIODS + 1]; L];
        let (mut at, mut sent) = (0, 0);
        while at != count {
            let data = (others >> at).trailing_zeros() as usize;
            if data != 0
                && let Some(rows) = self.lanes.rows(lanes)
                && let periods @ 1.. = data.min(self.data_link.receive_periods(rows, lanes))
            {
                let stretch = Stretch { periods: at..at + periods, lanes };
                self.lanes.receive_all(rows, words, &stretch);
                self.data_link.receive_all(words, &stretch);
                at += periods;
                continue;
            }
            if self.lanes.stays(words, lanes, at) {
                break;
            }
            self.send_until(&mut out, &mut sent, at + 1);
            let row = self.lanes.receive_at(words, lanes, at);
            self.deliver(row);
            at += 1;
            if !self.is_passing() {
                break;
            }
        }
        self.send_until(&mut out, &mut sent, at);
        self.lanes.end_burst(words, lanes, at);
        for ((coded, words), groups) in self.coded.iter_mut().zip(&out).zip(leaving).take(lanes) {
            coded.transmit_all(&words[..at], &mut groups[..at]);
        }
        at
    }

    /// Sends words up to a word period.
    #[inline]
    fn send_until(&mut self, out: &mut LaneWords<L>, sent: &mut usize, until: usize) {
        let lanes = self.count;
        while *sent < until {
            let (rows, most) = self.data_link.send_periods(lanes);
            let periods = most.min(self.lanes.send_periods()).min(until - *sent);
            if periods == 0 {
                let words = self.send();
                for (out, word) in out.iter_mut().zip(words).take(lanes) {
                    out[*sent] = word.unwrap_or_default();
                }
                *sent += 1;
                continue;
            }
            let stretch = Stretch { periods: *sent..*sent + periods, lanes };
            self.data_link.send_all(out, &stretch);
            self.lanes.send_all(rows, out, &stretch);
            *sent += periods;
        }
    }

    /// Runs a word period that ends normal operation, or comes behind it in a burst.
    fn alone(&mut self, arrival: Arrival, out: &mut [LaneWire; L], into: &mut [LaneWire; L]) {
        let arrive = |end: &mut Self, into: &mut [LaneWire; L]| {
            for (lane, wire) in into.iter_mut().enumerate() {
                end.arrive(lane, wire.receive());
            }
        };
        if arrival == Arrival::Before {
            arrive(self, into);
        }
        for (wire, group) in out.iter_mut().zip(self.transmit_groups()) {
            wire.send(group);
        }
        if arrival == Arrival::Within {
            let mut groups = [SILENCE; L];
            for (wire, group) in into.iter_mut().zip(&mut groups) {
                *group = wire.receive();
            }
            self.receive(&groups);
            return;
        }
        self.receive_elastic();
        if arrival == Arrival::After {
            arrive(self, into);
        }
    }

    /// Runs word periods with the wires to and from this end.
    fn run(
        &mut self,
        arrival: Arrival,
        out: &mut [LaneWire; L],
        into: &mut [LaneWire; L],
        count: usize,
    ) {
        let mut arriving = [[SILENCE; PERIODS]; L];
        for (wire, groups) in into.iter_mut().zip(&mut arriving) {
            wire.receive_all(&mut groups[..count]);
        }
        let mut leaving = [[SILENCE; PERIODS]; L];
        let done = self.burst(arrival, &arriving, &mut leaving, count);
        for (wire, groups) in out.iter_mut().zip(&leaving) {
            wire.send_all(&groups[..done]);
        }
        if done != count {
            into.iter_mut().for_each(|wire| wire.unreceive(count - done));
            (done..count).for_each(|_| self.alone(arrival, out, into));
        }
    }
}

impl<const L: usize> SpaceFibreLink<L> {
    /// Runs at most `most` word periods of both ends at once, if nothing but rows is due. `first` is
    /// the end whose word periods come first, where the clocks differ. Returns the number of word
    /// periods, 0 if they have to go one by one.
    fn burst(&mut self, most: usize, first: Option<Side>) -> usize {
        let [LinkEnd::Exact(a), LinkEnd::Exact(b)] = &mut self.ends else { return 0 };
        if !self.armed.is_empty() || self.show_words {
            return 0;
        }
        let used = |wires: &[LaneWire; L]| wires.iter().map(LaneWire::length).min();
        let delay = self.wires.iter().filter_map(used).min().unwrap_or(0);
        let count = most.min(PERIODS).min(delay);
        if count < LEAST
            || !self.wires.iter().flatten().all(|wire| wire.passes(count))
            || !a.is_passing()
            || !b.is_passing()
        {
            return 0;
        }
        let arrival = |side| match first {
            None => Arrival::Within,
            Some(first) if first == side => Arrival::After,
            Some(_) => Arrival::Before,
        };
        let [from_a, from_b] = &mut self.wires;
        a.run(arrival(Side::A), from_a, from_b, count);
        b.run(arrival(Side::B), from_b, from_a, count);
        self.words += (2 * self.lanes * count) as u64;
        count
    }

    /// Runs at most `most` word periods of ends with the same clock. Returns their number.
    pub(super) fn burst_locked(&mut self, most: u64) -> u64 {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let count = self.burst(most, None);
        self.clocks[0].advance_by(count as u64);
        count as u64
    }

    /// Runs word periods of ends with different clocks in which the ends take turns, beginning with
    /// `first` and before `until`. Returns their number.
    pub(super) fn burst_free(&mut self, first: Side, until: Ps) -> u64 {
        // The ends are looked at after the last of these word periods, at the earliest.
        let most = usize::try_from(self.patience - 1).map_or(PERIODS, |most| most.min(PERIODS));
        if most < LEAST {
            return 0;
        }
        let ahead = turns(self.clocks, first, until, most);
        let count = self.burst(ahead, Some(first));
        if count != 0 {
            self.clocks.iter_mut().for_each(|clock| clock.advance_by(count as u64));
            self.patience -= count as u64;
            self.turn = first.other();
        }
        count as u64
    }
}

/// The number of times, at most `most`, that the clocks begin a word period in turn before a time.
fn turns(clocks: [WordClock; 2], first: Side, until: Ps, most: usize) -> usize {
    if are_far_apart(clocks, first, until, most as i64) {
        return most;
    }
    let [mut a, mut b] = clocks;
    for count in 0..most {
        let (at, then) = (a.next_ps(), b.next_ps());
        // At the same time the first end comes first.
        let second_in_turn = match first {
            Side::A => {
                a.advance();
                b.advance();
                then >= at && then < a.next_ps()
            }
            Side::B => {
                a.advance();
                b.advance();
                then < at && b.next_ps() >= at
            }
        };
        if !second_in_turn || at >= until || then >= until {
            return count;
        }
    }
    most
}

/// Whether the clocks take turns `most` times before a time, and each word period begins so long
/// after the one before it that the rounding of their times does not matter.
fn are_far_apart(clocks: [WordClock; 2], first: Side, until: Ps, most: i64) -> bool {
    let [first, other] = [clocks[first as usize], clocks[first.other() as usize]];
    let [period, other_period] = [first, other].map(|clock| clock.least_period_ps() as i64);
    let begin = other.next_ps() as i64 - first.next_ps() as i64;
    // A word period is up to 1 ps longer.
    let end = begin + most * (other_period - period);
    let last = other.next_ps() + (most * (other_period + 1)) as Ps;
    begin.min(end) > most && begin.max(end) + most < period && last < until
}
