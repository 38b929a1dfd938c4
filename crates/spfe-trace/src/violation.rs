//! Violations of the standards, by name.

use core::fmt;

use crate::name::Seq;
use crate::phase::LanePhase;
use spfe_link::word::Word;

/// A violation of the standard, or damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceViolation {
    /// A word with a code or disparity error, or an RXERR.
    DamagedWord {
        /// Lane number.
        lane: u8,
    },
    /// An unknown control word.
    UnknownControl {
        /// Lane number.
        lane: u8,
        /// The word.
        word: Word,
    },
    /// Phases out of order; the order is INIT1, INIT2, INIT3, active.
    PhaseOrder {
        /// Lane number.
        lane: u8,
        /// The previous phase.
        from: LanePhase,
        /// The phase that the word shows.
        to: LanePhase,
    },
    /// INIT3 words of the same initialisation have different capabilities.
    Capability {
        /// Lane number.
        lane: u8,
        /// The previous field.
        before: u8,
        /// The new field.
        now: u8,
    },
    /// The words after an INIT word are not from the pseudo-random sequence; reported once per INIT
    /// word.
    InitFiller {
        /// Lane number.
        lane: u8,
        /// The first wrong word.
        word: Word,
    },
    /// Words between INIT3 words; there should be none.
    Init3Filler {
        /// Lane number.
        lane: u8,
    },
    /// More than 64 words after an INIT word.
    LongFiller {
        /// Lane number.
        lane: u8,
    },
    /// More than 32 LOST_SIGNAL or STANDBY words in a burst.
    Burst {
        /// Lane number.
        lane: u8,
        /// Number of words.
        words: u32,
    },
    /// The second field of an ALIGN is not the inverse of the first.
    AlignField {
        /// Lane number.
        lane: u8,
        /// First field.
        lanes: u8,
        /// Second field.
        inverse: u8,
    },
    /// Lanes are more than 3 words apart.
    Skew,
    /// Aligned lanes lost their alignment.
    Misaligned,
    /// Data words on some lanes, control words on others.
    InvalidRow,
    /// The lanes of a control row carry different words.
    RowDiffers,
    /// A single word or a broadcast frame has a wrong CRC-8.
    Crc8 {
        /// The word that carries it.
        word: Word,
        /// The right CRC-8.
        expected: u8,
    },
    /// A data frame has a wrong CRC-16.
    Crc16 {
        /// Mask of the lanes whose EDF is wrong.
        lanes: u16,
    },
    /// A frame or FCT does not have the next number, or a SIF or FULL does not have the last one.
    Sequence {
        /// Expected number.
        expected: u8,
        /// Received number.
        got: u8,
    },
    /// The polarity of sequence numbers changed without a RETRY.
    PolarityWithoutRetry {
        /// The previous number.
        before: u8,
        /// The number with the other polarity.
        got: u8,
    },
    /// The polarity of sequence numbers did not change at a RETRY.
    RetryPolarity {
        /// First number after the RETRY.
        got: u8,
    },
    /// A word that is not allowed at this point, or a frame that is too long or too short.
    Frame {
        /// Description of the error.
        what: &'static str,
    },
    /// Data words between frames.
    DataOutsideFrame,
    /// A word within a broadcast frame. Only words of the lane and multi-lane layers, and RETRY,
    /// may come between SBF and EBF.
    InsideBroadcast {
        /// The word.
        word: Word,
    },
    /// A SIF with D4.4 (0x84) instead of D4.2 (0x44), and with a good CRC-8.
    SifSymbol,
    /// Words of an idle frame do not follow the pseudo-random sequence; reported once per frame.
    IdleSequence {
        /// The first wrong word.
        got: u32,
    },
    /// A virtual channel above 31.
    VcRange {
        /// Virtual channel number.
        vc: u8,
    },
    /// K characters other than EOP, EEP and Fill, or characters other than Fill after an end
    /// marker.
    Characters {
        /// The word.
        word: Word,
    },
    /// Fewer than 15 words between two ACKs.
    AckSpacing {
        /// Number of words.
        words: u64,
    },
    /// An ACK or NACK for something that was not sent.
    AckUnknown {
        /// Sequence number in it.
        seq: u8,
    },
    /// A data frame that exceeds the credit.
    NoCredit {
        /// Virtual channel.
        vc: u8,
        /// Words beyond the credit.
        words: u32,
    },
    /// More than 127 unacknowledged frames and FCTs.
    TooManyOutstanding,
    /// A RETRY without a NACK before it.
    RetryWithoutNack,
    /// The numbers after a RETRY do not continue from the number of the NACK.
    RetryFrom {
        /// Expected first number.
        expected: u8,
        /// Received first number.
        got: u8,
    },
    /// A NACK asked for a resend, but other items came.
    NotResent {
        /// First number to be resent.
        from: u8,
        /// Received number.
        got: u8,
    },
    /// SpaceWire: wrong parity.
    Parity,
    /// SpaceWire: ESC followed by ESC, EOP or EEP.
    Escape,
    /// SpaceWire: both signals changed at once.
    SimultaneousEdges,
    /// SpaceWire: the first character is not a NULL.
    FirstNull,
    /// SpaceWire: an N-Char without credit.
    NCharWithoutCredit,
    /// SpaceWire: FCTs for more than 56 N-Chars.
    FctOverCredit,
    /// SpaceWire: a time-code that is not the next one.
    TimeCodeOrder {
        /// Expected time-code.
        expected: u8,
        /// Received time-code.
        got: u8,
    },
    /// SpaceWire: a broadcast code of a reserved type.
    ReservedCode {
        /// The broadcast code.
        code: u8,
    },
}

