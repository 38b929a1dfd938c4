//! Configuration of a SpaceFibre link.

use spfe_link::datalink::{self, SEGMENT_WORDS};
use spfe_link::multilane::Interop;
use spfe_link::qos;
use std::fmt;

/// Maximum number of lanes.
pub const LANES_MAX: u8 = 16;
/// Maximum number of virtual channels.
pub const CHANNELS_MAX: u8 = 32;

/// Configuration of a link and its two ends.
#[derive(Clone, Debug)]
pub struct SpaceFibreConfig {
    /// Number that observers see.
    pub id: u32,
    /// Number of lanes, 1 to 16.
    pub lanes: u8,
    /// Maximum number of lanes that send data, 1 to `lanes`. The others are hot redundant.
    pub max_data_sending: u8,
    /// Signalling rate of a lane in Mbit/s, 100 to 100000.
    pub mbps: u32,
    /// Number of virtual channels, 1 to 32.
    pub channels: u8,
    /// Delay of the cable, up to 60000 word periods. Serialiser and deserialiser add four word
    /// periods.
    pub delay_ps: u64,
    /// Extra delay of each lane in bits, in both directions. Lanes without an entry have none.
    pub skew_bits: Vec<u32>,
    /// Whether data frames are scrambled.
    pub scrambled: bool,
    /// How the ends start.
    pub interop: Interop,
    /// FCT multiplier M, 1 to 8. `None`: the number of data-sending lanes, at most 8.
    pub fct_multiplier: Option<u8>,
    /// Segment multiplier P, 1 to the number of lanes. A data frame has up to P times 64 words.
    /// `None`: the number of data-sending lanes.
    pub segment_multiplier: Option<u8>,
    /// Sizes of the buffers.
    pub sizes: BufferSizes,
    /// Limits of the quality of service.
    pub qos: qos::QosLimits,
    /// Seed of the random faults.
    pub seed: u64,
    /// The two ends.
    pub ends: [SpaceFibreEndConfig; 2],
}

/// Words in the buffers of an end, each a power of two. `None`: enough for the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferSizes {
    /// Words in each output virtual channel buffer.
    pub output: Option<usize>,
    /// Words in each input virtual channel buffer.
    pub input: Option<usize>,
    /// Words in the error recovery buffer.
    pub recovery: Option<usize>,
}

/// Buffer sizes in use.
pub(super) struct Words {
    pub output: usize,
    pub input: usize,
    pub recovery: usize,
}

/// Configuration of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceFibreEndConfig {
    /// LaneStart of all lanes.
    pub lane_start: bool,
    /// AutoStart of all lanes.
    pub auto_start: bool,
    /// Lanes that may send, a bit for each.
    pub tx_en: u16,
    /// Lanes that may receive, a bit for each.
    pub rx_en: u16,
    /// INIT3 announces this end as a routing switch.
    pub routing_switch: bool,
    /// Offset of the clock in parts per 10^9, -200000 to 200000; positive is fast.
    pub clock_ppb: i32,
    /// Virtual channels in continuous mode, a bit for each.
    pub continuous_mode: u32,
    /// Expected broadcast bandwidth, in 65536ths of the link.
    pub broadcast_bandwidth: u16,
}

impl Default for SpaceFibreEndConfig {
    fn default() -> Self {
        Self {
            lane_start: true,
            auto_start: true,
            tx_en: u16::MAX,
            rx_en: u16::MAX,
            routing_switch: false,
            clock_ppb: 0,
            continuous_mode: 0,
            broadcast_bandwidth: datalink::DataLinkParameters::default()
                .expected_broadcast_bandwidth,
        }
    }
}

impl SpaceFibreConfig {
    /// A link with eight virtual channels and 10 m of cable that starts by itself.
    pub fn new(lanes: u8, mbps: u32) -> Self {
        Self {
            id: 0,
            lanes,
            max_data_sending: lanes,
            mbps,
            channels: 8,
            delay_ps: 50_000,
            skew_bits: vec![],
            scrambled: true,
            interop: Interop::Standard,
            fct_multiplier: None,
            segment_multiplier: None,
            sizes: BufferSizes::default(),
            qos: qos::QosLimits::default(),
            seed: 0,
            ends: [SpaceFibreEndConfig::default(); 2],
        }
    }

