//! Ways through the network: the shortest one, and where packets with an address go.

use super::{Entry, Place, Route, Router, Scenario, Unit};
use crate::link::Side;
use std::collections::{HashMap, HashSet, VecDeque};

/// Most routers on a way: a packet that goes round is not followed for ever.
const MOST_HOPS: usize = 64;

/// A way through a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Router, by its place in [`Scenario::routers`].
    pub router: usize,
    /// Port that packets come in at.
    pub input: u8,
    /// Port that they go out at; 0 is the configuration port.
    pub output: u8,
}

/// A way from a port to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Routers on the way.
    pub hops: Vec<Hop>,
    /// Where it ends: a node's port, or port 0 of a router, which no [`Place`] names.
    pub to: (Unit, u8),
    /// Virtual channel on the last link.
    pub vc: u8,
}

impl Way {
    /// Path addresses of the way.
    pub fn path(&self) -> Vec<u8> {
        self.hops.iter().map(|hop| hop.output).collect()
    }
}

/// Where packets with an address go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Ways that end; several for a multicast, or for a group of ports.
    pub ways: Vec<Way>,
    /// Where packets are discarded instead, and why.
    pub dead_ends: Vec<String>,
}

/// The links at each port.
#[derive(Clone, Debug)]
pub struct Ways<'a> {
    scenario: &'a Scenario,
    links: HashMap<&'a Place, (usize, Side)>,
    numbers: HashMap<&'a str, Unit>,
}

/// A packet on a link, at its far end.
#[derive(Clone, Debug)]
struct Head {
    at: (Unit, u8),
    vc: u8,
    hops: Vec<Hop>,
}

/// The virtual channel of a port that has a virtual network.
fn channel_of(router: &Router, port: u8, channels: u8, network: u8) -> Option<u8> {
    (0..channels.min(32)).find(|vc| router.network_of(port, *vc) == Some(network))
}

