//! Endpoints, cables, rates and instruments, and how they are written down.

mod rmap_unit;

pub use rmap_unit::{Allow, RMAP_ADDRESS_MAX, RMAP_LOGICAL_ADDRESS, RmapUnit, WORD_BYTES};

use serde::{Deserialize, Serialize};
use spfe_contract::{MessageKind, PortKind};
use std::fmt;
use std::str::FromStr;

/// Who copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The posting thread, before its call returns. All participants trust each other.
    #[default]
    Inline,
    /// Both ends share large copies. All participants trust each other.
    Coop,
    /// A device thread in the process that owns the network (in a daemon: isolation).
    Thread,
}

impl FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "inline" => Ok(Self::Inline),
            "coop" => Ok(Self::Coop),
            "thread" | "daemon" | "device" => Ok(Self::Thread),
            _ => Err(format!("mode '{text}' is none of inline, coop, thread")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline => "inline",
            Self::Coop => "coop",
            Self::Thread => "thread",
        })
    }
}

/// Rate of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum LinkRate {
    /// As fast as memory.
    #[default]
    Unlimited,
    /// SpaceFibre lanes.
    SpaceFibre {
        /// Number of lanes, 1 to 16.
        lanes: u32,
        /// Lane signalling rate in Mbit/s.
        mbps: u32,
    },
    /// SpaceWire.
    SpaceWire {
        /// Signalling rate in Mbit/s.
        mbps: u32,
    },
}

impl LinkRate {
    /// Link time of a data byte in femtoseconds, protocol overhead included: when only this
    /// direction carries data, and when both do. `None` without limit.
    ///
    /// SpaceFibre: per 64 data rows one SDF, one EDF and the ACK of an FCT are sent, with data both
    /// ways also an FCT and an ACK; 8b/10b; one SKIP per 5000 words (clauses 5.3 and 5.7 of
    /// ECSS-E-ST-50-11C). SpaceWire: 10 bits per data character, with data both ways 4 bits of FCT
    /// per 8 characters more.
    pub fn byte_fs(&self) -> Option<[u64; 2]> {
        match *self {
            Self::Unlimited => None,
            Self::SpaceFibre { lanes, mbps } => {
                let bits = f64::from(lanes) * f64::from(mbps) * 1e6 * 0.8 * 5000.0 / 5001.0;
                Some([67.0, 69.0].map(|rows| (8e15 / (bits * 64.0 / rows)).round() as u64))
            }
            Self::SpaceWire { mbps } => {
                let bits_per_second = f64::from(mbps) * 1e6;
                Some([10.0, 10.5].map(|bits| (bits * 1e15 / bits_per_second).round() as u64))
            }
        }
    }

    /// Lanes of the link; one where it has none of its own.
    pub fn lanes(&self) -> u32 {
        match *self {
            Self::SpaceFibre { lanes, .. } => lanes,
            Self::SpaceWire { .. } | Self::Unlimited => 1,
        }
    }

    /// User data rate one way in bit/s, `None` without limit.
    pub fn user_bits_per_second(&self) -> Option<f64> {
        self.byte_fs().map(|[one_way, _]| 8e15 / one_way as f64)
    }

    /// User data rate one way in Gbit/s, `None` without limit.
    pub fn user_gbps(&self) -> Option<f64> {
        self.user_bits_per_second().map(|rate| rate / 1e9)
    }
}

impl FromStr for LinkRate {
    type Err = String;

    /// `unlimited`, `4x7.5G` (lanes x Gbit/s), `4x6250M`, `spw:200M`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "link '{text}' is none of: unlimited, LANESxRATE such as 4x7.5G (1 to 16 lanes, \
                 up to 100G each), spw:RATE such as spw:200M (up to 400M)"
            )
        };
        let mbps = |rate: &str, most: f64| -> Result<u32, String> {
            let (number, scale) = match rate.strip_suffix(['G', 'g']) {
                Some(number) => (number, 1000.0),
                None => (rate.strip_suffix(['M', 'm']).unwrap_or(rate), 1.0),
            };
            let value = number.parse::<f64>().map_err(|_| bad())? * scale;
            if (1.0..=most).contains(&value) { Ok(value.round() as u32) } else { Err(bad()) }
        };
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(rate) = text.strip_prefix("spw:") {
            return Ok(Self::SpaceWire { mbps: mbps(rate, 400.0)? });
        }
        let (lanes, rate) = text.split_once('x').ok_or_else(bad)?;
        let lanes = lanes.parse::<u32>().map_err(|_| bad())?;
        if !(1..=16).contains(&lanes) {
            return Err(bad());
        }
        Ok(Self::SpaceFibre { lanes, mbps: mbps(rate, 100_000.0)? })
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::SpaceFibre { lanes, mbps } => write!(f, "{lanes}x{}G", f64::from(mbps) / 1000.0),
            Self::SpaceWire { mbps } => write!(f, "spw:{mbps}M"),
        }
    }
}

