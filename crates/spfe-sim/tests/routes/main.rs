//! The route finder predicts where the simulation takes packets: on every example, and on random
//! networks with random routing tables and address bytes.
//!
//! `spfe topo` prints what the route finder says, so that this holds `topo` and `sim` together.

mod examples;
mod network;
mod random;

use spfe_sim::link::{Observer, Side};
use spfe_sim::packet::PacketHeader;
use spfe_sim::time::Ps;
use std::collections::BTreeSet;

/// Observes which links packets cross, and what routers do with them.
#[derive(Default)]
struct Log {
    /// Links that a router or node took a packet from.
    crossed: BTreeSet<u32>,
    /// How often a router or node took a packet from a link, or a router discarded one.
    events: usize,
    /// Packets that routers discarded: router, port, virtual channel and reason.
    drops: BTreeSet<(u32, u8, u8, String)>,
    /// Packets of flows that arrived: link, end and virtual channel.
    delivered: BTreeSet<(u32, Side, u8)>,
}

impl Observer for Log {
    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, _: Ps, link: u32, _: Side, _: u8, _: &[u8], _: spfe_proto::PacketEnd) {
        self.crossed.insert(link);
        self.events += 1;
    }

    fn delivered(&mut self, _: Ps, link: u32, side: Side, vc: u8, _: PacketHeader) {
        self.delivered.insert((link, side, vc));
    }

    fn dropped(&mut self, _: Ps, router: u32, dropped: spfe_link::network::DiscardedPacket) {
        let reason = format!("{:?}", dropped.reason);
        self.events += 1;
        self.drops.insert((router, dropped.port, dropped.vc, reason));
    }
}
