//! When words may pass an interface: in every clock, at the pace of a line, or at random.

use crate::random::Random;

use serde::{Deserialize, Serialize};

/// Bit rate of the line in kbit/s.
const LINE_KBPS: u64 = 10_000_000;

/// A rule for when words pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Pattern {
    /// In every clock.
    Every,
    /// As the limiter of the published bench: as many clocks as 10 Gbit/s allow at a clock rate; full
    /// at the start of a frame that follows a pause, so the first words come without a gap. Word `k` of such
    /// a frame comes in clock `k + max(0, ceil(k r) - 1)` with `r` = rate × width / 10 Gbit/s - 1.
    Limiter {
        /// Clock rate in kHz, as the publication writes it: 322,000 and 350,000.
        khz: u32,
    },
    /// As a 64B/66B decoder of 32 bits hands them out: 32 of 33 clocks at 322.265625 MHz.
    Pcs {
        /// Which of the 33 clocks the first one is, 0 to 32; in number 32 nothing passes.
        phase: u8,
    },
    /// Each clock by itself.
    Random {
        /// Of 256 clocks, in how many nothing passes.
        stall: u8,
        /// Seed.
        seed: u64,
    },
}

impl Pattern {
    /// A short name, for records.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Pattern::Every => "every".to_owned(),
            Pattern::Limiter { khz } => format!("limiter-{}", khz / 1000),
            Pattern::Pcs { phase } => format!("pcs-{phase}"),
            Pattern::Random { stall, seed } => format!("random-{stall}-{seed}"),
        }
    }
}

/// A pattern as it runs.
#[derive(Clone, Debug)]
pub struct Pace {
    pattern: Pattern,
    /// Of the limiter: bits it may still pass, times the clock rate in kHz; 0 is full.
    credit: i64,
    /// Of the decoder: which of 33 clocks.
    phase: u8,
    random: Random,
}

impl Pace {
    /// At its beginning.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        let (phase, seed) = match pattern {
            Pattern::Pcs { phase } => (phase % 33, 0),
            Pattern::Random { seed, .. } => (0, seed),
            _ => (0, 0),
        };
        Self { pattern, credit: 0, phase, random: Random::new(seed) }
    }

    /// Begins a clock: whether a word may pass in it.
    pub fn open(&mut self) -> bool {
        match self.pattern {
            Pattern::Every => true,
            Pattern::Limiter { .. } => {
                self.credit = self.credit.min(0) + LINE_KBPS as i64;
                self.credit >= 0
            }
            Pattern::Pcs { .. } => {
                let open = self.phase != 32;
                self.phase = (self.phase + 1) % 33;
                open
            }
            Pattern::Random { stall, .. } => (self.random.bits() & 0xff) as u8 >= stall,
        }
    }

    /// Bytes have passed in this clock, or were lost to what stands between frames.
    pub fn spend(&mut self, bytes: usize) {
        if let Pattern::Limiter { khz } = self.pattern {
            self.credit -= (bytes * 8) as i64 * i64::from(khz);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::arrival;

    fn clocks(pattern: Pattern, words: u64) -> Vec<u64> {
        let mut pace = Pace::new(pattern);
        let mut out = Vec::new();
        for clock in 0.. {
            if pace.open() {
                out.push(clock);
                pace.spend(4);
            }
            if out.len() as u64 == words {
                break;
            }
        }
        out
    }

    #[test]
    fn the_limiter_is_the_formula() {
        for khz in [322_000, 350_000] {
            let clocks = clocks(Pattern::Limiter { khz }, 600);
            for (word, clock) in clocks.iter().enumerate() {
                assert_eq!(*clock, arrival(word as u64, khz, 32), "word {word} at {khz} kHz");
            }
        }
    }

    #[test]
    fn the_decoder_rests_once_in_33_clocks() {
        for phase in 0..33 {
            let clocks = clocks(Pattern::Pcs { phase }, 640);
            assert!(clocks.iter().all(|clock| (clock + u64::from(phase)) % 33 != 32));
            let last = clocks.last().expect("640 words");
            assert!((658..=659).contains(last), "phase {phase}: last word in clock {last}");
        }
    }

    #[test]
    fn a_pause_does_not_save_up_more_than_a_full_limiter() {
        let mut pace = Pace::new(Pattern::Limiter { khz: 350_000 });
        for _ in 0..1000 {
            pace.open();
        }
        let mut first_gap = 0;
        while pace.open() {
            pace.spend(4);
            first_gap += 1;
        }
        assert_eq!(first_gap, 9, "words 0 to 8 come without a gap at 350 MHz");
    }
}
