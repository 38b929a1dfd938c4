//! Traffic of a scenario.

use super::port::{Addressing, PortName};
use super::units::{BitRate, Size, Time};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// Sizes of packets in bytes, without path bytes and end marker, at least 12: the first twelve
/// bytes identify the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// One size. Written 256 or "64KiB".
    Fixed(u64),
    /// A uniform distribution. Written { min = 64, max = "4KiB" }.
    Uniform {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// An exponential distribution limited to a range. Written { mean = 500, min = 64, max = "4KiB"
    /// }.
    Exponential {
        /// Mean before the limits apply.
        mean: u64,
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
}

impl PacketSize {
    /// Smallest and largest size.
    pub const fn range(&self) -> (u64, u64) {
        match *self {
            Self::Fixed(size) => (size, size),
            Self::Uniform { min, max } | Self::Exponential { min, max, .. } => (min, max),
        }
    }

    /// Mean size; for an exponential distribution before its limits apply.
    pub const fn mean(&self) -> u64 {
        match *self {
            Self::Fixed(size) => size,
            Self::Uniform { min, max } => min.midpoint(max),
            Self::Exponential { mean, .. } => mean,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    mean: Option<Size>,
    min: Size,
    max: Size,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenSize {
    Fixed(Size),
    Range(Range),
}

impl<'de> Deserialize<'de> for PacketSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bad = "a packet size is 256, \"64KiB\", { min = 64, max = \"4KiB\" } or \
                   { mean = 500, min = 64, max = \"4KiB\" }";
        Ok(match WrittenSize::deserialize(from).map_err(|_| D::Error::custom(bad))? {
            WrittenSize::Fixed(size) => Self::Fixed(size.0),
            WrittenSize::Range(Range { mean: None, min, max }) => {
                Self::Uniform { min: min.0, max: max.0 }
            }
            WrittenSize::Range(Range { mean: Some(mean), min, max }) => {
                Self::Exponential { mean: mean.0, min: min.0, max: max.0 }
            }
        })
    }
}

/// Times of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketPace {
    /// As fast as the link accepts them.
    Saturate,
    /// At a bit rate: a packet is due when the one before it would be finished at this rate.
    Rate(BitRate),
    /// A number of packets in each period.
    Period {
        /// Period.
        period: Time,
        /// Each packet is late by a random time below this.
        jitter: Time,
        /// Packets per period.
        burst: u32,
    },
}

/// Packets from one port to others. They contain a number and a pattern that the receiver checks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenStream")]
pub struct TrafficStream {
    /// Name.
    pub name: String,
    /// The node and port that send.
    pub from: PortName,
    /// The nodes that receive, with the port where an automatic route ends. With a multicast
    /// address each node gets a copy.
    pub to: Vec<PortName>,
    /// How packets are addressed.
    pub route: Addressing,
    /// Virtual channel on the link of `from`.
    pub vc: u8,
    /// Sizes of packets.
    pub size: PacketSize,
    /// Times of packets.
    pub pace: PacketPace,
    /// Whether a packet that finds the buffer full is dropped and counted, as by an instrument that
    /// cannot wait. Otherwise it waits, and all later ones with it.
    pub continuous: bool,
    /// Time of the first packet.
    pub start: Time,
    /// No packet from this time on.
    pub stop: Option<Time>,
    /// Maximum number of packets.
    pub count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenStream {
    name: String,
    from: PortName,
    to: OneOrMore,
    #[serde(default)]
    route: Addressing,
    #[serde(default)]
    vc: u8,
    size: PacketSize,
    rate: Option<String>,
    period: Option<Time>,
    jitter: Option<Time>,
    burst: Option<u32>,
    #[serde(default)]
    continuous: bool,
    #[serde(default)]
    start: Time,
    stop: Option<Time>,
    count: Option<u64>,
}

/// Combines the keys of a file; `rate` and `period` exclude each other.
pub(super) fn pace(
    object: &str,
    rate: Option<&str>,
    period: Option<Time>,
    jitter: Option<Time>,
    burst: Option<u32>,
) -> Result<PacketPace, String> {
    match (rate, period) {
        (Some(_), Some(_)) => Err(format!("{object} has both rate and period; leave one out")),
        (None, Some(period)) => Ok(PacketPace::Period {
            period,
            jitter: jitter.unwrap_or_default(),
            burst: burst.unwrap_or(1),
        }),
        (_, None) if jitter.is_some() || burst.is_some() => {
            Err(format!("{object} has jitter or burst without a period; give period"))
        }
        (None | Some("saturate"), None) => Ok(PacketPace::Saturate),
        (Some(rate), None) => rate
            .parse()
            .map(PacketPace::Rate)
            .map_err(|error| format!("{object}: rate: {error}, or \"saturate\"")),
    }
}

impl TryFrom<WrittenStream> for TrafficStream {
    type Error = String;

    fn try_from(flow: WrittenStream) -> Result<Self, String> {
        let object = format!("flow '{}'", flow.name);
        let pace = pace(&object, flow.rate.as_deref(), flow.period, flow.jitter, flow.burst)?;
        let to = match flow.to {
            OneOrMore::One(place) => vec![place],
            OneOrMore::More(places) => places,
        };
        let to = to.iter().map(|place| place.parse()).collect::<Result<_, String>>();
        Ok(Self {
            to: to.map_err(|error| format!("{object}: to: {error}"))?,
            name: flow.name,
            from: flow.from,
            route: flow.route,
            vc: flow.vc,
            size: flow.size,
            pace,
            continuous: flow.continuous,
            start: flow.start,
            stop: flow.stop,
            count: flow.count,
        })
    }
}

/// Broadcast messages of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BroadcastTraffic {
    /// Name.
    pub name: String,
    /// The node and port that send. A node that routes nothing sends on all its ports.
    pub from: PortName,
    /// Broadcast channel.
    pub channel: u8,
    /// B_TYPE.
    #[serde(rename = "type", default)]
    pub kind: u8,
    /// Time between two messages.
    pub period: Time,
    /// Each message is late by a random time below this.
    #[serde(default)]
    pub jitter: Time,
    /// Time of the first message.
    #[serde(default)]
    pub start: Time,
    /// No message from this time on.
    pub stop: Option<Time>,
    /// Maximum number of messages.
    pub count: Option<u64>,
}

/// Time-codes of a master. On SpaceFibre links they travel as broadcast messages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TimeCodes {
    /// The node and port of the master.
    pub master: PortName,
    /// Time between two time-codes.
    pub period: Time,
    /// Time of the first time-code.
    #[serde(default)]
    pub start: Time,
    /// Maximum number of time-codes.
    pub count: Option<u64>,
    /// Broadcast channel on SpaceFibre links.
    #[serde(default)]
    pub channel: u8,
    /// B_TYPE on SpaceFibre links.
    #[serde(rename = "type", default)]
    pub kind: u8,
}

