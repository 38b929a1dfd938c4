//! Ports of a PCIe fabric.

use crate::{LinkRate, Mode, Peer, PortConfig, Topology};
use spfe_contract::FABRIC_NODES_MAX;

/// Virtual channels from a node of a fabric to each other: one for frames, one for DMA.
pub const FABRIC_CHANNELS: u32 = 2;
/// Most nodes of a fabric.
pub const FABRIC_NODES: u32 = FABRIC_NODES_MAX as u32;

impl PortConfig {
    /// The far end of a virtual channel on a packet-level link: endpoint, port, virtual channel. The
    /// flow out of one end is the flow into the other. `endpoint` and `port` are those of this port.
    pub fn far_end(&self, endpoint: u32, port: u32, vc: u32) -> Option<(u32, u32, u32)> {
        if self.fabric().is_some() {
            let (node, channel) = (vc / FABRIC_CHANNELS, vc % FABRIC_CHANNELS);
            return Some((node, port, endpoint * FABRIC_CHANNELS + channel));
        }
        self.joined().map(|(endpoint, port)| (endpoint, port, vc))
    }

    /// Whether the port sends and receives messages: broadcasts or time-codes.
    pub const fn has_messages(&self) -> bool {
        self.fabric().is_none()
    }
}

impl Topology {
    /// A PCIe fabric of `nodes` endpoints with one port each.
    pub fn fabric(nodes: u32, mode: Mode) -> Self {
        let port = PortConfig {
            vcs: nodes.saturating_mul(FABRIC_CHANNELS),
            peer: Peer::Fabric { nodes },
            ..PortConfig::of(LinkRate::Unlimited)
        };
        Self { endpoints: vec![vec![port]; nodes as usize], mode, ..Self::default() }
    }

    pub(crate) fn check_fabric(
        &self,
        e: usize,
        p: usize,
        port: &PortConfig,
        nodes: u32,
    ) -> Result<(), String> {
        if !(2..=FABRIC_NODES).contains(&nodes) {
            return Err(format!("fabric of {nodes} nodes: 2 to {FABRIC_NODES} allowed"));
        }
        if port.vcs != nodes * FABRIC_CHANNELS || port.space_wire {
            return Err(format!(
                "a port of a fabric of {nodes} nodes has {FABRIC_CHANNELS} virtual channels to each"
            ));
        }
        if port.rate != LinkRate::Unlimited || port.is_exact() {
            return Err(format!("link '{}': a fabric port has no rate here", port.link()));
        }
        let alike = |ports: &Vec<PortConfig>| ports.get(p).is_some_and(|far| far == port);
        let list = self.endpoints.get(..nodes as usize).unwrap_or_default();
        if e >= nodes as usize || list.len() < nodes as usize || !list.iter().all(alike) {
            return Err(format!(
                "fabric of {nodes} nodes: endpoints 0 to {} have the same port, and no others",
                nodes - 1
            ));
        }
        Ok(())
    }
}
