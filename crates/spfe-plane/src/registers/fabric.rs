//! Registers of fabric ports: the node, what it sees of others, and its doorbells to them.

use super::layout::ContextUse;
use super::{RegisterFile, State};
use spfe_contract::{
    PEER_DOORBELLS, PEER_SCRATCHPADS, Status, doorbell, fabric_block as fabric, peer_block as peer,
};
use spfe_device::fabric::{FabricNodes, Scratchpads};
use spfe_host::topology::FABRIC_CHANNELS;
use std::sync::atomic::Ordering;

/// Bytes of a row of doorbells or scratchpads.
const DOORBELL_BYTES: u32 = 4 * PEER_DOORBELLS as u32;
const PAD_BYTES: u32 = 4 * PEER_SCRATCHPADS as u32;

impl RegisterFile {
    fn see<T: Default>(&self, port: u32, look: impl FnOnce(&FabricNodes, u32) -> T) -> T {
        self.network.with_fabric(self.at.endpoint, port, look).unwrap_or_default()
    }

    /// A register of the node at a fabric port.
    pub(super) fn fabric(&self, state: &State, port: u32, offset: u32) -> u32 {
        let Some(nodes) = self.ports().get(port as usize).and_then(|port| port.fabric()) else {
            return 0;
        };
        let (count, last) = state.refused.get(port as usize).copied().unwrap_or((0, Status::Ok));
        match offset {
            fabric::NODE => self.at.endpoint + 1,
            fabric::NODES => nodes,
            fabric::CHANNELS => FABRIC_CHANNELS,
            fabric::EPOCH => self.see(port, FabricNodes::epoch),
            fabric::RINGS => self.see(port, FabricNodes::rings),
            fabric::REFUSED => count,
            fabric::REFUSED_STATUS => u32::from(last.raw()),
            _ => 0,
        }
    }

    /// What the node at a fabric port sees of another one.
    pub(super) fn peer(&self, port: u32, element: u32, offset: u32) -> u32 {
        let node = element + 1;
        let word = |row: u32| (offset - row) as usize / 4;
        self.see(port, |fabric, own| match offset {
            peer::STATE => u32::from(fabric.state(own, node).raw()),
            peer::EPOCH => fabric.epoch(node),
            peer::RINGS => fabric.rings_from(own, node),
            _ if (peer::DOORBELL..peer::DOORBELL + DOORBELL_BYTES).contains(&offset) => {
                fabric.doorbell(own, node, word(peer::DOORBELL))
            }
            _ if (peer::INWARD..peer::INWARD + PAD_BYTES).contains(&offset) => {
                fabric.scratchpad(own, node, word(peer::INWARD))
            }
            _ => 0,
        })
    }

    /// Handles a store to a doorbell page that rings a doorbell of another node.
    pub(super) fn ring_peer(&self, value: u64) {
        let state = &mut *self.lock();
        let queue = (value & doorbell::QUEUE_MASK) >> doorbell::QUEUE_SHIFT;
        let number = (value & doorbell::NUMBER_MASK) >> doorbell::NUMBER_SHIFT;
        let context = self.layout.contexts.get(queue as usize).copied();
        let fabrics = || (0..).zip(self.ports()).filter(|(_, port)| port.fabric().is_some());
        // A queue of no fabric port counts at the first one.
        let port = context.map(|context| context.port);
        let port = port.filter(|port| fabrics().any(|(index, _)| index == *port));
        let done = match (context.map(|context| context.end), port) {
            (Some(ContextUse::Data(vc)), Some(port)) => {
                let node = vc / FABRIC_CHANNELS + 1;
                let pads = self.outward(state, port, node);
                self.network.ring_node((self.at.endpoint, port), node, number as u32, &pads)
            }
            _ => Err(Status::NotFound),
        };
        let counted = port.or_else(|| fabrics().next().map(|(index, _)| index));
        if let (Err(status), Some(port)) = (done, counted) {
            let count = state.refused[port as usize].0.wrapping_add(1);
            state.refused[port as usize] = (count, status);
            // Ever more rarely, so that a host cannot fill a log.
            if count.is_power_of_two() {
                state.refusal = Some(refusal(port, (queue, number), status, count));
                self.refuses.store(true, Ordering::Release);
            }
        }
    }

    /// Takes the message about a refused doorbell, if there is a new one: after the first, the second,
    /// the fourth and so on.
    pub fn take_refusal(&self) -> Option<String> {
        if !self.refuses.swap(false, Ordering::Acquire) {
            return None;
        }
        self.lock().refusal.take()
    }

    /// The scratchpads that the host has written for a node.
    fn outward(&self, state: &State, port: u32, node: u32) -> Scratchpads {
        std::array::from_fn(|index| {
            let at = self.layout.peer_offset(port, node, peer::OUTWARD + 4 * index as u32);
            at.and_then(|at| state.words.get(at as usize / 4)).copied().unwrap_or(0)
        })
    }
}

/// What a doorbell wanted and why it was refused.
fn refusal(port: u32, (queue, number): (u64, u64), status: Status, count: u32) -> String {
    let why = match status {
        Status::NotFound => "the queue leads to no other node".to_owned(),
        Status::BadField => format!("nodes have doorbells 0 to {}", PEER_DOORBELLS - 1),
        _ => "the node is not READY".to_owned(),
    };
    format!(
        "port {port}: doorbell {number} through queue {queue}: {}: {why}; refused so far: {count}",
        status.name()
    )
}
