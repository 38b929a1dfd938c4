//! Checks of traffic streams, messages, RMAP commands and the schedule.

use super::{Location, ScenarioChecker};
use crate::packet::HEADER_BYTES;
use crate::scenario::{
    Addressing, NodeKind, Operation, PacketPace, PortName, RmapTraffic, ScenarioNode,
    TrafficStream, UnitId,
};
use std::collections::{HashMap, HashSet};

/// Maximum size of a packet: 16 MiB.
const MOST_BYTES: u64 = 1 << 24;
/// Maximum number of data bytes of an RMAP command (50-52C 5.1.3).
const MOST_RMAP: u64 = (1 << 24) - 1;

impl ScenarioChecker<'_> {
    pub(super) fn traffic(&mut self) {
        let scenario = self.scenario;
        self.amount("flow", scenario.flows.len());
        self.amount("broadcast", scenario.broadcasts.len());
        self.amount("rmap", scenario.rmaps.len());
        self.amount("rdma", scenario.rdmas.len());
        let flows = scenario.flows.iter().enumerate();
        let rmaps = scenario.rmaps.iter().enumerate();
        let broadcasts = scenario.broadcasts.iter().enumerate();
        let flows = flows.map(|(i, flow)| (Location::list("flow", i), "flow", flow.name.as_str()));
        let rmaps = rmaps.map(|(i, rmap)| (Location::list("rmap", i), "rmap", rmap.name.as_str()));
        let messages =
            broadcasts.map(|(i, b)| (Location::list("broadcast", i), "broadcast", b.name.as_str()));
        let rdmas = scenario.rdmas.iter().enumerate();
        let rdmas =
            rdmas.map(|(i, rdma)| (Location::list("rdma", i), "rdma", rdma.stream.name.as_str()));
        self.names(flows.chain(rmaps).chain(rdmas).chain(messages));
        for (index, flow) in scenario.flows.iter().enumerate() {
            self.flow(Location::list("flow", index), flow);
        }
        for (index, rmap) in scenario.rmaps.iter().enumerate() {
            self.rmap(Location::list("rmap", index), rmap);
        }
        for (index, rdma) in scenario.rdmas.iter().enumerate() {
            self.rdma(Location::list("rdma", index), rdma);
        }
        self.broadcasts();
        self.schedule();
        self.foreign_sources();
    }

    /// Checks that no traffic of the scenario starts at a foreign node.
    fn foreign_sources(&mut self) {
        let scenario = self.scenario;
        let list = |table, index: usize| Location::list(table, index).key("from");
        let flows = scenario.flows.iter().enumerate().map(|(i, of)| (list("flow", i), &of.from));
        let rmaps = scenario.rmaps.iter().enumerate().map(|(i, of)| (list("rmap", i), &of.from));
        let broadcasts = scenario.broadcasts.iter().enumerate();
        let broadcasts = broadcasts.map(|(i, of)| (list("broadcast", i), &of.from));
        let master = scenario.time_codes.as_ref();
        let master = master.map(|of| (Location::one("time-codes").key("master"), &of.master));
        let source = scenario.schedule.as_ref().and_then(|of| of.source.as_ref());
        let source = source.map(|of| (Location::one("schedule").key("source"), of));
        for (at, place) in flows.chain(rmaps).chain(broadcasts).chain(master).chain(source) {
            let of = |node: &&ScenarioNode| node.name == place.unit;
            if scenario.nodes.iter().find(of).is_some_and(|node| node.kind == NodeKind::Foreign) {
                let what = "is a foreign node and sends by itself; name another";
                self.problem(at, format!("'{}' {what}", place.unit));
            }
        }
    }

    fn flow(&mut self, at: Location, flow: &TrafficStream) {
        let object = format!("flow '{}'", flow.name);
        self.channel(at.key("from"), &object, &flow.from, flow.vc);
        if flow.to.is_empty() {
            self.problem(at.key("to"), format!("{object} has no destination; name a node in `to`"));
        }
        let mut seen = HashSet::new();
        for place in &flow.to {
            self.port(at.key("to"), &object, place);
            if place.unit == flow.from.unit || !seen.insert(&place.unit) {
                let message =
                    format!("{object}: '{}' is named twice; give another node", place.unit);
                self.problem(at.key("to"), message);
            }
        }
        match &flow.route {
            Addressing::Logical(_) => {}
            Addressing::Auto | Addressing::Path(_) if flow.to.len() > 1 => {
                let message = format!(
                    "{object} has {} receivers; give the logical address of a multicast as route",
                    flow.to.len()
                );
                self.problem(at.key("to"), message);
            }
            Addressing::Auto => {
                for to in &flow.to {
                    self.reachable(at, &object, &flow.from, flow.vc, to);
                }
            }
            Addressing::Path(_) => {}
        }
        let (min, max) = flow.size.range();
        let least = u64::from(HEADER_BYTES);
        self.range(at.key("size"), &object, min, least..=max.min(MOST_BYTES));
        self.range(at.key("size"), &object, max, least..=MOST_BYTES);
        self.range(at.key("size"), &object, flow.size.mean(), least..=MOST_BYTES);
        self.pace(at, &object, flow.pace);
        self.window(at.key("stop"), &object, flow.start, flow.stop);
    }

    pub(super) fn pace(&mut self, at: Location, object: &str, pace: PacketPace) {
        match pace {
            PacketPace::Saturate => {}
            PacketPace::Rate(rate) => {
                self.range(at.key("rate"), object, rate.0, 1_000..=10_000_000_000_000);
            }
            PacketPace::Period { period, jitter, burst } => {
                self.interval(at.key("period"), object, period);
                self.range(at.key("jitter"), object, jitter, Default::default()..=period);
                self.range(at.key("burst"), object, burst, 1..=65535);
            }
        }
    }

    /// Checks that there is a route between two ports.
    pub(super) fn reachable(
        &mut self,
        at: Location,
        object: &str,
        from: &PortName,
        vc: u8,
        to: &PortName,
    ) {
        let (Ok(origin), Some(unit)) = (self.routes.origin(from, vc), self.scenario.unit(&to.unit))
        else {
            return;
        };
        if self.routes.shortest(origin, (unit, to.port)).is_none() {
            let message = format!(
                "{object}: no route from {from} on virtual channel {vc} to {to}; connect them, or \
                 map the channels of the routers between"
            );
            self.problem(at.key("to"), message);
        }
    }

    fn rmap(&mut self, at: Location, rmap: &RmapTraffic) {
        let scenario = self.scenario;
        let object = format!("rmap '{}'", rmap.name);
        self.channel(at.key("from"), &object, &rmap.from, rmap.vc);
        match scenario.unit(&rmap.to.unit) {
            None => {
                let nodes = scenario.nodes.iter().filter(|node| node.target.is_some());
                let known = nodes.map(|node| &node.name);
                let known = known.chain(scenario.routers.iter().map(|router| &router.name));
                self.unknown(at.key("to"), &object, "target", &rmap.to.unit, known);
            }
            Some(UnitId::Node(index)) => match scenario.nodes.get(index).and_then(|n| n.target) {
                None => {
                    let message =
                        format!("{object}: node '{}' has no target; give it one", rmap.to.unit);
                    self.problem(at.key("to"), message);
                }
                Some(target) => {
                    let end = rmap.address.saturating_add(rmap.size.0);
                    if end > target.bytes.0 {
                        let message = format!(
                            "{object}: {} bytes at {:#x} end after the {} bytes of '{}'",
                            rmap.size.0, rmap.address, target.bytes.0, rmap.to.unit
                        );
                        self.problem(at.key("address"), message);
                    }
                }
            },
            Some(UnitId::Router(_)) => {}
        }
        if rmap.route == Addressing::Auto {
            self.reachable(at, &object, &rmap.from, rmap.vc, &rmap.to);
        }
        let most = if rmap.operation == Operation::Rmw { 4 } else { MOST_RMAP };
        self.range(at.key("size"), &object, rmap.size.0, 1..=most);
        self.range(at.key("outstanding"), &object, rmap.outstanding, 1..=1024);
        if let Some(period) = rmap.period {
            self.interval(at.key("period"), &object, period);
        }
        self.interval(at.key("timeout"), &object, rmap.timeout);
        self.window(at.key("stop"), &object, rmap.start, rmap.stop);
    }

    fn broadcasts(&mut self) {
        let scenario = self.scenario;
        // Each broadcast channel has one source (50-11C 5.8).
        let mut sources: Vec<(Location, String, &PortName, u8)> = Vec::new();
        for (index, broadcast) in scenario.broadcasts.iter().enumerate() {
            let at = Location::list("broadcast", index);
            let object = format!("broadcast '{}'", broadcast.name);
            self.interval(at.key("period"), &object, broadcast.period);
            let jitter = broadcast.jitter;
            self.range(at.key("jitter"), &object, jitter, Default::default()..=broadcast.period);
            self.window(at.key("stop"), &object, broadcast.start, broadcast.stop);
            sources.push((at, object, &broadcast.from, broadcast.channel));
        }
        if let Some(codes) = &scenario.time_codes {
            let at = Location::one("time-codes");
            self.interval(at.key("period"), "time-codes", codes.period);
            sources.push((at, "time-codes".into(), &codes.master, codes.channel));
        }
        if let Some(schedule) = &scenario.schedule
            && let Some(source) = &schedule.source
        {
            sources.push((Location::one("schedule"), "schedule".into(), source, schedule.channel));
        }
        let mut taken: HashMap<u8, &str> = HashMap::new();
        for (at, object, from, channel) in &sources {
            self.port(at.key("from"), object, from);
            if let Some(other) = taken.insert(*channel, &from.unit)
                && other != from.unit
            {
                let message = format!(
                    "{object}: broadcast channel {channel} belongs to '{other}'; give another"
                );
                self.problem(at.key("channel"), message);
            }
        }
    }

    fn schedule(&mut self) {
        if let Some(schedule) = &self.scenario.schedule {
            let at = Location::one("schedule");
            self.interval(at.key("slot"), "schedule", schedule.slot);
            self.range(at.key("slots"), "schedule", schedule.slots, 1..=64);
        }
    }
}
