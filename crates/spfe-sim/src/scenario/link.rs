//! Links of a scenario.

use super::port::{Directions, PortName, TimeSlots};
use super::units::{BitRate, Cable, Share};
use crate::link::Side;
use serde::Deserialize;
use spfe_link::multilane::Interop;
use spfe_link::qos;
use spfe_topology::hostile::Hostile;
use spfe_topology::{ForeignStream, LinkRate};

/// How an end starts: LaneStart and AutoStart, or LinkStart and AutoStart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartMode {
    /// By itself.
    #[default]
    Start,
    /// When the other end starts.
    Auto,
    /// Only by a command.
    Off,
}

/// Quality of service of a virtual channel (50-11C 5.7.4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Qos {
    /// Virtual channel.
    pub vc: u8,
    /// Directions that it applies to.
    #[serde(default)]
    pub direction: Directions,
    /// Priority level, 0 to 15; 0 is the highest. `None`: the lowest.
    pub priority: Option<u8>,
    /// Expected bandwidth as a share of the link.
    pub bandwidth: Option<Share>,
    /// Time-slots in which the channel may send; all by default.
    pub slots: Option<TimeSlots>,
}

/// Order of virtual channels with the same precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// The lowest channel first.
    #[default]
    Lowest,
    /// Round robin.
    RoundRobin,
}

impl From<TieBreak> for qos::QosTieBreak {
    fn from(rule: TieBreak) -> Self {
        match rule {
            TieBreak::Lowest => Self::LowestFirst,
            TieBreak::RoundRobin => Self::RoundRobin,
        }
    }
}

/// Start-up of the ends of a SpaceFibre link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartProfile {
    /// As the standard has it.
    #[default]
    Standard,
    /// Also works with far ends that leave initialisation too early.
    Lenient,
}

impl From<StartProfile> for Interop {
    fn from(profile: StartProfile) -> Self {
        match profile {
            StartProfile::Standard => Self::Standard,
            StartProfile::Lenient => Self::Lenient,
        }
    }
}

/// Settings of a SpaceFibre link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SpaceFibreSettings {
    /// Number of lanes, 1 to 16.
    pub lanes: u8,
    /// Maximum number of lanes that send data; the others are hot redundant. `None`: all.
    pub sending_lanes: Option<u8>,
    /// Lanes that only work from A to B.
    pub a_to_b_lanes: Vec<u8>,
    /// Lanes that only work from B to A.
    pub b_to_a_lanes: Vec<u8>,
    /// Number of virtual channels, 1 to 32.
    pub channels: u8,
    /// Extra delay of each lane in bits. Lanes without an entry have none.
    pub skew_bits: Vec<u32>,
    /// Clock offsets of A and B in parts per million, -100 to 100; positive is fast.
    pub ppm: [f64; 2],
    /// Whether data frames are scrambled.
    pub scramble: bool,
    /// FCT multiplier, 1 to 8. `None`: the number of sending lanes, at most 8.
    pub fct_multiplier: Option<u8>,
    /// Segment multiplier, 1 to 16. `None`: the number of sending lanes.
    pub segment_multiplier: Option<u8>,
    /// Words in an output virtual channel buffer, a power of two. `None`: four segments.
    pub output_words: Option<u32>,
    /// Words in an input virtual channel buffer, a power of two. `None`: enough for the full rate.
    pub input_words: Option<u32>,
    /// Words in the error recovery buffer for data, a power of two. `None`: enough for the full
    /// rate.
    pub recovery_words: Option<u32>,
    /// Virtual channels in continuous mode.
    pub continuous: Vec<u8>,
    /// Expected bandwidth of broadcast messages.
    pub broadcast_bandwidth: Share,
    /// Bandwidth credit limit in rows, 64 to 2^24.
    pub credit_limit_rows: u32,
    /// Rows with full credit after which a channel counts as under-using its bandwidth.
    pub idle_limit_rows: u32,
    /// Order of virtual channels with the same precedence.
    pub tie_break: TieBreak,
    /// How the ends start.
    pub start: [StartMode; 2],
    /// Start-up of both ends.
    pub interop: StartProfile,
    /// Quality of service. Channels without an entry keep their reset values.
    pub qos: Vec<Qos>,
}

impl Default for SpaceFibreSettings {
    fn default() -> Self {
        let limits = qos::QosLimits::default();
        Self {
            lanes: 1,
            sending_lanes: None,
            a_to_b_lanes: Vec::new(),
            b_to_a_lanes: Vec::new(),
            channels: 8,
            skew_bits: Vec::new(),
            ppm: [0.0; 2],
            scramble: true,
            fct_multiplier: None,
            segment_multiplier: None,
            output_words: None,
            input_words: None,
            recovery_words: None,
            continuous: Vec::new(),
            broadcast_bandwidth: Share(0.1),
            credit_limit_rows: limits.bandwidth_credit_limit,
            idle_limit_rows: limits.idle_time_limit,
            tie_break: TieBreak::default(),
            start: [StartMode::Start; 2],
            interop: StartProfile::Standard,
            qos: Vec::new(),
        }
    }
}

impl SpaceFibreSettings {
    /// Maximum number of lanes on which an end sends data.
    pub fn sending(&self, from: Side) -> u8 {
        let deaf = match from {
            Side::A => &self.b_to_a_lanes,
            Side::B => &self.a_to_b_lanes,
        };
        let lanes = self.lanes.saturating_sub(deaf.len() as u8).max(1);
        self.sending_lanes.unwrap_or(lanes).min(lanes)
    }