/// How a cable is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkModel {
    /// Whole packets, paced by the rate.
    #[default]
    Packet,
    /// Every word of the link: what the standard says happens.
    Exact,
}

/// A cable: its rate and how it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Rate.
    pub rate: LinkRate,
    /// Packet level or word by word.
    pub model: LinkModel,
}

impl From<LinkRate> for Link {
    fn from(rate: LinkRate) -> Self {
        Self { rate, model: LinkModel::Packet }
    }
}

impl FromStr for Link {
    type Err = String;

    /// A rate (packet level), or `exact:` and a rate: `exact:4x6.25G`, `exact:spw:200M`.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rate) = text.strip_prefix("exact:") else {
            return Ok(text.parse::<LinkRate>()?.into());
        };
        let link = Self { rate: rate.parse()?, model: LinkModel::Exact };
        link.check()?;
        Ok(link)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = if self.model == LinkModel::Exact { "exact:" } else { "" };
        write!(f, "{model}{}", self.rate)
    }
}

impl Link {
    /// Says what is wrong with an exact link, if anything.
    fn check(&self) -> Result<(), String> {
        match self.rate {
            _ if self.model == LinkModel::Packet => Ok(()),
            LinkRate::Unlimited => {
                Err("link 'exact:unlimited': an exact link has a rate, such as exact:1x6.25G"
                    .to_owned())
            }
            LinkRate::SpaceFibre { mbps, .. } if mbps < 100 => {
                Err(format!("link '{self}': lanes of an exact link run at 100 Mbit/s at least"))
            }
            LinkRate::SpaceWire { mbps } if mbps < 2 => {
                Err(format!("link '{self}': exact SpaceWire links run at 2 Mbit/s at least"))
            }
            LinkRate::SpaceFibre { .. } | LinkRate::SpaceWire { .. } => Ok(()),
        }
    }

    /// A link of SpaceWire ports: `200M`, `exact:200M`, `unlimited`.
    ///
    /// # Errors
    /// What such a link looks like.
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

/// What a port is connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Peer {
    /// Nothing.
    #[default]
    None,
    /// A port of an endpoint of the network.
    Port {
        /// Endpoint.
        endpoint: u32,
        /// Port.
        port: u32,
    },
    /// An instrument that takes every packet; with `check`, it verifies the test pattern.
    Sink {
        /// Verify sequence numbers and contents.
        check: bool,
    },
    /// An instrument that sends for ever, on every virtual channel with a receiver.
    Generator {
        /// Shortest packet in bytes.
        min_bytes: u32,
        /// Longest packet in bytes.
        max_bytes: u32,
        /// Seed of the lengths.
        seed: u64,
    },
    /// An instrument that sends every packet back on the virtual channel it came on.
    Echo,
    /// An instrument with memory that RMAP commands read and write, on each virtual channel.
    Rmap(RmapUnit),
    /// A simulated network: the rest of a scenario. Its link is exact.
    Network,
}

impl Peer {
    /// An instrument that takes packets and sends packets because of them.
    pub const fn answers(&self) -> bool {
        matches!(self, Self::Echo | Self::Rmap(_))
    }
}

/// One port.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// What it speaks.
    pub space_wire: bool,
    /// Virtual channels (SpaceWire: 1).
    pub vcs: u32,
    /// Rate of its link.
    pub rate: LinkRate,
    /// How its cable is made.
    pub model: LinkModel,
    /// What it is connected to.
    pub peer: Peer,
}

