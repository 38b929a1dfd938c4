//! What the standard does not allow, by name.

use core::fmt;

use crate::name::Seq;
use crate::phase::LanePhase;
use spfe_link::word::Word;

/// Something the standard does not allow, or damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceViolation {
    /// A word with a code or disparity error, or an RXERR.
    DamagedWord {
        /// Its lane.
        lane: u8,
    },
    /// A control word that the standard does not have.
    UnknownControl {
        /// Its lane.
        lane: u8,
        /// The word.
        word: Word,
    },
    /// Initialisation goes by way of INIT1, INIT2, INIT3 to active.
    PhaseOrder {
        /// The lane.
        lane: u8,
        /// The phase before.
        from: LanePhase,
        /// The phase its word shows.
        to: LanePhase,
    },
    /// INIT3 words of one initialisation tell different capabilities.
    Capability {
        /// The lane.
        lane: u8,
        /// The field before.
        before: u8,
        /// The field now.
        now: u8,
    },
    /// The words after an INIT word are not of the pseudo-random sequence; once per INIT word.
    InitFiller {
        /// The lane.
        lane: u8,
        /// The first one.
        word: Word,
    },
    /// INIT3 words have none between them.
    Init3Filler {
        /// The lane.
        lane: u8,
    },
    /// More than 64 words after an INIT word.
    LongFiller {
        /// The lane.
        lane: u8,
    },
    /// LOST_SIGNAL and STANDBY come 32 times at most.
    Burst {
        /// The lane.
        lane: u8,
        /// How often it came.
        words: u32,
    },
    /// ALIGN whose second field is not the inverse of the first.
    AlignField {
        /// The lane.
        lane: u8,
        /// First field.
        lanes: u8,
        /// Second field.
        inverse: u8,
    },
    /// Lanes are more than 3 words apart.
    Skew,
    /// Aligned lanes came out of alignment.
    Misaligned,
    /// Data words on some lanes, control words on others.
    InvalidRow,
    /// The lanes of a control row carry different words.
    RowDiffers,
    /// CRC-8 of a word or of a broadcast frame.
    Crc8 {
        /// The word that carries it.
        word: Word,
        /// The CRC-8 it ought to have.
        expected: u8,
    },
    /// CRC-16 of a data frame.
    Crc16 {
        /// Lanes whose EDF is wrong, bit L for lane L.
        lanes: u16,
    },
    /// A frame or FCT with another number than the next, SIF or FULL with another than the last.
    Sequence {
        /// The number it ought to have.
        expected: u8,
        /// The number it has.
        got: u8,
    },
    /// The polarity of sequence numbers changes at a RETRY only.
    PolarityWithoutRetry {
        /// The number before.
        before: u8,
        /// The number with the other polarity.
        got: u8,
    },
    /// After a RETRY numbers have the other polarity.
    RetryPolarity {
        /// The first number after it.
        got: u8,
    },
    /// A word that cannot stand where it does, or a frame that is too long or too short.
    Frame {
        /// What was wrong.
        what: &'static str,
    },
    /// Data words between frames.
    DataOutsideFrame,
    /// Only lane and multi-lane words and RETRY may come between SBF and EBF.
    InsideBroadcast {
        /// The word.
        word: Word,
    },
    /// SIF with D4.4 (0x84) where D4.2 (0x44) belongs; its CRC-8 is good.
    SifSymbol,
    /// Words of an idle frame do not go on with the pseudo-random sequence; once per frame.
    IdleSequence {
        /// The first one.
        got: u32,
    },
    /// A virtual channel over 31.
    VcRange {
        /// The channel.
        vc: u8,
    },
    /// K characters other than EOP, EEP and Fill, or anything but Fill after an end marker.
    Characters {
        /// The word.
        word: Word,
    },
    /// Fewer than 15 words between two ACKs.
    AckSpacing {
        /// How many.
        words: u64,
    },
    /// An ACK or NACK of something that was not sent.
    AckUnknown {
        /// Its number.
        seq: u8,
    },
    /// A data frame longer than the credit.
    NoCredit {
        /// Virtual channel.
        vc: u8,
        /// Words more than the credit.
        words: u32,
    },
    /// More than 127 frames and FCTs without an ACK.
    TooManyOutstanding,
    /// A RETRY that no NACK asked for.
    RetryWithoutNack,
    /// Numbers after RETRY go on from that of the NACK.
    RetryFrom {
        /// The first number after it ought to be this.
        expected: u8,
        /// And is this.
        got: u8,
    },
    /// A NACK asked for these to be sent again, and others came.
    NotResent {
        /// The first number asked for.
        from: u8,
        /// The number that came.
        got: u8,
    },
    /// SpaceWire: parity.
    Parity,
    /// SpaceWire: ESC followed by ESC, EOP or EEP.
    Escape,
    /// SpaceWire: both signals changed at once.
    SimultaneousEdges,
    /// SpaceWire: the first character is not a NULL.
    FirstNull,
    /// SpaceWire: an N-Char that no FCT gave leave for.
    NCharWithoutCredit,
    /// SpaceWire: FCTs for more than 56 N-Chars.
    FctOverCredit,
    /// SpaceWire: a time-code that is not the next one.
    TimeCodeOrder {
        /// The time that ought to have come.
        expected: u8,
        /// The time that came.
        got: u8,
    },
    /// SpaceWire: a broadcast code of a reserved type.
    ReservedCode {
        /// The code.
        code: u8,
    },
}

impl TraceViolation {
    /// Its name, the same for every one of the kind.
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