    /// Checks all values.
    ///
    /// # Errors
    ///
    /// The first value that is out of range.
    pub fn check(&self) -> Result<(), SpaceFibreConfigError> {
        if !(1..=LANES_MAX).contains(&self.lanes) {
            return Err(SpaceFibreConfigError::Lanes(self.lanes));
        }
        if !(1..=self.lanes).contains(&self.max_data_sending) {
            return Err(SpaceFibreConfigError::DataSending {
                lanes: self.lanes,
                asked: self.max_data_sending,
            });
        }
        if !(100..=100_000).contains(&self.mbps) {
            return Err(SpaceFibreConfigError::Rate(self.mbps));
        }
        if !(1..=CHANNELS_MAX).contains(&self.channels) {
            return Err(SpaceFibreConfigError::Channels(self.channels));
        }
        if u128::from(self.delay_ps) * u128::from(self.mbps) > 60_000 * 40_000_000 {
            return Err(SpaceFibreConfigError::Delay(self.delay_ps));
        }
        if let Some(bits) = self.skew_bits.iter().find(|bits| **bits > 4000) {
            return Err(SpaceFibreConfigError::Skew(*bits));
        }
        let ppb = |end: &SpaceFibreEndConfig| end.clock_ppb.unsigned_abs() <= 200_000;
        if let Some(end) = self.ends.iter().find(|end| !ppb(end)) {
            return Err(SpaceFibreConfigError::Clock(end.clock_ppb));
        }
        Ok(())
    }

    /// FCT multiplier in use.
    pub fn multiplier(&self) -> u8 {
        self.fct_multiplier.unwrap_or(self.max_data_sending.min(8))
    }

    /// Segment multiplier in use.
    pub fn segment(&self) -> u8 {
        self.segment_multiplier.unwrap_or(self.max_data_sending)
    }

    /// Buffer sizes in use for a round trip of that many word periods.
    pub(super) fn words(&self, round_trip: usize) -> Words {
        // Shorter frames change neither the delay of the link nor the wait for an ACK.
        let segment = SEGMENT_WORDS * usize::from(self.segment().max(self.max_data_sending));
        let quantum = SEGMENT_WORDS * usize::from(self.multiplier());
        // Words in flight during a round trip, including rows that wait between the layers.
        let in_flight = round_trip * usize::from(self.max_data_sending);
        let words = |given: Option<usize>, full: usize| given.unwrap_or(full.next_power_of_two());
        Words {
            output: words(self.sizes.output, 4 * segment),
            input: words(self.sizes.input, 4 * segment + 4 * quantum + in_flight),
            recovery: words(self.sizes.recovery, 8 * segment + 2 * in_flight),
        }
    }

    pub(super) fn data_link(&self, end: &SpaceFibreEndConfig) -> datalink::DataLinkConfig {
        datalink::DataLinkConfig {
            virtual_channels: self.channels,
            fct_multiplier: self.multiplier(),
            segment_multiplier: self.segment(),
            multi_lane_capable: self.lanes > 1,
            // The FCT multiplier ends at 8. A frame on more lanes needs two FCTs, and one ACK
            // should cover both.
            ack_gap_words: if self.max_data_sending > 8 { 64 } else { 15 },
            routing_switch: end.routing_switch,
            qos: self.qos,
            ..datalink::DataLinkConfig::default()
        }
    }
}

/// A configuration value that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceFibreConfigError {
    /// Number of lanes.
    Lanes(u8),
    /// Number of data-sending lanes.
    DataSending {
        /// Number of lanes.
        lanes: u8,
        /// Number of data-sending lanes.
        asked: u8,
    },
    /// Signalling rate in Mbit/s.
    Rate(u32),
    /// Number of virtual channels.
    Channels(u8),
    /// Delay in ps.
    Delay(u64),
    /// Skew of a lane in bits.
    Skew(u32),
    /// Clock offset of an end in parts per 10^9.
    Clock(i32),
    /// Lanes of the stream to a foreign end.
    ForeignLanes {
        /// Number of lanes of the link.
        lanes: u8,
        /// Number of lanes of the stream.
        stream: usize,
    },
    /// Clock offsets of a link with a foreign end.
    ForeignClock(i32, i32),
    /// A value of the data link layer.
    DataLink(datalink::DataLinkConfigError),
}

impl fmt::Display for SpaceFibreConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lanes(lanes) => write!(f, "{lanes} lanes; a link has 1 to {LANES_MAX}"),
            Self::DataSending { lanes, asked } => {
                write!(f, "{asked} data-sending lanes; this link has 1 to {lanes}")
            }
            Self::Rate(mbps) => {
                write!(f, "a signalling rate of {mbps} Mbit/s; 100 to 100000 are possible")
            }
            Self::Channels(channels) => {
                write!(f, "{channels} virtual channels; a link has 1 to {CHANNELS_MAX}")
            }
            Self::Delay(delay) => {
                write!(f, "a delay of {delay} ps; at most 60000 word periods are possible")
            }
            Self::Skew(bits) => write!(f, "a skew of {bits} bits; 0 to 4000 are possible"),
            Self::Clock(ppb) => {
                write!(f, "a clock offset of {ppb} ppb; -200000 to 200000 are possible")
            }
            Self::ForeignLanes { lanes, stream } => {
                write!(f, "a stream of {stream} lanes to a foreign end; the link has {lanes}")
            }
            Self::ForeignClock(a, b) => {
                write!(f, "clock offsets of {a} and {b} ppb; a foreign end has the same clock")
            }
            Self::DataLink(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpaceFibreConfigError {}
