//! Checks of nodes and routers.

use super::{Location, ScenarioChecker};
use crate::scenario::unit::default_logical_address;
use crate::scenario::{NodeKind, PortName, ScenarioRouter, TableEntry};
use spfe_link::network::{NETWORKS, table};
use std::collections::{HashMap, HashSet};

/// Maximum memory of an RMAP target: 1 GiB.
const MOST_MEMORY: u64 = 1 << 30;

impl ScenarioChecker<'_> {
    pub(super) fn units(&mut self) {
        let scenario = self.scenario;
        self.amount("node", scenario.nodes.len());
        self.amount("router", scenario.routers.len());
        let nodes = scenario.nodes.iter().enumerate();
        let routers = scenario.routers.iter().enumerate();
        self.names(
            nodes
                .map(|(index, node)| (Location::list("node", index), "node", node.name.as_str()))
                .chain(routers.map(|(index, router)| {
                    (Location::list("router", index), "router", router.name.as_str())
                })),
        );
        self.nodes();
        for (index, router) in scenario.routers.iter().enumerate() {
            self.router(Location::list("router", index), router);
        }
    }

    fn nodes(&mut self) {
        let mut addresses = HashMap::new();
        for (index, node) in self.scenario.nodes.iter().enumerate() {
            let at = Location::list("node", index);
            let object = format!("node '{}'", node.name);
            let address = node.logical_address;
            self.range(at.key("logical-address"), &object, address, table::FIRST..=table::LAST);
            if address != default_logical_address()
                && let Some(other) = addresses.insert(address, &node.name)
            {
                let message = format!(
                    "{object}: logical address {address} belongs to '{other}'; give another"
                );
                self.problem(at.key("logical-address"), message);
            }
            match node.target {
                Some(target) => {
                    self.range(at.key("bytes"), &object, target.bytes.0, 4..=MOST_MEMORY);
                }
                None if node.kind == NodeKind::Memory && node.rdma.is_none() => {
                    let message = format!(
                        "{object} is a memory without a target; give target = {{ bytes = ... }}"
                    );
                    self.problem(at, message);
                }
                None => {}
            }
            self.rdma_target(at, node);
        }
    }

    fn router(&mut self, at: Location, router: &ScenarioRouter) {
        let object = format!("router '{}'", router.name);
        self.range(at.key("ports"), &object, router.ports, 1..=31);
        let mut taken = HashSet::new();
        for entry in &router.entries {
            self.entry(at.key("entries"), router, entry);
            let all = (0..NETWORKS as u8).collect::<Vec<_>>();
            let networks = entry.networks.as_ref().unwrap_or(&all);
            if networks.iter().any(|network| !taken.insert((entry.address, *network))) {
                let message = format!(
                    "{object}: address {} has two entries on one virtual network; leave one out",
                    entry.address
                );
                self.problem(at.key("entries"), message);
            }
        }
        self.maps(at.key("map"), router);
        let mut ports = HashSet::new();
        for settings in &router.settings {
            if self.router_port(at.key("settings"), router, settings.port)
                && !ports.insert(settings.port)
            {
                let message =
                    format!("{object}: port {} has two settings; leave one out", settings.port);
                self.problem(at.key("settings"), message);
            }
        }
        let address = router.configuration.logical_address;
        self.range(at.key("logical-address"), &object, address, table::FIRST..=table::LAST);
    }

    /// Checks that a router has a port.
    fn router_port(&mut self, at: Location, router: &ScenarioRouter, port: u8) -> bool {
        let good = (1..=router.ports).contains(&port);
        if !good {
            let message =
                format!("router '{}': port {port} is not in 1 to {}", router.name, router.ports);
            self.problem(at, message);
        }
        good
    }

    /// Number of virtual channels of the link at a router's port.
    fn channels_at(&self, router: &ScenarioRouter, port: u8) -> Option<u8> {
        let place = PortName { unit: router.name.clone(), port };
        let (link, _) = self.scenario.link_at(&place)?;
        self.scenario.links.get(link).map(crate::scenario::ScenarioLink::channels)
    }

    fn entry(&mut self, at: Location, router: &ScenarioRouter, entry: &TableEntry) {
        let object = format!("router '{}': entry {}", router.name, entry.address);
        if !(table::FIRST..=table::LAST).contains(&entry.address) {
            self.problem(at, format!("{object} is not a logical address; give 32 to 254"));
        }
        if entry.ports.is_empty() {
            self.problem(at, format!("{object} has no port; give at least one"));
        }
        let mut ports = HashSet::new();
        for &port in &entry.ports {
            if !ports.insert(port) {
                self.problem(at, format!("{object} has port {port} twice; leave one out"));
            }
            if self.router_port(at, router, port) && self.channels_at(router, port).is_none() {
                let message =
                    format!("{object}: port {port} has no link; connect it or leave it out");
                self.problem(at, message);
            }
        }
        for network in entry.networks.iter().flatten() {
            if usize::from(*network) >= NETWORKS {
                self.problem(at, format!("{object}: virtual network {network} is above 63"));
            }
        }
    }

    fn maps(&mut self, at: Location, router: &ScenarioRouter) {
        let object = format!("router '{}'", router.name);
        let mut places = HashSet::new();
        for map in &router.map {
            if !self.router_port(at, router, map.port) {
                continue;
            }
            let channel = format!("{object}: port {} virtual channel {}", map.port, map.vc);
            if !places.insert((map.port, map.vc)) {
                self.problem(at, format!("{channel} is mapped twice; leave one out"));
            }
            if self.channels_at(router, map.port).is_none_or(|channels| map.vc >= channels) {
                self.problem(at, format!("{channel} does not exist; no link has it"));
            }
            if map.network.is_some_and(|network| usize::from(network) >= NETWORKS) {
                self.problem(at, format!("{channel}: its virtual network is above 63"));
            }
            if (map.vc == 0) != (map.network == Some(0)) {
                let message = format!(
                    "{channel}: virtual channel 0 and virtual network 0 always belong together"
                );
                self.problem(at, message);
            }
        }
        for port in 1..=router.ports.min(31) {
            let channels = self.channels_at(router, port).unwrap_or(0).min(32);
            let mut seen = HashMap::new();
            for vc in 0..channels {
                let Some(network) = router.network_of(port, vc) else { continue };
                if let Some(other) = seen.insert(network, vc) {
                    let message = format!(
                        "{object}: port {port} has virtual network {network} on virtual channels \
                         {other} and {vc}; map one to another, or to none"
                    );
                    self.problem(at, message);
                }
            }
        }
    }
}