impl<'a> Ways<'a> {
    /// Of a scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        let mut links = HashMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            let [a, b] = &link.ends;
            links.entry(a).or_insert((index, Side::A));
            links.entry(b).or_insert((index, Side::B));
        }
        let mut numbers = HashMap::new();
        for (index, router) in scenario.routers.iter().enumerate() {
            numbers.insert(router.name.as_str(), Unit::Router(index));
        }
        for (index, node) in scenario.nodes.iter().enumerate() {
            numbers.insert(node.name.as_str(), Unit::Node(index));
        }
        Self { scenario, links, numbers }
    }

    /// Over the link at a port: its virtual channels, and the other end.
    fn across(&self, from: &Place) -> Option<(u8, (Unit, u8))> {
        let (index, side) = *self.links.get(from)?;
        let link = self.scenario.links.get(index)?;
        let far = link.ends.get(side.other() as usize)?;
        Some((link.channels(), (*self.numbers.get(far.unit.as_str())?, far.port)))
    }

    fn start(&self, from: &Place, vc: u8) -> Option<Head> {
        let (channels, at) = self.across(from)?;
        (vc < channels).then(|| Head { at, vc, hops: Vec::new() })
    }

    /// The router that a packet is at, with its number and the packet's virtual network.
    fn router(&self, head: &Head) -> Option<(usize, &'a Router, Option<u8>)> {
        let Unit::Router(index) = head.at.0 else { return None };
        let router = self.scenario.routers.get(index)?;
        Some((index, router, router.network_of(head.at.1, head.vc)))
    }

    /// Out of a port of the router that a packet is at.
    fn step(&self, head: &Head, output: u8) -> Result<Head, String> {
        let (index, router, network) = self.router(head).ok_or("not at a router")?;
        let at = |what: &str| format!("router '{}', port {output}: {what}", router.name);
        let network = network.ok_or_else(|| {
            let (port, vc) = (head.at.1, head.vc);
            format!(
                "router '{}', port {port}: virtual channel {vc} has no virtual network",
                router.name
            )
        })?;
        let mut hops = head.hops.clone();
        hops.push(Hop { router: index, input: head.at.1, output });
        if output == 0 {
            return Ok(Head { at: (head.at.0, 0), vc: head.vc, hops });
        }
        let place = Place { unit: router.name.clone(), port: output };
        let (channels, far) = self.across(&place).ok_or_else(|| at("no link"))?;
        let vc = channel_of(router, output, channels, network)
            .ok_or_else(|| at(&format!("no virtual channel for virtual network {network}")))?;
        Ok(Head { at: far, vc, hops })
    }

    /// The way over the fewest routers, by the lowest ports, from a port to a node's port or to the
    /// configuration port of a router.
    pub fn shortest(&self, from: &Place, vc: u8, to: &Place) -> Option<Way> {
        let target = *self.numbers.get(to.unit.as_str())?;
        let mut seen = HashSet::new();
        let mut heads = VecDeque::from([self.start(from, vc)?]);
        while let Some(head) = heads.pop_front() {
            match head.at.0 {
                Unit::Node(_) if head.at == (target, to.port) => return Some(end(head)),
                Unit::Node(_) => continue,
                unit if unit == target => return self.step(&head, 0).ok().map(end),
                Unit::Router(_) => {}
            }
            let Some((_, router, network)) = self.router(&head) else { continue };
            if head.hops.len() >= MOST_HOPS || !seen.insert((head.at.0, network)) {
                continue;
            }
            let outputs = (1..=router.ports.min(31)).filter(|output| *output != head.at.1);
            heads.extend(outputs.filter_map(|output| self.step(&head, output).ok()));
        }
        None
    }

    /// Where packets go that are sent with a route to a port. An automatic route is the shortest.
    pub fn follow(&self, from: &Place, vc: u8, route: &Route, to: &Place) -> Reach {
        let Some(head) = self.start(from, vc) else {
            return Reach::dead(format!("no virtual channel {vc} at {from}"));
        };
        match route {
            Route::Auto => match self.shortest(from, vc, to) {
                Some(way) => Reach { ways: vec![way], dead_ends: Vec::new() },
                None => Reach::dead(format!("no way from {from} to '{}'", to.unit)),
            },
            Route::Path(path) => self.along(head, path),
            Route::Logical(address) => self.by_address(head, *address),
        }
    }

    fn along(&self, mut head: Head, path: &[u8]) -> Reach {
        for &output in path {
            if self.router(&head).is_none() || head.at.1 == 0 {
                let name = self.scenario.name_of(head.at.0);
                return Reach::dead(format!("'{name}' gets path address {output} as data"));
            }
            head = match self.step(&head, output) {
                Ok(head) => head,
                Err(error) => return Reach::dead(error),
            };
        }
        self.arrive(head)
    }

    /// A packet without further addresses.
    fn arrive(&self, head: Head) -> Reach {
        match head.at {
            (Unit::Router(index), 1..) => {
                let name = self.scenario.name_of(Unit::Router(index));
                Reach::dead(format!("router '{name}' gets a packet without address"))
            }
            _ => Reach { ways: vec![end(head)], dead_ends: Vec::new() },
        }
    }

    fn by_address(&self, head: Head, address: u8) -> Reach {
        let mut reach = Reach::default();
        let mut seen = HashSet::new();
        // The address is still there.
        let mut heads = VecDeque::from([(head, true)]);
        while let Some((head, addressed)) = heads.pop_front() {
            let Some((index, router, network)) = self.router(&head) else {
                reach.ways.push(end(head));
                continue;
            };
            if !addressed {
                reach.join(self.arrive(head));
                continue;
            }
            let entry = network.and_then(|network| entry_of(router, network, address));
            let Some(entry) = entry else {
                reach.dead_ends.push(format!("router '{}': no entry {address}", router.name));
                continue;
            };
            if !seen.insert((index, head.at.1)) || head.hops.len() >= MOST_HOPS {
                reach.dead_ends.push(format!("router '{}': goes round", router.name));
                continue;
            }
            for &output in &entry.ports {
                match self.step(&head, output) {
                    Ok(head) => heads.push_back((head, !entry.delete)),
                    Err(error) => reach.dead_ends.push(error),
                }
            }
        }
        reach
    }
}

/// The entry of an address on a virtual network.
fn entry_of(router: &Router, network: u8, address: u8) -> Option<&Entry> {
    router.entries.iter().find(|entry| {
        let networks = entry.networks.as_deref();
        entry.address == address && networks.is_none_or(|networks| networks.contains(&network))
    })
}

fn end(head: Head) -> Way {
    Way { hops: head.hops, to: head.at, vc: head.vc }
}

impl Reach {
    fn dead(why: String) -> Self {
        Self { ways: Vec::new(), dead_ends: vec![why] }
    }

    fn join(&mut self, other: Self) {
        self.ways.extend(other.ways);
        self.dead_ends.extend(other.dead_ends);
    }
}
