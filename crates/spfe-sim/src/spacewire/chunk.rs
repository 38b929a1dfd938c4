//! The bits of a character on the wire.

use super::pace::BitPace;
use crate::time::Ps;
use spfe_link::spacewire::SpaceWireCharacter;
use spfe_link::spacewire::encode::CharacterBits;

/// The bits of a character, as they are on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// When the first bit leaves.
    pub at: Ps,
    /// How long bits are.
    pub pace: BitPace,
    /// The bits; bit 0 goes first.
    pub bits: CharacterBits,
    /// Which of them have an edge.
    pub present: u16,
    /// All are as the encoder made them, and the character before is the one sent before.
    pub intact: bool,
    /// What they were made from.
    pub character: SpaceWireCharacter,
    /// The signals before them.
    pub before: Signals,
}

/// The levels of the two signals.
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

impl Chunk {
    /// An undisturbed character.
    #[inline]
    pub fn new(at: Ps, pace: BitPace, bits: CharacterBits, character: SpaceWireCharacter) -> Self {
        let intact = pace.stride() != 0;
        let present = (1 << bits.count) - 1;
        Self { at, pace, bits, present, intact, character, before: Signals::default() }
    }

    /// When a bit leaves.
    #[inline]
    pub fn time(&self, index: u8) -> Ps {
        self.at + self.pace.bits_ps(u64::from(index))
    }

    pub const fn bit(&self, index: u8) -> bool {
        self.bits.value >> index & 1 != 0
    }

    /// How many bits leave before a time.
    pub fn begun(&self, time: Ps) -> u8 {
        (0..self.bits.count).filter(|index| self.time(*index) < time).count() as u8
    }

    /// Takes away the bits that leave in a span of time.
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
