//! The instruction byte: packet type, command code, reply address length (50-52C 5.1).

/// The instruction byte of a command or reply. Any value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instruction(pub u8);

/// Packet type: bits 7 and 6 of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketType {
    /// Value 00.
    Reply,
    /// Value 01.
    Command,
    /// Values 10 and 11.
    Reserved,
}

/// Operation of a command: its command code, bits 5 to 2 of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmapOperation {
    /// Codes 0010 and 0011.
    Read {
        /// Use consecutive addresses; otherwise one address for all data.
        increment: bool,
    },
    /// Code 0111: consecutive addresses, always with a reply.
    ReadModifyWrite,
    /// Codes 1000 to 1111.
    Write {
        /// Check all data before writing any of it.
        verify: bool,
        /// Send a reply.
        reply: bool,
        /// Use consecutive addresses; otherwise one address for all data.
        increment: bool,
    },
}

impl RmapOperation {
    /// Whether the operation is of one of the allowed kinds.
    pub const fn is_among(self, read: bool, write: bool, modify: bool) -> bool {
        match self {
            Self::Read { .. } => read,
            Self::Write { .. } => write,
            Self::ReadModifyWrite => modify,
        }
    }
}

const RESERVED: u8 = 0x80;
const COMMAND: u8 = 0x40;
const WRITE: u8 = 0x20;
const VERIFY: u8 = 0x10;
const REPLY: u8 = 0x08;
const INCREMENT: u8 = 0x04;
const WORDS: u8 = 0x03;

const fn bit(set: bool, mask: u8) -> u8 {
    if set { mask } else { 0 }
}

impl RmapOperation {
    /// Whether the command carries data.
    pub const fn carries_data(self) -> bool {
        !matches!(self, Self::Read { .. })
    }

    /// Whether the operation uses consecutive addresses.
    pub const fn increments(self) -> bool {
        match self {
            Self::Read { increment } | Self::Write { increment, .. } => increment,
            Self::ReadModifyWrite => true,
        }
    }
}

impl Instruction {
    /// Instruction of a command without a reply address.
    pub const fn command(operation: RmapOperation) -> Self {
        Self(match operation {
            RmapOperation::Read { increment } => COMMAND | REPLY | bit(increment, INCREMENT),
            RmapOperation::ReadModifyWrite => COMMAND | VERIFY | REPLY | INCREMENT,
            RmapOperation::Write { verify, reply, increment } => {
                COMMAND
                    | WRITE
                    | bit(verify, VERIFY)
                    | bit(reply, REPLY)
                    | bit(increment, INCREMENT)
            }
        })
    }

    /// Instruction of a packet that starts at its logical address; `None` if it is not RMAP or too
    /// short.
    pub const fn of(packet: &[u8]) -> Option<Self> {
        match packet {
            [_, super::PID, instruction, ..] => Some(Self(*instruction)),
            _ => None,
        }
    }

    /// Packet type.
    pub const fn packet_type(self) -> PacketType {
        match self.0 & (RESERVED | COMMAND) {
            0 => PacketType::Reply,
            COMMAND => PacketType::Command,
            _ => PacketType::Reserved,
        }
    }

    /// Command code, 0 to 15.
    pub const fn code(self) -> u8 {
        self.0 >> 2 & 0x0f
    }

    /// Operation of the command code; `None` for 0000, 0001, 0100, 0101 and 0110.
    pub const fn operation(self) -> Option<RmapOperation> {
        let increment = self.0 & INCREMENT != 0;
        match self.code() {
            0b0010 | 0b0011 => Some(RmapOperation::Read { increment }),
            0b0111 => Some(RmapOperation::ReadModifyWrite),
            0b1000.. => Some(RmapOperation::Write {
                verify: self.0 & VERIFY != 0,
                reply: self.0 & REPLY != 0,
                increment,
            }),
            _ => None,
        }
    }

    /// Whether the write bit is set. It decides the form of the reply.
    pub const fn is_write(self) -> bool {
        self.0 & WRITE != 0
    }

    /// Whether the reply bit is set.
    pub const fn wants_reply(self) -> bool {
        self.0 & REPLY != 0
    }

    /// Bytes of the reply address field: 0, 4, 8 or 12.
    pub const fn reply_address_bytes(self) -> usize {
        (self.0 & WORDS) as usize * 4
    }

    /// The same instruction with a reply address field of `words` four-byte words.
    pub(super) const fn with_words(self, words: u8) -> Self {
        Self(self.0 & !WORDS | words & WORDS)
    }

    /// Instruction of the reply: the same bits with packet type 00.
    pub const fn to_reply(self) -> Self {
        Self(self.0 & !(RESERVED | COMMAND))
    }
}
