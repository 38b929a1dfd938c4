//! Bit times at a signalling rate, without drift.

use crate::time::{Ps, US};

/// Length of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPace {
    mbps: u32,
    whole_ps: u32,
    /// Remainder of the length, in units of 1 / `mbps` ps.
    part: u32,
    stride: u8,
    skips: bool,
}

impl BitPace {
    /// The pace of a rate in Mbit/s, at least 1. `disconnect_ps` is the disconnect time-out of the
    /// far end.
    pub const fn new(mbps: u32, disconnect_ps: Ps) -> Self {
        let (whole_ps, part) = (US as u32 / mbps, US as u32 % mbps);
        // Half of the time-out, so that rounding to a nanosecond does no harm.
        let bits = disconnect_ps / 2 / (whole_ps as u64 + 1);
        // The second bit of the next character is two bits away.
        let stride = if bits < 2 {
            0
        } else if bits > 14 {
            14
        } else {
            bits as u8
        };
        Self { mbps, whole_ps, part, stride, skips: bits >= 14 }
    }

    /// The same pace with a decoder that samples every bit.
    #[cfg(test)]
    pub const fn bit_by_bit(self) -> Self {
        Self { stride: 0, skips: false, ..self }
    }

    /// Duration of a number of bits, rounded down to a ps.
    #[inline(always)]
    pub const fn bits_ps(self, bits: u64) -> Ps {
        let whole = bits * self.whole_ps as u64;
        if self.part == 0 { whole } else { whole + bits * self.part as u64 / self.mbps as u64 }
    }

    /// Maximum distance in bits between two sampled bits that cannot hide a disconnect; 0 if every
    /// bit has to be sampled.
    #[inline(always)]
    pub const fn stride(self) -> u8 {
        self.stride
    }

    /// Whether sampling one bit of the longest character is enough.
    #[inline(always)]
    pub const fn skips_characters(self) -> bool {
        self.skips
    }
}

/// Time at which the transmitter becomes free.
#[derive(Clone, Copy, Debug)]
pub struct CharacterClock {
    /// Whole ps.
    pub at: Ps,
    /// Remainder in units of 1 / `mbps` ps.
    part: u32,
    pace: BitPace,
}

impl CharacterClock {
    /// A clock that starts at a time.
    pub const fn new(at: Ps, pace: BitPace) -> Self {
        Self { at, part: 0, pace }
    }

    /// Advances by a character with that many bits.
    #[inline]
    pub fn advance(&mut self, pace: BitPace, bits: u8) {
        if pace != self.pace {
            (self.pace, self.part) = (pace, 0);
        }
        self.at += u64::from(bits) * u64::from(pace.whole_ps);
        self.part += u32::from(bits) * pace.part;
        while self.part >= pace.mbps {
            self.part -= pace.mbps;
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_do_not_drift() {
        for mbps in [2, 3, 7, 10, 130, 200, 333, 400] {
            let pace = BitPace::new(mbps, 850_000);
            let mut clock = CharacterClock::new(5, pace);
            let mut bits = 0;
            for index in 0..30_000u64 {
                let count = [4, 8, 10, 14][index as usize % 4];
                assert_eq!(clock.at, 5 + bits * US / u64::from(mbps), "{mbps}");
                assert_eq!(pace.bits_ps(bits), bits * US / u64::from(mbps), "{mbps}");
                clock.advance(pace, count);
                bits += u64::from(count);
            }
        }
    }

    #[test]
    fn sampled_bits_are_closer_than_the_time_out() {
        for mbps in 1..1000 {
            let pace = BitPace::new(mbps, 850_000);
            let stride = u64::from(pace.stride());
            assert!(stride == 0 || stride >= 2 && pace.bits_ps(stride) <= 425_000, "{mbps}");
            assert_eq!(pace.skips_characters(), stride == 14, "{mbps}");
        }
        assert_eq!(BitPace::new(2, 850_000).stride(), 0);
        assert_eq!(BitPace::new(10, 850_000).stride(), 4);
    }
}
