//! Random numbers: one seed, and for each object a stream of its own.

use fastrand::Rng;

/// The random numbers of an object. They depend on the seed and the object's name only, so that a
/// new object does not change the numbers of the others.
pub fn stream(seed: u64, name: &str) -> Rng {
    let hash = |hash: u64, byte: &u8| mix(hash ^ u64::from(*byte));
    Rng::with_seed(name.as_bytes().iter().fold(mix(seed), hash))
}

/// A random number from 0 to `bound` - 1; 0 for a bound of 0.
pub fn below(rng: &mut Rng, bound: u64) -> u64 {
    if bound == 0 { 0 } else { rng.u64(..bound) }
}

/// A hash of a number (the finaliser of SplitMix64): each bit of the value changes about half of
/// the bits of the result. Different values have different results.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// A random interval from an exponential distribution, at least 1.
pub fn interval(rng: &mut Rng, mean: u64) -> u64 {
    (-(1.0 - rng.f64()).ln() * mean as f64) as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let first = |seed, name| stream(seed, name).u64(..);
        assert_eq!(first(1, "node"), first(1, "node"));
        let all =
            [first(1, "node"), first(1, "edon"), first(2, "node"), first(1, ""), first(0, "")];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value), "{all:x?}");
        }
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut rng = stream(7, "bound");
        assert_eq!((below(&mut rng, 0), below(&mut rng, 1)), (0, 0));
        assert!((0..1000).all(|_| below(&mut rng, 5) < 5));
    }
}
