//! Parameters and status of the multi-lane layer (50-11C 5.9, tables 5-36 and 5-37).

use crate::lane;

/// What the number in a sent ALIGN counts. Both are the same on symmetric links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlignCount {
    /// Active transmitting lanes.
    #[default]
    Transmitting,
    /// Active lanes of either direction.
    Active,
}

/// Settings that never change while a link exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiLaneConfig {
    /// Settings of each lane. The multi-lane layer sends SKIP itself, at the interval set here.
    pub lane: lane::LaneConfig,
    /// Word periods with IDLE only after a lane has become active. A far end that is still leaving
    /// Connected would lose other words.
    pub active_idle_words: u16,
    /// Data frames are scrambled, and INIT3 says so, until [`super::MultiLane::set_capability`] is
    /// called. A [`crate::SpaceFibrePort`] calls it: there
    /// [`crate::datalink::DataLinkParameters::data_scrambled`] decides, and this has no effect.
    pub data_scrambled: bool,
    /// INIT3 says that this end is a routing switch, until [`super::MultiLane::set_capability`] is
    /// called. In a [`crate::SpaceFibrePort`]
    /// [`crate::datalink::DataLinkConfig::routing_switch`] decides.
    pub routing_switch: bool,
    /// The CRC-16 covers the words after scrambling, not before.
    pub crc_covers_scrambled: bool,
    /// Use only lane 0, as a plain single lane, whatever the number of lanes.
    pub bypass: bool,
    /// What a sent ALIGN counts.
    pub align_count: AlignCount,
    /// A row with an RXERR restarts the alignment.
    pub rxerr_row_misaligns: bool,
    /// In Near-End Ready, while the far end sends ACTIVE, put an ACTIVE before each ALIGN. Without
    /// it two ends can wait for each other for ever: one may be ready before the other has received
    /// its ACTIVE words.
    pub repeats_active: bool,
    /// Restart the alignment if a lane whose last ALIGN said "in reserve" delivers a word of the
    /// data link layer. That ALIGN was then not what the far end sent. Without this check the lane
    /// can stay unused for ever, and its words be missing in each row.
    pub checks_reserve: bool,
}

impl MultiLaneConfig {
    /// Scrambled data frames, lanes of 6.25 Gbit/s.
    pub const fn new() -> Self {
        Self {
            lane: lane::LaneConfig::new(),
            active_idle_words: 0,
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

    /// The same settings with the start-up of a profile.
    pub const fn with_interop(mut self, interop: Interop) -> Self {
        match interop {
            Interop::Standard => {}
            Interop::Lenient => {
                self.lane.init3_filler_words = 128;
                self.active_idle_words = 32;
            }
        }
        self
    }
}

/// How an end starts. Both profiles keep the standard; they differ where it leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interop {
    /// INIT3 follows INIT3, and words of the layers above follow at once.
    #[default]
    Standard,
    /// For far ends that go to Active before they have sent three INIT3, and lose the words that
    /// come then: 128 data words after each INIT3 give such an end time for its own three, and
    /// 32 IDLE words follow the change to Active.
    Lenient,
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

/// Reason why alignment starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misaligned {
    /// The set of active lanes of this end changed.
    ActiveLanes,
    /// The set of active lanes of the far end changed.
    FarEndActiveLanes,
    /// The set of data-receiving lanes changed.
    DataReceivingLanes,
    /// A lane is too far ahead of another.
    FifoOverflow,
    /// An ALIGN with a good inverse does not fit this lane, or the number of lanes.
    InvalidAlign,
    /// Aligned lanes delivered ALIGN at different times.
    HeldAlign,
    /// A row had both data words and control words.
    InvalidRow,
    /// A lane in reserve delivered a word of the data link layer.
    ReserveInUse,
    /// The multi-lane layer reported an RXERR within 4 us of Near-End Ready.
    EarlyRxErr,
    /// A row had an RXERR, and the configuration restarts the alignment for it.
    RxErrRow,
}

/// Parameters that management may change. The parameters of each lane, including TxEn and RxEn, are
/// in the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiLaneParameters {
    /// Maximum number of data-sending lanes, the same at both ends. Takes effect while no lane is
    /// active, and at a link reset.
    pub max_data_sending: u8,
}

/// Status. In masks, bit L stands for lane L.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultiLaneStatus {
    /// Active lanes.
    pub active: u16,
    /// Lanes that send rows.
    pub data_sending: u16,
    /// Active sending lanes that carry no rows.
    pub hot_redundant: u16,
    /// Lanes from which rows are received.
    pub data_receiving: u16,
    /// Active lanes of the far end, as reported in ACTIVE words.
    pub far_end_active: u16,
    /// State of the alignment.
    pub alignment: Alignment,
    /// Number of times that alignment started again.
    pub misaligned_events: u32,
    /// Reason of the last restart.
    pub misaligned_cause: Option<Misaligned>,
    /// The layer is bypassed: the link uses lane 0 as a plain single lane.
    pub bypass: bool,
}
