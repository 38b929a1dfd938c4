//! Topologies: nodes in slots, switches, links and their rates.
//!
//! ```
//! use spfe_fabric::topology::FabricTopology;
//! let star = FabricTopology::preset("star12-x2").expect("a preset");
//! assert_eq!(star.nodes.len(), 12);
//! let [first, last] = [star.nodes[0].number, star.nodes[11].number];
//! assert_eq!(star.path(first, last).expect("a path").rate.to_string(), "gen2 x2");
//! ```

mod check;
mod file;
mod preset;
mod rate;

pub use check::TopologyError;
pub use preset::{PRESETS, Preset};
pub use rate::{LinkWidth, PcieGeneration, PcieRate};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Most nodes of a fabric.
pub const NODES_MAX: usize = 64;
/// Highest slot: two nodes in each.
pub const SLOT_MAX: u8 = 32;
/// Most switches of a fabric.
pub const SWITCHES_MAX: usize = 16;
/// Default MTU of `vxeth0`, and the largest, bytes.
pub const MTU_DEFAULT: u32 = 65_500;
/// Smallest MTU: that of IPv4.
pub const MTU_MIN: u32 = 68;
/// Default size of the ring from one node to another, bytes.
pub const RING_DEFAULT: u64 = 1 << 20;
/// Smallest and largest ring. A ring holds at least four of the longest frames.
pub const RING_RANGE: std::ops::RangeInclusive<u64> = 1 << 18..=1 << 28;
/// Default size of the memory window that a node shows to each other node, bytes.
pub const WINDOW_DEFAULT: u64 = 64 << 20;
/// Largest memory window.
pub const WINDOW_MAX: u64 = 1 << 40;
/// Largest number of lanes of one switch.
pub const SWITCH_LANES_MAX: u32 = 1024;

/// Which of the processors of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cpu {
    /// The first or only one.
    A,
    /// The second one of a board with two.
    B,
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::A { "A" } else { "B" })
    }
}

/// Number of a node: 2 (slot - 1) + 1 for CPU A and + 2 for CPU B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeNumber(pub u8);

impl NodeNumber {
    /// The node of a CPU in a slot.
    pub const fn of(slot: u8, cpu: Cpu) -> Self {
        Self(2 * slot.saturating_sub(1) + if matches!(cpu, Cpu::A) { 1 } else { 2 })
    }

    /// Its slot.
    pub const fn slot(self) -> u8 {
        self.0.saturating_sub(1) / 2 + 1
    }

    /// Its CPU.
    pub const fn cpu(self) -> Cpu {
        if self.0 % 2 == 1 { Cpu::A } else { Cpu::B }
    }

    /// Index for tables of [`NODES_MAX`] entries; `None` for a number that no node can have.
    pub const fn index(self) -> Option<usize> {
        if self.0 >= 1 && self.0 as usize <= NODES_MAX { Some(self.0 as usize - 1) } else { None }
    }

    /// Name in topologies: slot and CPU, as in `4A`.
    pub fn name(self) -> String {
        format!("{}{}", self.slot(), self.cpu())
    }
}

impl fmt::Display for NodeNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A node: one CPU of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricNode {
    /// Its number.
    pub number: NodeNumber,
    /// Whether it is the system controller, which is a remark of the status table only.
    pub master: bool,
    /// Isolated virtual network to which it belongs; empty: the common one.
    pub partition: String,
}

/// A PCIe switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricSwitch {
    /// Name.
    pub name: String,
    /// Its slot, if it has one.
    pub slot: Option<u8>,
    /// Lanes of all ports together.
    pub lanes: u32,
    /// Number of ports.
    pub ports: u32,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FabricEnd {
    /// A node.
    Node(NodeNumber),
    /// A switch, by its index.
    Switch(usize),
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricLink {
    /// Both ends.
    pub ends: [FabricEnd; 2],
    /// What the ends agreed on.
    pub rate: PcieRate,
    /// Whether it leaves the chassis: a cable.
    pub cable: bool,
}

impl FabricLink {
    /// The other end, if `end` is one of its ends.
    pub fn other(&self, end: FabricEnd) -> Option<FabricEnd> {
        let [a, b] = self.ends;
        if a == end { Some(b) } else { (b == end).then_some(a) }
    }
}

/// Whether links limit the rate of transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateLimit {
    /// As fast as memory.
    #[default]
    Unlimited,
    /// As fast as the slowest link on the path.
    Pcie,
}

