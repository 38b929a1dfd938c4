//! Links, endpoints and instruments of a network: types, text forms and the checks on them.
//!
//! The host library, soft devices and the simulator share this description of a link. It is plain
//! data: no thread, no clock, no operating system.

#[cfg(feature = "fabric")]
mod fabric;
mod foreign;
#[cfg(feature = "hostile")]
pub mod hostile;
mod link;
mod rmap_unit;
mod timing;
pub mod units;

#[cfg(feature = "fabric")]
pub use fabric::{FABRIC_CHANNELS, FABRIC_NODES};
pub use foreign::{ForeignStream, StreamKind, StreamTransport};
pub use link::{Link, LinkField, LinkModel, LinkProblem, LinkRate, check_channels};
pub use rmap_unit::{Allow, RMAP_ADDRESS_MAX, RMAP_LOGICAL_ADDRESS, RmapUnit, WORD_BYTES};
pub use timing::LinkTiming;

use serde::{Deserialize, Serialize};
use spfe_contract::{MessageKind, PortKind};
use std::fmt;
use std::str::FromStr;

/// Mode of a virtual network: which thread runs the engine and copies the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The posting thread, before its call returns. All clients trust each other.
    #[default]
    Inline,
    /// The posting thread; both ends share copies. All clients trust each other.
    Coop,
    /// A device thread in the process that owns the network. In a daemon it isolates the clients.
    Thread,
    /// The posting thread; both ends share copies where that is faster. All clients trust each
    /// other.
    Auto,
}

impl FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "inline" => Ok(Self::Inline),
            "coop" => Ok(Self::Coop),
            "thread" | "daemon" | "device" => Ok(Self::Thread),
            "auto" => Ok(Self::Auto),
            _ => Err(format!("mode '{text}' is none of auto, inline, coop, thread")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inline => "inline",
            Self::Coop => "coop",
            Self::Thread => "thread",
            Self::Auto => "auto",
        })
    }
}

/// The far end of a port's link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Peer {
    /// The port is not connected.
    #[default]
    None,
    /// A port of an endpoint of the same network.
    Port {
        /// Endpoint.
        endpoint: u32,
        /// Port.
        port: u32,
    },
    /// An instrument that consumes every packet.
    Sink {
        /// Verify sequence numbers and contents of the test pattern.
        check: bool,
    },
    /// An instrument that sends without end on every virtual channel that has a receiver.
    Generator {
        /// Shortest packet in bytes.
        min_bytes: u32,
        /// Longest packet in bytes.
        max_bytes: u32,
        /// Seed of the lengths.
        seed: u64,
    },
    /// An instrument that returns every packet on its virtual channel.
    Echo,
    /// An instrument with memory that RMAP commands on any virtual channel read and write.
    Rmap(RmapUnit),
    /// A target-only endpoint of RDMA.
    Target {
        /// Its file, an index into [`Topology::targets`].
        file: u32,
    },
    /// The simulated network of a scenario. The link is exact.
    Network,
    /// A simulator or board that a stream of words reaches. The link is exact.
    Foreign {
        /// The stream, an index into [`Topology::foreign`].
        stream: u32,
    },
    /// A PCIe fabric: the port has virtual channels to the same port of each of the first `nodes`
    /// endpoints. Endpoint e is node e + 1.
    Fabric {
        /// Number of nodes.
        nodes: u32,
    },
}

impl Peer {
    /// Whether this is an instrument that answers packets.
    pub const fn answers(&self) -> bool {
        matches!(self, Self::Echo | Self::Rmap(_) | Self::Target { .. })
    }
}

/// A port of an endpoint in a topology.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortConfig {
    /// SpaceWire instead of SpaceFibre.
    pub space_wire: bool,
    /// Number of virtual channels; 1 for SpaceWire.
    pub vcs: u32,
    /// Rate of the link.
    pub rate: LinkRate,
    /// How the link is simulated.
    pub model: LinkModel,
    /// Far end of the link.
    pub peer: Peer,
}

impl PortConfig {
    /// A port without a cable, on a packet-level link of this rate: a SpaceWire port for a SpaceWire
    /// rate, otherwise a SpaceFibre port.
    fn of(rate: LinkRate) -> Self {
        let (model, peer) = (LinkModel::Packet, Peer::None);
        let mut port = Self { space_wire: false, vcs: VCS_DEFAULT, rate, model, peer };
        if matches!(rate, LinkRate::SpaceWire { .. }) {
            port.make_space_wire();
        }
        port
    }

    fn make_space_wire(&mut self) {
        (self.space_wire, self.vcs) = (true, 1);
    }