impl Port {
    /// Its cable.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, model: self.model }
    }

    /// Whether its cable is made word by word.
    pub fn is_exact(&self) -> bool {
        self.model == LinkModel::Exact
    }

    /// The other end of its cable, where that is a flow's other end, too: every packet that goes
    /// into one is what comes out of the other.
    pub fn joined(&self) -> Option<(u32, u32)> {
        match self.peer {
            Peer::Port { endpoint, port } if !self.is_exact() => Some((endpoint, port)),
            _ => None,
        }
    }

    /// The contract's port kind.
    pub fn kind(&self) -> PortKind {
        if self.space_wire { PortKind::Spacewire } else { PortKind::Spacefibre }
    }

    /// The kind of messages its link carries.
    pub fn carries(&self) -> MessageKind {
        if self.space_wire { MessageKind::TimeCode } else { MessageKind::Broadcast }
    }
}

/// A whole network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Ports of each endpoint.
    pub endpoints: Vec<Vec<Port>>,
    /// Who copies.
    pub mode: Mode,
    /// Virtual time: the clock stands still while anybody runs.
    pub virtual_time: bool,
}

/// Most endpoints of a network.
pub const ENDPOINTS_MAX: usize = 64;
/// Most ports of an endpoint.
pub const PORTS_MAX: usize = 8;
/// Most bytes of all memories behind RMAP targets together.
pub const RMAP_BYTES_MAX: u64 = 1 << 32;
/// Virtual channels of a SpaceFibre port unless said otherwise.
pub const VCS_DEFAULT: u32 = 8;

impl Topology {
    /// One endpoint whose two SpaceFibre ports are joined by a cable, and whose two SpaceWire ports
    /// are joined by another one (200 Mbit/s unless the SpaceFibre link is unlimited).
    pub fn looped(rate: LinkRate, mode: Mode) -> Self {
        let cable = |space_wire, rate, port| Port {
            space_wire,
            vcs: if space_wire { 1 } else { VCS_DEFAULT },
            rate,
            model: LinkModel::Packet,
            peer: Peer::Port { endpoint: 0, port },
        };
        let spw = match rate {
            LinkRate::Unlimited => LinkRate::Unlimited,
            _ => LinkRate::SpaceWire { mbps: 200 },
        };
        let ports = vec![
            cable(false, rate, 1),
            cable(false, rate, 0),
            cable(true, spw, 3),
            cable(true, spw, 2),
        ];
        Self { endpoints: vec![ports], mode, virtual_time: false }
    }

    /// One endpoint with one port on an instrument.
    pub fn instrument(peer: Peer, rate: LinkRate, mode: Mode) -> Self {
        let model = LinkModel::Packet;
        let port = Port { space_wire: false, vcs: VCS_DEFAULT, rate, model, peer };
        Self { endpoints: vec![vec![port]], mode, virtual_time: false }
    }

    /// `count` endpoints in pairs: 0 and 1, 2 and 3, ... by SpaceFibre port 0 and SpaceWire port 1.
    pub fn pairs(count: u32, rate: LinkRate, mode: Mode) -> Self {
        let spw = match rate {
            LinkRate::Unlimited => LinkRate::Unlimited,
            _ => LinkRate::SpaceWire { mbps: 200 },
        };
        let endpoints = (0..count)
            .map(|endpoint| {
                let other = endpoint ^ 1;
                let peer = |port| {
                    if other < count { Peer::Port { endpoint: other, port } } else { Peer::None }
                };
                let model = LinkModel::Packet;
                vec![
                    Port { space_wire: false, vcs: VCS_DEFAULT, rate, model, peer: peer(0) },
                    Port { space_wire: true, vcs: 1, rate: spw, model, peer: peer(1) },
                ]
            })
            .collect();
        Self { endpoints, mode, virtual_time: false }
    }

    /// The same with every link made this way.
    pub fn with_model(mut self, model: LinkModel) -> Self {
        self.endpoints.iter_mut().flatten().for_each(|port| port.model = model);
        self
    }

    /// The same with another link on every SpaceWire port.
    pub fn with_spacewire(mut self, link: Link) -> Self {
        for port in self.endpoints.iter_mut().flatten().filter(|port| port.space_wire) {
            (port.rate, port.model) = (link.rate, link.model);
        }
        self
    }

    /// Whether any link is made word by word.
    pub fn has_exact(&self) -> bool {
        self.endpoints.iter().flatten().any(Port::is_exact)
    }

