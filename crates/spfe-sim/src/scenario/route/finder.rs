//! Single steps through a network, and shortest routes.

use super::super::{PortName, Scenario, UnitId};
use super::{Origin, RouterInput};
use crate::link::Side;
use spfe_link::network::{DiscardReason, RoutingEntry, forward};
use std::collections::{HashMap, HashSet};

/// Finds and follows routes through the network of a scenario.
///
/// It works on scenarios that were not checked yet, too.
#[derive(Clone, Debug)]
pub struct RouteFinder<'a> {
    pub(super) scenario: &'a Scenario,
    units: HashMap<&'a str, UnitId>,
    links: HashMap<(UnitId, u8), (usize, Side)>,
}

/// The far end of a link that packets have crossed, or the configuration port they start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub unit: UnitId,
    pub port: u8,
    pub vc: u8,
}

/// The virtual network of packets at a router, and their outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forwarding {
    pub network: u8,
    pub entry: RoutingEntry,
}

impl<'a> RouteFinder<'a> {
    /// Indexes the ports and links of a scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        let mut units = HashMap::new();
        for (index, node) in scenario.nodes.iter().enumerate() {
            units.entry(node.name.as_str()).or_insert(UnitId::Node(index));
        }
        for (index, router) in scenario.routers.iter().enumerate() {
            units.entry(router.name.as_str()).or_insert(UnitId::Router(index));
        }
        let mut links = HashMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            for (place, side) in link.ends.iter().zip(Side::BOTH) {
                if let Some(unit) = units.get(place.unit.as_str()) {
                    links.entry((*unit, place.port)).or_insert((index, side));
                }
            }
        }
        Self { scenario, units, links }
    }

    /// Looks a node or router up by its name.
    pub(super) fn unit(&self, name: &str) -> Result<UnitId, String> {
        self.units.get(name).copied().ok_or_else(|| format!("no node or router '{name}'"))
    }

    /// The origin of packets that the port of a node or router sends on a virtual channel.
    ///
    /// # Errors
    ///
    /// The port has no link, or its link has fewer virtual channels.
    pub fn origin(&self, from: &PortName, vc: u8) -> Result<Origin, String> {
        let link = self.links.get(&(self.unit(&from.unit)?, from.port));
        let &(link, side) = link.ok_or_else(|| format!("no link at {from}"))?;
        let channels = self.channels(link);
        if vc >= channels {
            return Err(format!("virtual channel {vc} at {from}: its link has {channels}"));
        }
        Ok(Origin::Link { link, side, vc })
    }

    /// Virtual channels of a link.
    fn channels(&self, link: usize) -> u8 {
        self.scenario.links.get(link).map_or(0, |link| link.channels().min(32))
    }

    /// Where packets arrive first. None if the far end of their link is an unknown unit.
    pub(super) fn arrive(&self, origin: Origin) -> Option<Arrival> {
        match origin {
            Origin::Configuration(router) => {
                Some(Arrival { unit: UnitId::Router(router), port: 0, vc: 0 })
            }
            Origin::Link { link, side, vc } => {
                let end = self.scenario.links.get(link)?.ends.get(side.other() as usize)?;
                let unit = self.unit(&end.unit).ok()?;
                Some(Arrival { unit, port: end.port, vc })
            }
        }
    }

    /// Applies the forwarding rule of a router to packets that begin with some bytes.
    pub(super) fn forward(
        &self,
        input: RouterInput,
        bytes: &[u8],
    ) -> Result<Forwarding, DiscardReason> {
        let index = input.router as usize;
        let router = self.scenario.routers.get(index).ok_or(DiscardReason::NoPort)?;
        let network =
            router.network_of(input.port, input.vc).ok_or(DiscardReason::InputUnmapped)?;
        let &address = bytes.first().ok_or(DiscardReason::Empty)?;
        let exists = u32::MAX >> (31 - router.ports.min(31));
        let entry = || router.entry(network, address).map(|entry| entry.forwarding());
        let carries = |port: usize| self.carries(index, port as u8, network);
        let entry = forward(address, exists, entry, carries)?;
        Ok(Forwarding { network, entry })
    }

    /// Whether a router's port has a virtual channel of a virtual network. The configuration port,
    /// and ports without a link, have virtual channel 0 only.
    fn carries(&self, router: usize, port: u8, network: u8) -> bool {
        if port == 0 || !self.links.contains_key(&(UnitId::Router(router), port)) {
            return network == 0;
        }
        self.leave(router, port, network).is_some()
    }

    /// The link and virtual channel that packets of a virtual network leave a router's port on.
    pub(super) fn leave(&self, router: usize, port: u8, network: u8) -> Option<Origin> {
        let settings = self.scenario.routers.get(router)?;
        let &(link, side) = self.links.get(&(UnitId::Router(router), port))?;
        let mut channels = 0..self.channels(link);
        let vc = channels.find(|vc| settings.network_of(port, *vc) == Some(network))?;
        Some(Origin::Link { link, side, vc })
    }

    /// Path addresses of a route over the fewest routers, and among those by the lowest ports, to
    /// the port of a node or to the configuration port of a router. None if there is no route.
    pub fn shortest(&self, origin: Origin, to: (UnitId, u8)) -> Option<Vec<u8>> {
        // Each place reached, with the place before it and the output port that led to it.
        let mut reached = vec![(self.arrive(origin)?, None)];
        let mut seen = HashSet::new();
        let mut current = 0;
        while let Some(&(at, _)) = reached.get(current) {
            if let UnitId::Router(router) = at.unit {
                let settings = self.scenario.routers.get(router)?;
                let network = settings.network_of(at.port, at.vc);
                if at.unit == to.0 && network == Some(0) {
                    let mut path = path_to(&reached, current);
                    path.push(0);
                    return Some(path);
                }
                if let Some(network) = network.filter(|network| seen.insert((router, *network))) {
                    for port in 1..=settings.ports.min(31) {
                        let next = self.leave(router, port, network);
                        let next = next.and_then(|origin| self.arrive(origin));
                        reached.extend(next.map(|next| (next, Some((current, port)))));
                    }
                }
            } else if (at.unit, at.port) == to {
                return Some(path_to(&reached, current));
            }
            current += 1;
        }
        None
    }
}

/// The output ports that led to one of the places that were reached.
fn path_to(reached: &[(Arrival, Option<(usize, u8)>)], last: usize) -> Vec<u8> {
    let mut path = Vec::new();
    let mut at = last;
    while let Some((_, Some((before, port)))) = reached.get(at) {
        path.push(*port);
        at = *before;
    }
    path.reverse();
    path
}
