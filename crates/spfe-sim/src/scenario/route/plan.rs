//! The address bytes of a scenario's packets.

use super::super::{Addressing, PortName, RdmaTraffic, RmapTraffic, TrafficStream, UnitId};
use super::{DeadEnd, Origin, RouteFinder, Trace};

/// The logical address of nodes that have none of their own.
const DEFAULT_ADDRESS: u8 = 254;

/// Range of logical addresses.
const FIRST_LOGICAL: u8 = 32;
const LAST_LOGICAL: u8 = 254;

/// The addresses that lead from one unit to another.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Path addresses of the shortest route.
    pub path: RoutePlan,
    /// Logical addresses for which the routing tables lead there.
    pub logical: Vec<u8>,
}

/// The address bytes of packets, and where they lead.
#[derive(Clone, Debug, Default)]
pub struct RoutePlan {
    /// Bytes in front of the logical address, which routers delete.
    pub path: Vec<u8>,
    /// The logical address that packets arrive with.
    pub target: u8,
    /// Where these bytes lead.
    pub trace: Trace,
    /// Why the scenario cannot be simulated like this: the bytes do not lead where they should.
    pub problem: Option<String>,
}

impl RoutePlan {
    /// Itself, or its problem as an error.
    pub fn accepted(self) -> Result<Self, String> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self),
        }
    }
}

