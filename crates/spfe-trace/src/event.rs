//! Events that a listener reports.

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

pub use crate::phase::LanePhase;
pub use crate::violation::TraceViolation;

/// Function that receives the events.
pub type TraceSink<'s> = dyn FnMut(TraceEvent<'_>) + 's;

/// An event on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceEvent<'a> {
    /// Word period in which the event was complete, from 0.
    pub at: u64,
    /// Kind of event.
    pub what: TraceEventKind<'a>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEventKind<'a> {
    /// The sender of a lane entered another phase.
    Phase {
        /// Lane number.
        lane: u8,
        /// The new phase.
        phase: LanePhase,
    },
    /// The wires of a lane are swapped; its words are inverted from here on.
    Swapped {
        /// Lane number.
        lane: u8,
    },
    /// An INIT3 reported a capability field that is new in this initialisation.
    Capability {
        /// Lane number.
        lane: u8,
        /// The capability field.
        field: u8,
    },
    /// The set of lanes that make rows changed, or the lanes were aligned again.
    Aligned {
        /// Mask of the lanes.
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
    /// An FCT, ACK, NACK or FULL with a good CRC-8, or a RETRY.
    Token {
        /// The control word.
        control: ControlWord,
        /// Whether this is a resend of an FCT that was seen before.
        resent: bool,
    },
    /// Frames and FCTs that never came after damage.
    Missing {
        /// Number of frames and FCTs.
        count: u8,
    },
    /// A packet has ended.
    Packet(TracePacket<'a>),
    /// A violation of the standard, or damage.
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
    /// Words of the frame, unscrambled and without PAD.
    pub words: &'a [Word],
    /// Whether this is a resend of a frame that was seen before.
    pub resent: bool,
    /// Whether a receiver accepts the frame: it is not a resend, and nothing before it is missing.
    pub accepted: bool,
}

/// A broadcast frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BroadcastFrame {
    /// Word period of its SBF.
    pub from: u64,
    /// Broadcast channel.
    pub channel: u8,
    /// Broadcast type (B_TYPE).
    pub kind: u8,
    /// The eight data bytes.
    pub data: [u8; 8],
    /// Whether the message is LATE.
    pub late: bool,
    /// Whether the message is DELAYED.
    pub delayed: bool,
    /// Sequence number.
    pub seq: u8,
    /// Whether this is a resend of a frame that was seen before.
    pub resent: bool,
    /// Whether a receiver accepts the frame: it is not a resend, and nothing before it is missing.
    pub accepted: bool,
}

/// An idle frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleFrame {
    /// Word period of its SIF.
    pub from: u64,
    /// Sequence number.
    pub seq: u8,
    /// Number of data words.
    pub words: u32,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    /// End of packet.
    Eop,
    /// Error end of packet.
    Eep,
    /// Cut by a link reset, or by the end of the input.
    Cut,
}

impl TraceEnd {
    /// Name of the end: "EOP", "EEP" or "cut".
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
    /// Word period of the frame in which the packet began; on SpaceWire the number of its first
    /// character.
    pub from: u64,
    /// Virtual channel; 0 on SpaceWire.
    pub vc: u8,
    /// First bytes of the packet, up to the limit of the listener.
    pub bytes: &'a [u8],
    /// Total number of bytes.
    pub length: u64,
    /// How it ended.
    pub end: TraceEnd,
    /// Whether the start was not seen, or frames of the packet are missing.
    pub partial: bool,
}