    /// Rate and model of the port's link.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, model: self.model }
    }

    /// Whether the port is on an exact link.
    pub fn is_exact(&self) -> bool {
        self.model.is_exact()
    }

    /// The port at the other end of a packet-level link. The two ports share their flows: the flow
    /// out of one is the flow into the other.
    pub fn joined(&self) -> Option<(u32, u32)> {
        match self.peer {
            Peer::Port { endpoint, port } if !self.is_exact() => Some((endpoint, port)),
            _ => None,
        }
    }

    /// Number of nodes of the fabric, if this is a fabric port.
    pub const fn fabric(&self) -> Option<u32> {
        match self.peer {
            Peer::Fabric { nodes } => Some(nodes),
            _ => None,
        }
    }

    /// The port kind in the contract.
    pub fn kind(&self) -> PortKind {
        match self.peer {
            Peer::Fabric { .. } => PortKind::Fabric,
            _ if self.space_wire => PortKind::Spacewire,
            _ => PortKind::Spacefibre,
        }
    }

    /// The kind of messages that the link carries.
    pub fn carries(&self) -> MessageKind {
        if self.space_wire { MessageKind::TimeCode } else { MessageKind::Broadcast }
    }
}

/// Endpoints and links of a virtual network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Ports of each endpoint.
    pub endpoints: Vec<Vec<PortConfig>>,
    /// Mode: which thread runs the engine and copies the packets.
    pub mode: Mode,
    /// The network has a virtual clock, which stands still while a participant runs.
    pub virtual_time: bool,
    /// Streams to foreign ends. Clients of a daemon do not learn their addresses.
    #[serde(skip)]
    pub foreign: Vec<ForeignStream>,
    /// Files that describe target-only endpoints (docs/rdma.md). Clients of a daemon do not see them.
    #[serde(skip)]
    pub targets: Vec<String>,
    /// What happens to the packets of all links. Clients of a daemon do not learn it.
    #[cfg(feature = "hostile")]
    #[serde(skip)]
    pub hostile: Option<hostile::Hostile>,
}

/// Maximum number of endpoints of a network.
pub const ENDPOINTS_MAX: usize = 64;
/// Maximum number of ports of an endpoint.
pub const PORTS_MAX: usize = 8;
/// Maximum size of all RMAP memories of a network together, in bytes.
pub const RMAP_BYTES_MAX: u64 = 1 << 32;
/// Default number of virtual channels of a SpaceFibre port.
pub const VCS_DEFAULT: u32 = 8;

impl Topology {
    /// One endpoint with two SpaceFibre ports joined by a link, and two SpaceWire ports joined by
    /// another. The SpaceWire link has 200 Mbit/s, or is unlimited if the SpaceFibre link is. With a
    /// SpaceWire rate all ports are SpaceWire.
    pub fn looped(rate: LinkRate, mode: Mode) -> Self {
        let cable = |port: u32, rate| PortConfig {
            peer: Peer::Port { endpoint: 0, port: port ^ 1 },
            ..PortConfig::of(rate)
        };
        let spw = LinkRate::beside(rate);
        let mut ports = vec![cable(0, rate), cable(1, rate), cable(2, spw), cable(3, spw)];
        ports[2..].iter_mut().for_each(PortConfig::make_space_wire);
        Self { endpoints: vec![ports], mode, ..Self::default() }
    }

    /// One endpoint with one port, which is connected to an instrument.
    pub fn instrument(peer: Peer, rate: LinkRate, mode: Mode) -> Self {
        let port = PortConfig { peer, ..PortConfig::of(rate) };
        Self { endpoints: vec![vec![port]], mode, ..Self::default() }
    }

    /// One endpoint with one port, which is connected to a target-only endpoint of RDMA.
    pub fn with_target(file: &str, rate: LinkRate, mode: Mode) -> Self {
        let topology = Self::instrument(Peer::Target { file: 0 }, rate, mode);
        Self { targets: vec![file.to_owned()], ..topology }
    }

    /// One endpoint with one port, whose link has a foreign end.
    pub fn with_foreign_end(stream: ForeignStream, rate: LinkRate, mode: Mode) -> Self {
        let topology = Self::instrument(Peer::Foreign { stream: 0 }, rate, mode);
        Self { foreign: vec![stream], ..topology.with_model(LinkModel::Exact) }
    }

    /// `count` endpoints, joined in pairs 0 and 1, 2 and 3 and so on by SpaceFibre port 0 and
    /// SpaceWire port 1. With a SpaceWire rate both ports are SpaceWire.
    pub fn pairs(count: u32, rate: LinkRate, mode: Mode) -> Self {
        let endpoints = (0..count)
            .map(|endpoint| {
                let other = endpoint ^ 1;
                let peer = |port| {
                    if other < count { Peer::Port { endpoint: other, port } } else { Peer::None }
                };
                let spw = LinkRate::beside(rate);
                let mut ports = vec![
                    PortConfig { peer: peer(0), ..PortConfig::of(rate) },
                    PortConfig { peer: peer(1), ..PortConfig::of(spw) },
                ];
                ports[1].make_space_wire();
                ports
            })
            .collect();
        Self { endpoints, mode, ..Self::default() }
    }

