//! Parameters and status of the multi-lane layer (50-11C 5.9, tables 5-36 and 5-37).

use crate::lane;

/// What the number in a sent ALIGN counts. The same thing on symmetric links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlignCount {
    /// Active transmitting lanes.
    #[default]
    Transmitting,
    /// Active lanes of either direction.
    Active,
}

/// What never changes while a link exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiLaneConfig {
    /// Of each lane. SKIP of a multi-lane link comes from its layer, at the same interval.
    pub lane: lane::LaneConfig,
    /// Data frames are scrambled, and INIT3 says so; until [`super::MultiLane::set_capability`].
    pub data_scrambled: bool,
    /// INIT3 says that this is a routing switch; until [`super::MultiLane::set_capability`].
    pub routing_switch: bool,
    /// The CRC-16 is over the words after scrambling, not before.
    pub crc_covers_scrambled: bool,
    /// A plain single lane on lane 0, whatever the number of lanes.
    pub bypass: bool,
    /// What a sent ALIGN counts.
    pub align_count: AlignCount,
    /// A row with an RXERR starts alignment again.
    pub rxerr_row_misaligns: bool,
    /// In Near-End Ready, while the far end sends ACTIVE, the word before each ALIGN is an ACTIVE.
    /// Without it two ends can wait for each other for ever: one is ready before the other has had
    /// its ACTIVE words.
    pub repeats_active: bool,
    /// A lane that is in reserve as its last ALIGN said, and brings a word of the data link layer,
    /// starts alignment again: it is not in reserve, that ALIGN was not what the far end sent.
    /// Without it such a lane can stay out of use for ever, and its words be missing in each row.
    pub checks_reserve: bool,
}

impl MultiLaneConfig {
    /// Scrambled, lanes of 6.25 Gbit/s.
    pub const fn new() -> Self {
        Self {
            lane: lane::LaneConfig::new(),
            data_scrambled: true,
            routing_switch: false,
            crc_covers_scrambled: true,
            bypass: false,
            align_count: AlignCount::Transmitting,
            rxerr_row_misaligns: false,
            repeats_active: true,
            checks_reserve: true,
        }
    }
}

impl Default for MultiLaneConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// State of the alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Alignment {
    /// Only ACTIVE and ALIGN are sent.
    #[default]
    NotReady = 0,
    /// Rows are sent, with an ALIGN after every seven.
    NearEndReady = 1,
    /// Rows are sent.
    BothEndsReady = 2,
}

/// Why alignment starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misaligned {
    /// The set of active lanes changed here.
    ActiveLanes,
    /// It changed at the far end.
    FarEndActiveLanes,
    /// The set of data-receiving lanes changed.
    DataReceivingLanes,
    /// A lane is too far ahead of another.
    FifoOverflow,
    /// A correct ALIGN does not fit this lane, or the number of lanes.
    InvalidAlign,
    /// Aligned lanes brought ALIGN at different times.
    HeldAlign,
    /// Data words and control words in one row.
    InvalidRow,
    /// A lane in reserve brought a word of the data link layer.
    ReserveInUse,
    /// An RXERR went up within 4 us of Near-End Ready.
    EarlyRxErr,
    /// An RXERR in a row, where the configuration says so.
    RxErrRow,
}

/// Parameters, which management may change. Those of each lane, TxEn and RxEn among them, are in
/// the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiLaneParameters {
    /// Maximum number of data-sending lanes, the same at both ends. Taken over while no lane is
    /// active, and by a link reset.
    pub max_data_sending: u8,
}

/// Status. Sets of lanes have bit L for lane L.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultiLaneStatus {
    /// Active lanes.
    pub active: u16,
    /// Those that send rows.
    pub data_sending: u16,
    /// Those that are active and send, but no rows.
    pub hot_redundant: u16,
    /// Those that rows are received from.
    pub data_receiving: u16,
    /// Active lanes of the far end, as it said.
    pub far_end_active: u16,
    /// State of the alignment.
    pub alignment: Alignment,
    /// Times that it started again.
    pub misaligned_events: u32,
    /// Why, the last time.
    pub misaligned_cause: Option<Misaligned>,
    /// The layer is bypassed: a plain single lane on lane 0.
    pub bypass: bool,
}
