//! Ways through the network: from places to addresses, and from addresses to where they lead.

use crate::ledger::{Visit, Way};
use crate::link::Side;
use crate::scenario::{EntryMode, Place, Route, Scenario, Unit};
use std::collections::VecDeque;

/// Routers on a way at most.
const HOPS: usize = 64;
const FIRST_LOGICAL: u8 = 32;

/// Where packets start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// On a virtual channel of a node's link, which it sends on from an end.
    Link {
        /// The link.
        link: usize,
        /// The end.
        side: Side,
        /// The virtual channel.
        vc: u8,
    },
    /// At the configuration port of a router.
    Configuration(usize),
}

/// Where a way ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// A node, or a router's configuration port.
    pub unit: Unit,
    /// The port.
    pub port: u8,
    /// Virtual channel that packets come on.
    pub vc: u8,
    /// Address bytes that are left.
    pub rest: Vec<u8>,
}

/// Where address bytes lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Links and routers.
    pub way: Way,
    /// Ends, each once.
    pub terminals: Vec<Terminal>,
    /// A copy goes to each of them.
    pub multicast: bool,
    /// Packets may take several ways, and so overtake.
    pub several: bool,
}

/// How packets of a flow are addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes in front that are taken off on the way.
    pub path: Vec<u8>,
    /// The logical address that they arrive with.
    pub target: u8,
    /// Where that leads.
    pub walk: Walk,
}

/// Where a place's link starts.
pub fn start(scenario: &Scenario, from: &Place, vc: u8) -> Result<Start, String> {
    let (link, side) = scenario.link_at(from).ok_or_else(|| format!("no link at {from}"))?;
    let channels = scenario.links.get(link).map_or(0, |link| link.channels());
    if vc >= channels {
        return Err(format!("virtual channel {vc} at {from}: its link has {channels}"));
    }
    Ok(Start::Link { link, side, vc })
}

/// Finds addresses for a route, and follows them. A path that is given may lead nowhere: what
/// happens then is for the routers to say. The logical address of what it ends at is `target`.
pub fn plan(
    scenario: &Scenario,
    from: Start,
    to: &[(Unit, u8)],
    route: &Route,
    target: u8,
) -> Result<Plan, String> {
    let follow = |path: &[u8], target: u8| {
        let mut bytes = path.to_vec();
        bytes.push(target);
        walk(scenario, from, &bytes)
    };
    let (path, target, walk) = match route {
        Route::Auto => {
            let [to] = to else {
                return Err("an automatic route has one destination; give an address".into());
            };
            let path = shortest(scenario, from, *to).ok_or("there is no way")?;
            let walk = follow(&path, target)?;
            (path, target, walk)
        }
        Route::Path(path) => {
            let bytes = [&path[..], &[target]].concat();
            let mut walk = Walk::default();
            // As far as it goes.
            let _ = walk.extend(scenario, from, &bytes);
            (path.clone(), target, walk)
        }
        Route::Logical(address) => match follow(&[], *address) {
            Ok(walk) if walk.terminals.iter().all(|end| end.rest.len() == 1) => {
                (Vec::new(), *address, walk)
            }
            _ => {
                // A router takes it off: what they arrive with stands behind it.
                let walk = follow(&[*address], target)?;
                (vec![*address], target, walk)
            }
        },
    };
    check(scenario, to, &walk)?;
    Ok(Plan { path, target, walk })
}

/// Whether a way leads where it should.
fn check(scenario: &Scenario, to: &[(Unit, u8)], walk: &Walk) -> Result<(), String> {
    for end in &walk.terminals {
        let name = scenario.name_of(end.unit);
        if !to.iter().any(|(unit, _)| *unit == end.unit) {
            return Err(format!("its address leads to {name} too, or instead"));
        }
        if end.rest.len() != 1 {
            return Err(format!("it comes to {name} with {} address bytes, not 1", end.rest.len()));
        }
    }
    let reached = |unit: &Unit| walk.terminals.iter().any(|end| end.unit == *unit);
    match to.iter().find(|(unit, _)| !reached(unit)) {
        Some((unit, _)) if !walk.terminals.is_empty() => {
            Err(format!("its address does not lead to {}", scenario.name_of(*unit)))
        }
        _ => Ok(()),
    }
}

