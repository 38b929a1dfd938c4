//! What a listener tells: events, and violations by name.

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

pub use crate::phase::LanePhase;
pub use crate::violation::TraceViolation;

/// Where events go.
pub type TraceSink<'s> = dyn FnMut(TraceEvent<'_>) + 's;

/// Something that happened on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceEvent<'a> {
    /// Word period in which it was complete, from 0.
    pub at: u64,
    /// What it was.
    pub what: TraceEventKind<'a>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEventKind<'a> {
    /// A lane's sender has come to another phase.
    Phase {
        /// The lane.
        lane: u8,
        /// The phase.
        phase: LanePhase,
    },
    /// The wires of a lane are swapped: its words are inverted from here on.
    Swapped {
        /// The lane.
        lane: u8,
    },
    /// INIT3 told this capability field, with a value not told before in this initialisation.
    Capability {
        /// The lane.
        lane: u8,
        /// The field.
        field: u8,
    },
    /// The lanes that make rows have changed, or are aligned anew.
    Aligned {
        /// Bit L: lane L.
        lanes: u16,
    },
    /// A link reset: sequence numbers, credit and the idle sequence start again.
    LinkReset,
    /// A data frame with a good CRC-16.
    DataFrame(DataFrame<'a>),
    /// A broadcast frame with a good CRC-8.
    BroadcastFrame(BroadcastFrame),
    /// An idle frame has ended.
    IdleFrame(IdleFrame),
    /// FCT, ACK, NACK or FULL with a good CRC-8, or RETRY.
    Token {
        /// The word.
        control: ControlWord,
        /// An FCT that was sent before, and was seen then.
        resent: bool,
    },
    /// Numbers that never came, after damage.
    Missing {
        /// How many frames and FCTs.
        count: u8,
    },
    /// A packet has ended.
    Packet(TracePacket<'a>),
    /// Something the standard does not allow, or damage.
    Violation(TraceViolation),
}

/// A data frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataFrame<'a> {
    /// Word period of its SDF.
    pub from: u64,
    /// Virtual channel.
    pub vc: u8,
    /// Sequence number: bits 6:0 count, bit 7 polarity.
    pub seq: u8,
    /// Its words, unscrambled, without PAD.
    pub words: &'a [Word],
    /// It was sent before, and was seen then.
    pub resent: bool,
    /// It counts: not resent, and nothing before it is missing.
    pub accepted: bool,
}

/// A broadcast frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BroadcastFrame {
    /// Word period of its SBF.
    pub from: u64,
    /// Channel.
    pub channel: u8,
    /// Type (B_TYPE).
    pub kind: u8,
    /// The eight bytes.
    pub data: [u8; 8],
    /// LATE.
    pub late: bool,
    /// DELAYED.
    pub delayed: bool,
    /// Sequence number.
    pub seq: u8,
    /// It was sent before, and was seen then.
    pub resent: bool,
    /// It counts: not resent, and nothing before it is missing.
    pub accepted: bool,
}

/// An idle frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleFrame {
    /// Word period of its SIF.
    pub from: u64,
    /// Sequence number.
    pub seq: u8,
    /// Data words.
    pub words: u32,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    /// EOP.
    Eop,
    /// EEP.
    Eep,
    /// A link reset, or the end of what was given to the listener.
    Cut,
}

impl TraceEnd {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eop => "EOP",
            Self::Eep => "EEP",
            Self::Cut => "cut",
        }
    }
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePacket<'a> {
    /// Word period of the frame, or character, in which it began.
    pub from: u64,
    /// Virtual channel; 0 on SpaceWire.
    pub vc: u8,
    /// Its first bytes, as many as the limit allows.
    pub bytes: &'a [u8],
    /// All of its bytes.
    pub length: u64,
    /// How it ended.
    pub end: TraceEnd,
    /// Its beginning was not seen, or frames of it are missing.
    pub partial: bool,
}
