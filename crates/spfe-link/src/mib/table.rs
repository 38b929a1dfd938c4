//! The table of the management information base (50-11C tables 5-36 and 5-37).

use super::{Access, Item, Kind, Layer, Per};

/// Names an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Id {
    /// Virtual network of a virtual channel; 0 on channel 0 for ever.
    VirtualNetwork,
    /// Channel that a node sends broadcast messages on.
    BroadcastChannel,
    /// Link reset, and parameters as after power-on.
    InterfaceReset,
    /// Link reset of both ends.
    LinkReset,
    /// Data frames are scrambled, from the next link reset on.
    DataScrambled,
    /// Share of the link for broadcast messages.
    ExpectedBroadcastBandwidth,
    /// 0 is the highest.
    Priority,
    /// Share of the link; 65535 is all of it, 0 bars the channel.
    ExpectedBandwidth,
    /// Bit T: may send in time-slot T.
    TimeSlots,
    /// The user never waits.
    ContinuousMode,
    /// Full credit for longer is under-use.
    IdleTimeLimit,
    /// Fixed when the link is made.
    BandwidthCreditLimit,
    /// In tenths of the limit below zero; fixed when the link is made.
    MinimumBandwidthCreditThreshold,
    /// Worth of an FCT; fixed when the link is made.
    FctMultiplier,
    /// Longest data frame; fixed when the link is made.
    SegmentMultiplier,
    /// The lane sends.
    TxEn,
    /// The lane receives.
    RxEn,
    /// At most the lanes there are; taken over by a link reset, and while no lane is active.
    MaxDataSendingLanes,
    /// A plain single lane on lane 0: as configured, or as the far end needs it.
    Bypass,
    /// Start, and keep trying.
    LaneStart,
    /// Start when the far end does.
    AutoStart,
    /// Held in ClearLine.
    LaneReset,
    /// Words received are those sent.
    NearEndParallelLoopback,
    /// Words sent are those received.
    FarEndParallelLoopback,
    /// Sent in STANDBY.
    StandbyReason,
    /// Bits received are those sent.
    NearEndSerialLoopback,
    /// Bits sent are those received.
    FarEndSerialLoopback,
    /// There is FCT credit.
    HasCredit,
    /// A frame found no room; it resets the link.
    InputBufferOverflow,
    /// More FCTs than the credit counter holds.
    FctCreditOverflow,
    /// The channel sent far more than its share.
    BandwidthOverUse,
    /// It had full credit for the idle time limit.
    BandwidthUnderUse,
    /// In a data frame.
    Crc16Error,
    /// In a broadcast frame or a single word.
    Crc8Error,
    /// A word where it does not belong.
    FrameError,
    /// A number out of sequence.
    SequenceError,
    /// All that was sent is acknowledged.
    ErrorRecoveryBufferEmpty,
    /// Valid NACKs received.
    ErrorRecoveryAttempts,
    /// An acknowledgement that matches nothing.
    ProtocolError,
    /// The far end asked for a link reset.
    FarEndLinkReset,
    /// Of the last SCHEDULE.request.
    CurrentTimeSlot,
    /// Bit L: lane L carries rows.
    DataSendingLanes,
    /// Bit L: rows are received from lane L.
    DataReceivingLanes,
    /// 0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready.
    AlignmentState,
    /// Times that alignment started again.
    MisalignedEvents,
    /// 0 ClearLine to 9 LossOfSignal.
    LaneState,
    /// The leaky counter.
    RxerrCount,
    /// It reached 255.
    RxerrOverflow,
    /// The far end went to standby.
    FarEndStandby,
    /// As it said.
    FarEndStandbyReason,
    /// The initialisation timer ran out.
    Timeout,
    /// The far end sent LOST_SIGNAL.
    FarEndLostSignal,
    /// 0 no signal, 1 RXERR counter, 2 INIT1.
    FarEndLostSignalCause,
    /// Field of the last INIT3; 0 before one came.
    FarEndCapabilities,
    /// 1: received bits are inverted.
    RxPolarity,
    /// Nothing is received.
    NoSignal,
    /// The receiver has a word boundary.
    BitSync,
}

const fn item(id: Id, name: &'static str, place: (Layer, Kind, Access, Per)) -> Item {
    let (layer, kind, access, per) = place;
    Item { id, name, layer, kind, access, per, unit: "", min: 0, max: 1 }
}

