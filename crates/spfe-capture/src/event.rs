//! Link events: state changes, errors and injected faults.
//!
//! The upper byte of a code names the part of the system: 1 lane, 2 multi-lane, 3 data link,
//! 4 network, 5 SpaceWire, 6 injected fault, 7 application. Codes never change their meaning.

use crate::layout::{LinkKind, RecordDirection, flag};
use spfe_link::network::{DiscardReason, DiscardedPacket};
use spfe_link::{lane, multilane, spacewire};

/// Severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Severity {
    /// Part of normal operation.
    Note = 0,
    /// Unusual, but nothing was lost.
    Warning = 1,
    /// An error that the standard defines, or a loss of data.
    Error = 2,
}

impl Severity {
    pub(crate) const fn of(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::Note),
            1 => Some(Self::Warning),
            2 => Some(Self::Error),
            _ => None,
        }
    }
}

macro_rules! events {
    ($($variant:ident $code:literal $severity:ident $name:literal, $value:literal;)+) => {
        /// Kind of a link event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum EventCode {
            $(#[doc = concat!($name, ". Value: ", $value, ".")] $variant = $code,)+
        }

        impl EventCode {
            /// All event codes in ascending order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Converts from the number in a record. Returns `None` for an unknown code.
            pub const fn of(code: u16) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// The name shown to users.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Describes the event's value, with its bit fields or unit.
            pub const fn value_meaning(self) -> &'static str {
                match self { $(Self::$variant => $value,)+ }
            }

            /// The event's severity.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }
        }
    };
}

events! {
    LaneState 0x0101 Note "Lane state", "state before in bits 7:0, state now in bits 15:8";
    LostSignalSent 0x0102 Error "LOST_SIGNAL sent", "cause";
    FarEndLostSignal 0x0103 Error "Far end lost signal", "cause";
    FarEndStandby 0x0104 Note "Far end in standby", "reason";
    InitTimeout 0x0105 Warning "Lane initialisation time-out", "0";
    RxErr 0x0106 Error "RXERR", "RXERR counter";
    RxErrOverflow 0x0107 Error "RXERR counter overflow", "RXERR counter";
    RxPolarity 0x0108 Note "Receive polarity", "1 inverted, 0 not";
    NoSignal 0x0109 Warning "No signal", "1 no signal, 0 signal again";
    WordSyncLost 0x010a Error "Word synchronisation lost", "0";
    FarEndCapability 0x010b Note "Far-end capability", "capability field";
    Alignment 0x0201 Note "Alignment state", "state before in bits 7:0, state now in bits 15:8";
    Misaligned 0x0202 Warning "Misaligned", "cause";
    ActiveLanes 0x0203 Note "Active lanes", "bit L for lane L";
    LinkReset 0x0301 Note "Link reset state", "state before in bits 7:0, state now in bits 15:8";
    FarEndLinkReset 0x0302 Warning "Far-end link reset", "0";
    ProtocolError 0x0303 Error "Link reset caused by protocol error", "SEQ_NUM";
    Crc16Error 0x0304 Error "CRC-16 error", "SEQ_NUM";
    Crc8Error 0x0305 Error "CRC-8 error", "SEQ_NUM";
    FrameError 0x0306 Error "Frame error", "0";
    SequenceError 0x0307 Error "Sequence error", "SEQ_NUM received";
    Recovery 0x0308 Warning "Error recovery", "attempts until now";
    InputBufferOverflow 0x0309 Error "Input buffer overflow", "0";
    FctCreditOverflow 0x030a Error "FCT credit overflow", "0";
    BandwidthOverUse 0x030b Warning "Bandwidth over-use", "0";
    BandwidthUnderUse 0x030c Warning "Bandwidth under-use", "0";
    BroadcastLost 0x030d Error "Broadcast message lost", "channel";
    RecoveryBufferFull 0x030e Note "Error recovery buffer full", "words in it";
    PacketDropped 0x0401 Error "Packet dropped", "reason in bits 7:0, address in bits 15:8 if bit 16 is set";
    TimeSlot 0x0402 Note "Time-slot", "0 to 63";
    BroadcastCopy 0x0403 Note "Copy of broadcast message discarded", "channel";
    PacketTruncated 0x0404 Error "Packet cut by link reset", "bytes kept";
    SpaceWireState 0x0501 Note "SpaceWire link state", "state before in bits 7:0, state now in bits 15:8";
    SpaceWireError 0x0502 Error "SpaceWire link error", "cause";
    CodeInvalid 0x0503 Warning "Broadcast code not passed on", "the code";
    FaultBitError 0x0601 Note "Fault: bit error", "bits";
    FaultBurst 0x0602 Note "Fault: burst", "bits";
    FaultLaneCut 0x0603 Note "Fault: lane cut", "0";
    FaultLaneReturn 0x0604 Note "Fault: lane returns", "0";
    FaultPolarity 0x0605 Note "Fault: polarity swapped", "1 swapped, 0 not";
    FaultSkew 0x0606 Note "Fault: skew", "ps";
    FaultWordDropped 0x0607 Note "Fault: word dropped", "words";
    FaultWordDuplicated 0x0608 Note "Fault: word duplicated", "words";
    FaultWordReordered 0x0609 Note "Fault: words reordered", "words";
    FaultControlWord 0x060a Note "Fault: control word damaged", "bits 7:0 of its symbol 1";
    FaultFarEndReset 0x060b Note "Fault: far end reset", "0";
    FaultBabbling 0x060c Note "Fault: babbling virtual channel", "1 begins, 0 ends";
    FaultBlocked 0x060d Note "Fault: receiver blocked", "1 begins, 0 ends";
    FaultCodeLost 0x060e Note "Fault: time-code lost", "the code";
    FaultErrorRate 0x060f Note "Fault: bit error rate", "errors in 10^12 bits, 0 ends";
    FaultStuck 0x0610 Note "Fault: lane stuck", "level";
    Note 0x0701 Note "Note", "anything";
    PacketOffered 0x0702 Note "Packet handed in", "bytes";
    PacketDelivered 0x0703 Note "Packet delivered", "bytes";
    PacketMissing 0x0704 Error "Packet missing", "bytes";
}

