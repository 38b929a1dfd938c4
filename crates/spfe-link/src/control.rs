//! Control words: names and fields to words and back (50-11C 5.3.3 to 5.3.5).

use crate::crc::{Crc8, Crc16};
use crate::word::{Word, k};

const LANE: u8 = 0xce;
const LANE_INVERTED: u8 = 0x31;
const INIT1: u8 = 0x46;
const INIT1_INVERTED: u8 = 0xb9;
const INIT2: u8 = 0xa6;
const INIT2_INVERTED: u8 = 0x59;
const INIT3: u8 = 0x38;
const SKIP: u8 = 0x7f;
const IDLE: u8 = 0xcf;
const STANDBY: u8 = 0x7e;
const LOST_SIGNAL: u8 = 0x64;
const ACTIVE: u8 = 0x20;
const ALIGN: u8 = 0x77;
const SDF: u8 = 0x50;
const SBF: u8 = 0x5d;
/// D4.2. One published core sends 0x84 (D4.4) instead, which is not a control word of the standard.
const SIF: u8 = 0x44;
const ACK: u8 = 0xa2;
const NACK: u8 = 0xbb;
const FULL: u8 = 0x6f;
const RETRY: u8 = 0x87;

/// A control word. A word with a CRC-8 keeps the received CRC; see [`ControlWord::crc8_is_good`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlWord {
    /// The elastic buffer of a receiver deletes or repeats this word.
    Skip,
    /// Sent when the layers above have nothing to send.
    Idle,
    /// First step of lane initialisation.
    Init1,
    /// INIT1 as a pair with swapped wires delivers it. Never sent.
    Init1Inverted,
    /// Second step of lane initialisation.
    Init2,
    /// INIT2 as a pair with swapped wires delivers it. Never sent.
    Init2Inverted,
    /// Third step of lane initialisation.
    Init3 {
        /// Capability field (50-11C 5.3.3.8).
        capability: u8,
    },
    /// The sender is about to switch the lane off.
    Standby {
        /// Reason of the sender; the receiver only reports it.
        reason: u8,
    },
    /// The sender starts the lane again because of an error.
    LostSignal {
        /// 0 no signal, 1 RXERR counter overflow, 2 INIT1 received (bits 1:0).
        cause: u8,
    },
    /// Tells which lanes of the sender are active.
    Active {
        /// Bit L: lane L is active.
        lanes: u16,
    },
    /// Aligns the lanes of a link.
    Align {
        /// Bits 3:0 number of lanes (0 means 16), bits 7:4 number of this lane. Both this field and
        /// its inverse are 0 on a hot redundant lane.
        lanes: u8,
        /// Bitwise inverse of `lanes`, or 0.
        inverse: u8,
    },
    /// Fills up the last row of a data frame.
    Pad,
    /// Start of data frame.
    Sdf {
        /// Virtual channel as received, 8 bits; only 0 to 31 are valid.
        vc: u8,
    },
    /// End of data frame.
    Edf {
        /// Sequence number: bits 6:0 count, bit 7 polarity.
        seq: u8,
        /// CRC-16 of the frame.
        crc: u16,
    },
    /// Start of broadcast frame.
    Sbf {
        /// Broadcast channel.
        channel: u8,
        /// Broadcast type (B_TYPE).
        kind: u8,
    },
    /// End of broadcast frame.
    Ebf {
        /// Bit 0 LATE, bit 1 DELAYED.
        status: u8,
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the frame.
        crc: u8,
    },
    /// Start of idle frame.
    Sif {
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the word.
        crc: u8,
    },
    /// Flow control token: the receiver has room for `multiplier` times 64 more words.
    Fct {
        /// 1 to 8.
        multiplier: u8,
        /// Virtual channel, 0 to 31.
        vc: u8,
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the word.
        crc: u8,
    },
    /// Acknowledges everything up to a sequence number.
    Ack {
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the word.
        crc: u8,
    },
    /// Acknowledges everything up to a sequence number, and asks to send the rest again.
    Nack {
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the word.
        crc: u8,
    },
    /// The error recovery buffer is full; asks for an acknowledgement.
    Full {
        /// Sequence number.
        seq: u8,
        /// CRC-8 of the word.
        crc: u8,
    },
    /// Everything after this word is a resend.
    Retry,
    /// A word was lost or damaged. Receivers generate this word; it is never sent.
    RxErr,
}

impl ControlWord {
    /// Decodes a word. Returns `None` for data words, words with end markers, and unknown control
    /// words.
    #[inline]
    pub const fn decode(word: Word) -> Option<Self> {
        let [s0, s1, s2, s3] = word.symbols();
        match (word.k, s0) {
            (1, k::COMMA) => Self::decode_comma(s1, s2, s3),
            (1, k::INIT_COMMA) => Self::decode_init(s1, s2, s3),
            (1, k::EDF) => Some(Self::Edf { seq: s1, crc: u16::from_le_bytes([s2, s3]) }),
            (1, k::EBF) => Some(Self::Ebf { status: s1, seq: s2, crc: s3 }),
            (1, k::FCT) => {
                Some(Self::Fct { multiplier: (s1 >> 5) + 1, vc: s1 & 0x1f, seq: s2, crc: s3 })
            }
            (0xf, k::COMMA) if s1 == k::FILL && s2 == k::FILL && s3 == k::FILL => Some(Self::Pad),
            (1, k::ERROR) if word.bits == 0 => Some(Self::RxErr),
            _ => None,
        }
    }

