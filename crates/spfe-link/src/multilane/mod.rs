//! The multi-lane layer: rows over 1 to 16 lanes, alignment, failing lanes, lanes in reserve and
//! unidirectional lanes (50-11C 5.6).
//!
//! In each word period call [`MultiLane::wants`], build a row, then call [`MultiLane::transmit`]
//! and [`MultiLane::receive`]. With one lane the layer is bypassed and costs nothing.

mod burst;
mod fifo;
pub mod mib;
mod receive;
mod send;

pub use fifo::DEPTH as ALIGNMENT_WORDS;
pub use mib::{
    AlignCount, Alignment, Interop, Misaligned, MultiLaneConfig, MultiLaneParameters,
    MultiLaneStatus,
};

use crate::column::Column;
use crate::lane::{Lane, capability};
use crate::prbs::Prbs;
use fifo::Fifo;

/// An RXERR within this time of Near-End Ready restarts the alignment.
const EARLY_NS: u64 = 4000;

/// Kind of frame that the received rows belong to, as far as the columns need it (50-11C 5.6.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    None,
    Data,
    Broadcast,
    BroadcastInData,
    Idle,
}

/// Capability field of the far end, from three identical INIT3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Lane that received it.
    pub lane: u8,
    /// Bits of [`crate::lane::capability`].
    pub capability: u8,
    /// Whether a lane was active at that time.
    pub lane_active: bool,
}

/// One end of a link of up to `L` lanes.
#[derive(Clone, Debug)]
pub struct MultiLane<const L: usize> {
    lanes: [Lane; L],
    /// Parameters; management may change them at any time.
    pub parameters: MultiLaneParameters,
    status: MultiLaneStatus,
    /// The link has more than one lane and is not bypassed.
    multi_lane: bool,
    align_count: AlignCount,
    rxerr_row_misaligns: bool,
    skip_interval: u32,
    early: u32,
    /// Capability field for INIT3.
    capability: u8,
    /// The maximum number of data-sending lanes in effect.
    max_data_sending: u32,
    /// Active transmitting lanes.
    transmitting: u16,
    /// Active receiving lanes.
    receiving: u16,
    /// The sets of lanes must be computed again.
    changed: bool,
    /// Number of data-sending lanes.
    width: u8,
    skip_left: u32,
    /// Words sent since the last ALIGN.
    position: u8,
    /// Word periods without rows after a lane became active.
    active_idle: u16,
    /// Remaining word periods without rows.
    held_back: u32,
    idle: Prbs,
    columns_sent: [Column; L],
    columns_received: [Column; L],
    fifos: [Fifo; L],
    frame: FrameKind,
    /// Mask in the last ACTIVE of each lane.
    act_before: [Option<u16>; L],
    /// Lanes that delivered an ALIGN of either kind since they became active.
    heard: u16,
    aligned: bool,
    misaligned: Option<Misaligned>,
    /// A valid ACTIVE was received in this word period.
    far_end_starts: bool,
    /// A valid ACTIVE was received since the last ALIGN was sent.
    far_end_asks: bool,
    repeats_active: bool,
    checks_reserve: bool,
    data_received: bool,
    /// Word periods since Near-End Ready.
    ready_periods: u32,
    capability_heard: u16,
    far_end_scrambles: u16,
    any_scrambles: bool,
    rx_only: u16,
    /// Mask of lanes with a capability that was not taken yet.
    capability_events: u16,
    lane_was_active: bool,
}

/// Calls `f` for each item whose bit is set.
#[inline]
fn each<T, const L: usize>(set: u16, items: &mut [T; L], mut f: impl FnMut(usize, &mut T)) {
    for (index, item) in items.iter_mut().enumerate() {
        if set >> index & 1 != 0 {
            f(index, item);
        }
    }
}

impl<const L: usize> MultiLane<L> {
    /// Mask of all lanes.
    const ALL: u16 = ((1u32 << L) - 1) as u16;
    const LANES: () = assert!(L >= 1 && L <= 16, "1 to 16 lanes");

