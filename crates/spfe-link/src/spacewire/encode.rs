//! Characters to bits (50-12C 5.4.4): order on the wire, and parity across characters.

use super::character::{NChar, SpaceWireCharacter};

/// Type fields of control characters; bit 0 is sent first.
pub(super) mod kind {
    pub const FCT: u8 = 0b00;
    pub const EOP: u8 = 0b10;
    pub const EEP: u8 = 0b01;
    pub const ESC: u8 = 0b11;
}

/// Bits in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterBits {
    /// The bits; bit 0 is sent first.
    pub value: u16,
    /// Number of bits, 0 to 14.
    pub count: u8,
}

impl CharacterBits {
    /// No bits.
    pub const NONE: Self = Self { value: 0, count: 0 };

    /// Removes the next bit.
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

/// Encoder of the transmitter. Its state is the part of the last character that the next parity bit
/// covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharacterEncoder {
    /// Whether the previous content has an odd number of ones.
    odd: bool,
}

impl CharacterEncoder {
    /// State after the transmitter is enabled.
    pub const fn new() -> Self {
        Self { odd: false }
    }

    /// Encodes a character.
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

    /// Encodes a data character; its flag is 0.
    const fn data(&mut self, data: u8) -> CharacterBits {
        let parity = !self.odd;
        self.odd = data.count_ones() & 1 != 0;
        CharacterBits { value: (data as u16) << 2 | parity as u16, count: 10 }
    }

    /// Encodes a control character; its flag is 1.
    pub(super) const fn control(&mut self, kind: u8) -> CharacterBits {
        let parity = self.odd;
        self.odd = kind.count_ones() & 1 != 0;
        CharacterBits { value: (kind as u16) << 2 | 2 | parity as u16, count: 4 }
    }
}