    /// Says what is wrong with a topology, if anything: object, value, limit.
    pub fn check(&self) -> Result<(), String> {
        if self.endpoints.is_empty() || self.endpoints.len() > ENDPOINTS_MAX {
            return Err(format!(
                "{} endpoints; 1 to {ENDPOINTS_MAX} allowed",
                self.endpoints.len()
            ));
        }
        for (e, ports) in self.endpoints.iter().enumerate() {
            if ports.is_empty() || ports.len() > PORTS_MAX {
                return Err(format!(
                    "endpoint {e}: {} ports; 1 to {PORTS_MAX} allowed",
                    ports.len()
                ));
            }
            for (p, port) in ports.iter().enumerate() {
                self.check_port(e, p, port)?;
            }
        }
        let ports = self.endpoints.iter().flatten();
        let rmap_bytes = ports.fold(0u64, |sum, port| match port.peer {
            Peer::Rmap(unit) => sum.saturating_add(unit.bytes),
            _ => sum,
        });
        if rmap_bytes > RMAP_BYTES_MAX {
            return Err(format!(
                "RMAP memories of {rmap_bytes} bytes in all: {RMAP_BYTES_MAX} allowed"
            ));
        }
        Ok(())
    }

    fn check_port(&self, e: usize, p: usize, port: &Port) -> Result<(), String> {
        let most = if port.space_wire { 1 } else { spfe_contract::VC_MAX as u32 };
        if port.vcs == 0 || port.vcs > most {
            return Err(format!("endpoint {e} port {p}: {} VCs; 1 to {most} allowed", port.vcs));
        }
        let named = |what: String| format!("endpoint {e} port {p}: {what}");
        port.link().check().map_err(named)?;
        let of_spacewire = matches!(port.rate, LinkRate::SpaceWire { .. });
        if port.is_exact() && port.space_wire != of_spacewire {
            let (kind, form) = match port.space_wire {
                true => ("SpaceWire", "exact:spw:200M"),
                false => ("SpaceFibre", "exact:1x6.25G"),
            };
            let what = format!("an exact link of a {kind} port is one such as {form}");
            return Err(named(format!("link '{}': {what}", port.link())));
        }
        if port.peer == Peer::Network && !port.is_exact() {
            return Err(named(format!(
                "link '{}': a simulated network has exact links",
                port.link()
            )));
        }
        if port.is_exact() && !matches!(port.peer, Peer::Port { .. } | Peer::None | Peer::Network) {
            let what = "an exact link joins two ports; instruments need a packet-level one";
            return Err(named(format!("link '{}': {what}", port.link())));
        }
        match port.peer {
            Peer::Port { endpoint, port: other } => {
                let far = self
                    .endpoints
                    .get(endpoint as usize)
                    .and_then(|ports| ports.get(other as usize))
                    .ok_or(format!("endpoint {e} port {p}: no port {endpoint}:{other}"))?;
                let back = Peer::Port { endpoint: e as u32, port: p as u32 };
                if far.peer != back || far.vcs != port.vcs || far.link() != port.link() {
                    return Err(format!(
                        "endpoint {e} port {p} and endpoint {endpoint} port {other}: the two ends \
                         of a cable must name each other and agree on VCs, rate and model"
                    ));
                }
            }
            Peer::Generator { min_bytes, max_bytes, .. } => {
                if min_bytes == 0 || max_bytes < min_bytes || max_bytes > 1 << 24 {
                    return Err(format!(
                        "endpoint {e} port {p}: generator of {min_bytes} to {max_bytes} bytes; 1 \
                         to 16777216 allowed, the shortest first"
                    ));
                }
            }
            Peer::Rmap(unit) => {
                unit.check().map_err(|what| format!("endpoint {e} port {p}: {what}"))?;
            }
            Peer::None | Peer::Sink { .. } | Peer::Echo | Peer::Network => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for text in ["unlimited", "4x7.5G", "1x6.25G", "4x31.25G", "spw:200M"] {
            assert_eq!(text.parse::<LinkRate>().unwrap().to_string(), text);
        }
        for text in
            ["", "4x", "x7G", "0x7G", "17x1G", "4x101G", "spw:0M", "4y5G", "4x-1G", "4xnanG"]
        {
            let error = text.parse::<LinkRate>().unwrap_err();
            assert!(error.contains("4x7.5G"), "{error}");
        }
    }

    #[test]
    fn user_rates_follow_from_the_overhead_of_the_protocols() {
        for (text, gbps) in [
            ("4x7.5G", 22.921),
            ("4x6.25G", 19.101),
            ("1x6.25G", 4.775),
            ("4x31.25G", 95.504),
            ("spw:200M", 0.160),
        ] {
            let rate = text.parse::<LinkRate>().unwrap();
            assert!((rate.user_gbps().unwrap() - gbps).abs() < 0.01, "{text}");
        }
        let [_, both] = "4x7.5G".parse::<LinkRate>().unwrap().byte_fs().unwrap();
        assert!((8e15 / both as f64 / 1e9 - 22.256).abs() < 0.01);
        assert_eq!(LinkRate::Unlimited.byte_fs(), None);
    }

    #[test]
    fn links_are_read_and_written() {
        for text in
            ["unlimited", "4x7.5G", "exact:1x6.25G", "exact:16x25G", "spw:200M", "exact:spw:100M"]
        {
            assert_eq!(text.parse::<Link>().unwrap().to_string(), text);
        }
        for (text, link) in
            [("unlimited", "unlimited"), ("10M", "spw:10M"), ("exact:400M", "exact:spw:400M")]
        {
            assert_eq!(Link::spacewire(text).unwrap().to_string(), link);
        }
        for text in ["", "exact:", "exact:1M", "exact:401M", "spw:200M", "1x5G", "exact:unlimited"]
        {
            let error = Link::spacewire(text).unwrap_err();
            assert!(error.contains("exact:RATE"), "{text}: {error}");
        }
        for (text, part) in [
            ("exact:spw:1M", "2 Mbit/s at least"),
            ("exact:unlimited", "has a rate"),
            ("exact:1x50M", "100 Mbit/s at least"),
            ("exact:", "4x7.5G"),
            ("exact", "4x7.5G"),
        ] {
            let error = text.parse::<Link>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn an_exact_link_joins_two_ports() {
        let rate = "1x6.25G".parse().unwrap();
        let exact = |topology: Topology| topology.with_model(LinkModel::Exact).check();
        exact(Topology::pairs(2, rate, Mode::Inline)).unwrap();
        exact(Topology::looped(rate, Mode::Inline)).unwrap();
        let error = exact(Topology::instrument(Peer::Echo, rate, Mode::Inline)).unwrap_err();
        assert!(error.contains("joins two ports"), "{error}");
        let error = exact(Topology::looped(LinkRate::Unlimited, Mode::Inline)).unwrap_err();
        assert!(error.contains("has a rate"), "{error}");
        let fibre = "exact:1x6.25G".parse().unwrap();
        let wrong = Topology::pairs(2, rate, Mode::Inline).with_spacewire(fibre);
        let error = wrong.check().unwrap_err();
        assert!(error.contains("port 1") && error.contains("exact:spw:200M"), "{error}");
        let slow = "spw:200M".parse().unwrap();
        let error = exact(Topology::pairs(2, slow, Mode::Inline)).unwrap_err();
        assert!(error.contains("port 0") && error.contains("exact:1x6.25G"), "{error}");
        let mut topology = Topology::pairs(2, rate, Mode::Inline);
        topology.endpoints[0][0].model = LinkModel::Exact;
        assert!(topology.check().unwrap_err().contains("two ends"));
    }

    #[test]
    fn a_cable_needs_both_ends() {
        let mut topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Inline);
        topology.check().unwrap();
        topology.endpoints[1][0].vcs = 4;
        assert!(topology.check().unwrap_err().contains("two ends"));
        Topology::looped(LinkRate::Unlimited, Mode::Inline).check().unwrap();
    }

    #[test]
    fn memories_have_a_sum() {
        let unit = RmapUnit { bytes: 3 << 30, ..RmapUnit::default() };
        let peer = Peer::Rmap(unit);
        let mut topology = Topology::instrument(peer, LinkRate::Unlimited, Mode::Inline);
        topology.check().unwrap();
        topology.endpoints.push(topology.endpoints[0].clone());
        assert!(topology.check().unwrap_err().contains("4294967296 allowed"));
        topology.endpoints[0][0].peer = Peer::Rmap(RmapUnit { bytes: 0, ..unit });
        assert!(topology.check().unwrap_err().contains("endpoint 0 port 0: RMAP memory"));
    }
}
