//! The SpaceFibre core, Verilated, beside the word-exact model `spfe-link`.
//!
//! `tests/lane.rs`, `tests/link.rs`, `tests/multilane.rs` and `tests/spacewire.rs` run both with the same inputs and
//! compare what comes out, in every cycle; in `tests/port.rs` they are the two ends of a link.
//! `RTL_SEEDS` is the number of random seeds (1), besides the fixed ones, and `RTL_SEED` selects a
//! single one.

pub mod axi;
pub mod core;
pub mod endpoint;
pub mod link;
pub mod pins;
pub mod rows;

pub use crate::axi::Axi;
pub use crate::core::Core;
pub use pins::{Packer, Unpacker};

use spfe_link::Word;

/// Seeds to run a test with.
///
/// # Panics
/// `RTL_SEED` or `RTL_SEEDS` is not a number.
#[must_use]
pub fn seeds(fixed: u64) -> Vec<u64> {
    let number = |name: &str| {
        std::env::var(name).ok().map(|text| {
            text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; a number is needed"))
        })
    };
    if let Some(seed) = number("RTL_SEED") {
        return vec![seed];
    }
    let random = (0..number("RTL_SEEDS").unwrap_or(1)).map(|_| fastrand::u64(1 << 16..1 << 31));
    (1..=fixed).chain(random).collect()
}

/// Happens once in `count` times.
pub fn once_in(rng: &mut fastrand::Rng, count: u32) -> bool {
    rng.u32(..count) == 0
}

/// A word as it may come out of a damaged line: lost, with a damaged symbol, or changed.
pub fn damage(rng: &mut fastrand::Rng, word: Word) -> Word {
    match rng.u8(..3) {
        0 => Word::RXERR,
        1 => {
            let symbol = rng.u32(..4);
            Word { bits: word.bits & !(0xff << (8 * symbol)), k: word.k | 1 << symbol }
        }
        _ => Word { bits: word.bits ^ 1 << rng.u32(..32), k: word.k },
    }
}
