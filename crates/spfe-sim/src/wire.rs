//! The wire of one lane in one direction: a delay line of [line groups](spfe_link::code), and its
//! faults.

use crate::fault::{FOREVER, FaultKind};
use crate::time::{Ps, WordClock};
use fastrand::Rng;
pub use spfe_link::code::SILENCE;
use spfe_link::code::bits_of;

const BITS: u32 = 40;
const GROUP: u64 = (1 << BITS) - 1;
/// Words of buffer beyond the delay, for faults that make the wire longer.
const SPARE: usize = 60;
/// Shortest delay in words: serialiser and deserialiser.
pub const SHORTEST: usize = 4;
/// Longest delay in words.
pub const LONGEST: usize = 1 << 16;

/// One direction of one lane.
#[derive(Clone, Debug)]
pub struct LaneWire {
    /// Ring buffer of groups; its length is a power of two.
    places: Box<[u64]>,
    /// Sequence number of the next group to send; `head` is that of the next group to receive.
    tail: usize,
    head: usize,
    /// Bits that may pass before a fault has to be considered.
    plain_bits: u64,
    rate: f64,
    /// Bits until the next random error.
    to_error: u64,
    /// A fault other than random errors is active.
    special: bool,
    /// Bit of the next group that a single error inverts.
    hit: Option<u32>,
    /// Fault to apply after the next group is on the wire.
    then: Option<FaultKind>,
    burst: u32,
    open_periods: u64,
    /// Remaining periods in which the signal keeps one level, and the group of that level.
    stuck_periods: u64,
    stuck_at: u64,
    inverted: bool,
    shift: u32,
    before: u64,
    rng: Rng,
    damaged: u64,
    /// A random error hit a group since the last [`LaneWire::take_random`].
    random: bool,
}

impl LaneWire {
    /// A wire with a delay of `words` words, limited to 4 to 65536, and `bits` bits.
    pub fn new(words: usize, bits: u32, seed: u64) -> Self {
        let words = words.saturating_add((bits / BITS) as usize).clamp(SHORTEST, LONGEST);
        let shift = bits % BITS;
        let mut wire = Self {
            places: vec![SILENCE; (words + SPARE).next_power_of_two()].into(),
            tail: words,
            head: 0,
            plain_bits: 0,
            rate: 0.0,
            to_error: u64::MAX,
            special: shift != 0,
            hit: None,
            then: None,
            burst: 0,
            open_periods: 0,
            stuck_periods: 0,
            stuck_at: 0,
            inverted: false,
            shift,
            before: SILENCE,
            rng: Rng::with_seed(seed),
            damaged: 0,
            random: false,
        };
        wire.settle();
        wire
    }

