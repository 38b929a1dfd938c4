//! Nodes and routers.

use super::units::{Size, Time};
use serde::Deserialize;
use spfe_link::network;
use spfe_link::network::broadcast::CopyRule;

/// What a node is. Only `endpoint` and a memory's target change what it does; the others say what a
/// drawing shows, as what a node does is its traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Sends and takes what flows say.
    #[default]
    Host,
    /// The same; drawn as a source.
    Instrument,
    /// The same; drawn as a processor.
    Processor,
    /// The same; it has an RMAP target.
    Memory,
    /// A place where an application attaches. In `spfe sim` it takes what comes.
    Endpoint,
}

/// An RMAP target of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TargetSettings {
    /// Memory, from address 0 on.
    #[serde(default = "TargetSettings::default_bytes")]
    pub bytes: Size,
    /// Key that commands must have.
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

/// A node. Its ports are those that links name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioNode {
    /// Name.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: NodeKind,
    /// Logical address, 32 to 254.
    #[serde(default = "default_logical_address")]
    pub logical_address: u8,
    /// RMAP target.
    pub target: Option<TargetSettings>,
}

pub(super) const fn default_logical_address() -> u8 {
    254
}

/// What is done with several ports of a table entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryMode {
    /// One of them that is free: group adaptive routing.
    #[default]
    Any,
    /// A copy to each: multicast.
    All,
}

/// An entry of a router's table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TableEntry {
    /// Logical address, 32 to 254.
    pub address: u8,
    /// Ports.
    pub ports: Vec<u8>,
    /// What is done with several.
    #[serde(default)]
    pub mode: EntryMode,
    /// Header deletion: the address is taken off.
    #[serde(default)]
    pub delete: bool,
    /// Goes before packets without priority.
    #[serde(default)]
    pub priority: bool,
    /// Virtual networks that it is for; none for all.
    pub networks: Option<Vec<u8>>,
}

impl TableEntry {
    /// The entry as a routing switch has it. Ports above 31 do not occur in a checked scenario.
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

/// A virtual channel of a port belongs to a virtual network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChannelMap {
    /// Port.
    pub port: u8,
    /// Virtual channel.
    pub vc: u8,
    /// Virtual network, 0 to 63. None: the channel belongs to none.
    pub network: Option<u8>,
}

/// Settings of one port, instead of those of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PortSettings {
    /// Port.
    pub port: u8,
    /// A packet from here that is under way is cut when it has not moved for so long.
    pub packet_timeout: Option<Time>,
    /// A packet from here is discarded when it has waited for an output for so long.
    pub wait_timeout: Option<Time>,
    /// Packets with the path address of this port have priority.
    #[serde(default)]
    pub priority: bool,
}

/// Which broadcast messages are copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// What comes in at another port than the channel's last message did.
    #[default]
    OtherPort,
    /// Any message of the channel.
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

/// Port 0 of a router: an RMAP target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigurationPort {
    /// Key that commands must have.
    #[serde(default)]
    pub key: u8,
    /// Logical address that commands must have.
    #[serde(default = "default_logical_address")]
    pub logical_address: u8,
}

impl Default for ConfigurationPort {
    fn default() -> Self {
        Self { key: 0, logical_address: default_logical_address() }
    }
}

/// A routing switch. A port with a SpaceWire link is a bridge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioRouter {
    /// Name.
    pub name: String,
    /// Ports without port 0, 1 to 31.
    pub ports: u8,
    /// Routing table.
    #[serde(default)]
    pub entries: Vec<TableEntry>,
    /// Virtual channels whose virtual network has not their own number.
    #[serde(default)]
    pub map: Vec<ChannelMap>,
    /// A packet under way is cut when it has not moved for so long; none for ever.
    pub packet_timeout: Option<Time>,
    /// A packet is discarded when it has waited for an output for so long; none for ever.
    pub wait_timeout: Option<Time>,
    /// Ports with settings of their own.
    #[serde(default)]
    pub settings: Vec<PortSettings>,
    /// Port 0.
    #[serde(default)]
    pub configuration: ConfigurationPort,
    /// Which broadcast messages are copies.
    #[serde(default)]
    pub broadcast_copies: Copies,
    /// For how long a broadcast message is remembered.
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
