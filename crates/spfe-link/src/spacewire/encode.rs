//! Characters to bits (50-12C 5.4.4): order on the wire, and parity across characters.

use super::character::{NChar, SpaceWireCharacter};

/// Type fields, first bit sent in bit 0.
pub(super) mod kind {
    pub const FCT: u8 = 0b00;
    pub const EOP: u8 = 0b10;
    pub const EEP: u8 = 0b01;
    pub const ESC: u8 = 0b11;
}

/// Bits in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterBits {
    /// The bits; bit 0 goes first.
    pub value: u16,
    /// How many, 0 to 14.
    pub count: u8,
}

impl CharacterBits {
    /// None.
    pub const NONE: Self = Self { value: 0, count: 0 };

    /// The next bit, taken off.
    pub const fn next_bit(&mut self) -> Option<bool> {
        if self.count == 0 {
            return None;
        }
        let bit = self.value & 1 != 0;
        self.value >>= 1;
        self.count -= 1;
        Some(bit)
    }

    const fn then(self, other: Self) -> Self {
        Self { value: self.value | other.value << self.count, count: self.count + other.count }
    }
}

/// The transmitter's encoder. Its state is what the next parity bit also covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharacterEncoder {
    /// Whether the previous content has an odd number of ones.
    odd: bool,
}

impl CharacterEncoder {
    /// As after the transmitter is enabled: no content before.
    pub const fn new() -> Self {
        Self { odd: false }
    }

    /// The bits of a character.
    pub const fn encode(&mut self, character: SpaceWireCharacter) -> CharacterBits {
        match character {
            SpaceWireCharacter::Null => self.control(kind::ESC).then(self.control(kind::FCT)),
            SpaceWireCharacter::Fct => self.control(kind::FCT),
            SpaceWireCharacter::NChar(NChar::Data(data)) => self.data(data),
            SpaceWireCharacter::NChar(NChar::Eop) => self.control(kind::EOP),
            SpaceWireCharacter::NChar(NChar::Eep) => self.control(kind::EEP),
            SpaceWireCharacter::Broadcast(code) => self.control(kind::ESC).then(self.data(code.0)),
        }
    }

    /// A data character: the flag is 0.
    const fn data(&mut self, data: u8) -> CharacterBits {
        let parity = !self.odd;
        self.odd = data.count_ones() & 1 != 0;
        CharacterBits { value: (data as u16) << 2 | parity as u16, count: 10 }
    }

    /// A control character: the flag is 1.
    pub(super) const fn control(&mut self, kind: u8) -> CharacterBits {
        let parity = self.odd;
        self.odd = kind.count_ones() & 1 != 0;
        CharacterBits { value: (kind as u16) << 2 | 2 | parity as u16, count: 4 }
    }
}
