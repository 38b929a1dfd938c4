//! What the backplane tells about itself.

use super::Backplane;
use crate::memory::{self, PeerCounter, SharedWords};
use crate::status::{
    AddressRange, FabricStatus, LinkStatus, NodeStatus, PairStatus, TrafficStatus,
};
use crate::topology::{FabricEnd, NodeNumber};
use crate::wire::{FabricError, FabricReply};
use rustix::fd::OwnedFd;
use serde::Serialize;
use spfe_contract::Status;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Puts a value as JSON into memory that only readers get.
pub fn document(value: &impl Serialize) -> Result<(FabricReply, Vec<OwnedFd>), FabricError> {
    let text = serde_json::to_vec(value)
        .map_err(|error| FabricError::new(Status::NoResources, error.to_string()))?;
    let failed = |error: std::io::Error| FabricError::io("document", &error);
    let fd = memory::create("spfe-fabric-document", text.len().max(1)).map_err(failed)?;
    let words = SharedWords::open(fd, text.len().max(1)).map_err(failed)?;
    // SAFETY: the memory has this size, and nobody else has it yet.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), words.at(0), text.len()) };
    memory::forbid_writers(words.fd()).map_err(failed)?;
    let fd = words.fd().try_clone_to_owned().map_err(failed)?;
    Ok((FabricReply::Document { bytes: text.len() as u64 }, vec![fd]))
}

impl Backplane {
    /// State of everything.
    pub fn status(&self) -> FabricStatus {
        let nodes = self.topology.nodes.iter().map(|node| self.node_status(node.number));
        let pairs = self.pairs.iter().map(|((a, b), pair)| PairStatus {
            nodes: [*a, *b],
            states: pair.states,
            rate: pair.path.rate.to_string(),
            bytes_per_s: pair.path.rate.bytes_per_s(),
            path: self.path_text(*a, &pair.path.links),
        });
        let traffic = self.traffic();
        FabricStatus {
            fabric: self.topology.name.clone(),
            mtu: self.topology.mtu,
            limited: self.topology.limit == crate::topology::RateLimit::Pcie,
            window_bytes: self.topology.window,
            nodes: nodes.collect(),
            pairs: pairs.collect(),
            links: self.link_status(&traffic),
            windows: self.list_windows(),
            traffic,
        }
    }

    fn node_status(&self, number: NodeNumber) -> NodeStatus {
        let entry = self.nodes.get(&number).filter(|entry| entry.client.is_some());
        let node = self.topology.node(number);
        let control = self.topology.control_window(number);
        let (windows, exposed_bytes) = self.windows.of(number);
        NodeStatus {
            node: number,
            slot: number.slot(),
            cpu: number.cpu(),
            master: node.is_some_and(|node| node.master),
            partition: node.map(|node| node.partition.clone()).unwrap_or_default(),
            state: self.node_state(number),
            epoch: self.nodes.get(&number).map_or(0, |entry| entry.epoch),
            process: entry.and_then(|entry| entry.process),
            interface: entry.map(|entry| entry.interface.clone()).unwrap_or_default(),
            mac: self.topology.mac(number).map(|byte| format!("{byte:02x}")).join(":"),
            addresses: entry.map(|entry| entry.addresses.clone()).unwrap_or_default(),
            memory_window: AddressRange {
                base: self.topology.memory_window(number),
                size: self.topology.window,
            },
            control_window: AddressRange { base: control.0, size: control.1 },
            windows: windows as u64,
            exposed_bytes,
        }
    }

    /// A path in words: `1A > switch1 > 4A`.
    fn path_text(&self, from: NodeNumber, links: &[usize]) -> String {
        let mut at = FabricEnd::Node(from);
        let mut text = self.topology.end_name(at);
        for link in links.iter().filter_map(|link| self.topology.links.get(*link)) {
            let Some(next) = link.other(at) else { break };
            text = format!("{text} > {}", self.topology.end_name(next));
            at = next;
        }
        text
    }

    /// Counters of every node about every peer, where one is not zero.
    fn traffic(&self) -> Vec<TrafficStatus> {
        let mut all = Vec::new();
        for (from, entry) in &self.nodes {
            for peer in &self.topology.nodes {
                let Some(index) = peer.number.index().filter(|_| peer.number != *from) else {
                    continue;
                };
                let counters: BTreeMap<String, u64> = PeerCounter::ALL
                    .iter()
                    .map(|(counter, name)| {
                        let value = entry.page.counter(index, *counter).load(Ordering::Relaxed);
                        ((*name).to_owned(), value)
                    })
                    .filter(|(_, value)| *value != 0)
                    .collect();
                if !counters.is_empty() {
                    all.push(TrafficStatus { node: *from, peer: peer.number, counters });
                }
            }
        }
        all
    }

    /// Bytes that each link has carried. They follow from the counters of the nodes and the paths.
    fn link_status(&self, traffic: &[TrafficStatus]) -> Vec<LinkStatus> {
        let mut links: Vec<LinkStatus> = self
            .topology
            .links
            .iter()
            .enumerate()
            .map(|(index, link)| LinkStatus {
                ends: link.ends.map(|end| self.topology.end_name(end)),
                rate: link.rate.to_string(),
                bytes_per_s: link.rate.bytes_per_s(),
                cable: link.cable,
                up: !self.down.contains(&index),
                bytes: [0, 0],
            })
            .collect();
        for one in traffic {
            let of = |name: &str| one.counters.get(name).copied().unwrap_or(0);
            let outward = of("sent_bytes")
                + of("put_bytes")
                + of("pio_written_bytes")
                + of("stream_sent_bytes");
            let inward = of("get_bytes") + of("pio_read_bytes");
            let Some(path) = self.topology.path(one.node, one.peer) else { continue };
            let mut at = FabricEnd::Node(one.node);
            for index in path.links {
                let (Some(link), Some(status)) =
                    (self.topology.links.get(index), links.get_mut(index))
                else {
                    continue;
                };
                let forward = link.ends[0] == at;
                status.bytes[usize::from(!forward)] += outward;
                status.bytes[usize::from(forward)] += inward;
                let Some(next) = link.other(at) else { break };
                at = next;
            }
        }
        links
    }
}