    /// Sending lanes of the wider direction.
    fn widest(&self) -> u8 {
        self.sending(Side::A).max(self.sending(Side::B))
    }

    /// FCT multiplier in use.
    pub fn fct_multiplier(&self) -> u8 {
        self.fct_multiplier.unwrap_or_else(|| self.widest().min(8))
    }

    /// Segment multiplier in use.
    pub fn segment_multiplier(&self) -> u8 {
        self.segment_multiplier.unwrap_or_else(|| self.widest())
    }

    /// Parameters of a virtual channel at the end that sends; `None` without an entry.
    pub fn qos(&self, from: Side, vc: u8) -> Option<qos::QosParameters> {
        let mut named = self
            .qos
            .iter()
            .filter(|qos| qos.vc == vc && qos.direction.from().contains(&from))
            .peekable();
        named.peek()?;
        let share = if vc == 0 { qos::BANDWIDTH_VC0 } else { qos::BANDWIDTH_MINIMUM };
        let mut parameters =
            qos::QosParameters { priority: 15, expected_bandwidth: share, time_slots: u64::MAX };
        for qos in named {
            parameters.priority = qos.priority.unwrap_or(parameters.priority);
            if let Some(share) = qos.bandwidth {
                parameters.expected_bandwidth = parts_of_65536(share);
            }
            parameters.time_slots = qos.slots.map_or(parameters.time_slots, |slots| slots.0);
        }
        Some(parameters)
    }
}

/// A share in 65536ths, as the parameters of the standard have it.
pub fn parts_of_65536(share: Share) -> u16 {
    (share.0 * 65536.0).round().clamp(0.0, 65535.0) as u16
}

/// Settings of a SpaceWire link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SpaceWireSettings {
    /// How the ends start.
    pub start: [StartMode; 2],
}

/// Settings that depend on the kind of link.
#[derive(Clone, Debug, PartialEq)]
pub enum Medium {
    /// SpaceFibre.
    SpaceFibre(SpaceFibreSettings),
    /// SpaceWire.
    SpaceWire(SpaceWireSettings),
}

/// A link between two ports.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenLink")]
pub struct ScenarioLink {
    /// Name.
    pub name: String,
    /// End A and end B.
    pub ends: [PortName; 2],
    /// Signalling rate of a lane.
    pub rate: BitRate,
    /// Delay of the cable.
    pub cable: Cable,
    /// SpaceFibre or SpaceWire, with its settings.
    pub medium: Medium,
    /// Stream to the end at a foreign node.
    pub foreign: Option<ForeignStream>,
    /// What happens to packets of RDMA.
    pub hostile: Option<Hostile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenLink {
    name: String,
    ends: [PortName; 2],
    rate: Option<BitRate>,
    #[serde(default)]
    cable: Cable,
    spacefibre: Option<SpaceFibreSettings>,
    spacewire: Option<SpaceWireSettings>,
    foreign: Option<String>,
    hostile: Option<String>,
}

impl TryFrom<WrittenLink> for ScenarioLink {
    type Error = String;

    fn try_from(written: WrittenLink) -> Result<Self, String> {
        let WrittenLink { name, ends, rate, cable, spacefibre, spacewire, foreign, hostile } =
            written;
        let hostile = hostile.map(|text| text.parse()).transpose();
        let hostile = hostile.map_err(|error| format!("link '{name}': {error}"))?;
        let foreign = foreign.map(|text| text.parse()).transpose();
        let foreign = foreign.map_err(|error| format!("link '{name}': {error}"))?;
        let medium = match (spacefibre, spacewire) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "link '{name}' is both spacefibre and spacewire; leave one out"
                ));
            }
            (None, Some(spacewire)) => Medium::SpaceWire(spacewire),
            (spacefibre, None) => Medium::SpaceFibre(spacefibre.unwrap_or_default()),
        };
        let usual = match medium {
            Medium::SpaceFibre(_) => BitRate(6_250_000_000),
            Medium::SpaceWire(_) => BitRate(200_000_000),
        };
        Ok(Self { name, ends, rate: rate.unwrap_or(usual), cable, medium, foreign, hostile })
    }
}

impl ScenarioLink {
    /// Kind, lanes and rate, as a topology describes them. Parts of a Mbit/s are left out.
    pub fn link_rate(&self) -> LinkRate {
        let mbps = u32::try_from(self.rate.0 / 1_000_000).unwrap_or(u32::MAX);
        match &self.medium {
            Medium::SpaceFibre(link) => LinkRate::SpaceFibre { lanes: link.lanes.into(), mbps },
            Medium::SpaceWire(_) => LinkRate::SpaceWire { mbps },
        }
    }

    /// Number of virtual channels; 1 for SpaceWire.
    pub const fn channels(&self) -> u8 {
        match &self.medium {
            Medium::SpaceFibre(link) => link.channels,
            Medium::SpaceWire(_) => 1,
        }
    }

    /// Number of lanes; 1 for SpaceWire.
    pub const fn lanes(&self) -> u8 {
        match &self.medium {
            Medium::SpaceFibre(link) => link.lanes,
            Medium::SpaceWire(_) => 1,
        }
    }

    /// Whether its ends start by the lenient profile.
    pub fn is_lenient(&self) -> bool {
        matches!(&self.medium, Medium::SpaceFibre(link) if link.interop == StartProfile::Lenient)
    }

    /// Whether it is SpaceWire.
    pub const fn is_spacewire(&self) -> bool {
        matches!(self.medium, Medium::SpaceWire(_))
    }
}