    #[inline]
    const fn decode_comma(s1: u8, s2: u8, s3: u8) -> Option<Self> {
        Some(match s1 {
            SDF => Self::Sdf { vc: s2 },
            SIF => Self::Sif { seq: s2, crc: s3 },
            ACK => Self::Ack { seq: s2, crc: s3 },
            NACK => Self::Nack { seq: s2, crc: s3 },
            FULL => Self::Full { seq: s2, crc: s3 },
            SBF => Self::Sbf { channel: s2, kind: s3 },
            RETRY => Self::Retry,
            ACTIVE => Self::Active { lanes: u16::from_le_bytes([s2, s3]) },
            ALIGN => Self::Align { lanes: s2, inverse: s3 },
            LANE => match (s2, s3) {
                (SKIP, SKIP) => Self::Skip,
                (IDLE, IDLE) => Self::Idle,
                (STANDBY, reason) => Self::Standby { reason },
                (LOST_SIGNAL, cause) => Self::LostSignal { cause },
                _ => return None,
            },
            _ => return None,
        })
    }

    const fn decode_init(s1: u8, s2: u8, s3: u8) -> Option<Self> {
        Some(match (s1, s2, s3) {
            (LANE, INIT1, INIT1) => Self::Init1,
            (LANE, INIT2, INIT2) => Self::Init2,
            (LANE, INIT3, capability) => Self::Init3 { capability },
            (LANE_INVERTED, INIT1_INVERTED, INIT1_INVERTED) => Self::Init1Inverted,
            (LANE_INVERTED, INIT2_INVERTED, INIT2_INVERTED) => Self::Init2Inverted,
            _ => return None,
        })
    }

    /// Encodes the control word; a CRC field is taken as it is.
    pub const fn encode(self) -> Word {
        let (k0, s) = match self {
            Self::Skip => (k::COMMA, [LANE, SKIP, SKIP]),
            Self::Idle => (k::COMMA, [LANE, IDLE, IDLE]),
            Self::Init1 => (k::INIT_COMMA, [LANE, INIT1, INIT1]),
            Self::Init2 => (k::INIT_COMMA, [LANE, INIT2, INIT2]),
            Self::Init1Inverted => (k::INIT_COMMA, [LANE_INVERTED, INIT1_INVERTED, INIT1_INVERTED]),
            Self::Init2Inverted => (k::INIT_COMMA, [LANE_INVERTED, INIT2_INVERTED, INIT2_INVERTED]),
            Self::Init3 { capability } => (k::INIT_COMMA, [LANE, INIT3, capability]),
            Self::Standby { reason } => (k::COMMA, [LANE, STANDBY, reason]),
            Self::LostSignal { cause } => (k::COMMA, [LANE, LOST_SIGNAL, cause]),
            Self::Active { lanes } => {
                let [low, high] = lanes.to_le_bytes();
                (k::COMMA, [ACTIVE, low, high])
            }
            Self::Align { lanes, inverse } => (k::COMMA, [ALIGN, lanes, inverse]),
            Self::Pad => {
                return Word::from_symbols([k::COMMA, k::FILL, k::FILL, k::FILL], 0xf);
            }
            Self::Sdf { vc } => (k::COMMA, [SDF, vc, 0]),
            Self::Edf { seq, crc } => {
                let [low, high] = crc.to_le_bytes();
                (k::EDF, [seq, low, high])
            }
            Self::Sbf { channel, kind } => (k::COMMA, [SBF, channel, kind]),
            Self::Ebf { status, seq, crc } => (k::EBF, [status, seq, crc]),
            Self::Sif { seq, crc } => (k::COMMA, [SIF, seq, crc]),
            Self::Fct { multiplier, vc, seq, crc } => {
                (k::FCT, [multiplier.wrapping_sub(1) << 5 | vc & 0x1f, seq, crc])
            }
            Self::Ack { seq, crc } => (k::COMMA, [ACK, seq, crc]),
            Self::Nack { seq, crc } => (k::COMMA, [NACK, seq, crc]),
            Self::Full { seq, crc } => (k::COMMA, [FULL, seq, crc]),
            Self::Retry => (k::COMMA, [RETRY, 0, 0]),
            Self::RxErr => return Word::RXERR,
        };
        Word::from_symbols([k0, s[0], s[1], s[2]], 1)
    }

    /// Encodes the control word and computes the CRC-8 of SIF, FCT, ACK, NACK and FULL. Other words
    /// are encoded as they are.
    pub const fn sealed(self) -> Word {
        let word = self.encode();
        match self {
            Self::Sif { .. }
            | Self::Fct { .. }
            | Self::Ack { .. }
            | Self::Nack { .. }
            | Self::Full { .. } => {
                let crc = Crc8::new().symbols(word, 3).value();
                Word { bits: word.bits & 0x00ff_ffff | (crc as u32) << 24, k: word.k }
            }
            _ => word,
        }
    }

    /// Whether SIF, FCT, ACK, NACK or FULL carries the right CRC-8; true for all other words.
    pub fn crc8_is_good(self) -> bool {
        self.sealed() == self.encode()
    }
}

/// The word that ends a data frame. The CRC of the frame also covers symbols 0 and 1 of this word.
pub const fn edf(frame: Crc16, seq: u8) -> Word {
    let crc = frame.byte(k::EDF).byte(seq).value();
    ControlWord::Edf { seq, crc }.encode()
}

/// The word that ends a broadcast frame. The CRC of the frame also covers symbols 0 to 2 of this
/// word.
pub const fn ebf(frame: Crc8, status: u8, seq: u8) -> Word {
    let crc = frame.byte(k::EBF).byte(status).byte(seq).value();
    ControlWord::Ebf { status, seq, crc }.encode()
}
