//! Characters and control codes (50-12C 5.4.2, 5.4.3).

/// A normal character: part of a packet. Each one uses up one unit of the far end's credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NChar {
    /// Eight bits of a packet.
    Data(u8),
    /// End of packet.
    Eop,
    /// Error end of packet.
    Eep,
}

impl NChar {
    /// Whether the character ends a packet.
    pub const fn is_end(self) -> bool {
        !matches!(self, Self::Data(_))
    }
}

/// The byte of a broadcast code: type in bits 7:6, value in bits 5:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BroadcastCode(pub u8);

/// Meaning of a broadcast code (50-12C 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeMeaning {
    /// Type 00: a time-code, 0 to 63.
    Time(u8),
    /// Type 10, bit 5 clear: interrupt 0 to 31.
    Interrupt(u8),
    /// Type 10, bit 5 set: acknowledge of interrupt 0 to 31. In a network with extended interrupts:
    /// interrupt 32 to 63, given here as 0 to 31.
    Acknowledge(u8),
    /// Types 01 and 11: never sent, and ignored when received.
    Reserved,
}

impl BroadcastCode {
    /// Makes a time-code of bits 5:0 of `value`.
    pub const fn time(value: u8) -> Self {
        Self(value & 0x3f)
    }

    /// Makes an interrupt code of bits 4:0 of `id`.
    pub const fn interrupt(id: u8) -> Self {
        Self(0x80 | id & 0x1f)
    }

    /// Makes an interrupt acknowledge code of bits 4:0 of `id`.
    pub const fn acknowledge(id: u8) -> Self {
        Self(0xa0 | id & 0x1f)
    }

    /// Decodes the meaning of the code.
    pub const fn meaning(self) -> CodeMeaning {
        match self.0 >> 5 {
            0 | 1 => CodeMeaning::Time(self.0 & 0x3f),
            4 => CodeMeaning::Interrupt(self.0 & 0x1f),
            5 => CodeMeaning::Acknowledge(self.0 & 0x1f),
            _ => CodeMeaning::Reserved,
        }
    }
}

/// A unit of transmission: a character, or a control code of two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceWireCharacter {
    /// ESC and FCT: sent when there is nothing else to send.
    Null,
    /// Flow control token: the far end may send eight more N-Chars.
    Fct,
    /// A normal character.
    NChar(NChar),
    /// Broadcast code: ESC and a data character.
    Broadcast(BroadcastCode),
}

impl SpaceWireCharacter {
    /// Length on the wire, 4 to 14 bits.
    pub const fn length_bits(self) -> u8 {
        match self {
            Self::Null => 8,
            Self::Fct | Self::NChar(NChar::Eop | NChar::Eep) => 4,
            Self::NChar(NChar::Data(_)) => 10,
            Self::Broadcast(_) => 14,
        }
    }
}