/// Path addresses along a shortest way, to a port of a node or a router's configuration port.
fn shortest(scenario: &Scenario, from: Start, to: (Unit, u8)) -> Option<Vec<u8>> {
    let mut queue = VecDeque::from([(from, Vec::new())]);
    let mut seen = Vec::new();
    while let Some((place, path)) = queue.pop_front() {
        let (router, port, vc) = match place {
            Start::Configuration(router) => (router, 0, 0),
            Start::Link { link, side, vc } => {
                let end = &scenario.links.get(link)?.ends[side.other() as usize];
                match scenario.unit(&end.unit)? {
                    unit @ Unit::Node(_) if (unit, end.port) == to => return Some(path),
                    Unit::Node(_) => continue,
                    Unit::Router(router) => (router, end.port, vc),
                }
            }
        };
        let settings = scenario.routers.get(router)?;
        let Some(network) = settings.network_of(port, vc) else { continue };
        if seen.contains(&(router, network)) || path.len() > HOPS {
            continue;
        }
        seen.push((router, network));
        if to.0 == Unit::Router(router) && network == 0 {
            return Some([&path[..], &[0]].concat());
        }
        for port in 1..=settings.ports {
            if let Some(next) = leave(scenario, router, port, network) {
                queue.push_back((next, [&path[..], &[port]].concat()));
            }
        }
    }
    None
}

/// What is behind a router's port for a virtual network.
fn leave(scenario: &Scenario, router: usize, port: u8, network: u8) -> Option<Start> {
    let settings = scenario.routers.get(router)?;
    let place = Place { unit: settings.name.clone(), port };
    let (link, side) = scenario.link_at(&place)?;
    let channels = scenario.links.get(link)?.channels();
    let vc = (0..channels).find(|vc| settings.network_of(port, *vc) == Some(network))?;
    Some(Start::Link { link, side, vc })
}

/// Follows address bytes.
pub fn walk(scenario: &Scenario, from: Start, bytes: &[u8]) -> Result<Walk, String> {
    let mut found = Walk::default();
    found.extend(scenario, from, bytes)?;
    Ok(found)
}

fn follow(
    scenario: &Scenario,
    from: Start,
    bytes: &[u8],
    hops: usize,
    found: &mut Walk,
) -> Result<(), String> {
    if hops > HOPS {
        return Err("its address leads round in a circle".into());
    }
    let (router, port, vc) = match from {
        Start::Configuration(router) => (router, 0, 0),
        Start::Link { link, side, vc } => {
            found.way.links.push(link as u32);
            let none = || "a link without ends".to_string();
            let end = &scenario.links.get(link).ok_or_else(none)?.ends[side.other() as usize];
            match scenario.unit(&end.unit).ok_or_else(|| format!("no unit {}", end.unit))? {
                unit @ Unit::Node(_) => {
                    found.end(Terminal { unit, port: end.port, vc, rest: bytes.to_vec() });
                    return Ok(());
                }
                Unit::Router(router) => (router, end.port, vc),
            }
        }
    };
    let settings = scenario.routers.get(router).ok_or("no such router")?;
    let name = &settings.name;
    found.visit(Visit { router: router as u32, port, vc });
    let network = settings
        .network_of(port, vc)
        .ok_or_else(|| format!("{name}:{port}: virtual channel {vc} has no virtual network"))?;
    let (&first, rest) =
        bytes.split_first().ok_or_else(|| format!("{name} finds no address byte"))?;
    let (ports, rest) = if first < FIRST_LOGICAL {
        (vec![first], rest)
    } else {
        let for_it = |entry: &&crate::scenario::Entry| {
            let networks = entry.networks.as_ref();
            entry.address == first && networks.is_none_or(|list| list.contains(&network))
        };
        let entry = settings.entries.iter().find(for_it);
        let entry = entry.ok_or_else(|| format!("{name} has no entry for address {first}"))?;
        let several = entry.ports.len() > 1;
        found.multicast |= several && entry.mode == EntryMode::All;
        found.several |= several && entry.mode == EntryMode::Any;
        (entry.ports.clone(), if entry.delete { rest } else { bytes })
    };
    for port in ports {
        if port == 0 {
            let unit = Unit::Router(router);
            found.end(Terminal { unit, port, vc: 0, rest: rest.to_vec() });
            continue;
        }
        let next = leave(scenario, router, port, network)
            .ok_or_else(|| format!("{name}:{port} has no link with virtual network {network}"))?;
        follow(scenario, next, rest, hops + 1, found)?;
    }
    Ok(())
}

impl Walk {
    fn extend(&mut self, scenario: &Scenario, from: Start, bytes: &[u8]) -> Result<(), String> {
        let result = follow(scenario, from, bytes, 0, self);
        self.way.links.sort_unstable();
        self.way.links.dedup();
        result
    }