impl TraceViolation {
    /// Name of the kind of violation.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::DamagedWord { .. } => "damaged word",
            Self::UnknownControl { .. } => "unknown control word",
            Self::PhaseOrder { .. } => "phase order",
            Self::Capability { .. } => "capability changed",
            Self::InitFiller { .. } => "INIT filler not pseudo-random",
            Self::Init3Filler { .. } => "filler after INIT3",
            Self::LongFiller { .. } => "INIT filler too long",
            Self::Burst { .. } => "LOST_SIGNAL or STANDBY over 32 times",
            Self::AlignField { .. } => "ALIGN field",
            Self::Skew => "lane skew",
            Self::Misaligned => "misaligned",
            Self::InvalidRow => "invalid row",
            Self::RowDiffers => "control row differs",
            Self::Crc8 { .. } => "CRC-8 error",
            Self::Crc16 { .. } => "CRC-16 error",
            Self::Sequence { .. } => "sequence error",
            Self::PolarityWithoutRetry { .. } => "polarity changed without RETRY",
            Self::RetryPolarity { .. } => "polarity kept after RETRY",
            Self::Frame { .. } => "frame error",
            Self::DataOutsideFrame => "data outside a frame",
            Self::InsideBroadcast { .. } => "word inside a broadcast frame",
            Self::SifSymbol => "SIF with D4.4",
            Self::IdleSequence { .. } => "idle words not pseudo-random",
            Self::VcRange { .. } => "virtual channel over 31",
            Self::Characters { .. } => "characters of a data frame",
            Self::AckSpacing { .. } => "ACKs too close",
            Self::AckUnknown { .. } => "ACK of what was not sent",
            Self::NoCredit { .. } => "data without credit",
            Self::TooManyOutstanding => "more than 127 outstanding",
            Self::RetryWithoutNack => "RETRY without NACK",
            Self::RetryFrom { .. } => "RETRY from another number",
            Self::NotResent { .. } => "not resent after NACK",
            Self::Parity => "parity error",
            Self::Escape => "escape error",
            Self::SimultaneousEdges => "data and strobe at once",
            Self::FirstNull => "first character not NULL",
            Self::NCharWithoutCredit => "N-Char without credit",
            Self::FctOverCredit => "FCT over credit",
            Self::TimeCodeOrder { .. } => "time-code not the next",
            Self::ReservedCode { .. } => "reserved broadcast code",
        }
    }
}

impl fmt::Display for TraceViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            Self::DamagedWord { lane } | Self::Init3Filler { lane } | Self::LongFiller { lane } => {
                write!(f, ": lane {lane}")
            }
            Self::UnknownControl { lane, word } | Self::InitFiller { lane, word } => {
                write!(f, ": lane {lane}, {word}")
            }
            Self::PhaseOrder { lane, from, to } => {
                write!(f, ": lane {lane}, {} after {}", to.name(), from.name())
            }
            Self::Capability { lane, before, now } => {
                write!(f, ": lane {lane}, 0x{now:02X} after 0x{before:02X}")
            }
            Self::Burst { lane, words } => write!(f, ": lane {lane}, {words} times"),
            Self::AlignField { lane, lanes, inverse } => {
                write!(f, ": lane {lane}, 0x{lanes:02X} and 0x{inverse:02X}")
            }
            Self::Crc8 { word, expected } => {
                write!(f, ": {word} carries 0x{:02X}, not 0x{expected:02X}", word.symbol(3))
            }
            Self::Crc16 { lanes } => write!(f, ": lanes 0x{lanes:04X}"),
            Self::Sequence { expected, got } | Self::RetryFrom { expected, got } => {
                write!(f, ": {}, not {}", Seq(got), Seq(expected))
            }
            Self::PolarityWithoutRetry { before, got } => {
                write!(f, ": {} after {}", Seq(got), Seq(before))
            }
            Self::RetryPolarity { got } => write!(f, ": {}", Seq(got)),
            Self::Frame { what } => write!(f, ": {what}"),
            Self::InsideBroadcast { word } | Self::Characters { word } => write!(f, ": {word}"),
            Self::IdleSequence { got } => write!(f, ": {got:08X}"),
            Self::VcRange { vc } => write!(f, ": {vc}"),
            Self::AckSpacing { words } => write!(f, ": {words} words, at least 15"),
            Self::AckUnknown { seq } => write!(f, ": {}", Seq(seq)),
            Self::NoCredit { vc, words } => write!(f, ": VC {vc}, {words} words too many"),
            Self::NotResent { from, got } => {
                write!(f, ": {} came, {} was asked for", Seq(got), Seq(from))
            }
            Self::TimeCodeOrder { expected, got } => write!(f, ": {got}, not {expected}"),
            Self::ReservedCode { code } => write!(f, ": 0x{code:02X}"),
            _ => Ok(()),
        }
    }
}