    /// Sets the numbers of SpaceFibre ports, SpaceWire ports and virtual channels of SpaceFibre ports
    /// of every endpoint; `None` keeps a number. Ports of one endpoint are joined in pairs, and a last
    /// one without partner is not connected.
    ///
    /// # Errors
    /// A number that is out of its limits, or a kind of port that the network does not have.
    pub fn with_ports(
        mut self,
        fibre: Option<u32>,
        wire: Option<u32>,
        vcs: Option<u32>,
    ) -> Result<Self, String> {
        let has_fabric = self.endpoints.iter().flatten().any(|port| port.fabric().is_some());
        if has_fabric && (fibre, wire, vcs) != (None, None, None) {
            return Err("a fabric has one port for each endpoint, and its channels".to_owned());
        }
        if let Some(vcs) = vcs {
            link::check_channels(false, vcs).map_err(|error| error.text)?;
        }
        for (endpoint, ports) in self.endpoints.iter_mut().enumerate() {
            let mut all = Vec::new();
            for (space_wire, wanted) in [(false, fibre), (true, wire)] {
                let mut kind = ports.iter().filter(|port| port.space_wire == space_wire);
                let (first, here) = (kind.clone().next().copied(), kind.by_ref().count() as u32);
                let wanted = wanted.unwrap_or(here);
                let total = (all.len() as u32).saturating_add(wanted);
                if total as usize > PORTS_MAX {
                    return Err(format!("{total} ports: 1 to {PORTS_MAX} allowed"));
                }
                let Some(first) = first.filter(|_| wanted != 0) else {
                    if wanted != 0 {
                        let kind = if space_wire { "SpaceWire" } else { "SpaceFibre" };
                        return Err(format!("this network has no {kind} ports"));
                    }
                    continue;
                };
                let base = all.len() as u32;
                all.extend((0..wanted).map(|number| {
                    let mut port = PortConfig { peer: first.peer, ..first };
                    match first.peer {
                        Peer::Port { endpoint: far, .. } if far as usize == endpoint => {
                            let (endpoint, other) = (far, number ^ 1);
                            port.peer = match other < wanted {
                                true => Peer::Port { endpoint, port: base + other },
                                false => Peer::None,
                            };
                        }
                        Peer::Port { endpoint, .. } => {
                            port.peer = Peer::Port { endpoint, port: base + number };
                        }
                        _ => {}
                    }
                    if let (Some(vcs), false) = (vcs, space_wire) {
                        port.vcs = vcs;
                    }
                    port
                }));
            }
            if all.is_empty() {
                return Err(format!("0 ports: 1 to {PORTS_MAX} allowed"));
            }
            *ports = all;
        }
        Ok(self)
    }

    /// Sets the model of every link. SpaceWire links have no lenient start-up; they become exact.
    pub fn with_model(mut self, model: LinkModel) -> Self {
        for port in self.endpoints.iter_mut().flatten() {
            port.model = match model {
                LinkModel::Lenient if port.space_wire => LinkModel::Exact,
                model => model,
            };
        }
        self
    }

    /// Sets rate and model of every SpaceWire link.
    pub fn with_spacewire(mut self, link: Link) -> Self {
        for port in self.endpoints.iter_mut().flatten().filter(|port| port.space_wire) {
            (port.rate, port.model) = (link.rate, link.model);
        }
        self
    }

    /// Whether the network has an exact link.
    pub fn has_exact(&self) -> bool {
        self.endpoints.iter().flatten().any(PortConfig::is_exact)
    }

    /// Checks the topology.
    ///
    /// # Errors
    /// A sentence that names the object, the value and the limit.
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

    fn check_port(&self, e: usize, p: usize, port: &PortConfig) -> Result<(), String> {
        let named = |what: String| format!("endpoint {e} port {p}: {what}");
        #[cfg(feature = "fabric")]
        if let Some(nodes) = port.fabric() {
            return self.check_fabric(e, p, port, nodes).map_err(named);
        }
        link::check_channels(port.space_wire, port.vcs).map_err(|error| named(error.text))?;
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
        if let Peer::Foreign { stream } = port.peer {
            return self.check_foreign(port, stream).map_err(named);
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
            Peer::None
            | Peer::Sink { .. }
            | Peer::Echo
            | Peer::Target { .. }
            | Peer::Network
            | Peer::Foreign { .. }
            | Peer::Fabric { .. } => {}
        }
        Ok(())
    }

    fn check_foreign(&self, port: &PortConfig, stream: u32) -> Result<(), String> {
        if port.space_wire || !port.is_exact() {
            let link = port.link();
            return Err(format!(
                "link '{link}': only an exact SpaceFibre link, such as exact:1x6.25G, has a \
                 foreign end"
            ));
        }
        let of_stream = |port: &&PortConfig| port.peer == Peer::Foreign { stream };
        if self.endpoints.iter().flatten().filter(of_stream).count() != 1 {
            return Err(format!("foreign end {stream}: another port has it, too"));
        }
        let stream = self.foreign.get(stream as usize).ok_or("foreign end: no such stream")?;
        stream.check(port.rate.lanes())
    }
}
