//! Random numbers that depend only on a seed, so that every run can be repeated.

/// A generator with the drawing methods of the bench.
#[derive(Clone, Debug)]
pub struct Random(fastrand::Rng);

impl Random {
    /// Starts the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Draws 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// Draws a number below `limit`. Returns 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.0.u64(..limit) }
    }

    /// Returns true in `permille` of 1000 cases. Draws nothing if `permille` is 0.
    pub fn chance(&mut self, permille: u32) -> bool {
        permille != 0 && self.below(1000) < u64::from(permille)
    }

    /// Draws `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_sequence() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (random.bits(), random.below(10), random.bytes(9))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn limits_hold() {
        let mut random = Random::new(1);
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert!(!random.chance(0) && random.chance(1000));
    }
}