    /// Creates a link whose lanes are in ClearLine, with the parameters after reset.
    pub fn new(config: &MultiLaneConfig) -> Self {
        let () = Self::LANES;
        let multi_lane = L > 1 && !config.bypass;
        let mut lane = config.lane;
        if multi_lane {
            lane.skip_interval_words = 0;
        }
        let column = Column::new(config.crc_covers_scrambled);
        let mut new = Self {
            lanes: core::array::from_fn(|_| Lane::new(lane)),
            parameters: MultiLaneParameters { max_data_sending: L as u8 },
            status: MultiLaneStatus { bypass: !multi_lane, ..MultiLaneStatus::default() },
            multi_lane,
            align_count: config.align_count,
            rxerr_row_misaligns: config.rxerr_row_misaligns,
            skip_interval: config.lane.skip_interval_words,
            early: config.lane.words_in_ns(EARLY_NS),
            capability: 0,
            max_data_sending: L as u32,
            transmitting: 0,
            receiving: 0,
            changed: true,
            width: 0,
            skip_left: config.lane.skip_interval_words,
            position: 0,
            active_idle: config.active_idle_words,
            held_back: 0,
            idle: Prbs::new(),
            columns_sent: [column; L],
            columns_received: [column; L],
            fifos: [Fifo::default(); L],
            frame: FrameKind::None,
            act_before: [None; L],
            heard: 0,
            aligned: false,
            misaligned: None,
            far_end_starts: false,
            far_end_asks: false,
            repeats_active: config.repeats_active,
            checks_reserve: config.checks_reserve,
            data_received: false,
            ready_periods: 0,
            capability_heard: 0,
            far_end_scrambles: 0,
            any_scrambles: false,
            rx_only: 0,
            capability_events: 0,
            lane_was_active: false,
        };
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        new.set_capability(
            flag(config.data_scrambled, capability::DATA_SCRAMBLED)
                | flag(config.routing_switch, capability::ROUTING_SWITCH),
        );
        new
    }

    /// A lane, 0 to `L` - 1.
    pub fn lane(&self, index: usize) -> Option<&Lane> {
        self.lanes.get(index)
    }

    /// A lane, to change its parameters or to reset it.
    pub fn lane_mut(&mut self, index: usize) -> Option<&mut Lane> {
        self.changed = true;
        self.lanes.get_mut(index)
    }

    /// The lanes.
    pub const fn lanes(&self) -> &[Lane; L] {
        &self.lanes
    }

    /// The lanes, to change their parameters or to reset them. Code that only stands between lanes
    /// and lines takes [`MultiLane::lanes_for_coders`].
    pub const fn lanes_mut(&mut self) -> &mut [Lane; L] {
        self.changed = true;
        &mut self.lanes
    }

    /// The lanes, for [`crate::lane::LaneCoder`] and other code between them and their lines. Unlike
    /// [`MultiLane::lanes_mut`] it does not make this layer look at all lanes again, so a parameter
    /// changed here may take no effect.
    #[inline(always)]
    pub const fn lanes_for_coders(&mut self) -> &mut [Lane; L] {
        &mut self.lanes
    }

    /// Status for the management information base.
    pub const fn status(&self) -> &MultiLaneStatus {
        &self.status
    }

    /// Clears the events of this layer and the status flags of the lanes.
    pub fn clear_status(&mut self) {
        self.status.misaligned_events = 0;
        self.status.misaligned_cause = None;
        self.lanes.iter_mut().for_each(Lane::clear_status);
    }

    /// Whether all lanes are active.
    #[inline(always)]
    pub const fn all_lanes_active(&self) -> bool {
        self.status.active == Self::ALL
    }

    /// Whether any lane is active.
    pub const fn any_lane_active(&self) -> bool {
        self.status.active != 0
    }

    /// Maximum number of data-sending lanes in effect. A data frame has up to 64 words for each.
    pub const fn max_data_sending(&self) -> u8 {
        self.max_data_sending as u8
    }

    /// Sets the capability field for INIT3, from the data link layer. A lane uses the value at the
    /// time it enters Connected, so setting it matters only while a lane is not active. The lanes
    /// set LaneStart and this layer sets Multi-LaneCapable.
    #[inline]
    pub fn set_capability(&mut self, field: u8) {
        let own = if self.multi_lane { capability::MULTI_LANE } else { 0 };
        let field = field & !capability::MULTI_LANE | own;
        if field != self.capability {
            self.capability = field;
            for lane in &mut self.lanes {
                lane.set_capability(field);
            }
        }
    }

    /// Sets only the LinkReset flag of the capability field.
    pub fn set_link_reset_flag(&mut self, flag: bool) {
        let bit = if flag { capability::LINK_RESET } else { 0 };
        self.set_capability(self.capability & !capability::LINK_RESET | bit);
    }

    /// Takes a capability field of the far end, once for each three identical INIT3 on a lane.
    /// Several lanes may deliver one in the same word period.
    #[inline]
    pub fn take_far_end_capability(&mut self) -> Option<FarEnd> {
        if self.capability_events == 0 {
            return None;
        }
        let lane = self.capability_events.trailing_zeros();
        self.capability_events &= self.capability_events - 1;
        let capability = self.lanes.get(lane as usize)?.status().far_end_capability?;
        Some(FarEnd { lane: lane as u8, capability, lane_active: self.lane_was_active })
    }

    /// Whether the layer is bypassed; with one lane always.
    #[inline(always)]
    const fn is_bypassed(&self) -> bool {
        L == 1 || self.status.bypass
    }

    /// Sends IDLE instead of rows for this many word periods. The data link layer waits.
    pub fn hold_back(&mut self, words: u32) {
        self.held_back = self.held_back.max(words);
    }

