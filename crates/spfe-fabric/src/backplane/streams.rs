//! Streams: the two ends of a TCP connection find each other and get their rings.

use super::Backplane;
use super::clients::{Client, ClientRole};
use crate::memory;
use crate::stream::{STREAM_RING, StreamView};
use crate::topology::NodeNumber;
use crate::wire::{FabricError, FabricReply};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use spfe_contract::Status;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Most ends that wait for their other ends.
const OFFERS_MAX: usize = 16_384;

/// An end of a connection that waits for the other one.
#[derive(Clone, Copy, Debug)]
pub struct StreamOffer {
    node: NodeNumber,
    client: u64,
}

/// What the two ends of a stream get.
struct StreamParts {
    /// The memory that the end reads.
    memory: [OwnedFd; 2],
    /// The bells that wake the end: for data and for room.
    bells: [[OwnedFd; 2]; 2],
}

impl StreamParts {
    fn create() -> io::Result<Self> {
        let memory = || memory::create("spfe-fabric-stream", StreamView::bytes(STREAM_RING));
        let bell = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bells = || io::Result::Ok([bell()?, bell()?]);
        Ok(Self { memory: [memory()?, memory()?], bells: [bells()?, bells()?] })
    }

    /// Descriptors for an end: the memories that it reads and writes, its bells, the other bells.
    fn of(&self, end: usize) -> io::Result<Vec<OwnedFd>> {
        let (own, other) = (end & 1, 1 - (end & 1));
        let parts = [
            &self.memory[own],
            &self.memory[other],
            &self.bells[own][0],
            &self.bells[own][1],
            &self.bells[other][0],
            &self.bells[other][1],
        ];
        parts.iter().map(|part| part.as_fd().try_clone_to_owned()).collect()
    }
}

impl Backplane {
    /// The node with this address, if its process runs.
    fn node_at(&self, address: IpAddr) -> Option<NodeNumber> {
        let mut running = self.nodes.iter().filter(|(_, entry)| entry.client.is_some());
        running.find(|(_, entry)| entry.addresses.contains(&address)).map(|(node, _)| *node)
    }

    /// One end of a connection offers to move its stream to memory. Both ends get the memory once
    /// both have offered. An offer ends with its client.
    pub(super) fn offer_stream(
        &mut self,
        number: u64,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<(), FabricError> {
        let no_node = |address: SocketAddr| {
            let what = format!("stream: no node of this fabric has the address {}", address.ip());
            FabricError::new(Status::NotFound, what)
        };
        let node = self.node_at(local.ip()).ok_or_else(|| no_node(local))?;
        let peer = self.node_at(remote.ip()).ok_or_else(|| no_node(remote))?;
        if node == peer || !self.is_ready(node, peer) {
            let what = format!("stream: node {peer} is not READY at node {node}");
            return Err(FabricError::new(Status::LinkDown, what));
        }
        if self.clients.get(&number).map(Client::role) != Some(ClientRole::New) {
            return Err(FabricError::new(Status::Busy, "this client has joined before"));
        }
        if self.offers.len() >= OFFERS_MAX {
            let what = format!("stream: {OFFERS_MAX} ends wait for their other ends, the most");
            return Err(FabricError::new(Status::NoResources, what));
        }
        if let Some(client) = self.clients.get_mut(&number) {
            client.join(ClientRole::Stream);
        }
        match self.offers.remove(&(remote, local)).filter(|offer| offer.node == peer) {
            Some(offer) => self.connect_stream([(node, number), (peer, offer.client)]),
            // A later offer for the same addresses replaces one of a connection that is no more.
            None => drop(self.offers.insert((local, remote), StreamOffer { node, client: number })),
        }
        Ok(())
    }

    fn connect_stream(&mut self, ends: [(NodeNumber, u64); 2]) {
        let parts = StreamParts::create();
        for (index, (node, number)) in ends.into_iter().enumerate() {
            let peer = ends[1 - index].0;
            let port = self.port((node.min(peer), node.max(peer)), node);
            let fds = parts.as_ref().map_err(|error| io::Error::from(error.kind()));
            let fds = fds.and_then(|parts| {
                let page = self.nodes.get(&node).ok_or(io::ErrorKind::NotFound)?;
                let mut fds = parts.of(index)?;
                fds.push(page.page.fd().try_clone_to_owned()?);
                Ok(fds)
            });
            let (reply, fds) = match fds {
                Ok(fds) => {
                    (FabricReply::Stream { node, peer, ring: STREAM_RING as u64, port }, fds)
                }
                Err(error) => {
                    let FabricError { status, what } =
                        FabricError::io("memory of a stream", &error);
                    (FabricReply::Refused { status: status as u8, what }, Vec::new())
                }
            };
            if let Some(client) = self.clients.get_mut(&number) {
                client.send(&reply, fds);
            }
        }
    }

    pub(super) fn drop_offer(&mut self, number: u64) {
        self.offers.retain(|_, offer| offer.client != number);
    }
}
