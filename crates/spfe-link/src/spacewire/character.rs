//! Characters and control codes (50-12C 5.4.2, 5.4.3).

/// What packets are made of. Each needs one place of the far end's credit.
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
    /// Whether it ends a packet.
    pub const fn is_end(self) -> bool {
        !matches!(self, Self::Data(_))
    }
}

/// The byte of a broadcast code: type in bits 7:6, value in bits 5:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BroadcastCode(pub u8);

/// What a broadcast code says (50-12C 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeMeaning {
    /// Type 00: a time-code, 0 to 63.
    Time(u8),
    /// Type 10, bit 5 clear: interrupt 0 to 31.
    Interrupt(u8),
    /// Type 10, bit 5 set: acknowledge of interrupt 0 to 31, or, where the network is set to
    /// extended interrupts, interrupt 32 to 63 (here still 0 to 31).
    Acknowledge(u8),
    /// Types 01 and 11: not sent, ignored when received.
    Reserved,
}

impl BroadcastCode {
    /// A time-code; bits 5:0 of the value count.
    pub const fn time(value: u8) -> Self {
        Self(value & 0x3f)
    }

    /// An interrupt code; bits 4:0 of the identifier count.
    pub const fn interrupt(id: u8) -> Self {
        Self(0x80 | id & 0x1f)
    }

    /// An interrupt acknowledge code; bits 4:0 of the identifier count.
    pub const fn acknowledge(id: u8) -> Self {
        Self(0xa0 | id & 0x1f)
    }

    /// What it says.
    pub const fn meaning(self) -> CodeMeaning {
        match self.0 >> 5 {
            0 | 1 => CodeMeaning::Time(self.0 & 0x3f),
            4 => CodeMeaning::Interrupt(self.0 & 0x1f),
            5 => CodeMeaning::Acknowledge(self.0 & 0x1f),
            _ => CodeMeaning::Reserved,
        }
    }
}

/// What a transmitter sends in one go: a character, or a control code of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceWireCharacter {
    /// ESC and FCT: nothing else to send.
    Null,
    /// Flow control token: eight more N-Chars may come.
    Fct,
    /// A character of a packet.
    NChar(NChar),
    /// ESC and data.
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