impl RouteFinder<'_> {
    /// Addresses and routes of the packets of a flow.
    ///
    /// # Errors
    ///
    /// Something that it names does not exist, or there is no route.
    pub fn flow(&self, flow: &TrafficStream) -> Result<RoutePlan, String> {
        let origin = self.origin(&flow.from, flow.vc)?;
        let mut to = Vec::new();
        for place in &flow.to {
            to.push((self.unit(&place.unit)?, place.port));
        }
        let nodes = to.iter().filter(|(unit, _)| matches!(unit, UnitId::Node(_)));
        let target = nodes.map(|(unit, _)| self.logical_address(*unit)).next();
        self.plan(origin, &to, &flow.route, target.unwrap_or(DEFAULT_ADDRESS))
    }

    /// All addresses that lead from a port to a unit. From port 0 of a router, replies start at its
    /// configuration port; to a router, packets go to its configuration port.
    ///
    /// # Errors
    ///
    /// Something that they name does not exist, or there is no route.
    pub fn ways(&self, from: &PortName, to: &PortName, vc: u8) -> Result<Ways, String> {
        let origin = match self.unit(&from.unit)? {
            UnitId::Router(router) => Origin::Configuration(router),
            UnitId::Node(_) => self.origin(from, vc)?,
        };
        let unit = self.unit(&to.unit)?;
        let (to, target) = ([(unit, to.port)], self.logical_address(unit));
        let path = self.plan(origin, &to, &Addressing::Auto, target)?;
        let logical = FIRST_LOGICAL..=LAST_LOGICAL;
        let leads = |address: &u8| {
            let plan = self.plan(origin, &to, &Addressing::Logical(*address), target);
            plan.is_ok_and(|plan| plan.problem.is_none() && !plan.trace.destinations.is_empty())
        };
        // Between nodes on one link every address arrives, so none has a meaning.
        let has_routers = !path.path.is_empty();
        let logical = logical.filter(|address| has_routers && leads(address)).collect();
        Ok(Ways { path, logical })
    }

    /// Addresses and routes of RMAP commands, and of the replies to them. A problem of the replies
    /// is a problem of the commands, too. The second plan is empty if the commands have a problem.
    ///
    /// # Errors
    ///
    /// Something that they name does not exist, or there is no route.
    pub fn rmap(&self, rmap: &RmapTraffic) -> Result<(RoutePlan, RoutePlan), String> {
        let RmapTraffic { from, to, vc, route, reply_route, .. } = rmap;
        self.requests((from, *vc), to, route, reply_route)
    }

    /// The same for the requests and responses of RDMA.
    ///
    /// # Errors
    ///
    /// Something that they name does not exist, or there is no route.
    pub fn rdma(&self, rdma: &RdmaTraffic) -> Result<(RoutePlan, RoutePlan), String> {
        let TrafficStream { from, vc, route, .. } = &rdma.stream;
        let to = rdma.to().ok_or("there is no destination")?;
        self.requests((from, *vc), to, route, &rdma.reply_route)
    }

    fn requests(
        &self,
        (from, vc): (&PortName, u8),
        place: &PortName,
        route: &Addressing,
        reply_route: &Addressing,
    ) -> Result<(RoutePlan, RoutePlan), String> {
        let origin = self.origin(from, vc)?;
        let unit = self.unit(&place.unit)?;
        let to = (unit, place.port);
        let mut command = self.plan(origin, &[to], route, self.logical_address(unit))?;
        let reply = match self.replies((from, vc), place, reply_route, &command) {
            _ if command.problem.is_some() => RoutePlan::default(),
            Ok(reply) => reply,
            Err(error) => return Err(format!("route of replies: {error}")),
        };
        if let Some(why) = &reply.problem {
            command.problem = Some(format!("route of replies: {why}"));
        }
        Ok((command, reply))
    }

    fn replies(
        &self,
        (from, vc): (&PortName, u8),
        place: &PortName,
        reply_route: &Addressing,
        command: &RoutePlan,
    ) -> Result<RoutePlan, String> {
        let origin = match self.unit(&place.unit)? {
            UnitId::Router(router) => Origin::Configuration(router),
            UnitId::Node(_) => {
                let to = command.trace.destinations.first();
                let (port, vc) = to.map_or((place.port, vc), |to| (to.port, to.vc));
                self.origin(&PortName { unit: place.unit.clone(), port }, vc)?
            }
        };
        let initiator = self.unit(&from.unit)?;
        // A reply with a logical address starts with the initiator's own address.
        let target = match reply_route {
            Addressing::Logical(address) => *address,
            _ => self.logical_address(initiator),
        };
        self.plan(origin, &[(initiator, from.port)], reply_route, target)
    }

    fn logical_address(&self, unit: UnitId) -> u8 {
        let scenario = self.scenario;
        let address = match unit {
            UnitId::Node(index) => scenario.nodes.get(index).map(|node| node.logical_address),
            UnitId::Router(index) => {
                scenario.routers.get(index).map(|router| router.configuration.logical_address)
            }
        };
        address.unwrap_or(DEFAULT_ADDRESS)
    }

    /// Finds address bytes for packets to some ports, and follows them. `target` is the logical
    /// address of what they end at.
    ///
    /// A path that the scenario gives may lead nowhere: the simulation shows what routers do then.
    pub(super) fn plan(
        &self,
        origin: Origin,
        to: &[(UnitId, u8)],
        addressing: &Addressing,
        target: u8,
    ) -> Result<RoutePlan, String> {
        let follow = |path: &[u8], target: u8| {
            let trace = self.follow(origin, &[path, &[target]].concat());
            RoutePlan { path: path.to_vec(), target, trace, problem: None }
        };
        let mut plan = match addressing {
            Addressing::Auto => {
                let [to] = to else {
                    return Err("an automatic route has one destination; give an address".into());
                };
                let path = self.shortest(origin, *to);
                follow(&path.ok_or("there is no route; connect the units")?, target)
            }
            Addressing::Path(path) => follow(path, target),
            Addressing::Logical(address) => {
                let plan = follow(&[], *address);
                let arrives = plan.trace.destinations.iter().all(|to| to.rest.len() == 1);
                if plan.trace.dead_ends.is_empty() && arrives {
                    plan
                } else {
                    // A router deletes the address: packets arrive with the one behind it.
                    follow(&[*address], target)
                }
            }
        };
        plan.problem = match (addressing, plan.trace.dead_ends.first()) {
            (Addressing::Auto | Addressing::Logical(_), Some(dead_end)) => {
                Some(DeadEnd::text(dead_end, self.scenario))
            }
            _ => self.mismatch(to, &plan.trace),
        };
        Ok(plan)
    }

    /// How the destinations of packets differ from those they should have.
    fn mismatch(&self, to: &[(UnitId, u8)], trace: &Trace) -> Option<String> {
        for end in &trace.destinations {
            let name = self.scenario.name_of(end.unit);
            if !to.iter().any(|(unit, _)| *unit == end.unit) {
                return Some(format!("its address leads to '{name}', which `to` does not name"));
            }
            let bytes = end.rest.len();
            if bytes != 1 {
                return Some(format!("{bytes} address bytes are left at '{name}' instead of 1"));
            }
        }
        let reached = |unit: &UnitId| trace.destinations.iter().any(|end| end.unit == *unit);
        let missed = to.iter().find(|(unit, _)| !reached(unit));
        let missed = missed.filter(|_| !trace.destinations.is_empty());
        missed.map(|(unit, _)| {
            format!("its address does not lead to '{}'", self.scenario.name_of(*unit))
        })
    }
}
