//! Picoseconds, and word periods without drift.

/// Time since the start, in ps. Enough for 213 days.
pub type Ps = u64;

/// A nanosecond.
pub const NS: Ps = 1_000;
/// A microsecond.
pub const US: Ps = 1_000_000;
/// A millisecond.
pub const MS: Ps = 1_000_000_000;

/// Bits of a word on a lane.
const WORD_BITS: u128 = 40;

/// The word periods of a lane: the n-th begins at n times 40 bits, rounded down to a ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordClock {
    mbps: u32,
    /// Parts in 10^9 that it is faster.
    ppb: i32,
    next: u64,
}

impl WordClock {
    /// A clock for a signalling rate in Mbit/s, `ppb` parts in 10^9 faster than that.
    pub const fn new(mbps: u32, ppb: i32) -> Self {
        Self { mbps, ppb, next: 0 }
    }

    /// Signalling rate in Mbit/s.
    pub const fn mbps(&self) -> u32 {
        self.mbps
    }

    /// Parts in 10^9 that it is faster than its rate says.
    pub const fn ppb(&self) -> i32 {
        self.ppb
    }

    /// When word period `number` begins.
    pub const fn at(&self, number: u64) -> Ps {
        let rate = self.mbps as u128 * (1_000_000_000 + self.ppb as i128) as u128;
        (number as u128 * WORD_BITS * 1_000_000_000_000_000 / rate) as Ps
    }

    /// When the next word period begins.
    pub const fn next_ps(&self) -> Ps {
        self.at(self.next)
    }

    /// Word periods that have begun.
    pub const fn count(&self) -> u64 {
        self.next
    }

    /// Goes to a word period.
    pub const fn set_count(&mut self, count: u64) {
        self.next = count;
    }

    /// The next word period begins.
    pub const fn advance(&mut self) {
        self.next += 1;
    }

    /// Word periods that begin before a time.
    pub const fn before(&self, time: Ps) -> u64 {
        // The first number n with n * 40e15 / rate >= time.
        let rate = self.mbps as u128 * (1_000_000_000 + self.ppb as i128) as u128;
        (time as u128 * rate).div_ceil(WORD_BITS * 1_000_000_000_000_000) as u64
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
