//! The control side of a PCIe fabric: which nodes have started, their doorbells and scratchpads.
//!
//! Packets and DMA use the flows of the ports' virtual channels. What is here changes rarely and has
//! no payload. A node names peers by numbers that it may choose freely: every one is checked.

use spfe_contract::{FABRIC_NODES_MAX, NodeState, PEER_DOORBELLS, PEER_SCRATCHPADS, Status};

/// Scratchpads from one node to another.
pub type Scratchpads = [u32; PEER_SCRATCHPADS as usize];

/// A node.
#[derive(Clone, Debug, Default)]
struct Node {
    started: bool,
    epoch: u32,
    rings: u32,
}

/// What one node has sent another one in its present epoch.
#[derive(Clone, Debug, Default)]
struct Mail {
    doorbells: [u32; PEER_DOORBELLS as usize],
    scratchpads: Scratchpads,
    rings: u32,
}

/// The nodes of a fabric. Nodes have numbers from 1 on.
#[derive(Clone, Debug, Default)]
pub struct FabricNodes {
    nodes: Vec<Node>,
    /// Mail from each node to each, by writer and then reader.
    mail: Vec<Mail>,
}

impl FabricNodes {
    /// A fabric of so many nodes, at most [`FABRIC_NODES_MAX`], of which none has started.
    pub fn new(nodes: u32) -> Self {
        let count = u64::from(nodes).min(FABRIC_NODES_MAX) as usize;
        Self { nodes: vec![Node::default(); count], mail: vec![Mail::default(); count * count] }
    }

    fn index(&self, node: u32) -> Option<usize> {
        let index = (node as usize).checked_sub(1)?;
        (index < self.nodes.len()).then_some(index)
    }

    fn mail(&self, from: u32, to: u32) -> Option<&Mail> {
        self.mail.get(self.index(from)? * self.nodes.len() + self.index(to)?)
    }

    /// Starts a node. False if it has started already, or does not exist.
    pub fn start(&mut self, node: u32) -> bool {
        let Some(index) = self.index(node).filter(|index| !self.nodes[*index].started) else {
            return false;
        };
        let entry = &mut self.nodes[index];
        entry.started = true;
        entry.epoch = entry.epoch.wrapping_add(1);
        // Nobody sees anything of its former life.
        let count = self.nodes.len();
        for mail in &mut self.mail[index * count..][..count] {
            *mail = Mail { rings: mail.rings, ..Mail::default() };
        }
        true
    }

    /// Stops a node. False if it has not started.
    pub fn stop(&mut self, node: u32) -> bool {
        let Some(index) = self.index(node) else { return false };
        std::mem::take(&mut self.nodes[index].started)
    }

    /// Whether a node has started.
    pub fn is_started(&self, node: u32) -> bool {
        self.index(node).is_some_and(|index| self.nodes[index].started)
    }

    /// How often a node has started.
    pub fn epoch(&self, node: u32) -> u32 {
        self.index(node).map_or(0, |index| self.nodes[index].epoch)
    }

    /// State of a node, as another one sees it.
    pub fn state(&self, own: u32, peer: u32) -> NodeState {
        match (self.is_started(own), self.is_started(peer)) {
            (_, false) => NodeState::Absent,
            (false, true) => NodeState::Link,
            (true, true) => NodeState::Ready,
        }
    }

    /// Whether a node sees any other one READY.
    pub fn is_connected(&self, own: u32) -> bool {
        let others = (1..).take(self.nodes.len()).filter(|peer| *peer != own);
        self.is_started(own) && others.into_iter().any(|peer| self.is_started(peer))
    }

    /// Publishes the scratchpads of a node for a peer and rings a doorbell of the peer.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such peer, BAD_FIELD if it has no such doorbell, LINK_DOWN if it is
    /// not READY. Nothing has changed then.
    pub fn ring(
        &mut self,
        from: u32,
        to: u32,
        number: u32,
        scratchpads: &Scratchpads,
    ) -> Result<(), Status> {
        let (Some(writer), Some(reader)) = (self.index(from), self.index(to)) else {
            return Err(Status::NotFound);
        };
        if writer == reader {
            return Err(Status::NotFound);
        }
        if u64::from(number) >= PEER_DOORBELLS {
            return Err(Status::BadField);
        }
        if self.state(from, to) != NodeState::Ready {
            return Err(Status::LinkDown);
        }
        let count = self.nodes.len();
        let mail = &mut self.mail[writer * count + reader];
        mail.scratchpads = *scratchpads;
        mail.rings = mail.rings.wrapping_add(1);
        let doorbell = &mut mail.doorbells[number as usize];
        *doorbell = doorbell.wrapping_add(1);
        self.nodes[reader].rings = self.nodes[reader].rings.wrapping_add(1);
        Ok(())
    }