/// Kind of RMAP command (50-52C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Acknowledged write.
    Write,
    /// Read.
    Read,
    /// Read-modify-write of four bytes.
    Rmw,
}

/// RMAP commands of one initiator to one target.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RmapTraffic {
    /// Name.
    pub name: String,
    /// The node and port of the initiator.
    pub from: PortName,
    /// A node with a target, or a router for its configuration port.
    pub to: PortName,
    /// Kind of command.
    pub operation: Operation,
    /// First address of the data.
    #[serde(default)]
    pub address: u64,
    /// Data bytes of a command, 1 to 16 MiB less 1; 4 for rmw.
    #[serde(default = "RmapTraffic::default_size")]
    pub size: Size,
    /// Whether the target verifies the data before it writes.
    #[serde(default)]
    pub verify: bool,
    /// Key; `None` for that of the target.
    pub key: Option<u8>,
    /// How commands are addressed.
    #[serde(default)]
    pub route: Addressing,
    /// How replies are addressed: by a path, or by the initiator's logical address.
    #[serde(default)]
    pub reply_route: Addressing,
    /// Virtual channel on the link of `from`.
    #[serde(default)]
    pub vc: u8,
    /// Time between two commands; `None`: a command follows the reply to the one before.
    pub period: Option<Time>,
    /// Maximum number of commands without a reply.
    #[serde(default = "RmapTraffic::default_outstanding")]
    pub outstanding: u16,
    /// Time after which a missing reply is given up and counted.
    #[serde(default = "RmapTraffic::default_timeout")]
    pub timeout: Time,
    /// Time of the first command.
    #[serde(default)]
    pub start: Time,
    /// No command from this time on.
    pub stop: Option<Time>,
    /// Maximum number of commands.
    pub count: Option<u64>,
}

impl RmapTraffic {
    const fn default_size() -> Size {
        Size(4)
    }

    const fn default_outstanding() -> u16 {
        1
    }

    const fn default_timeout() -> Time {
        Time(crate::time::MS)
    }
}

/// The schedule of up to 64 time-slots (50-11C 5.7.4).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schedule {
    /// Length of a time-slot.
    pub slot: Time,
    /// Number of time-slots, 1 to 64.
    #[serde(default = "Schedule::default_slots")]
    pub slots: u8,
    /// The node and port that broadcast the number of each slot as it begins. `None`: all units
    /// know the time.
    pub source: Option<PortName>,
    /// Broadcast channel.
    #[serde(default)]
    pub channel: u8,
    /// B_TYPE.
    #[serde(rename = "type", default)]
    pub kind: u8,
}

impl Schedule {
    const fn default_slots() -> u8 {
        64
    }
}
