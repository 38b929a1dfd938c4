//! Decides in which clocks words may pass an interface: always, at the rate of a line, or at
//! random.

use crate::random::Random;

use serde::{Deserialize, Serialize};

/// Bit rate of the line in kbit/s.
pub const LINE_KBPS: u64 = 10_000_000;
/// Clocks of a period of the 64B/66B decoder with 32 bits. No word passes in the last one.
pub const PCS_CLOCKS: u8 = 33;

/// A pattern of clocks in which words may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Pattern {
    /// Every clock.
    Every,
    /// The limiter of the published bench: as many clocks as 10 Gbit/s allow. After a pause it is
    /// full, so that the first words of a frame pass without a gap. Word `k` of such a frame passes
    /// in clock `k + max(0, ceil(k r) - 1)` with `r` = rate × width / 10 Gbit/s - 1.
    Limiter {
        /// Clock rate in kHz as published: 322,000 or 350,000.
        khz: u32,
    },
    /// The output of a 64B/66B decoder with 32 bits: 32 of 33 clocks at 322.265625 MHz.
    Pcs {
        /// Position of the first clock in the 33 clocks, 0 to 32. No word passes in clock 32.
        phase: u8,
    },
    /// Random clocks.
    Random {
        /// Number of clocks in 256 in which no word passes.
        stall: u8,
        /// Seed.
        seed: u64,
    },
}

impl Pattern {
    /// Short name for records.
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

/// The running state of a pattern.
#[derive(Clone, Debug)]
pub struct Pace {
    pattern: Pattern,
    /// State of the limiter: bits that may pass, times the clock rate in kHz. 0 means full.
    credit: i64,
    /// State of the decoder: position in the 33 clocks.
    phase: u8,
    random: Random,
}

impl Pace {
    /// Starts a pattern.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        let (phase, seed) = match pattern {
            Pattern::Pcs { phase } => (phase % PCS_CLOCKS, 0),
            Pattern::Random { seed, .. } => (0, seed),
            _ => (0, 0),
        };
        Self { pattern, credit: 0, phase, random: Random::new(seed) }
    }

    /// Starts the next clock. Returns whether a word may pass in it.
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

    /// Accounts for bytes that passed in this clock, or that the gap between frames takes.
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
    fn the_limiter_matches_the_formula() {
        for khz in [322_000, 350_000] {
            let clocks = clocks(Pattern::Limiter { khz }, 600);
            for (word, clock) in clocks.iter().enumerate() {
                assert_eq!(*clock, arrival(word as u64, khz, 32), "word {word} at {khz} kHz");
            }
        }
    }

    #[test]
    fn the_decoder_pauses_once_in_33_clocks() {
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