    /// Doorbells that all nodes have rung at a node.
    pub fn rings(&self, own: u32) -> u32 {
        self.index(own).map_or(0, |index| self.nodes[index].rings)
    }

    /// Doorbells that a peer has rung at a node.
    pub fn rings_from(&self, own: u32, peer: u32) -> u32 {
        self.mail(peer, own).map_or(0, |mail| mail.rings)
    }

    /// How often a peer has rung a doorbell of a node in its present epoch.
    pub fn doorbell(&self, own: u32, peer: u32, number: usize) -> u32 {
        let mail = self.mail(peer, own);
        mail.and_then(|mail| mail.doorbells.get(number)).copied().unwrap_or(0)
    }

    /// A scratchpad that a peer has published for a node in its present epoch.
    pub fn scratchpad(&self, own: u32, peer: u32, number: usize) -> u32 {
        let mail = self.mail(peer, own);
        mail.and_then(|mail| mail.scratchpads.get(number)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pads(first: u32) -> Scratchpads {
        std::array::from_fn(|index| first + index as u32)
    }

    #[test]
    fn nodes_see_each_other_once_both_have_started() {
        let mut fabric = FabricNodes::new(3);
        assert_eq!(fabric.state(1, 2), NodeState::Absent);
        assert!(fabric.start(2));
        assert!(!fabric.start(2), "it has started already");
        assert_eq!((fabric.state(1, 2), fabric.epoch(2)), (NodeState::Link, 1));
        assert!(!fabric.is_connected(2));
        assert!(fabric.start(1));
        assert_eq!(fabric.state(1, 2), NodeState::Ready);
        assert!(fabric.is_connected(1) && fabric.is_connected(2) && !fabric.is_connected(3));
        assert!(fabric.stop(2) && !fabric.stop(2));
        assert_eq!((fabric.state(1, 2), fabric.epoch(2)), (NodeState::Absent, 1));
        assert!(fabric.start(2));
        assert_eq!(fabric.epoch(2), 2);
    }

    #[test]
    fn a_doorbell_carries_the_scratchpads_to_one_node() {
        let mut fabric = FabricNodes::new(3);
        (1..=3).for_each(|node| assert!(fabric.start(node)));
        fabric.ring(1, 2, 5, &pads(100)).unwrap();
        fabric.ring(1, 2, 5, &pads(200)).unwrap();
        assert_eq!((fabric.doorbell(2, 1, 5), fabric.doorbell(2, 1, 4)), (2, 0));
        assert_eq!((fabric.scratchpad(2, 1, 0), fabric.scratchpad(2, 1, 15)), (200, 215));
        assert_eq!((fabric.rings(2), fabric.rings_from(2, 1)), (2, 2));
        for other in [1, 3] {
            assert_eq!((fabric.rings(other), fabric.scratchpad(other, 1, 0)), (0, 0));
            assert_eq!(fabric.doorbell(other, 2, 5), 0);
        }
    }

    #[test]
    fn a_new_life_has_no_old_mail() {
        let mut fabric = FabricNodes::new(2);
        (1..=2).for_each(|node| assert!(fabric.start(node)));
        fabric.ring(1, 2, 0, &pads(7)).unwrap();
        fabric.stop(1);
        assert_eq!(fabric.scratchpad(2, 1, 0), 7, "it stays until the node starts again");
        fabric.start(1);
        assert_eq!((fabric.doorbell(2, 1, 0), fabric.scratchpad(2, 1, 0)), (0, 0));
        assert_eq!(fabric.rings(2), 1, "the count of events only goes up");
    }

    #[test]
    fn a_refused_doorbell_changes_nothing() {
        let mut fabric = FabricNodes::new(2);
        fabric.start(1);
        let refused = |fabric: &mut FabricNodes, to, number| fabric.ring(1, to, number, &pads(1));
        assert_eq!(refused(&mut fabric, 2, 0), Err(Status::LinkDown));
        assert_eq!(refused(&mut fabric, 2, 16), Err(Status::BadField));
        for nobody in [0, 1, 3, u32::MAX] {
            assert_eq!(refused(&mut fabric, nobody, 0), Err(Status::NotFound));
        }
        fabric.start(2);
        assert_eq!((fabric.rings(2), fabric.scratchpad(2, 1, 0)), (0, 0));
    }
}
