//! Target-only endpoints.

use super::hostile::HeldPacket;
use super::ns;
use crate::link::Side;
use crate::rng;
use crate::scenario::{Scenario, ScenarioNode};
use crate::time::Ps;
use spfe_proto::sfrp::{Opcode, SfrpHeader};
use spfe_rdma::target::ReceivedMessage;
use spfe_rdma::{RemoteKey, TargetFile, TargetNode};
use std::collections::BTreeMap;

/// A target with the port it is reached at.
pub struct SimulatedRdmaTarget {
    node: TargetNode,
    has_rmap: bool,
    /// Its link and its end of it, and the virtual channels.
    pub port: ((usize, Side), u8),
    /// Requests that may have changed a region, by key.
    changes: BTreeMap<u32, u64>,
}

impl SimulatedRdmaTarget {
    /// The target of a node. Keys that the file leaves open depend on the seed.
    pub fn new(
        scenario: &Scenario,
        of: &ScenarioNode,
        file: &TargetFile,
        port: ((usize, Side), u8),
    ) -> Result<Self, String> {
        let mut file = file.clone();
        file.logical_address = of.logical_address;
        for region in &mut file.regions {
            let name = format!("region {} of {}", region.name, of.name);
            let mut rng = rng::stream(scenario.seed, &name);
            region.generation.get_or_insert_with(|| rng.u32(1..=0xfff));
        }
        let mut node = TargetNode::new(&file).map_err(|error| error.to_string())?;
        node.target.set_vcs(port.1.into());
        Ok(Self { node, has_rmap: file.rmap.is_some(), port, changes: BTreeMap::new() })
    }

    pub const fn has_rmap(&self) -> bool {
        self.has_rmap
    }

    /// Key and first address of a region, by its name; without a name of the first one.
    pub fn region(&self, name: Option<&str>) -> Option<(RemoteKey, u64)> {
        let mut all = self.node.target.regions().iter();
        let named = |region: &str| name.is_none_or(|name| name == region);
        all.find(|(_, region)| named(&region.name)).map(|(key, region)| (key, region.base))
    }

    pub fn segment_bytes(&self) -> u32 {
        self.node.target.options().segment_bytes
    }

    pub fn protocol(&self) -> u8 {
        self.node.target.options().protocol
    }

    /// Opens a queue pair for messages with its buffers.
    pub fn open(&mut self, queue: u16, buffers: u16, bytes: usize) -> Result<(), String> {
        self.node.target.open_queue(queue).map_err(|error| error.to_string())?;
        for id in 0..buffers {
            self.post(queue, id.into(), vec![0; bytes]);
        }
        Ok(())
    }

    /// The next message of an open queue pair.
    pub fn received(&mut self, queue: u16) -> Option<ReceivedMessage> {
        self.node.target.received(queue).ok().flatten()
    }

    /// Posts a buffer to an open queue pair.
    pub fn post(&mut self, queue: u16, id: u64, buffer: Vec<u8>) {
        // Cannot fail: the queue pair stays open.
        let _ = self.node.target.post_receive(queue, id, buffer);
    }

    /// Handles a packet.
    pub fn handle(&mut self, now: Ps, vc: u8, packet: &HeldPacket, header: Option<&SfrpHeader>) {
        let writes =
            |opcode| matches!(opcode, Opcode::Write | Opcode::FetchAdd | Opcode::CompareSwap);
        if let Some(header) = header
            && header.opcode().is_some_and(writes)
        {
            *self.changes.entry(header.key).or_default() += 1;
        }
        self.node.handle(&packet.bytes, packet.end, vc, ns(now));
    }

    /// The next packet of a virtual channel.
    pub fn respond(&mut self, vc: u8) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.node.respond(vc, &mut out)?;
        Some(out)
    }

    /// Requests that may have changed a region so far.
    pub fn changes(&self, key: u32) -> u64 {
        self.changes.get(&key).copied().unwrap_or_default()
    }

    /// Bytes of a region at an address.
    pub fn read(&self, key: u32, address: u64, bytes: u32) -> Option<Vec<u8>> {
        let region = self.node.target.regions().get(RemoteKey(key))?;
        let offset = region.offset_of(address, bytes.into())?;
        let mut out = vec![0; bytes as usize];
        region.memory.read(offset, &mut out).ok()?;
        Some(out)
    }

    /// Counters that are not zero, by name.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> {
        let all = self.node.target.counts().named();
        all.filter(|(_, count)| *count > 0).map(|(name, count)| (format!("RDMA {name}"), count))
    }
}