/// A way from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricPath {
    /// Indices of its links, in order.
    pub links: Vec<usize>,
    /// Rate of the slowest link.
    pub rate: PcieRate,
}

/// A fabric. Values made by [`FabricTopology::parse`] and [`FabricTopology::preset`] are sound;
/// after a change, call [`FabricTopology::check`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricTopology {
    /// Name of the fabric.
    pub name: String,
    /// Number of the fabric in Ethernet addresses.
    pub id: u8,
    /// MTU of `vxeth0`, bytes.
    pub mtu: u32,
    /// Size of the ring from one node to another, bytes.
    pub ring: u64,
    /// Size of a node's memory window in the status table, and most exposed memory of a node, bytes.
    pub window: u64,
    /// Whether links limit the rate.
    pub limit: RateLimit,
    /// Nodes, by rising number.
    pub nodes: Vec<FabricNode>,
    /// Switches.
    pub switches: Vec<FabricSwitch>,
    /// Links.
    pub links: Vec<FabricLink>,
}

impl FabricTopology {
    /// The node with this number.
    pub fn node(&self, number: NodeNumber) -> Option<&FabricNode> {
        self.nodes.iter().find(|node| node.number == number)
    }

    /// Links at an end, with their indices.
    pub fn links_at(&self, end: FabricEnd) -> impl Iterator<Item = (usize, &FabricLink)> {
        self.links.iter().enumerate().filter(move |(_, link)| link.other(end).is_some())
    }

    /// The shortest path between two nodes of one partition. Nodes forward nothing, so it passes
    /// through switches only. Of several shortest paths the numbers of the nodes choose one, so that
    /// two switches share the load.
    pub fn path(&self, from: NodeNumber, to: NodeNumber) -> Option<FabricPath> {
        self.path_without(from, to, |_| false)
    }

    /// The same without the links for which `is_down` says true.
    pub fn path_without(
        &self,
        from: NodeNumber,
        to: NodeNumber,
        is_down: impl Fn(usize) -> bool,
    ) -> Option<FabricPath> {
        let (a, b) = (self.node(from)?, self.node(to)?);
        if from == to || a.partition != b.partition {
            return None;
        }
        let (start, goal) = (FabricEnd::Node(from), FabricEnd::Node(to));
        // The choice must not depend on the direction.
        let turn = (usize::from(from.0) + usize::from(to.0)) / 2;
        let mut came: BTreeMap<FabricEnd, (FabricEnd, usize)> = BTreeMap::new();
        let mut todo = VecDeque::from([start]);
        while let Some(at) = todo.pop_front() {
            let mut links: Vec<_> =
                self.links_at(at).filter(|(index, _)| !is_down(*index)).collect();
            if !links.is_empty() {
                let shift = turn % links.len();
                links.rotate_left(shift);
            }
            for (index, link) in links {
                let Some(next) = link.other(at) else { continue };
                if next == start || came.contains_key(&next) {
                    continue;
                }
                came.insert(next, (at, index));
                if next == goal {
                    return Some(self.path_back(&came, start, goal));
                }
                if matches!(next, FabricEnd::Switch(_)) {
                    todo.push_back(next);
                }
            }
        }
        None
    }

    fn path_back(
        &self,
        came: &BTreeMap<FabricEnd, (FabricEnd, usize)>,
        start: FabricEnd,
        goal: FabricEnd,
    ) -> FabricPath {
        let mut links = Vec::new();
        let mut at = goal;
        while at != start {
            let Some(&(before, link)) = came.get(&at) else { break };
            links.push(link);
            at = before;
        }
        links.reverse();
        let rates = links.iter().filter_map(|&link| self.links.get(link)).map(|link| link.rate);
        let widest = PcieRate { generation: PcieGeneration::THIRD, width: LinkWidth::ONE };
        let rate = rates.reduce(PcieRate::slower).unwrap_or(widest);
        FabricPath { links, rate }
    }

    /// Ethernet address of a node: locally administered, the last byte is the node's number.
    pub fn mac(&self, number: NodeNumber) -> [u8; 6] {
        [0x02, 0x56, 0x58, self.id, number.slot(), number.0]
    }

    /// Name of an end, as in topologies.
    pub fn end_name(&self, end: FabricEnd) -> String {
        match end {
            FabricEnd::Node(number) => number.name(),
            FabricEnd::Switch(index) => {
                self.switches.get(index).map_or("?".to_owned(), |switch| switch.name.clone())
            }
        }
    }
}
