//! RDMA: queue pairs of nodes, target-only endpoints, and hostile links on the way.
//!
//! The engines are those of `spfe-rdma`. Every operation has to complete once, and what it did to
//! memory is compared with what it should do. A difference is a violation.

mod hostile;
mod queue;
mod target;

pub use hostile::HostileLinks;
pub use queue::SimulatedQueue;
pub use target::SimulatedRdmaTarget;

use crate::ledger::Ledger;
use crate::link::Side;
use crate::packet;
use crate::time::Ps;
use hostile::HeldPacket;
use spfe_proto::PacketEnd;
use spfe_proto::rmap;
use spfe_proto::sfrp::{Opcode, SfrpHeader};
use std::collections::BTreeMap;

/// Packets of a unit that wait at a virtual channel; it makes no more than that.
const QUEUED: usize = 4;

/// Time of the engines, for which 0 is no time.
const fn ns(ps: Ps) -> u64 {
    ps / 1000 + 1
}

/// A time of the engines; `None` for never.
fn ps(ns: u64) -> Option<Ps> {
    (ns != u64::MAX).then(|| ns.saturating_sub(1).saturating_mul(1000))
}

/// A virtual channel of a node's end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    pub node: u32,
    pub link: (usize, Side),
    pub vc: u8,
}

/// The nodes, as those that send packets.
pub trait Outlets {
    /// Whether fewer than `most` packets wait to be sent, and no application has taken the ports.
    fn has_room(&self, outlet: Outlet, most: usize) -> bool;

    /// Sends a packet.
    fn send(&mut self, outlet: Outlet, now: Ps, bytes: Vec<u8>, end: PacketEnd);
}

/// All targets and queue pairs. The keys of the maps are numbers of nodes.
pub struct RdmaUnits {
    pub targets: BTreeMap<u32, SimulatedRdmaTarget>,
    pub queues: Vec<SimulatedQueue>,
    pub hostile: HostileLinks,
    /// Packets that reached a node without anybody to take them.
    pub discarded: BTreeMap<u32, u64>,
    /// Links that find errors by parity only, so that any part of a packet may be altered.
    pub spacewire: Vec<bool>,
}

impl RdmaUnits {
    /// Takes a packet that arrived at a node. False if it is none of RDMA.
    pub fn take(
        &mut self,
        node: u32,
        now: Ps,
        (link, side, vc): (usize, Side, u8),
        bytes: &[u8],
        end: PacketEnd,
    ) -> bool {
        let target = self.targets.get(&node);
        if target.is_none() && !self.queues.iter().any(|queue| queue.node() == node) {
            // A hostile link may have damaged the path of a packet.
            let astray = self.hostile.exist();
            if astray {
                *self.discarded.entry(node).or_default() += 1;
            }
            return astray;
        }
        let ours = match bytes.get(1) {
            Some(&rmap::PID) => target.is_some_and(|target| target.has_rmap()),
            Some(&protocol) => protocol >= 0xf0 && protocol != packet::PID,
            // What a reset or a time-out of a router has left of it.
            None => end == PacketEnd::Eep,
        };
        let altered = self.hostile.exist() || self.spacewire.get(link).is_some_and(|is| *is);
        if !ours && !altered {
            return false;
        }
        let from = Outlet { node, link: (link, side.other()), vc };
        let packet = HeldPacket { bytes: bytes.to_vec(), end };
        if let Some(packet) = self.hostile.arrive(from, now, packet) {
            self.deliver(node, vc, now, &packet);
        }
        true
    }

    fn deliver(&mut self, node: u32, vc: u8, now: Ps, packet: &HeldPacket) {
        let header = SfrpHeader::parse(&packet.bytes).ok();
        let answers =
            |header: &SfrpHeader| header.is_response() || header.opcode() == Some(Opcode::Credit);
        let number = header.filter(answers).map(|header| header.receiver_queue);
        let mut queues = self.queues.iter_mut();
        let queue = queues.find(|of| of.node() == node && Some(of.number()) == number);
        match (queue, self.targets.get_mut(&node)) {
            (Some(queue), _) => queue.handle(now, packet),
            (None, Some(target)) => target.handle(now, vc, packet, header.as_ref()),
            (None, None) => *self.discarded.entry(node).or_default() += 1,
        }
    }

    /// Lets all units do what is due.
    pub fn poll(&mut self, now: Ps, nodes: &mut dyn Outlets, ledger: &mut Ledger) {
        for held in self.hostile.due(now) {
            match held.has_arrived {
                true => self.deliver(held.outlet.node, held.outlet.vc, now, &held.packet),
                false => nodes.send(held.outlet, now, held.packet.bytes, held.packet.end),
            }
        }
        let Self { targets, queues, hostile, .. } = self;
        for queue in queues.iter_mut() {
            let target = targets.get_mut(&queue.target());
            queue.poll(now, target, ledger);
            let outlet = queue.outlet();
            while hostile.has_room(outlet)
                && nodes.has_room(outlet, QUEUED)
                && let Some(bytes) = queue.transmit(now)
            {
                hostile.send(nodes, outlet, now, bytes);
            }
        }
        for (node, target) in targets.iter_mut() {
            let (link, channels) = target.port;
            for vc in 0..channels {
                let outlet = Outlet { node: *node, link, vc };
                while hostile.has_room(outlet)
                    && nodes.has_room(outlet, QUEUED)
                    && let Some(bytes) = target.respond(vc)
                {
                    hostile.send(nodes, outlet, now, bytes);
                }
            }
        }
    }

    /// Time at which a unit has to act next.
    pub fn next_ps(&self) -> Option<Ps> {
        let queues = self.queues.iter().filter_map(SimulatedQueue::next_ps);
        queues.chain(self.hostile.next_ps()).min()
    }
}
