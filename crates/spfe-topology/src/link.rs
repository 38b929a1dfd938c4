//! Links: kind, lanes, rate and model, their text forms and limits.

use crate::units;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Rate of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum LinkRate {
    /// No limit: as fast as memory.
    #[default]
    Unlimited,
    /// A SpaceFibre link.
    SpaceFibre {
        /// Number of lanes, 1 to 16.
        lanes: u32,
        /// Signalling rate of a lane in Mbit/s.
        mbps: u32,
    },
    /// A SpaceWire link.
    SpaceWire {
        /// Signalling rate in Mbit/s.
        mbps: u32,
    },
}

impl LinkRate {
    /// The rate of the SpaceWire ports of an endpoint whose other ports have this rate.
    pub(crate) fn beside(rate: Self) -> Self {
        match rate {
            Self::SpaceFibre { .. } => Self::SpaceWire { mbps: 200 },
            Self::Unlimited | Self::SpaceWire { .. } => rate,
        }
    }

    /// Number of lanes; 1 for SpaceWire and unlimited links.
    pub fn lanes(&self) -> u32 {
        match *self {
            Self::SpaceFibre { lanes, .. } => lanes,
            Self::SpaceWire { .. } | Self::Unlimited => 1,
        }
    }

    /// User data rate one way in bit/s, `None` without limit.
    pub fn user_bits_per_second(&self) -> Option<f64> {
        self.timing().map(|timing| timing.user_bps(false))
    }

    /// User data rate one way in Gbit/s, `None` without limit.
    pub fn user_gbps(&self) -> Option<f64> {
        self.user_bits_per_second().map(|rate| rate / 1e9)
    }
}

/// Lanes of a SpaceFibre link.
const LANES: RangeInclusive<u32> = 1..=16;
/// Signalling rates in Mbit/s of lanes that are simulated word by word.
const SPACEFIBRE_MBPS: RangeInclusive<u32> = 100..=100_000;
/// Signalling rates in Mbit/s of SpaceWire links that are simulated character by character
/// (ECSS-E-ST-50-12C 5.4.6: 2 Mbit/s at least).
const SPACEWIRE_MBPS: RangeInclusive<u32> = 2..=400;

/// The same of packet-level links.
const PACED_LANE_MBPS: RangeInclusive<u32> = 1..=100_000;
const PACED_WIRE_MBPS: RangeInclusive<u32> = 1..=400;

/// A property of a link that has limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkField {
    /// Number of lanes.
    Lanes,
    /// Signalling rate.
    Rate,
    /// Number of virtual channels.
    Channels,
}

/// A property of a link that is out of its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProblem {
    /// The property.
    pub field: LinkField,
    /// Its value and its limits.
    pub text: String,
}

/// Checks one property of a link.
fn check(
    field: LinkField,
    name: &str,
    value: u32,
    limits: RangeInclusive<u32>,
    unit: &str,
) -> Result<(), LinkProblem> {
    if limits.contains(&value) {
        return Ok(());
    }
    let (least, most) = (limits.start(), limits.end());
    Err(LinkProblem { field, text: format!("{name} {value} is not in {least} to {most}{unit}") })
}

/// Checks the number of virtual channels of a link.
///
/// # Errors
///
/// The number and its limits.
pub fn check_channels(space_wire: bool, channels: u32) -> Result<(), LinkProblem> {
    let most = if space_wire { 1 } else { spfe_contract::VC_MAX as u32 };
    check(LinkField::Channels, "channels", channels, 1..=most, "")
}

impl LinkRate {
    /// Every property that is out of the limits of an exact link.
    pub fn problems(&self) -> Vec<LinkProblem> {
        match *self {
            Self::Unlimited => vec![LinkProblem {
                field: LinkField::Rate,
                text: "an exact link has a rate, such as exact:1x6.25G".to_owned(),
            }],
            _ => self.outside(SPACEFIBRE_MBPS, SPACEWIRE_MBPS),
        }
    }

    /// The properties that are outside these rates of a lane and of a SpaceWire link, or have no such
    /// number of lanes.
    fn outside(&self, lane: RangeInclusive<u32>, wire: RangeInclusive<u32>) -> Vec<LinkProblem> {
        let rate = |mbps, limits| check(LinkField::Rate, "rate", mbps, limits, " Mbit/s");
        let checks = match *self {
            Self::Unlimited => vec![],
            Self::SpaceFibre { lanes, mbps } => {
                vec![check(LinkField::Lanes, "lanes", lanes, LANES, ""), rate(mbps, lane)]
            }
            Self::SpaceWire { mbps } => vec![rate(mbps, wire)],
        };
        checks.into_iter().filter_map(Result::err).collect()
    }
}

