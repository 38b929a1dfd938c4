//! What is sent.

use super::port::{Addressing, PortName};
use super::units::{BitRate, Size, Time};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// Sizes of packets in bytes, what is between the route and the end of packet: from 12 on, as the
/// first twelve bytes tell them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// All the same. Written 256 or "64KiB".
    Fixed(u64),
    /// Every size of a range equally often. Written { min = 64, max = "4KiB" }.
    Uniform {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// Exponential with a mean, cut to a range. Written { mean = 500, min = 64, max = "4KiB" }.
    Exponential {
        /// Mean before it is cut.
        mean: u64,
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
}

impl PacketSize {
    /// Smallest and largest.
    pub const fn range(&self) -> (u64, u64) {
        match *self {
            Self::Fixed(size) => (size, size),
            Self::Uniform { min, max } | Self::Exponential { min, max, .. } => (min, max),
        }
    }

    /// Mean, of an exponential one before it is cut.
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

/// How often packets are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketPace {
    /// As fast as the link takes them.
    Saturate,
    /// So many bits of packets in a second: the next one is due when this one would be through.
    Rate(BitRate),
    /// A number of packets in each period.
    Period {
        /// Period.
        period: Time,
        /// Each is late by a random time below this.
        jitter: Time,
        /// Packets of a period.
        burst: u32,
    },
}

/// Packets from one place to another. They carry a number and a pattern that is checked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenStream")]
pub struct TrafficStream {
    /// Name.
    pub name: String,
    /// Node, and port, that sends.
    pub from: PortName,
    /// Node that takes them, and the port that the automatic route ends at. With a multicast
    /// address, each of them gets a copy.
    pub to: Vec<PortName>,
    /// How its packets are addressed.
    pub route: Addressing,
    /// Virtual channel on the link of `from`.
    pub vc: u8,
    /// Sizes.
    pub size: PacketSize,
    /// How often.
    pub pace: PacketPace,
    /// A packet that finds the buffer full when it is due is dropped and counted, as by an
    /// instrument that cannot be stopped. Else it waits, and all after it do.
    pub continuous: bool,
    /// First packet.
    pub start: Time,
    /// No packet from this time on.
    pub stop: Option<Time>,
    /// Most packets.
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

/// One of a rate and a period.
fn pace(
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
    /// Node, and port, that sends; all its ports send if it routes none.
    pub from: PortName,
    /// Broadcast channel.
    pub channel: u8,
    /// B_TYPE.
    #[serde(rename = "type", default)]
    pub kind: u8,
    /// Time from one to the next.
    pub period: Time,
    /// Each is late by a random time below this.
    #[serde(default)]
    pub jitter: Time,
    /// First one.
    #[serde(default)]
    pub start: Time,
    /// None from this time on.
    pub stop: Option<Time>,
    /// Most of them.
    pub count: Option<u64>,
}

/// Time-codes of a master. On SpaceFibre links they travel as broadcast messages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TimeCodes {
    /// Node, and port, of the master.
    pub master: PortName,
    /// Time from one to the next.
    pub period: Time,
    /// First one.
    #[serde(default)]
    pub start: Time,
    /// Most of them.
    pub count: Option<u64>,
    /// Broadcast channel on SpaceFibre links.
    #[serde(default)]
    pub channel: u8,
    /// B_TYPE on SpaceFibre links.
    #[serde(rename = "type", default)]
    pub kind: u8,
}

/// RMAP commands (50-52C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Write, acknowledged.
    Write,
    /// Read.
    Read,
    /// Read-modify-write of four bytes.
    Rmw,
}

/// Commands of one initiator to one target.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RmapTraffic {
    /// Name.
    pub name: String,
    /// Node, and port, of the initiator.
    pub from: PortName,
    /// Node with a target, or router: its configuration port.
    pub to: PortName,
    /// What is done.
    pub operation: Operation,
    /// First address.
    #[serde(default)]
    pub address: u64,
    /// Data bytes of a command, 1 to 16 MiB less 1; 4 for rmw.
    #[serde(default = "RmapTraffic::default_size")]
    pub size: Size,
    /// The data is checked before it is written.
    #[serde(default)]
    pub verify: bool,
    /// Key; none for that of the target.
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
    /// Time from one command to the next; none: the next follows the reply.
    pub period: Option<Time>,
    /// Commands under way at most.
    #[serde(default = "RmapTraffic::default_outstanding")]
    pub outstanding: u16,
    /// A reply that takes longer is given up, and counted.
    #[serde(default = "RmapTraffic::default_timeout")]
    pub timeout: Time,
    /// First command.
    #[serde(default)]
    pub start: Time,
    /// None from this time on.
    pub stop: Option<Time>,
    /// Most of them.
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

/// The schedule of 64 time-slots (50-11C 5.7.4).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schedule {
    /// Length of a time-slot.
    pub slot: Time,
    /// Time-slots before slot 0 comes again, 1 to 64.
    #[serde(default = "Schedule::default_slots")]
    pub slots: u8,
    /// Node, and port, that broadcasts the number of each slot as it begins. None: every unit
    /// knows the time.
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
