//! The bits of one character on the wire.

use super::pace::BitPace;
use crate::time::Ps;
use spfe_link::spacewire::SpaceWireCharacter;
use spfe_link::spacewire::encode::CharacterBits;

/// The bits of one character on the wire.
#[derive(Clone, Copy, Debug)]
pub struct WireCharacter {
    /// Time at which the first bit leaves.
    pub at: Ps,
    /// Length of its bits.
    pub pace: BitPace,
    /// The bits; bit 0 leaves first.
    pub bits: CharacterBits,
    /// Bits that have a signal edge, a bit for each.
    pub present: u16,
    /// No fault changed this character, and none removed or duplicated the one before it.
    pub intact: bool,
    /// The encoded character.
    pub character: SpaceWireCharacter,
    /// Signal levels before the first bit.
    pub before: Signals,
}

/// Levels of data and strobe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    pub d: bool,
    pub s: bool,
}

impl Signals {
    pub const fn bit(&mut self, bit: bool) {
        self.s ^= bit == self.d;
        self.d = bit;
    }
}

impl WireCharacter {
    /// A character without faults.
    #[inline]
    pub fn new(at: Ps, pace: BitPace, bits: CharacterBits, character: SpaceWireCharacter) -> Self {
        let intact = pace.stride() != 0;
        let present = (1 << bits.count) - 1;
        Self { at, pace, bits, present, intact, character, before: Signals::default() }
    }

    /// Time at which a bit leaves.
    #[inline]
    pub fn time(&self, index: u8) -> Ps {
        self.at + self.pace.bits_ps(u64::from(index))
    }

    pub const fn bit(&self, index: u8) -> bool {
        self.bits.value >> index & 1 != 0
    }

    /// Number of bits that leave before a time.
    pub fn begun(&self, time: Ps) -> u8 {
        (0..self.bits.count).filter(|index| self.time(*index) < time).count() as u8
    }

    /// Removes the edges of bits that leave within a span of time.
    pub fn remove(&mut self, from: Ps, until: Ps) {
        let before = self.present;
        for index in 0..self.bits.count {
            let at = self.time(index);
            if from <= at && at < until {
                self.present &= !(1 << index);
            }
        }
        self.intact &= self.present == before;
    }
}
