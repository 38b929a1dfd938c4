//! Pairs of nodes: their memory, their states and their paths.

use super::Backplane;
use super::clients::ClientRole;
use super::windows::bit;
use crate::memory::{self, PairMemory};
use crate::topology::{FabricEnd, FabricPath, NodeNumber, RateLimit};
use crate::wire::{FabricReply, PeerState, PortRate};
use spfe_session::socket;
use std::io;
use std::sync::atomic::Ordering;

/// A pair of nodes that are both there, with a path between them.
#[derive(Debug)]
pub struct PairEntry {
    /// Identity of the link.
    pub link: u64,
    /// The path.
    pub path: FabricPath,
    /// What each end sees.
    pub states: [PeerState; 2],
}

impl PairEntry {
    /// State of the pair: what the end sees that has got less far.
    pub fn state(&self) -> PeerState {
        let [a, b] = self.states;
        if a == PeerState::Error || b == PeerState::Error { PeerState::Error } else { a.min(b) }
    }
}

impl Backplane {
    /// Makes the pairs of one node, or all pairs, agree with the topology and with who is there. With
    /// `news` the ends of pairs that stay learn of their rates.
    pub(super) fn connect_pairs(&mut self, only: Option<NodeNumber>, news: bool) {
        let there: Vec<NodeNumber> = self
            .nodes
            .iter()
            .filter(|(_, entry)| entry.client.is_some())
            .map(|(node, _)| *node)
            .collect();
        for (index, a) in there.iter().enumerate() {
            for b in &there[index + 1..] {
                if only.is_some_and(|only| only != *a && only != *b) {
                    continue;
                }
                let is_down = |link: usize| self.down.contains(&link);
                let path = self.topology.path_without(*a, *b, is_down);
                self.connect((*a, *b), path, news);
            }
        }
    }

    fn connect(&mut self, pair: (NodeNumber, NodeNumber), path: Option<FabricPath>, news: bool) {
        let Some(path) = path else { return self.disconnect(pair) };
        if let Some(entry) = self.pairs.get_mut(&pair) {
            entry.path = path;
            if news {
                self.tell_pair(pair);
            }
            return;
        }
        let link = self.next();
        let states = [PeerState::Link; 2];
        self.pairs.insert(pair, PairEntry { link, path, states });
        if self.introduce(pair).is_err() {
            // No descriptors or memory left: the next change tries again.
            self.disconnect(pair);
        }
    }

    /// Gives both ends the memory of a new pair.
    fn introduce(&mut self, (a, b): (NodeNumber, NodeNumber)) -> io::Result<()> {
        let Some(entry) = self.pairs.get(&(a, b)) else { return Ok(()) };
        let link = entry.link;
        let ring = self.topology.ring;
        let bytes = PairMemory::bytes(ring as usize);
        // Each is read by its owner and written by the other end.
        let own_a = memory::create("spfe-fabric-pair", bytes)?;
        let own_b = memory::create("spfe-fabric-pair", bytes)?;
        let (wire_a, wire_b) = socket::pair()?;
        let fds_a = vec![own_a.try_clone()?, own_b.try_clone()?];
        let fds_b = vec![own_b, own_a];
        for (node, peer, fds, wire) in [(a, b, fds_a, wire_a), (b, a, fds_b, wire_b)] {
            let addresses = self.nodes.get(&peer).map(|entry| entry.addresses.clone());
            let port = self.port((a, b), node);
            let client = self.nodes.get(&node).and_then(|entry| entry.client);
            if let Some(client) = client.and_then(|number| self.clients.get_mut(&number)) {
                client.send(&FabricReply::PeerMemory { peer, link, ring }, fds);
                let addresses = addresses.unwrap_or_default();
                client.send(&FabricReply::PeerWire { peer, link, addresses, port }, vec![wire]);
            }
        }
        Ok(())
    }

