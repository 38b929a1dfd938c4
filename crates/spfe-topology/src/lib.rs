//! Links, endpoints and instruments of a network: types, text forms and the checks on them.
//!
//! The host library, soft devices and the simulator share this description of a link. It is plain
//! data: no thread, no clock, no operating system.

mod link;
mod rmap_unit;

pub use link::{Link, LinkField, LinkModel, LinkProblem, LinkRate, check_channels};
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
        let named = |what: String| format!("endpoint {e} port {p}: {what}");
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