    /// Sets the probability that a bit is inverted.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate.clamp(0.0, 1.0);
        self.to_error = self.gap();
        self.settle();
    }

    /// Probability that a bit is inverted.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Delay in words.
    pub const fn length(&self) -> usize {
        self.tail - self.head
    }

    /// Longest delay in words that faults may set.
    const fn longest(&self) -> usize {
        self.places.len() - 2
    }

    /// Number of groups that faults have changed.
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Whether a random error hit a group since the last call.
    pub fn take_random(&mut self) -> bool {
        std::mem::take(&mut self.random)
    }

    /// Whether no fault is active or due.
    pub fn is_quiet(&self) -> bool {
        self.rate == 0.0
            && self.hit.is_none()
            && self.then.is_none()
            && self.burst == 0
            && self.open_periods == 0
            && self.stuck_periods == 0
    }

    /// Number of bits before the next random error, from a geometric distribution.
    fn gap(&mut self) -> u64 {
        if self.rate <= 0.0 {
            return u64::MAX;
        }
        if self.rate >= 1.0 {
            return 0;
        }
        // 1 - u is in (0, 1].
        let gap = (1.0 - self.rng.f64()).ln() / (-self.rate).ln_1p();
        if gap >= u64::MAX as f64 { u64::MAX } else { gap as u64 }
    }

    fn settle(&mut self) {
        self.special = self.hit.is_some()
            || self.then.is_some()
            || self.burst != 0
            || self.open_periods != 0
            || self.stuck_periods != 0
            || self.inverted
            || self.shift != 0;
        self.plain_bits = if self.special { 0 } else { self.to_error };
    }

    /// Sends a line group, once per word period. True if a fault changed it.
    #[inline(always)]
    pub fn send(&mut self, group: u64) -> bool {
        if self.plain_bits >= u64::from(BITS) {
            self.plain_bits -= u64::from(BITS);
            self.put(group);
            return false;
        }
        self.send_changed(group)
    }

    #[inline(never)]
    fn send_changed(&mut self, group: u64) -> bool {
        let (group, mut changed) = self.change(group);
        self.put(group);
        let before = |words: usize| (self.tail - words) & (self.places.len() - 1);
        match self.then.take() {
            None => {}
            Some(FaultKind::Drop) => (self.tail, changed) = (self.tail - 1, true),
            Some(FaultKind::Duplicate) => {
                self.put(group);
                changed = true;
            }
            Some(_) => {
                self.places.swap(before(1), before(2));
                changed = true;
            }
        }
        self.damaged += u64::from(changed);
        self.settle();
        changed
    }

    #[inline(always)]
    fn put(&mut self, group: u64) {
        let place = self.tail & (self.places.len() - 1);
        self.places[place] = group;
        self.tail += 1;
    }

    /// The group sent `back` word periods ago; 1 is the last one.
    #[cfg(test)]
    pub fn sent(&self, back: usize) -> u64 {
        bits_of(self.places[self.tail.wrapping_sub(back) & (self.places.len() - 1)])
    }

    /// Receives a group, once per word period.
    #[inline(always)]
    pub fn receive(&mut self) -> u64 {
        let group = self.places[self.head & (self.places.len() - 1)];
        self.head += 1;
        group
    }

    /// Whether that many groups can pass in both directions of the delay line, with no fault due.
    #[inline(always)]
    pub fn passes(&self, groups: usize) -> bool {
        self.plain_bits >= groups as u64 * u64::from(BITS)
            && groups <= self.length()
            && groups <= self.places.len() - self.length()
    }

    /// Sends groups that pass.
    #[inline]
    pub fn send_all(&mut self, groups: &[u64]) {
        self.plain_bits -= groups.len() as u64 * u64::from(BITS);
        let first = self.tail & (self.places.len() - 1);
        let (to_end, rest) = groups.split_at(groups.len().min(self.places.len() - first));
        self.places[first..first + to_end.len()].copy_from_slice(to_end);
        self.places[..rest.len()].copy_from_slice(rest);
        self.tail += groups.len();
    }

    /// Receives groups that pass.
    #[inline]
    pub fn receive_all(&mut self, groups: &mut [u64]) {
        let first = self.head & (self.places.len() - 1);
        let now = groups.len().min(self.places.len() - first);
        let (to_end, rest) = groups.split_at_mut(now);
        to_end.copy_from_slice(&self.places[first..first + now]);
        rest.copy_from_slice(&self.places[..rest.len()]);
        self.head += groups.len();
    }

    /// Takes back groups that were received last.
    #[inline]
    pub const fn unreceive(&mut self, groups: usize) {
        self.head -= groups;
    }

    fn change(&mut self, group: u64) -> (u64, bool) {
        let group = bits_of(group);
        let sent = group;
        let mut group = group;
        if !self.special {
            self.to_error = self.plain_bits;
        }
        if group != SILENCE {
            while self.to_error < u64::from(BITS) {
                group ^= 1 << self.to_error;
                self.random = true;
                let gap = self.gap();
                self.to_error = self.to_error.saturating_add(1).saturating_add(gap);
            }
            if let Some(bit) = self.hit.take() {
                group ^= 1 << (bit % BITS);
            }
            if self.burst != 0 {
                let bits = self.burst.min(BITS);
                let mask = GROUP >> (BITS - bits);
                group = group & !mask | self.rng.u64(..) & mask;
                self.burst -= bits;
            }
        }
        if self.to_error != u64::MAX {
            self.to_error = self.to_error.saturating_sub(u64::from(BITS));
        }
        let mut changed = group != sent;
        if self.inverted && group != SILENCE {
            group = !group & GROUP;
        }
        if self.shift != 0 {
            let this = group;
            group = if this == SILENCE || self.before == SILENCE {
                SILENCE
            } else {
                (this << self.shift | self.before >> (BITS - self.shift)) & GROUP
            };
            self.before = this;
        }
        if self.stuck_periods != 0 {
            self.stuck_periods -= 1;
            changed |= group != self.stuck_at;
            group = self.stuck_at;
        }
        if self.open_periods != 0 {
            self.open_periods -= 1;
            changed |= group != SILENCE;
            group = SILENCE;
        }
        (group, changed)
    }

    /// Applies a fault to the next group. `clock` is the sender's clock. False if the wire would
    /// become too short or too long.
    pub fn fail(&mut self, kind: FaultKind, clock: &WordClock) -> bool {
        if !self.special {
            self.to_error = self.plain_bits;
        }
        let done = match kind {
            FaultKind::BitError => {
                self.hit = Some(self.rng.u32(..BITS));
                true
            }
            FaultKind::Burst { bits } => {
                self.burst = bits;
                true
            }
            FaultKind::Cut { duration_ps } => {
                let periods = periods(duration_ps, clock);
                self.open_periods = self.open_periods.max(periods);
                true
            }
            FaultKind::Stuck { high, duration_ps } => {
                self.stuck_periods = periods(duration_ps, clock);
                self.stuck_at = if high { GROUP } else { 0 };
                true
            }
            FaultKind::Delay { delay_ps } => {
                let bits = i128::from(delay_ps) * i128::from(clock.mbps()) / 1_000_000;
                i32::try_from(bits).is_ok_and(|bits| self.lengthen(bits))
            }
            FaultKind::PolaritySwap => {
                self.inverted = !self.inverted;
                true
            }
            FaultKind::Skew { bits } => self.lengthen(bits),
            FaultKind::Drop | FaultKind::Duplicate | FaultKind::Reorder => {
                let fits = match kind {
                    FaultKind::Drop => self.length() > SHORTEST - 2,
                    FaultKind::Duplicate => self.length() < self.longest(),
                    _ => true,
                };
                self.then = fits.then_some(kind);
                fits
            }
        };
        self.settle();
        done
    }

    /// Ends what lasts for a time or waits for the next group: cuts, stuck signals, bursts.
    pub fn restore(&mut self) {
        if !self.special {
            self.to_error = self.plain_bits;
        }
        (self.hit, self.then, self.burst) = (None, None, 0);
        (self.open_periods, self.stuck_periods) = (0, 0);
        self.settle();
    }

    /// Makes the ring buffer large enough for a delay of this many words.
    fn grow(&mut self, words: usize) {
        let mut places = vec![SILENCE; (words + SPARE).next_power_of_two()].into_boxed_slice();
        for at in self.head..self.tail {
            places[at & (places.len() - 1)] = self.places[at & (self.places.len() - 1)];
        }
        self.places = places;
    }

    /// Changes the delay by a number of bits.
    fn lengthen(&mut self, bits: i32) -> bool {
        let total = i64::from(self.shift) + i64::from(bits);
        let words = total.div_euclid(i64::from(BITS));
        let length = self.length() as i64 + words;
        if !(SHORTEST as i64 - 2..=LONGEST as i64).contains(&length) {
            return false;
        }
        if length > self.longest() as i64 {
            self.grow(length as usize);
        }
        self.shift = total.rem_euclid(i64::from(BITS)) as u32;
        if words < 0 {
            self.tail -= words.unsigned_abs() as usize;
        }
        for _ in 0..words.max(0) {
            self.put(SILENCE);
        }
        true
    }
}