impl EventCode {
    /// Whether the event reports an injected fault.
    pub const fn is_fault(self) -> bool {
        self as u16 >> 8 == 6
    }
}

/// A link event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEvent<'a> {
    /// Kind of the event.
    pub code: EventCode,
    /// Value, as [`EventCode::value_meaning`] describes it.
    pub value: u32,
    /// Further explanation for the user, may be empty.
    pub text: &'a str,
    /// Kind of link.
    pub link: LinkKind,
    /// Lane of the event.
    pub lane: Option<u8>,
    /// Virtual channel that the event concerns.
    pub vc: Option<u8>,
    /// Virtual network that the event concerns.
    pub network: Option<u8>,
    /// Identity of the packet that the event concerns, 0 for none.
    pub id: u64,
    /// End of the link at which the event happened.
    pub direction: RecordDirection,
}

impl<'a> LinkEvent<'a> {
    /// Length of the content before the text: code (2), severity (1), zero (1), value (4).
    pub const FIXED: usize = 8;

    /// Makes an event without lane, virtual channel, packet or text.
    pub const fn new(code: EventCode, value: u32) -> Self {
        let (link, direction) = (LinkKind::Unknown, RecordDirection::Unknown);
        Self { code, value, text: "", link, lane: None, vc: None, network: None, id: 0, direction }
    }

    /// Sets the text.
    pub const fn text(self, text: &'a str) -> Self {
        Self { text, ..self }
    }

    /// Reports that a lane changed its state.
    pub const fn lane_state(lane: u8, before: lane::LaneState, now: lane::LaneState) -> Self {
        let value = before as u32 | (now as u32) << 8;
        let link = LinkKind::SpaceFibre;
        Self { lane: Some(lane), link, ..Self::new(EventCode::LaneState, value) }
    }

    /// Reports that the alignment changed its state.
    pub const fn alignment(before: multilane::Alignment, now: multilane::Alignment) -> Self {
        let value = before as u32 | (now as u32) << 8;
        Self { link: LinkKind::SpaceFibre, ..Self::new(EventCode::Alignment, value) }
    }

    /// Reports that alignment was lost and starts again.
    pub const fn misaligned(cause: multilane::Misaligned) -> Self {
        Self { link: LinkKind::SpaceFibre, ..Self::new(EventCode::Misaligned, cause as u32) }
    }

    /// Reports that a SpaceWire link changed its state.
    pub const fn spacewire_state(
        before: spacewire::SpaceWireState,
        now: spacewire::SpaceWireState,
    ) -> Self {
        let value = before as u32 | (now as u32) << 8;
        Self { link: LinkKind::SpaceWire, ..Self::new(EventCode::SpaceWireState, value) }
    }

    /// Reports that a SpaceWire link returned to ErrorReset because of an error.
    pub const fn spacewire_error(cause: spacewire::ErrorResetCause) -> Self {
        Self { link: LinkKind::SpaceWire, ..Self::new(EventCode::SpaceWireError, cause as u32) }
    }

    /// Reports that a switch dropped a packet. `id` is the packet's identity, 0 if it is unknown.
    pub fn dropped(dropped: &DiscardedPacket, id: u64) -> Self {
        let address = dropped.address.map_or(0, |address| 1 << 16 | u32::from(address) << 8);
        let value = u32::from(reason_number(dropped.reason)) | address;
        let (vc, network) = (Some(dropped.vc), dropped.network);
        Self { vc, network, id, ..Self::new(EventCode::PacketDropped, value) }
    }

    /// Flags of the event's record.
    pub(crate) const fn flags(&self) -> u16 {
        let error = matches!(self.code.severity(), Severity::Error);
        (if error { flag::ERROR } else { 0 }) | (if self.code.is_fault() { flag::FAULT } else { 0 })
    }
}

/// The number that stands for a reason in the value of [`EventCode::PacketDropped`].
pub const fn reason_number(reason: DiscardReason) -> u8 {
    match reason {
        DiscardReason::Empty => 0,
        DiscardReason::InvalidAddress => 1,
        DiscardReason::NoPort => 2,
        DiscardReason::InputUnmapped => 3,
        DiscardReason::OutputUnmapped => 4,
        DiscardReason::NotRunning => 5,
        DiscardReason::Blocked => 6,
        DiscardReason::Timeout => 7,
    }
}
