//! The state of a fabric as data, as the table of `vxfabric`, and as a drawing.

use crate::topology::{Cpu, NodeNumber};
use crate::wire::{PeerState, WindowInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::net::IpAddr;

/// Addresses of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRange {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}({:#x})", self.base, self.size)
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Number.
    pub node: NodeNumber,
    /// Slot.
    pub slot: u8,
    /// CPU.
    pub cpu: Cpu,
    /// Whether it is the system controller.
    pub master: bool,
    /// Isolated virtual network.
    pub partition: String,
    /// State as a whole.
    pub state: PeerState,
    /// How often it has started.
    pub epoch: u64,
    /// Process that runs it.
    pub process: Option<i32>,
    /// Its network interface; empty without one.
    pub interface: String,
    /// Ethernet address.
    pub mac: String,
    /// IP addresses.
    pub addresses: Vec<IpAddr>,
    /// Its memory window.
    pub memory_window: AddressRange,
    /// Its control window.
    pub control_window: AddressRange,
    /// Windows that it exposes.
    pub windows: u64,
    /// Their bytes.
    pub exposed_bytes: u64,
}

/// A pair of nodes with a path between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairStatus {
    /// The nodes.
    pub nodes: [NodeNumber; 2],
    /// What each sees of the other.
    pub states: [PeerState; 2],
    /// Rate of the slowest link.
    pub rate: String,
    /// The same in bytes per second.
    pub bytes_per_s: u64,
    /// The path in words.
    pub path: String,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStatus {
    /// Names of its ends.
    pub ends: [String; 2],
    /// Rate.
    pub rate: String,
    /// The same in bytes per second.
    pub bytes_per_s: u64,
    /// Whether it is a cable.
    pub cable: bool,
    /// Whether it works.
    pub up: bool,
    /// Bytes from the first end to the second one, and back.
    pub bytes: [u64; 2],
}

/// Counters of a node about a peer; those that are zero are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficStatus {
    /// The node.
    pub node: NodeNumber,
    /// The peer.
    pub peer: NodeNumber,
    /// Counters by name.
    pub counters: BTreeMap<String, u64>,
}

/// A fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricStatus {
    /// Name.
    pub fabric: String,
    /// MTU of the interfaces.
    pub mtu: u32,
    /// Whether links limit the rate.
    pub limited: bool,
    /// Most exposed memory of a node.
    pub window_bytes: u64,
    /// Nodes of the topology, by number.
    pub nodes: Vec<NodeStatus>,
    /// Pairs.
    pub pairs: Vec<PairStatus>,
    /// Links, in the order of the topology.
    pub links: Vec<LinkStatus>,
    /// Windows that are exposed now.
    pub windows: Vec<WindowInfo>,
    /// Counters.
    pub traffic: Vec<TrafficStatus>,
}

impl FabricStatus {
    /// State of a peer as a node sees it.
    pub fn state_at(&self, node: NodeNumber, peer: NodeNumber) -> PeerState {
        let state_of = |number| {
            self.nodes
                .iter()
                .find(|one| one.node == number)
                .map_or(PeerState::Absent, |one| one.state)
        };
        if node == peer || state_of(peer) == PeerState::Absent {
            return state_of(peer);
        }
        let key = [node.min(peer), node.max(peer)];
        let pair = self.pairs.iter().find(|pair| pair.nodes == key);
        pair.map_or(PeerState::NoLink, |pair| pair.states[usize::from(node > peer)])
    }

    /// The table of `vxfabric`, seen from a node: number, `*` for this node, slot, state, CPU, `*`
    /// for the system controller, memory window, control window. Once a node has an IP address, the
    /// rows have the Ethernet address and the IP addresses, too. Nodes that are absent have no row,
    /// unless `all` is true.
    pub fn table(&self, local: NodeNumber, all: bool) -> String {
        let with_ip = self.nodes.iter().any(|node| !node.addresses.is_empty());
        let mut rows = Vec::new();
        for node in &self.nodes {
            let state = self.state_at(local, node.node);
            if state == PeerState::Absent && !all {
                continue;
            }
            let is_local = node.node == local;
            let star = |yes: bool| if yes { "*" } else { "" }.to_owned();
            let control =
                if is_local { "NONE(NONE)".to_owned() } else { node.control_window.to_string() };
            let mut row = vec![
                node.node.to_string(),
                star(is_local),
                node.slot.to_string(),
                state.name().to_owned(),
                node.cpu.to_string(),
                star(node.master),
                node.memory_window.to_string(),
                control,
            ];
            if with_ip {
                let addresses: Vec<String> = node.addresses.iter().map(IpAddr::to_string).collect();
                row.push(node.mac.clone());
                row.push(addresses.join(","));
            }
            rows.push(row);
        }
        let heads = [
            "Node",
            "",
            "Slot",
            "State",
            "CPU",
            "",
            "Memory window",
            "Control window",
            "MAC",
            "IP",
        ];
        let heads = if with_ip { &heads[..] } else { &heads[..8] };
        columns(heads, &rows)
    }

    /// The counters of links: what went through each port.
    pub fn link_table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .links
            .iter()
            .map(|link| {
                vec![
                    link.ends[0].clone(),
                    link.ends[1].clone(),
                    link.rate.clone(),
                    if link.up { "up" } else { "down" }.to_owned(),
                    link.bytes[0].to_string(),
                    link.bytes[1].to_string(),
                ]
            })
            .collect();
        columns(&["A", "B", "Rate", "State", "A to B", "B to A"], &rows)
    }

    /// Whether every node of the topology is READY.
    pub fn is_ready(&self) -> bool {
        self.nodes.iter().all(|node| node.state == PeerState::Ready)
    }
}

/// A table whose columns are left-aligned, except for numbers.
fn columns(heads: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(String::len);
            cells.chain([head.len()]).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    for row in std::iter::once(&heads).chain(rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let is_number = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
            let _ = if is_number {
                write!(line, "{cell:>width$}  ")
            } else {
                write!(line, "{cell:<width$}  ")
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
