//! Random numbers: one seed, and for each object a stream of its own.

/// A stream of random numbers (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A stream.
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// The stream of an object. It depends on the seed and the name only, so that an object that
    /// is added does not change what the others do.
    pub fn of(seed: u64, name: &str) -> Self {
        let hash = |hash: u64, byte: &u8| mix(hash ^ u64::from(*byte));
        Self(name.as_bytes().iter().fold(mix(seed), hash))
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// 0 to `bound` - 1; 0 for a bound of 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }

    /// From the first to the second, both included; the first if it is not below the second.
    pub const fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first).saturating_add(1))
    }

    /// 0 to 1, 1 excluded.
    pub const fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A permutation of 64-bit numbers, in which each bit changes each.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let first = |seed, name| Rng::of(seed, name).bits();
        assert_eq!(first(1, "node"), first(1, "node"));
        let all =
            [first(1, "node"), first(1, "edon"), first(2, "node"), first(1, ""), first(0, "")];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value), "{all:x?}");
        }
    }

    #[test]
    fn numbers_stay_in_their_bounds_and_reach_them() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..10_000 {
            seen[rng.below(5) as usize] += 1;
            assert!((3..=4).contains(&rng.between(3, 4)));
            assert!((0.0..1.0).contains(&rng.fraction()));
        }
        assert!(seen.iter().all(|count| (1800..2200).contains(count)), "{seen:?}");
        assert_eq!((rng.below(0), rng.between(9, 2), rng.between(0, u64::MAX) > 0), (0, 9, true));
    }
}