/// A duration in word periods, rounded up.
pub fn periods(time: Ps, clock: &WordClock) -> u64 {
    if time == FOREVER {
        return u64::MAX;
    }
    WordClock::new(clock.mbps(), 0).before(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: WordClock = WordClock::new(6250, 0);

    fn pass(wire: &mut LaneWire, groups: impl IntoIterator<Item = u64>) -> Vec<u64> {
        groups
            .into_iter()
            .map(|group| {
                wire.send(group);
                wire.receive()
            })
            .collect()
    }

    #[test]
    fn a_wire_delays_groups() {
        let mut wire = LaneWire::new(7, 0, 1);
        let out = pass(&mut wire, 0..20);
        assert_eq!(out[..7], [SILENCE; 7]);
        assert_eq!(out[7..], (0..13).collect::<Vec<_>>());
        assert!(wire.is_quiet());
    }

    #[test]
    fn bits_of_skew_shift_the_line() {
        let mut wire = LaneWire::new(4, 43, 1);
        let out = pass(&mut wire, [0xff_ffff_ffff, 0, 0, 0, 0, 0, 0, 0, 0]);
        // The delay is 4 words plus 1 word and 3 bits. Silence comes out first.
        assert_eq!(out[..6], [SILENCE; 6]);
        assert_eq!(out[6], 7);
        assert_eq!(out[7], 0);
    }

    #[test]
    fn errors_occur_at_their_rate_and_are_repeatable() {
        for rate in [1e-2, 1e-3, 1e-4] {
            let count = |seed| {
                let mut wire = LaneWire::new(4, 0, seed);
                wire.set_rate(rate);
                let out = pass(&mut wire, (0..200_000).map(|_| 0));
                let bits: u32 = out[4..].iter().map(|group| group.count_ones()).sum();
                assert!(wire.damaged() > 0 && out[4..].iter().all(|group| *group <= GROUP));
                f64::from(bits)
            };
            let expected = rate * 40.0 * 199_996.0;
            assert!((count(1) - expected).abs() < 5.0 * expected.sqrt(), "{} {expected}", count(1));
            assert_eq!(count(1), count(1));
            assert_ne!(count(1), count(2));
        }
    }

    #[test]
    fn each_fault_has_its_effect() {
        let mut wire = LaneWire::new(4, 0, 9);
        pass(&mut wire, 1..=10);
        assert!(wire.fail(FaultKind::BitError, &CLOCK));
        let out = pass(&mut wire, [0; 8]);
        assert_eq!(out[4].count_ones(), 1);
        assert!(out[5..].iter().all(|group| *group == 0));

        assert!(wire.fail(FaultKind::Cut { duration_ps: 12_800 }, &CLOCK));
        assert_eq!(pass(&mut wire, 1..=8)[4..], [SILENCE, SILENCE, 3, 4]);

        assert!(wire.fail(FaultKind::PolaritySwap, &CLOCK));
        assert_eq!(pass(&mut wire, 1..=5)[4], GROUP - 1);
        assert!(wire.fail(FaultKind::PolaritySwap, &CLOCK));
        pass(&mut wire, 1..=10);

        assert!(wire.fail(FaultKind::Duplicate, &CLOCK));
        assert_eq!(pass(&mut wire, 11..=16), [7, 8, 9, 10, 11, 11]);
        assert!(wire.fail(FaultKind::Drop, &CLOCK));
        assert_eq!(pass(&mut wire, 17..=22), [12, 13, 14, 15, 16, 18]);
        assert!(wire.fail(FaultKind::Reorder, &CLOCK));
        assert_eq!(pass(&mut wire, 23..=28), [19, 20, 21, 23, 22, 24]);
        assert!(wire.fail(FaultKind::Burst { bits: 60 }, &CLOCK));
        let out = pass(&mut wire, [0; 9]);
        assert!(out[4] != 0 && out[5] >> 20 == 0 && out[6..].iter().all(|group| *group == 0));

        assert!(wire.fail(FaultKind::Skew { bits: 81 }, &CLOCK));
        assert_eq!(wire.length(), 6);
        assert!(wire.fail(FaultKind::Skew { bits: -81 }, &CLOCK));
        assert_eq!(wire.length(), 4);
        assert!(!wire.fail(FaultKind::Skew { bits: -1000 }, &CLOCK));
    }

    #[test]
    fn a_stuck_wire_keeps_its_level_until_it_is_restored() {
        let mut wire = LaneWire::new(4, 0, 9);
        pass(&mut wire, 1..=10);
        assert!(wire.fail(FaultKind::Stuck { high: true, duration_ps: 12_800 }, &CLOCK));
        assert_eq!(pass(&mut wire, 1..=8)[4..], [GROUP, GROUP, 3, 4]);
        for kind in [
            FaultKind::Stuck { high: false, duration_ps: FOREVER },
            FaultKind::Cut { duration_ps: FOREVER },
        ] {
            assert!(wire.fail(kind, &CLOCK));
            let level = if matches!(kind, FaultKind::Cut { .. }) { SILENCE } else { 0 };
            assert!(pass(&mut wire, 1..=1000)[4..].iter().all(|group| *group == level));
            assert!(!wire.is_quiet());
            wire.restore();
            assert_eq!(pass(&mut wire, 1..=8)[4..], [1, 2, 3, 4]);
            assert!(wire.is_quiet());
        }
    }

    #[test]
    fn a_delay_longer_than_the_buffer_keeps_the_groups_on_the_wire() {
        let mut wire = LaneWire::new(4, 0, 9);
        pass(&mut wire, 1..=10);
        // 10 us are 1562.5 words.
        assert!(wire.fail(FaultKind::Delay { delay_ps: 10_000_000 }, &CLOCK));
        assert_eq!(wire.length(), 4 + 1562);
        let out = pass(&mut wire, 11..=2000);
        assert_eq!(out[..4], [7, 8, 9, 10]);
        assert_eq!(out.iter().filter(|group| **group != SILENCE).count(), 1990 - 1562 - 1);
        assert!(wire.fail(FaultKind::Delay { delay_ps: -10_000_000 }, &CLOCK));
        assert_eq!(wire.length(), 4);
        assert!(!wire.fail(FaultKind::Delay { delay_ps: 1_000_000_000 }, &CLOCK));
    }
}