    fn end(&mut self, end: Terminal) {
        if !self.terminals.contains(&end) {
            self.terminals.push(end);
        }
    }

    fn visit(&mut self, visit: Visit) {
        if !self.way.visits.contains(&visit) {
            self.way.visits.push(visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a - r1 - r2 - b, with two links between the routers, and c at r1.
    const TEXT: &str = r#"
        title = "ways"
        node = [{ name = "a" }, { name = "b", logical-address = 60 }, { name = "c" }]
        [[router]]
        name = "r1"
        ports = 4
        entries = [
            { address = 60, ports = [2, 3] },
            { address = 61, ports = [2, 4], mode = "all" },
            { address = 62, ports = [2], delete = true },
            { address = 63, ports = [4], networks = [1] },
        ]
        [[router]]
        name = "r2"
        ports = 4
        entries = [{ address = 60, ports = [3] }, { address = 61, ports = [3] }]
        map = [{ port = 3, vc = 5, network = 2 }, { port = 3, vc = 2, network = 5 }]
        [[link]]
        name = "a"
        ends = ["a", "r1:1"]
        [[link]]
        name = "one"
        ends = ["r1:2", "r2:1"]
        [[link]]
        name = "two"
        ends = ["r2:2", "r1:3"]
        [[link]]
        name = "b"
        ends = ["r2:3", "b"]
        [[link]]
        name = "c"
        ends = ["r1:4", "c"]
    "#;

    fn planned(route: Route, to: &[&str], vc: u8) -> Result<Plan, String> {
        let scenario = Scenario::parse(TEXT).unwrap();
        let from = start(&scenario, &"a".parse().unwrap(), vc)?;
        let to: Vec<_> = to.iter().map(|name| (scenario.unit(name).unwrap(), 1)).collect();
        plan(&scenario, from, &to, &route, 60)
    }

    #[test]
    fn the_shortest_way_is_found() {
        let plan = planned(Route::Auto, &["b"], 0).unwrap();
        assert_eq!((plan.path, plan.walk.way.links), (vec![2, 3], vec![0, 1, 3]));
        let visits: Vec<_> = plan.walk.way.visits.iter().map(|v| (v.router, v.port)).collect();
        assert_eq!(visits, [(0, 1), (1, 1)]);
        assert_eq!(planned(Route::Auto, &["c"], 3).unwrap().path, [4]);
        assert_eq!(planned(Route::Auto, &["r2"], 0).unwrap().path, [2, 0]);
        assert!(planned(Route::Auto, &["b", "c"], 0).is_err());
    }

    #[test]
    fn a_virtual_network_may_have_another_channel_on_each_link() {
        let plan = planned(Route::Auto, &["b"], 2).unwrap();
        assert_eq!(plan.walk.terminals[0].vc, 5);
    }

    #[test]
    fn logical_addresses_are_followed() {
        let group = planned(Route::Logical(60), &["b"], 0).unwrap();
        assert_eq!((group.path.len(), group.target, group.walk.several), (0, 60, true));
        assert_eq!(group.walk.way.links, [0, 1, 2, 3]);
        let multicast = planned(Route::Logical(61), &["b", "c"], 0).unwrap();
        assert_eq!((multicast.walk.multicast, multicast.walk.terminals.len()), (true, 2));
        let deleted = planned(Route::Logical(62), &["b"], 0).unwrap();
        assert_eq!((deleted.path, deleted.target), (vec![62], 60));
        assert!(planned(Route::Logical(63), &["c"], 1).is_ok());
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for (route, to, vc, says) in [
            (Route::Logical(63), "c", 0, "no entry for address 63"),
            (Route::Logical(60), "c", 0, "leads to b too, or instead"),
            (Route::Logical(61), "b", 0, "leads to c too, or instead"),
            (Route::Path(vec![4]), "b", 0, "leads to c too, or instead"),
            (Route::Path(vec![2, 3, 1]), "b", 0, "comes to b with 2 address bytes"),
            (Route::Auto, "b", 9, "virtual channel 9 at a:1: its link has 8"),
        ] {
            let error = planned(route, &[to], vc).unwrap_err();
            assert!(error.contains(says), "{error} / {says}");
        }
    }

    #[test]
    fn a_path_may_lead_nowhere() {
        let plan = planned(Route::Path(vec![9]), &["b"], 0).unwrap();
        assert_eq!((plan.path, plan.walk.terminals), (vec![9], vec![]));
        assert_eq!((plan.walk.way.links, plan.walk.way.visits.len()), (vec![0], 1));
    }
}
