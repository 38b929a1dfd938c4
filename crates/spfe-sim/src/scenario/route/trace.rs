//! All routes that some address bytes lead to.

use super::super::UnitId;
use super::finder::{Arrival, RouteFinder};
use super::{DeadEnd, DeadEndCause, Destination, Hop, Origin, Route, RouteElements, RouterInput};
use spfe_link::network::{DiscardReason, bits_of};
use std::collections::HashMap;

/// Everything that packets with the same address bytes can reach.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Links and router inputs that they may cross.
    pub elements: RouteElements,
    /// Where they may end up, each destination once.
    pub destinations: Vec<Destination>,
    /// Routers that they do not leave.
    pub dead_ends: Vec<DeadEnd>,
    /// Some router sends a copy to each of several ports.
    pub multicast: bool,
    /// Some router chooses among several ports (group adaptive routing), so that packets may
    /// overtake each other.
    pub adaptive: bool,
    first: Option<Next>,
    visits: Vec<RouterVisit>,
}

/// Packets at a router, with the address bytes that are left there.
#[derive(Clone, Debug)]
struct RouterVisit {
    input: RouterInput,
    network: u8,
    /// Address bytes deleted when packets leave.
    deleted: usize,
    branches: Vec<(u8, Next)>,
    /// It lies on the route that is being followed: coming back to it is a loop.
    open: bool,
}

/// Next step of a route, as an index into a vector of [`Trace`].
#[derive(Clone, Copy, Debug)]
enum Next {
    Visit(usize),
    Destination(usize),
    DeadEnd,
}

impl RouteFinder<'_> {
    /// Follows packets that begin with some bytes to everything they can reach.
    pub fn follow(&self, origin: Origin, bytes: &[u8]) -> Trace {
        let mut tracer =
            Tracer { finder: self, bytes, known: HashMap::new(), trace: Trace::default() };
        tracer.run(origin);
        tracer.trace
    }
}

/// A depth-first search. Each router input is visited once for each number of deleted bytes.
struct Tracer<'a> {
    finder: &'a RouteFinder<'a>,
    bytes: &'a [u8],
    known: HashMap<(RouterInput, usize), usize>,
    trace: Trace,
}

impl Tracer<'_> {
    fn run(&mut self, origin: Origin) {
        // The visits on the current route, with the outputs that remain.
        let mut path: Vec<(usize, u32)> = Vec::new();
        self.trace.first = self.cross(origin, 0, &mut path);
        while let Some((index, outputs)) = path.last_mut() {
            let Some(visit) = self.trace.visits.get_mut(*index) else { return };
            let Some(output) = bits_of(*outputs).next() else {
                visit.open = false;
                path.pop();
                continue;
            };
            *outputs &= *outputs - 1;
            let (index, output) = (*index, output as u8);
            let next = self.leave(index, output, &mut path);
            if let Some(visit) = self.trace.visits.get_mut(index) {
                visit.branches.extend(next.map(|next| (output, next)));
            }
        }
    }

    /// Packets leave a router by one of its outputs.
    fn leave(&mut self, visit: usize, output: u8, path: &mut Vec<(usize, u32)>) -> Option<Next> {
        let &RouterVisit { input, network, deleted, .. } = self.trace.visits.get(visit)?;
        let router = input.router as usize;
        if output == 0 {
            let arrival = Arrival { unit: UnitId::Router(router), port: 0, vc: 0 };
            return Some(self.arrive(arrival, deleted));
        }
        let Some(origin) = self.finder.leave(router, output, network) else {
            return Some(self.dead_end(DeadEnd {
                input,
                address: None,
                output: Some(output),
                cause: DeadEndCause::Discarded(DiscardReason::NotRunning),
            }));
        };
        self.cross(origin, deleted, path)
    }

    /// Packets arrive at a destination.
    fn arrive(&mut self, at: Arrival, deleted: usize) -> Next {
        let rest = self.bytes.get(deleted..).unwrap_or_default().to_vec();
        let to = Destination { unit: at.unit, port: at.port, vc: at.vc, rest };
        let destinations = &mut self.trace.destinations;
        let known = destinations.iter().position(|known| *known == to);
        Next::Destination(known.unwrap_or_else(|| {
            destinations.push(to);
            destinations.len() - 1
        }))
    }

    fn dead_end(&mut self, dead_end: DeadEnd) -> Next {
        if !self.trace.dead_ends.contains(&dead_end) {
            self.trace.dead_ends.push(dead_end);
        }
        Next::DeadEnd
    }

    /// Packets go over a link, and into the router at its end if there is one.
    fn cross(
        &mut self,
        origin: Origin,
        deleted: usize,
        path: &mut Vec<(usize, u32)>,
    ) -> Option<Next> {
        if let Origin::Link { link, .. } = origin {
            self.trace.elements.add_link(link as u32);
        }
        let at = self.finder.arrive(origin)?;
        let UnitId::Router(router) = at.unit else { return Some(self.arrive(at, deleted)) };
        let input = RouterInput { router: router as u32, port: at.port, vc: at.vc };
        let address = self.bytes.get(deleted).copied();
        let dead = |cause| DeadEnd { input, address, output: None, cause };
        if let Some(known) = self.known.get(&(input, deleted)) {
            let open = self.trace.visits.get(*known).is_some_and(|visit| visit.open);
            return Some(match open {
                true => self.dead_end(dead(DeadEndCause::Loop)),
                false => Next::Visit(*known),
            });
        }
        self.trace.elements.add_input(input);
        let rest = self.bytes.get(deleted..).unwrap_or_default();
        let forwarding = match self.finder.forward(input, rest) {
            Ok(forwarding) => forwarding,
            Err(reason) => return Some(self.dead_end(dead(DeadEndCause::Discarded(reason)))),
        };
        let entry = forwarding.entry;
        let several = entry.ports.count_ones() > 1;
        self.trace.multicast |= several && entry.multicast;
        self.trace.adaptive |= several && !entry.multicast;
        let index = self.trace.visits.len();
        self.known.insert((input, deleted), index);
        self.trace.visits.push(RouterVisit {
            input,
            network: forwarding.network,
            deleted: deleted + usize::from(entry.delete),
            branches: Vec::new(),
            open: true,
        });
        path.push((index, entry.ports));
        Some(Next::Visit(index))
    }
}

impl Trace {
    /// The routes to all destinations: the first `most` of them, and whether that is all.
    ///
    /// Their number can grow exponentially with the number of routers, hence the limit.
    pub fn routes(&self, most: usize) -> (Vec<Route>, bool) {
        let mut routes = Vec::new();
        let mut ends = 0;
        // Routes to follow, each with the routers crossed so far.
        let mut open = vec![(self.first, Vec::new())];
        while let Some((next, hops)) = open.pop() {
            match next {
                Some(Next::Visit(index)) => {
                    let Some(visit) = self.visits.get(index) else { continue };
                    for (output, next) in visit.branches.iter().rev() {
                        let hop = Hop { input: visit.input, output: *output };
                        open.push((Some(*next), [&hops[..], &[hop]].concat()));
                    }
                    continue;
                }
                Some(Next::Destination(index)) => {
                    let to = self.destinations.get(index).cloned();
                    routes.extend(to.map(|to| Route { hops, to }));
                }
                Some(Next::DeadEnd) | None => {}
            }
            ends += 1;
            if ends >= most {
                return (routes, open.is_empty());
            }
        }
        (routes, true)
    }
}