    /// Sends LaneReset to every lane.
    pub fn lane_reset(&mut self) {
        for lane in &mut self.lanes {
            lane.reset();
        }
    }

    /// Link reset: frames, alignment and buffers start again. The lanes continue, see
    /// [`MultiLane::lane_reset`].
    pub fn link_reset(&mut self) {
        self.flush();
        self.frame = FrameKind::None;
        self.status.alignment = Alignment::NotReady;
        self.aligned = false;
        self.misaligned = None;
        self.position = 0;
        self.idle = Prbs::new();
        self.take_parameters();
    }

    fn take_parameters(&mut self) {
        self.max_data_sending = u32::from(self.parameters.max_data_sending).clamp(1, L as u32);
    }

    fn flush(&mut self) {
        for fifo in &mut self.fifos {
            fifo.flush();
        }
    }

    fn mask(&self, mut f: impl FnMut(&Lane) -> bool) -> u16 {
        let mut set = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            set |= u16::from(f(lane)) << index;
        }
        set
    }

    /// Computes the sets of lanes and their effect on each lane (50-11C 5.6.3, 5.6.5).
    #[inline(never)]
    fn update(&mut self) {
        self.changed = false;
        let active = self.mask(Lane::is_active);
        if active == 0 {
            self.take_parameters();
        }
        if active != self.status.active {
            self.status.active = active;
            self.misaligned = Some(Misaligned::ActiveLanes);
        }
        self.receiving = self.mask(|lane| lane.is_active() && lane.parameters.rx_en);
        let receiving = self.status.data_receiving & self.receiving;
        if receiving != self.status.data_receiving {
            let left = self.status.data_receiving & !receiving;
            each(left, &mut self.fifos, |_, fifo| fifo.flush());
            self.status.data_receiving = receiving;
            self.misaligned = Some(Misaligned::DataReceivingLanes);
        }
        self.transmitting = self.mask(|lane| lane.is_active() && lane.parameters.tx_en);
        let mut sending = self.transmitting;
        while sending.count_ones() > self.max_data_sending {
            sending &= !(1 << sending.ilog2());
        }
        self.status.data_sending = sending;
        self.status.hot_redundant = self.transmitting & !sending;
        self.width = sending.count_ones() as u8;
        self.direct();
    }

    /// Sets TxOnly, RxOnly, FarEndActive and LaneReset of each lane.
    fn direct(&mut self) {
        if self.is_bypassed() {
            for lane in self.lanes.iter_mut().skip(1) {
                lane.reset();
            }
            return;
        }
        let both_ways = self
            .lanes
            .iter()
            .any(|lane| lane.is_active() && lane.parameters.tx_en && lane.parameters.rx_en);
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            let bit = 1 << index;
            let (tx_en, rx_en) = (lane.parameters.tx_en, lane.parameters.rx_en);
            if tx_en || !rx_en {
                self.rx_only &= !bit;
            } else if both_ways {
                self.rx_only |= bit;
            }
            lane.set_rx_only(self.rx_only & bit != 0);
            let far_end_active = self.status.far_end_active & bit != 0;
            // A lane with a receiver uses what it receives itself.
            lane.set_far_end_active(far_end_active && lane.tx_only());
            let deaf = lane.is_active() && lane.tx_only() && !(far_end_active && both_ways);
            if deaf || !tx_en && !rx_en {
                lane.reset();
            }
        }
    }

    /// Restarts the alignment if necessary. Returns true if rows were lost.
    fn settle(&mut self) -> bool {
        let Some(cause) = self.misaligned.take() else {
            return false;
        };
        self.status.misaligned_events = self.status.misaligned_events.saturating_add(1);
        self.status.misaligned_cause = Some(cause);
        self.aligned = false;
        if self.status.alignment == Alignment::NotReady {
            return false;
        }
        self.status.alignment = Alignment::NotReady;
        self.position = 0;
        true
    }

    /// Updates the alignment at the end of a word period (50-11C 5.6.4.3).
    #[inline(always)]
    fn advance(&mut self) {
        self.ready_periods = self.ready_periods.saturating_add(1);
        let starts = core::mem::take(&mut self.far_end_starts);
        let data = core::mem::take(&mut self.data_received);
        match self.status.alignment {
            Alignment::NotReady => {
                let receiving = self.receiving;
                let same = self.status.far_end_active == self.status.active;
                if self.aligned && same && self.heard & receiving == receiving {
                    self.near_end_ready();
                }
            }
            Alignment::NearEndReady if data => {
                self.status.alignment = Alignment::BothEndsReady;
            }
            Alignment::BothEndsReady if starts => self.near_end_ready(),
            _ => {}
        }
    }

    fn near_end_ready(&mut self) {
        self.status.alignment = Alignment::NearEndReady;
        self.ready_periods = 0;
        self.position = 0;
    }
}
