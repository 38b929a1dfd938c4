//! FabricNodes ports: which nodes have started, their doorbells and scratchpads.
//!
//! A node has started while a client of its endpoint has started it. Registers start it with
//! LINK_START; a client of the library does so by attaching.

use super::{Attachment, Network};
use crate::links::LinkWatcher;
use spfe_contract::{NodeState, PortState, Status};
use spfe_device::fabric::{FabricNodes, Scratchpads};
use spfe_host::Topology;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Who is told what happens at a node.
#[derive(Default)]
struct Watchers {
    changes: Vec<Weak<dyn LinkWatcher>>,
    bells: Vec<Weak<dyn LinkWatcher>>,
}

/// A fabric: the ports with one number of its endpoints.
struct Shared {
    fabric: FabricNodes,
    /// The clients that have started each node, by endpoint.
    starters: Vec<BTreeSet<u32>>,
    watchers: Vec<Watchers>,
}

impl Shared {
    fn new(nodes: u32) -> Self {
        let watchers = (0..nodes).map(|_| Watchers::default()).collect();
        let starters = vec![BTreeSet::new(); nodes as usize];
        Self { fabric: FabricNodes::new(nodes), starters, watchers }
    }

    /// Those who are told of a change of any node.
    fn changed(&self) -> Vec<Arc<dyn LinkWatcher>> {
        let all = self.watchers.iter().flat_map(|watchers| &watchers.changes);
        all.filter_map(Weak::upgrade).collect()
    }
}

/// The fabrics of a network, by the number of their ports.
pub(super) struct Fabrics(BTreeMap<u32, Mutex<Shared>>);

impl Fabrics {
    pub fn new(topology: &Topology) -> Self {
        let ports = topology.endpoints.first().map_or(&[][..], |ports| ports);
        let of = |(port, config): (u32, &spfe_host::topology::PortConfig)| {
            Some((port, Mutex::new(Shared::new(config.fabric()?))))
        };
        Self((0..).zip(ports).filter_map(of).collect())
    }

    fn at(&self, endpoint: u32, port: u32) -> Option<MutexGuard<'_, Shared>> {
        let shared = self.0.get(&port)?.lock().unwrap_or_else(PoisonError::into_inner);
        ((endpoint as usize) < shared.starters.len()).then_some(shared)
    }
}

fn tell(watchers: Vec<Arc<dyn LinkWatcher>>) {
    watchers.iter().for_each(|watcher| watcher.changed());
}

impl Network {
    /// Starts the node at a fabric port for a client. Other ports have no node.
    pub(crate) fn start_node(&self, at: Attachment, port: u32) {
        let Some(mut shared) = self.fabrics.at(at.endpoint, port) else { return };
        shared.starters[at.endpoint as usize].insert(at.client);
        let told = if shared.fabric.start(at.endpoint + 1) { shared.changed() } else { Vec::new() };
        drop(shared);
        tell(told);
    }

    /// Stops the node at a fabric port unless another client keeps it started.
    pub(crate) fn stop_node(&self, at: Attachment, port: u32) {
        let Some(mut shared) = self.fabrics.at(at.endpoint, port) else { return };
        let starters = &mut shared.starters[at.endpoint as usize];
        starters.remove(&at.client);
        let stops = starters.is_empty() && shared.fabric.stop(at.endpoint + 1);
        let told = if stops { shared.changed() } else { Vec::new() };
        drop(shared);
        tell(told);
    }

    /// Starts the nodes at all fabric ports of a client's endpoint.
    pub(super) fn start_nodes(&self, at: Attachment) {
        self.fabrics.0.keys().for_each(|port| self.start_node(at, *port));
    }

    /// Stops them.
    pub(super) fn stop_nodes(&self, at: Attachment) {
        self.fabrics.0.keys().for_each(|port| self.stop_node(at, *port));
    }

    /// Starts the nodes again that only this client has started: others see a new epoch.
    pub(super) fn restart_nodes(&self, at: Attachment) {
        for port in self.fabrics.0.keys() {
            let alone = self.fabrics.at(at.endpoint, *port).is_some_and(|shared| {
                shared.starters[at.endpoint as usize].iter().eq([&at.client])
            });
            if alone {
                self.stop_node(at, *port);
                self.start_node(at, *port);
            }
        }
    }

    /// What a node sees; `None` if the port is no fabric port.
    pub(crate) fn with_fabric<T>(
        &self,
        endpoint: u32,
        port: u32,
        look: impl FnOnce(&FabricNodes, u32) -> T,
    ) -> Option<T> {
        let shared = self.fabrics.at(endpoint, port)?;
        Some(look(&shared.fabric, endpoint + 1))
    }

    /// State of a fabric port; `None` if it is none.
    pub(super) fn fabric_state(&self, endpoint: u32, port: u32) -> Option<PortState> {
        self.with_fabric(endpoint, port, |fabric, own| {
            if fabric.is_connected(own) {
                PortState::Up
            } else if fabric.is_started(own) {
                PortState::Starting
            } else {
                PortState::Down
            }
        })
    }

    /// State of a node of a fabric, as the node at a port sees it; `None` if it is no fabric port.
    pub fn node_state(&self, endpoint: u32, port: u32, node: u32) -> Option<NodeState> {
        self.with_fabric(endpoint, port, |fabric, own| fabric.state(own, node))
    }

    /// Tells a watcher when a node changes, for as long as it lives.
    pub(super) fn watch_nodes(&self, endpoint: u32, port: u32, watcher: Weak<dyn LinkWatcher>) {
        if let Some(mut shared) = self.fabrics.at(endpoint, port) {
            let list = &mut shared.watchers[endpoint as usize].changes;
            list.retain(|watcher| watcher.strong_count() != 0);
            list.push(watcher);
        }
    }

    /// Tells a watcher when a doorbell of the node at a port is rung, for as long as it lives.
    pub(crate) fn watch_bells(&self, endpoint: u32, port: u32, watcher: Weak<dyn LinkWatcher>) {
        if let Some(mut shared) = self.fabrics.at(endpoint, port) {
            let list = &mut shared.watchers[endpoint as usize].bells;
            list.retain(|watcher| watcher.strong_count() != 0);
            list.push(watcher);
        }
    }

    /// Publishes scratchpads for a node and rings a doorbell of it.
    ///
    /// # Errors
    /// NOT_FOUND, BAD_FIELD or LINK_DOWN, as [`FabricNodes::ring`] says; NOT_FOUND if the port is no
    /// fabric port.
    pub(crate) fn ring_node(
        &self,
        (endpoint, port): (u32, u32),
        node: u32,
        number: u32,
        scratchpads: &Scratchpads,
    ) -> Result<(), Status> {
        let mut shared = self.fabrics.at(endpoint, port).ok_or(Status::NotFound)?;
        shared.fabric.ring(endpoint + 1, node, number, scratchpads)?;
        let bells = &shared.watchers[node as usize - 1].bells;
        let told = bells.iter().filter_map(Weak::upgrade).collect();
        drop(shared);
        tell(told);
        Ok(())
    }
}
