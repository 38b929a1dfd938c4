//! Hostile links: things happen to whole packets where a node with RDMA sends them, or where it
//! receives them from a router.

use super::{Outlet, Outlets, ns, ps};
use crate::results::HostileResults;
use crate::rng;
use crate::scenario::Scenario;
use crate::time::Ps;
use spfe_proto::PacketEnd;
use spfe_topology::hostile::{Hostile, HostileCounts, HostilePacket, HostileStream};
use std::collections::BTreeMap;

/// A packet as it is handed over.
pub struct HeldPacket {
    pub bytes: Vec<u8>,
    pub end: PacketEnd,
}

/// A packet that goes on.
pub struct ReleasedPacket {
    /// Where it goes on: the end of the link that sends, and the node that sends or receives.
    pub outlet: Outlet,
    /// It has arrived at the node; otherwise the node sends it now.
    pub has_arrived: bool,
    pub packet: HeldPacket,
}

/// Packets on a virtual channel of one direction of a link.
struct HostileChannel {
    outlet: Outlet,
    has_arrived: bool,
    stream: HostileStream,
}

/// Links that lose, repeat, reorder, delay or damage packets of RDMA.
#[derive(Default)]
pub struct HostileLinks {
    /// By link: what it does, and whether the unit at each end is a node with RDMA.
    links: BTreeMap<usize, (Hostile, [bool; 2])>,
    /// By link, sending end and virtual channel.
    channels: BTreeMap<(usize, usize, u8), HostileChannel>,
}

impl HostileLinks {
    /// The hostile links of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let mut links = BTreeMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            let Some(hostile) = link.hostile else { continue };
            let mut rng = rng::stream(scenario.seed, &format!("hostile {}", link.name));
            let hostile = Hostile { seed: hostile.seed ^ rng.u64(..), ..hostile };
            let ends = [0, 1].map(|end: usize| scenario.has_rdma(&link.ends[end].unit));
            links.insert(index, (hostile, ends));
        }
        Self { links, channels: BTreeMap::new() }
    }

    /// Whether there are any.
    pub fn exist(&self) -> bool {
        !self.links.is_empty()
    }

    fn channel(&mut self, outlet: Outlet, has_arrived: bool) -> Option<&mut HostileChannel> {
        let (link, side) = outlet.link;
        let (hostile, _) = self.links.get(&link)?;
        let number = 2 * u64::from(outlet.vc) + side as u64;
        let new = || {
            let stream = HostileStream::new(hostile.of_direction(number));
            HostileChannel { outlet, has_arrived, stream }
        };
        Some(self.channels.entry((link, side as usize, outlet.vc)).or_insert_with(new))
    }

    /// Whether another packet may be sent.
    pub fn has_room(&self, outlet: Outlet) -> bool {
        let (link, side) = outlet.link;
        let channel = self.channels.get(&(link, side as usize, outlet.vc));
        channel.is_none_or(|channel| !channel.stream.is_full())
    }

    /// Sends a packet of a node, now or when the link lets it go.
    pub fn send(&mut self, nodes: &mut dyn Outlets, outlet: Outlet, now: Ps, bytes: Vec<u8>) {
        match self.channel(outlet, false) {
            Some(channel) => channel.stream.put(HostilePacket { bytes, eep: false }, ns(now)),
            None => nodes.send(outlet, now, bytes, PacketEnd::Eop),
        }
    }

    /// Takes a packet that arrived at a node, or gives it back if the link has done its work where
    /// the packet was sent, or is not hostile.
    pub fn arrive(&mut self, outlet: Outlet, now: Ps, packet: HeldPacket) -> Option<HeldPacket> {
        let (link, side) = outlet.link;
        let sent_by_rdma = self.links.get(&link).is_none_or(|(_, ends)| ends[side as usize]);
        if sent_by_rdma {
            return Some(packet);
        }
        let eep = packet.end == PacketEnd::Eep;
        let Some(channel) = self.channel(outlet, true) else { return Some(packet) };
        // Nothing can wait outside: what is too much is lost, as in a full buffer.
        if !channel.stream.is_full() {
            channel.stream.put(HostilePacket { bytes: packet.bytes, eep }, ns(now));
        }
        None
    }

    /// The packets that go on now.
    pub fn due(&mut self, now: Ps) -> Vec<ReleasedPacket> {
        let mut due = Vec::new();
        for channel in self.channels.values_mut() {
            while let Some(HostilePacket { bytes, eep }) = channel.stream.take(ns(now)) {
                let end = if eep { PacketEnd::Eep } else { PacketEnd::Eop };
                let packet = HeldPacket { bytes, end };
                let (outlet, has_arrived) = (channel.outlet, channel.has_arrived);
                due.push(ReleasedPacket { outlet, has_arrived, packet });
            }
        }
        due
    }

    /// Time at which the next packet goes on.
    pub fn next_ps(&self) -> Option<Ps> {
        let next = self.channels.values().filter_map(|channel| channel.stream.next_ns());
        next.min().and_then(ps)
    }

    /// What happened on each link and in each direction.
    pub fn results(&self, scenario: &Scenario) -> Vec<HostileResults> {
        let of = |(link, side): (usize, usize)| {
            let place = scenario.links.get(link)?;
            let channels = self.channels.iter().filter(|(key, _)| (key.0, key.1) == (link, side));
            let counts = channels.map(|(_, channel)| channel.stream.counts());
            let counts = counts.fold(HostileCounts::default(), HostileCounts::plus);
            Some(HostileResults {
                link: place.name.clone(),
                from: place.ends[side].to_string(),
                packets: counts.packets,
                dropped: counts.dropped,
                duplicated: counts.duplicated,
                reordered: counts.reordered,
                delayed: counts.delayed,
                damaged: counts.damaged,
                cut: counts.cut,
            })
        };
        self.links.keys().flat_map(|link| [(*link, 0), (*link, 1)]).filter_map(of).collect()
    }
}