impl Item {
    const fn range(self, min: u64, max: u64) -> Self {
        Self { min, max, ..self }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

/// Every item, parameters first. The item of an [`Id`] is at its number.
pub static ITEMS: [Item; COUNT] = {
    use Access::{Command, Read, ReadWrite};
    use Kind::{Error, Parameter, Status};
    use Layer::{DataLink, Lane, MultiLane, Network, Physical};
    use Per::{Link, VirtualChannel};
    const PER_LANE: Per = Per::Lane;
    [
        item(
            Id::VirtualNetwork,
            "Virtual Network Number",
            (Network, Parameter, ReadWrite, VirtualChannel),
        )
        .range(0, 63),
        item(Id::BroadcastChannel, "Broadcast Channel", (Network, Parameter, ReadWrite, Link))
            .range(0, 255),
        item(Id::InterfaceReset, "Interface Reset", (DataLink, Parameter, Command, Link))
            .range(1, 1),
        item(Id::LinkReset, "Link Reset", (DataLink, Parameter, Command, Link)).range(1, 1),
        item(Id::DataScrambled, "Data Scrambled", (DataLink, Parameter, ReadWrite, Link)),
        item(
            Id::ExpectedBroadcastBandwidth,
            "Expected Broadcast Bandwidth",
            (DataLink, Parameter, ReadWrite, Link),
        )
        .range(0, 65535)
        .unit("1/65536"),
        item(Id::Priority, "Priority", (DataLink, Parameter, ReadWrite, VirtualChannel))
            .range(0, 15),
        item(
            Id::ExpectedBandwidth,
            "Expected Bandwidth",
            (DataLink, Parameter, ReadWrite, VirtualChannel),
        )
        .range(0, 65535)
        .unit("1/65536"),
        item(Id::TimeSlots, "Time-slots", (DataLink, Parameter, ReadWrite, VirtualChannel))
            .range(0, u64::MAX)
            .unit("mask"),
        item(
            Id::ContinuousMode,
            "Continuous Mode",
            (DataLink, Parameter, ReadWrite, VirtualChannel),
        ),
        item(Id::IdleTimeLimit, "Idle Time Limit", (DataLink, Parameter, ReadWrite, Link))
            .range(0, u32::MAX as u64)
            .unit("rows"),
        item(Id::BandwidthCreditLimit, "Bandwidth Credit Limit", (DataLink, Parameter, Read, Link))
            .range(1, 1 << 24)
            .unit("rows"),
        item(
            Id::MinimumBandwidthCreditThreshold,
            "Minimum Bandwidth Credit Threshold",
            (DataLink, Parameter, Read, Link),
        )
        .range(0, 10)
        .unit("-1/10"),
        item(Id::FctMultiplier, "FCT Multiplier", (DataLink, Parameter, Read, Link))
            .range(1, 8)
            .unit("64 words"),
        item(Id::SegmentMultiplier, "Segment Multiplier", (DataLink, Parameter, Read, Link))
            .range(1, 16)
            .unit("64 words"),
        item(Id::TxEn, "TxEn", (MultiLane, Parameter, ReadWrite, PER_LANE)),
        item(Id::RxEn, "RxEn", (MultiLane, Parameter, ReadWrite, PER_LANE)),
        item(
            Id::MaxDataSendingLanes,
            "Maximum Number of Data-Sending Lanes",
            (MultiLane, Parameter, ReadWrite, Link),
        )
        .range(1, 16)
        .unit("lanes"),
        item(Id::Bypass, "Bypass", (MultiLane, Parameter, Read, Link)),
        item(Id::LaneStart, "LaneStart", (Lane, Parameter, ReadWrite, PER_LANE)),
        item(Id::AutoStart, "AutoStart", (Lane, Parameter, ReadWrite, PER_LANE)),
        item(Id::LaneReset, "LaneReset", (Lane, Parameter, ReadWrite, PER_LANE)),
        item(
            Id::NearEndParallelLoopback,
            "Near-End Parallel Loopback",
            (Lane, Parameter, ReadWrite, PER_LANE),
        ),
        item(
            Id::FarEndParallelLoopback,
            "Far-End Parallel Loopback",
            (Lane, Parameter, ReadWrite, PER_LANE),
        ),
        item(Id::StandbyReason, "Standby Reason", (Lane, Parameter, ReadWrite, PER_LANE))
            .range(0, 255),
        item(
            Id::NearEndSerialLoopback,
            "Near-End Serial Loopback",
            (Physical, Parameter, ReadWrite, PER_LANE),
        ),
        item(
            Id::FarEndSerialLoopback,
            "Far-End Serial Loopback",
            (Physical, Parameter, ReadWrite, PER_LANE),
        ),
        item(Id::HasCredit, "Has Credit", (DataLink, Status, Read, VirtualChannel)),
        item(
            Id::InputBufferOverflow,
            "Input Buffer Overflow",
            (DataLink, Error, Read, VirtualChannel),
        ),
        item(Id::FctCreditOverflow, "FCT Credit Overflow", (DataLink, Error, Read, VirtualChannel)),
        item(Id::BandwidthOverUse, "Bandwidth Over-use", (DataLink, Error, Read, VirtualChannel)),
        item(Id::BandwidthUnderUse, "Bandwidth Under-use", (DataLink, Error, Read, VirtualChannel)),
        item(Id::Crc16Error, "CRC-16 Error", (DataLink, Error, Read, Link)),
        item(Id::Crc8Error, "CRC-8 Error", (DataLink, Error, Read, Link)),
        item(Id::FrameError, "Frame Error", (DataLink, Error, Read, Link)),
        item(Id::SequenceError, "Sequence Error", (DataLink, Error, Read, Link)),
        item(
            Id::ErrorRecoveryBufferEmpty,
            "Error Recovery Buffer Empty",
            (DataLink, Status, Read, Link),
        ),
        item(Id::ErrorRecoveryAttempts, "Error Recovery Attempts", (DataLink, Status, Read, Link))
            .range(0, u64::MAX)
            .unit("NACKs"),
        item(
            Id::ProtocolError,
            "Link Reset Caused by Protocol Error",
            (DataLink, Error, Read, Link),
        ),
        item(Id::FarEndLinkReset, "Far-End Link Reset", (DataLink, Error, Read, Link)),
        item(Id::CurrentTimeSlot, "Current Time-slot", (DataLink, Status, Read, Link)).range(0, 63),
        item(Id::DataSendingLanes, "Data-Sending Lanes", (MultiLane, Status, Read, Link))
            .range(0, u16::MAX as u64)
            .unit("mask"),
        item(Id::DataReceivingLanes, "Data-Receiving Lanes", (MultiLane, Status, Read, Link))
            .range(0, u16::MAX as u64)
            .unit("mask"),
        item(Id::AlignmentState, "Alignment State", (MultiLane, Status, Read, Link)).range(0, 2),
        item(Id::MisalignedEvents, "Misaligned Events", (MultiLane, Error, Read, Link))
            .range(0, u32::MAX as u64)
            .unit("events"),
        item(Id::LaneState, "Lane State", (Lane, Status, Read, PER_LANE)).range(0, 9),
        item(Id::RxerrCount, "RXERR Count", (Lane, Status, Read, PER_LANE))
            .range(0, 255)
            .unit("words"),
        item(Id::RxerrOverflow, "RXERR Overflow", (Lane, Error, Read, PER_LANE)),
        item(Id::FarEndStandby, "Far-End Standby", (Lane, Error, Read, PER_LANE)),
        item(Id::FarEndStandbyReason, "Far-End Standby Reason", (Lane, Status, Read, PER_LANE))
            .range(0, 255),
        item(Id::Timeout, "Timeout", (Lane, Error, Read, PER_LANE)),
        item(Id::FarEndLostSignal, "Far-End Lost Signal", (Lane, Error, Read, PER_LANE)),
        item(
            Id::FarEndLostSignalCause,
            "Far-End Lost Signal Cause",
            (Lane, Status, Read, PER_LANE),
        )
        .range(0, 3),
        item(Id::FarEndCapabilities, "Far-End Capabilities", (Lane, Status, Read, PER_LANE))
            .range(0, 255)
            .unit("mask"),
        item(Id::RxPolarity, "RX Polarity", (Lane, Status, Read, PER_LANE)),
        item(Id::NoSignal, "No Signal", (Physical, Status, Read, PER_LANE)),
        item(Id::BitSync, "Bit Synchronised", (Physical, Status, Read, PER_LANE)),
    ]
};

/// Items.
pub const COUNT: usize = 57;
