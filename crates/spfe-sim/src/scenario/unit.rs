//! Nodes and routers of a scenario.

use super::units::{Size, Time};
use serde::Deserialize;
use spfe_link::network;
use spfe_link::network::broadcast::CopyRule;
use spfe_rdma::TargetFile;

/// Kind of a node. `Endpoint`, `Memory` and `Foreign` change its function. The others only change its symbol
/// in drawings, because its traffic defines what a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Sends and receives traffic.
    #[default]
    Host,
    /// The same; drawn as a source.
    Instrument,
    /// The same; drawn as a processor.
    Processor,
    /// The same, with a target of RMAP or RDMA.
    Memory,
    /// A place where an application attaches. In `spfe sim` it only receives.
    Endpoint,
    /// Another simulator or a board. Its links have a stream to it.
    Foreign,
}

/// RMAP target of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TargetSettings {
    /// Size of the memory, which begins at address 0.
    #[serde(default = "TargetSettings::default_bytes")]
    pub bytes: Size,
    /// Key that commands must contain.
    #[serde(default)]
    pub key: u8,
    /// Time from the end of a command to the start of its reply.
    #[serde(default)]
    pub latency: Time,
}

impl TargetSettings {
    const fn default_bytes() -> Size {
        Size(1 << 20)
    }
}

/// A node. It has the ports that links name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioNode {
    /// Name.
    pub name: String,
    /// Kind.
    #[serde(default)]
    pub kind: NodeKind,
    /// Logical address, 32 to 254.
    #[serde(default = "default_logical_address")]
    pub logical_address: u8,
    /// RMAP target.
    pub target: Option<TargetSettings>,
    /// Target of RDMA: what its file would contain.
    pub rdma: Option<TargetFile>,
}

pub(super) const fn default_logical_address() -> u8 {
    254
}

/// Meaning of several ports in a table entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryMode {
    /// Group adaptive routing: a packet takes a port that is free.
    #[default]
    Any,
    /// Multicast: each port gets a copy.
    All,
}

/// An entry of a router's routing table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TableEntry {
    /// Logical address, 32 to 254.
    pub address: u8,
    /// Output ports.
    pub ports: Vec<u8>,
    /// Meaning of several ports.
    #[serde(default)]
    pub mode: EntryMode,
    /// Header deletion: the router deletes the address.
    #[serde(default)]
    pub delete: bool,
    /// Packets go before those without priority.
    #[serde(default)]
    pub priority: bool,
    /// Virtual networks that use the entry; `None` for all.
    pub networks: Option<Vec<u8>>,
}

impl TableEntry {
    /// The entry in the form of a routing switch. Ports above 31 do not occur in a checked
    /// scenario.
    pub fn forwarding(&self) -> network::RoutingEntry {
        let ports = self.ports.iter().fold(0u32, |mask, port| mask | 1 << (port & 31));
        network::RoutingEntry {
            ports,
            multicast: self.mode == EntryMode::All,
            delete: self.delete,
            priority: self.priority,
        }
    }
}

/// Assigns a virtual channel of a port to a virtual network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChannelMap {
    /// Port.
    pub port: u8,
    /// Virtual channel.
    pub vc: u8,
    /// Virtual network, 0 to 63; `None` for none.
    pub network: Option<u8>,
}

/// Settings of one port that replace those of its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PortSettings {
    /// Port.
    pub port: u8,
    /// Packets from this port are truncated when they have not moved for this time.
    pub packet_timeout: Option<Time>,
    /// Packets from this port are discarded when they have waited for an output for this time.
    pub wait_timeout: Option<Time>,
    /// Packets with the path address of this port have priority.
    #[serde(default)]
    pub priority: bool,
}

/// Rule that identifies copies of broadcast messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// A message is a copy if it arrives at another port than the channel's last message.
    #[default]
    OtherPort,
    /// Any message of the channel is a copy until the time-out.
    AnyPort,
}

impl From<Copies> for CopyRule {
    fn from(rule: Copies) -> Self {
        match rule {
            Copies::OtherPort => Self::OtherPort,
            Copies::AnyPort => Self::AnyPort,
        }
    }
}

/// Port 0 of a router, an RMAP target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigurationPort {
    /// Key that commands must contain.
    #[serde(default)]
    pub key: u8,
    /// Logical address that commands must contain.
    #[serde(default = "default_logical_address")]
    pub logical_address: u8,
}

impl Default for ConfigurationPort {
    fn default() -> Self {
        Self { key: 0, logical_address: default_logical_address() }
    }
}

/// A router. Ports with a SpaceWire link make it a bridge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioRouter {
    /// Name.
    pub name: String,
    /// Number of ports without port 0, 1 to 31.
    pub ports: u8,
    /// Routing table.
    #[serde(default)]
    pub entries: Vec<TableEntry>,
    /// Virtual channels whose virtual network has another number, or that have none.
    #[serde(default)]
    pub map: Vec<ChannelMap>,
    /// Packets are truncated when they have not moved for this time; `None` for never.
    pub packet_timeout: Option<Time>,
    /// Packets are discarded when they have waited for an output for this time; `None` for never.
    pub wait_timeout: Option<Time>,
    /// Settings of single ports.
    #[serde(default)]
    pub settings: Vec<PortSettings>,
    /// Port 0.
    #[serde(default)]
    pub configuration: ConfigurationPort,
    /// Rule that identifies copies of broadcast messages.
    #[serde(default)]
    pub broadcast_copies: Copies,
    /// Time for which a broadcast message is remembered.
    #[serde(default = "ScenarioRouter::default_broadcast_timeout")]
    pub broadcast_timeout: Time,
}

impl ScenarioRouter {
    const fn default_broadcast_timeout() -> Time {
        Time(20 * crate::time::US)
    }

    /// The table entry of a logical address on a virtual network.
    pub fn entry(&self, network: u8, address: u8) -> Option<&TableEntry> {
        self.entries.iter().find(|entry| {
            let networks = entry.networks.as_deref();
            entry.address == address && networks.is_none_or(|list| list.contains(&network))
        })
    }

    /// Virtual network of a virtual channel of a port.
    pub fn network_of(&self, port: u8, vc: u8) -> Option<u8> {
        match self.map.iter().find(|map| map.port == port && map.vc == vc) {
            Some(map) => map.network,
            None => Some(vc),
        }
    }
}
