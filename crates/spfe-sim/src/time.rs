//! Simulated time in picoseconds, and word periods without drift.

/// Time since the start of the simulation, in ps. It lasts for 213 days.
pub type Ps = u64;

/// A nanosecond in ps.
pub const NS: Ps = 1_000;
/// A microsecond in ps.
pub const US: Ps = 1_000_000;
/// A millisecond in ps.
pub const MS: Ps = 1_000_000_000;

const WORD_BITS: u128 = 40;

/// The word periods of a lane. Period n begins after n times 40 bits, rounded down to a ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordClock {
    mbps: u32,
    /// Offset of the clock in parts per 10^9; positive is fast.
    ppb: i32,
    next: u64,
    /// Start of the current word period: whole ps, and the remainder as a multiple of 1 / `rate`.
    start: Ps,
    part: u64,
    /// Length of a word period in the same form.
    step: Ps,
    step_part: u64,
    /// Signalling rate in bits per 10^15 s.
    rate: u64,
}

/// Length of a word in ps at a rate of 1 bit per 10^15 s.
const WORD: u128 = WORD_BITS * 1_000_000_000_000_000;

impl WordClock {
    /// A clock for a signalling rate in Mbit/s with an offset of `ppb` parts per 10^9.
    pub const fn new(mbps: u32, ppb: i32) -> Self {
        let rate = mbps as u64 * (1_000_000_000 + ppb as i64) as u64;
        let (step, step_part) = ((WORD / rate as u128) as Ps, (WORD % rate as u128) as u64);
        Self { mbps, ppb, next: 0, start: 0, part: 0, step, step_part, rate }
    }

    /// Signalling rate in Mbit/s.
    pub const fn mbps(&self) -> u32 {
        self.mbps
    }

    /// Offset of the clock in parts per 10^9; positive is fast.
    pub const fn ppb(&self) -> i32 {
        self.ppb
    }

    /// Start of word period `number`.
    pub const fn at(&self, number: u64) -> Ps {
        (number as u128 * WORD / self.rate as u128) as Ps
    }

    /// Start of the next word period.
    pub const fn next_ps(&self) -> Ps {
        self.start
    }

    /// Number of word periods that have begun.
    pub const fn count(&self) -> u64 {
        self.next
    }

    /// Continues with word period `count`.
    pub const fn set_count(&mut self, count: u64) {
        self.next = count;
        self.start = self.at(count);
        self.part = (count as u128 * WORD % self.rate as u128) as u64;
    }

    /// Begins the next word period.
    #[inline(always)]
    pub const fn advance(&mut self) {
        self.next += 1;
        self.start += self.step;
        if self.part < self.rate - self.step_part {
            self.part += self.step_part;
        } else {
            self.part -= self.rate - self.step_part;
            self.start += 1;
        }
    }

    /// Begins the next word periods, at most 1000.
    #[inline]
    pub const fn advance_by(&mut self, periods: u64) {
        let part = self.part + periods * self.step_part;
        self.next += periods;
        self.start += periods * self.step + part / self.rate;
        self.part = part % self.rate;
    }

    /// Number of word periods that begin before a time.
    pub const fn before(&self, time: Ps) -> u64 {
        // The first number n with n * WORD / rate >= time.
        (time as u128 * self.rate as u128).div_ceil(WORD) as u64
    }

    /// Length of a word period, rounded down.
    pub const fn least_period_ps(&self) -> Ps {
        self.step
    }

    /// Length of a word period, rounded up.
    pub const fn period_ps(&self) -> Ps {
        self.at(1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_periods_do_not_drift() {
        let clock = WordClock::new(6250, 0);
        assert_eq!(clock.at(1), 6400);
        assert_eq!(clock.at(156_250_000), 1_000_000_000_000);
        let odd = WordClock::new(7500, 0);
        assert_eq!((odd.at(1), odd.at(2), odd.at(3)), (5333, 10666, 16000));
        let fast = WordClock::new(6250, 100_000);
        assert_eq!(fast.at(10_001), 64_000_000);
    }

    #[test]
    fn advancing_equals_jumping() {
        for (mbps, ppb) in [(6250, 0), (7500, 0), (31250, 50_000), (1000, -100_000), (7, 3)] {
            let mut clock = WordClock::new(mbps, ppb);
            clock.set_count(12_345);
            for _ in 0..10_000 {
                assert_eq!(clock.next_ps(), clock.at(clock.count()), "{mbps} {ppb}");
                let mut ahead = clock;
                ahead.advance_by(13);
                assert_eq!(ahead.next_ps(), clock.at(clock.count() + 13), "{mbps} {ppb}");
                clock.advance();
            }
            clock.advance_by(1000);
            let mut other = WordClock::new(mbps, ppb);
            other.set_count(clock.count());
            assert_eq!(clock, other, "{mbps} {ppb}");
        }
    }

    #[test]
    fn periods_before_a_time() {
        for (mbps, ppb) in [(6250, 0), (7500, 0), (31250, 50_000), (1000, -100_000)] {
            let clock = WordClock::new(mbps, ppb);
            for time in (0..100_000).step_by(77) {
                let count = clock.before(time);
                assert!(count == 0 || clock.at(count - 1) < time, "{mbps} {ppb} {time}");
                assert!(clock.at(count) >= time, "{mbps} {ppb} {time}");
            }
        }
    }
}