impl FromStr for LinkRate {
    type Err = String;

    /// `unlimited`, `4x7.5G` (lanes x Gbit/s), `4x6250M`, `spw:200M`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "link '{text}' is none of: unlimited, LANESxRATE such as 4x7.5G (1 to 16 lanes, \
                 up to 100G each), spw:RATE such as spw:200M (up to 400M), in whole Mbit/s"
            )
        };
        const M: u64 = 1_000_000;
        let mbps = |rate: &str, limits: RangeInclusive<u32>| match units::rate(rate) {
            Ok(bits)
                if bits % M == 0
                    && u32::try_from(bits / M).is_ok_and(|mbps| limits.contains(&mbps)) =>
            {
                Ok((bits / M) as u32)
            }
            Err(what) if rate.parse::<f64>().is_ok() => Err(format!("link '{text}': {what}")),
            _ => Err(bad()),
        };
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(rate) = text.strip_prefix("spw:") {
            return Ok(Self::SpaceWire { mbps: mbps(rate, PACED_WIRE_MBPS)? });
        }
        let (lanes, rate) = text.split_once('x').ok_or_else(bad)?;
        let lanes = lanes.parse::<u32>().map_err(|_| bad())?;
        if !LANES.contains(&lanes) {
            return Err(bad());
        }
        Ok(Self::SpaceFibre { lanes, mbps: mbps(rate, PACED_LANE_MBPS)? })
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::SpaceFibre { lanes, mbps } if mbps < 1000 => write!(f, "{lanes}x{mbps}M"),
            Self::SpaceFibre { lanes, mbps } => write!(f, "{lanes}x{}G", f64::from(mbps) / 1000.0),
            Self::SpaceWire { mbps } => write!(f, "spw:{mbps}M"),
        }
    }
}

/// How a link is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkModel {
    /// Packet level: whole packets, paced by the rate.
    #[default]
    Packet,
    /// Exact: every word of the protocol, as the standard defines it.
    Exact,
    /// Exact, with a start-up that also works with far ends that leave initialisation too early.
    /// SpaceFibre only.
    #[serde(rename = "exact-lenient")]
    Lenient,
}

impl LinkModel {
    /// Whether the link is simulated word by word.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::Lenient)
    }

    /// What a link's text begins with.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Packet => "",
            Self::Exact => "exact:",
            Self::Lenient => "exact-lenient:",
        }
    }
}

/// Rate and model of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Rate.
    pub rate: LinkRate,
    /// Packet level or exact.
    pub model: LinkModel,
}

impl From<LinkRate> for Link {
    fn from(rate: LinkRate) -> Self {
        Self { rate, model: LinkModel::Packet }
    }
}

impl FromStr for Link {
    type Err = String;

    /// A rate for a packet-level link; `exact:` or `exact-lenient:` and a rate for an exact one:
    /// `exact:4x6.25G`, `exact:spw:200M`.
    fn from_str(text: &str) -> Result<Self, String> {
        let of = |model: LinkModel| Some((model, text.strip_prefix(model.prefix())?));
        let Some((model, rate)) = of(LinkModel::Exact).or_else(|| of(LinkModel::Lenient)) else {
            return Ok(text.parse::<LinkRate>()?.into());
        };
        let link = Self { rate: rate.parse()?, model };
        link.check()?;
        Ok(link)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.model.prefix(), self.rate)
    }
}

impl Link {
    /// Checks lanes and rate.
    pub(crate) fn check(&self) -> Result<(), String> {
        let problems = match self.model {
            LinkModel::Packet => self.rate.outside(PACED_LANE_MBPS, PACED_WIRE_MBPS),
            LinkModel::Exact | LinkModel::Lenient => self.rate.problems(),
        };
        if self.model == LinkModel::Lenient && matches!(self.rate, LinkRate::SpaceWire { .. }) {
            return Err(format!("link '{self}': only SpaceFibre links can be exact-lenient"));
        }
        match problems.first() {
            Some(problem) => Err(format!("link '{self}': {}", problem.text)),
            None => Ok(()),
        }
    }

    /// Parses a link of SpaceWire ports: `200M`, `exact:200M`, `unlimited`.
    ///
    /// # Errors
    /// The allowed forms.
    pub fn spacewire(text: &str) -> Result<Self, String> {
        let bad = |_| {
            format!(
                "SpaceWire link '{text}' is none of: unlimited, RATE or exact:RATE such as 200M \
                 (1M to 400M; exact 2M to 400M)"
            )
        };
        match text.strip_prefix("exact:") {
            Some(rate) => format!("exact:spw:{rate}").parse().map_err(bad),
            None if text == "unlimited" => Ok(Self::default()),
            None => format!("spw:{text}").parse().map_err(bad),
        }
    }
}
