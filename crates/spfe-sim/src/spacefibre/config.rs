//! What a link is made of.

use spfe_link::datalink::{self, SEGMENT_WORDS};
use spfe_link::qos;
use std::fmt;

/// Lanes of a link at most.
pub const LANES_MAX: u8 = 16;
/// Virtual channels of a link at most.
pub const CHANNELS_MAX: u8 = 32;

/// A link.
#[derive(Clone, Debug)]
pub struct SpaceFibreConfig {
    /// What the observer calls it.
    pub id: u32,
    /// Lanes, 1 to 16.
    pub lanes: u8,
    /// Lanes that data is sent on at most, 1 to the number of lanes: those above are hot redundant.
    pub max_data_sending: u8,
    /// Signalling rate of a lane in Mbit/s, 100 to 100000.
    pub mbps: u32,
    /// Virtual channels, 1 to 32.
    pub channels: u8,
    /// Delay of the cable, up to 60000 word periods. Four word periods of serialiser and
    /// deserialiser come to it.
    pub delay_ps: u64,
    /// Bits that each lane is longer than that, in both directions; lanes that are not named: 0.
    pub skew_bits: Vec<u32>,
    /// Data frames are scrambled.
    pub scrambled: bool,
    /// FCT multiplier M, 1 to 8; none for as many as there are data-sending lanes.
    pub fct_multiplier: Option<u8>,
    /// Segment multiplier P, 1 to the number of lanes; none for the number of data-sending lanes. A
    /// data frame has up to P times 64 words.
    pub segment_multiplier: Option<u8>,
    /// Sizes of the buffers.
    pub sizes: BufferSizes,
    /// Limits of the quality of service.
    pub qos: qos::QosLimits,
    /// The random numbers of its faults begin with this.
    pub seed: u64,
    /// The two ends.
    pub ends: [SpaceFibreEndConfig; 2],
}

/// Words in the buffers of an end, each a power of two; none for as many as the full rate takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferSizes {
    /// Of each output virtual channel buffer.
    pub output: Option<usize>,
    /// Of each input virtual channel buffer.
    pub input: Option<usize>,
    /// Of the error recovery buffer.
    pub recovery: Option<usize>,
}

/// The words there are.
pub(super) struct Words {
    pub output: usize,
    pub input: usize,
    pub recovery: usize,
}

/// An end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceFibreEndConfig {
    /// LaneStart of all lanes.
    pub lane_start: bool,
    /// AutoStart of all lanes.
    pub auto_start: bool,
    /// Lanes that this end sends on: bit L for lane L.
    pub tx_en: u16,
    /// Lanes that it receives on.
    pub rx_en: u16,
    /// It is a routing switch, as INIT3 says.
    pub routing_switch: bool,
    /// Parts in 10^9 that its clock is faster than it should be, -200000 to 200000.
    pub clock_ppb: i32,
    /// Virtual channels in continuous mode.
    pub continuous_mode: u32,
    /// Expected broadcast bandwidth in 65536ths of the link.
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
    /// A link of so many lanes and eight virtual channels, 10 m of cable, that starts by itself.
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
            fct_multiplier: None,
            segment_multiplier: None,
            sizes: BufferSizes::default(),
            qos: qos::QosLimits::default(),
            seed: 0,
            ends: [SpaceFibreEndConfig::default(); 2],
        }
    }

    /// Whether it can be made.
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

    /// Sizes in use, for a number of word periods there and back.
    pub(super) fn words(&self, round_trip: usize) -> Words {
        // Short frames do not make the way shorter, nor what an ACK is waited for.
        let segment = SEGMENT_WORDS * usize::from(self.segment().max(self.max_data_sending));
        let quantum = SEGMENT_WORDS * usize::from(self.multiplier());
        // What is under way there and back, with rows of both layers between.
        let way = round_trip * usize::from(self.max_data_sending);
        let words = |given: Option<usize>, full: usize| given.unwrap_or(full.next_power_of_two());
        Words {
            output: words(self.sizes.output, 4 * segment),
            input: words(self.sizes.input, 4 * segment + 4 * quantum + way),
            recovery: words(self.sizes.recovery, 8 * segment + 2 * way),
        }
    }

    pub(super) fn data_link(&self, end: &SpaceFibreEndConfig) -> datalink::DataLinkConfig {
        datalink::DataLinkConfig {
            virtual_channels: self.channels,
            fct_multiplier: self.multiplier(),
            segment_multiplier: self.segment(),
            multi_lane_capable: self.lanes > 1,
            // The FCT multiplier ends at 8: a frame of more lanes needs two FCTs, and their ACKs
            // are to be one.
            ack_gap_words: if self.max_data_sending > 8 { 64 } else { 15 },
            routing_switch: end.routing_switch,
            qos: self.qos,
            ..datalink::DataLinkConfig::default()
        }
    }
}

/// Why a link cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceFibreConfigError {
    /// The number of lanes.
    Lanes(u8),
    /// The number of data-sending lanes.
    DataSending {
        /// Lanes there are.
        lanes: u8,
        /// Lanes asked for.
        asked: u8,
    },
    /// The signalling rate.
    Rate(u32),
    /// The number of virtual channels.
    Channels(u8),
    /// The delay.
    Delay(u64),
    /// The skew of a lane.
    Skew(u32),
    /// The clock of an end.
    Clock(i32),
    /// Something of the data link layer.
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
                write!(f, "a clock {ppb} ppb off; -200000 to 200000 are possible")
            }
            Self::DataLink(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpaceFibreConfigError {}