    /// Ends a pair, if it exists.
    pub(super) fn disconnect(&mut self, (a, b): (NodeNumber, NodeNumber)) {
        let Some(entry) = self.pairs.remove(&(a, b)) else { return };
        for (node, peer) in [(a, b), (b, a)] {
            let client = self.nodes.get(&node).and_then(|entry| entry.client);
            if let Some(client) = client.and_then(|number| self.clients.get_mut(&number)) {
                client.send(&FabricReply::PeerGone { peer, link: entry.link }, Vec::new());
            }
        }
        self.drop_mailboxes_between(a, b);
        self.show_reach(a, b, false);
    }

    /// The port of `node` on the path of a pair, if rates are limited.
    pub(super) fn port(
        &self,
        pair: (NodeNumber, NodeNumber),
        node: NodeNumber,
    ) -> Option<PortRate> {
        if self.topology.limit == RateLimit::Unlimited {
            return None;
        }
        let path = &self.pairs.get(&pair)?.path;
        let mut links = self.topology.links_at(FabricEnd::Node(node)).enumerate();
        let (port, (_, link)) = links.find(|(_, (index, _))| path.links.contains(index))?;
        Some(PortRate {
            port: port as u8,
            bytes_per_s: link.rate.bytes_per_s(),
            path_bytes_per_s: path.rate.bytes_per_s(),
        })
    }

    /// Tells both ends of a pair what has changed.
    fn tell_pair(&mut self, (a, b): (NodeNumber, NodeNumber)) {
        let Some(entry) = self.pairs.get(&(a, b)) else { return };
        let link = entry.link;
        for (node, peer) in [(a, b), (b, a)] {
            let addresses = self.nodes.get(&peer).map(|entry| entry.addresses.clone());
            let addresses = addresses.unwrap_or_default();
            let port = self.port((a, b), node);
            let client = self.nodes.get(&node).and_then(|entry| entry.client);
            if let Some(client) = client.and_then(|number| self.clients.get_mut(&number)) {
                let news = FabricReply::PeerNews { peer, link, addresses, port };
                client.send(&news, Vec::new());
            }
        }
    }

    /// Tells the peers of a node that its addresses have changed.
    pub(super) fn tell_news(&mut self, node: NodeNumber) {
        let pairs: Vec<_> =
            self.pairs.keys().filter(|(a, b)| *a == node || *b == node).copied().collect();
        for pair in pairs {
            self.tell_pair(pair);
        }
    }

    /// Notes what a node sees of a peer. States of former links are ignored.
    pub(super) fn note_state(
        &mut self,
        node: NodeNumber,
        peer: NodeNumber,
        link: u64,
        state: PeerState,
    ) {
        let pair = (node.min(peer), node.max(peer));
        if let Some(entry) = self.pairs.get_mut(&pair).filter(|entry| entry.link == link) {
            entry.states[usize::from(node != pair.0)] = state;
            let ready = entry.state() == PeerState::Ready;
            self.show_reach(node, peer, ready);
        }
    }

    /// Shows everybody whether two nodes reach each other.
    fn show_reach(&self, a: NodeNumber, b: NodeNumber, ready: bool) {
        for (node, peer) in [(a, b), (b, a)] {
            let Some(index) = node.index() else { continue };
            // Only this thread writes. Release pairs with the acquire in `RawWindow::check`.
            let word = self.directory.reach(index);
            let others = word.load(Ordering::Relaxed) & !bit(peer);
            word.store(others | if ready { bit(peer) } else { 0 }, Ordering::Release);
        }
    }

    /// Whether frames and accesses can go between two nodes.
    pub(super) fn is_ready(&self, a: NodeNumber, b: NodeNumber) -> bool {
        let pair = self.pairs.get(&(a.min(b), a.max(b)));
        pair.is_some_and(|entry| entry.state() == PeerState::Ready)
    }

    /// The node on which a client uses raw mode.
    pub(super) fn raw_of(&self, number: u64) -> Option<NodeNumber> {
        match self.clients.get(&number)?.role() {
            ClientRole::Raw(node) => Some(node),
            _ => None,
        }
    }
}
