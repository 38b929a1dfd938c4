//! Random packets through random networks.

use super::Log;
use super::network::Network;
use proptest::prelude::*;
use spfe_link::Word;
use spfe_link::network::DiscardReason;
use spfe_sim::link::{Side, SimulatedEnd};
use spfe_sim::scenario::route::{DeadEndCause, RouteFinder, Trace};
use spfe_sim::scenario::{PortName, Scenario, UnitId};
use spfe_sim::simulation::Simulation;
use spfe_sim::time::{Ps, US};
use std::collections::{BTreeMap, BTreeSet};

/// Packets that each network is tried with.
const PACKETS: usize = 40;
const EOP: u8 = 0xfd;
const FILL: u8 = 0xfb;

/// Number of packets for each case that the test has to cover.
#[derive(Debug, Default)]
struct Coverage(BTreeMap<String, usize>);

impl Coverage {
    fn add(&mut self, case: &str) {
        *self.0.entry(case.into()).or_default() += 1;
    }

    fn trace(&mut self, trace: &Trace) {
        for (case, met) in [
            ("multicast", trace.multicast),
            ("adaptive", trace.adaptive),
            ("configuration port", trace.destinations.iter().any(|to| to.port == 0)),
            ("two routers", trace.elements.inputs.len() > 1),
            ("delivered", !trace.destinations.is_empty()),
        ] {
            if met {
                self.add(case);
            }
        }
        for dead_end in &trace.dead_ends {
            self.add(&format!("{:?}", dead_end.cause));
        }
    }
}

/// A running network with an application at each node.
struct Bench<'a> {
    network: &'a Network,
    simulation: Simulation,
    now: Ps,
    log: Log,
    ends: Vec<(usize, Side)>,
}

/// A packet at a node: its index, its virtual channel and its bytes.
type Received = (usize, u8, Vec<u8>);

impl<'a> Bench<'a> {
    fn new(network: &'a Network, scenario: &Scenario) -> Self {
        let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
        let place = |name: &String| PortName { unit: name.clone(), port: 1 };
        let attach = |name| simulation.attach(&place(name)).unwrap();
        let ends = network.nodes.iter().map(attach).collect();
        let mut bench = Self { network, simulation, now: 0, log: Log::default(), ends };
        bench.run(60 * US);
        for (link, _) in scenario.links.iter().enumerate() {
            for side in Side::BOTH {
                assert!(bench.simulation.end(link, side).is_running(), "link {link} runs");
            }
        }
        bench
    }

    fn run(&mut self, duration: Ps) {
        self.now += duration;
        self.simulation.run(self.now, &mut self.log);
    }

    /// Sends a packet, and returns what arrives. If it waits at a port without a link, each of its
    /// copies does so until the time-out of 40 us, one after the other.
    fn send(&mut self, node: usize, vc: u8, bytes: &[u8], waits: bool) -> Vec<Received> {
        self.log = Log::default();
        let (link, side) = self.ends[node];
        let words = words(bytes);
        assert_eq!(self.simulation.end(link, side).write(vc.into(), &words), words.len());
        self.run(15 * US);
        let mut known = None;
        while waits && known != Some(self.log.events) {
            known = Some(self.log.events);
            self.run(50 * US);
        }
        let mut received = Vec::new();
        for (node, (link, side)) in self.ends.clone().into_iter().enumerate() {
            for vc in 0..self.network.channels[node] {
                for packet in read(self.simulation.end(link, side), vc) {
                    received.push((node, vc, packet));
                    self.log.crossed.insert(link as u32);
                }
            }
        }
        received.sort();
        received
    }
}

/// A packet as words.
fn words(bytes: &[u8]) -> Vec<Word> {
    let mut symbols: Vec<(u8, u8)> = bytes.iter().map(|byte| (*byte, 0)).collect();
    symbols.push((EOP, 1));
    let word = |four: &[(u8, u8)]| {
        let symbol = |index: usize| four.get(index).map_or((FILL, 1), |symbol| *symbol);
        let k = (0..4).fold(0, |mask, index| mask | symbol(index).1 << index);
        Word::from_symbols([0, 1, 2, 3].map(|index| symbol(index).0), k)
    };
    symbols.chunks(4).map(word).collect()
}

/// The packets that wait on a virtual channel.
fn read(end: &mut dyn SimulatedEnd, vc: u8) -> Vec<Vec<u8>> {
    let mut buffer = [Word::default(); 64];
    let (mut packets, mut bytes) = (Vec::new(), Vec::new());
    loop {
        let count = end.read(vc.into(), &mut buffer);
        for word in &buffer[..count] {
            for index in 0..4 {
                match (word.is_k(index), word.symbol(index)) {
                    (false, byte) => bytes.push(byte),
                    (true, FILL) => {}
                    (true, other) => {
                        assert_eq!(other, EOP, "no packet is cut");
                        packets.push(std::mem::take(&mut bytes));
                    }
                }
            }
        }
        if count == 0 {
            assert!(bytes.is_empty(), "packets are complete: {bytes:?}");
            return packets;
        }
    }
}

/// Tries one network with random packets.
fn try_network(seed: u64, coverage: &mut Coverage) {
    let network = Network::new(seed);
    let scenario = Scenario::parse(&network.text)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", network.text));
    let finder = RouteFinder::new(&scenario);
    let mut bench = Bench::new(&network, &scenario);
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x5EED);
    let mut looping = None;
    for number in 0..PACKETS {
        let node = rng.usize(..network.nodes.len());
        let vc = rng.u8(..network.channels[node]);
        // The number of the packet comes after the address; 0xA5 is no address of the tables.
        let mut bytes = network.address(&mut rng);
        bytes.extend([0xA5, number as u8, 0xA5, 0xA5]);
        let place = PortName { unit: network.nodes[node].clone(), port: 1 };
        let trace = finder.follow(finder.origin(&place, vc).unwrap(), &bytes);
        coverage.trace(&trace);
        if trace.dead_ends.iter().any(|end| end.cause == DeadEndCause::Loop) {
            let alone = trace.destinations.is_empty() && trace.dead_ends.len() == 1;
            if alone && !trace.multicast && !trace.adaptive {
                looping.get_or_insert((node, vc, bytes));
            }
            continue;
        }
        let waits = |cause| cause == DeadEndCause::Discarded(DiscardReason::NotRunning);
        let waits = trace.dead_ends.iter().any(|end| waits(end.cause));
        let received = bench.send(node, vc, &bytes, waits);
        let context = format!("seed {seed}: node {node}, vc {vc}, {bytes:?}\n{}", network.text);
        compare(&trace, &received, &bench.log, &context);
    }
    if let Some((node, vc, bytes)) = looping {
        coverage.add("followed a loop");
        let mut bench = Bench::new(&network, &scenario);
        let received = bench.send(node, vc, &bytes, false);
        let context = format!("seed {seed}: loop of {bytes:?} from node {node}\n{}", network.text);
        assert_eq!((received, &bench.log.drops), (vec![], &BTreeSet::new()), "{context}");
        assert!(bench.log.events > 8, "{} events: {context}", bench.log.events);
    }
}

/// Compares what the route finder says of a packet with what became of it.
fn compare(trace: &Trace, received: &[Received], log: &Log, context: &str) {
    let destination = |to: &spfe_sim::scenario::route::Destination| match to.unit {
        UnitId::Node(node) => Some((node, to.vc, to.rest.clone())),
        UnitId::Router(_) => None,
    };
    let expected: BTreeSet<Received> = trace.destinations.iter().filter_map(destination).collect();
    let drops = trace.dead_ends.iter().map(|end| match end.cause {
        DeadEndCause::Discarded(reason) => {
            (end.input.router, end.input.port, end.input.vc, format!("{reason:?}"))
        }
        DeadEndCause::Loop => unreachable!("loops are left out"),
    });
    let drops: BTreeSet<_> = drops.collect();
    let links: BTreeSet<u32> = trace.elements.links.iter().copied().collect();
    let got: BTreeSet<Received> = received.iter().cloned().collect();
    if trace.adaptive {
        assert!(got.is_subset(&expected), "{got:?} {expected:?} {context}");
        assert!(log.drops.is_subset(&drops), "{:?} {drops:?} {context}", log.drops);
        assert!(log.crossed.is_subset(&links), "{:?} {links:?} {context}", log.crossed);
        if !trace.multicast && trace.destinations.iter().all(|to| to.port != 0) {
            assert_eq!(received.len() + log.drops.len(), 1, "one outcome: {context}");
        }
        return;
    }
    assert_eq!(got, expected, "destinations: {context}");
    assert_eq!(log.drops, drops, "drops: {context}");
    assert_eq!(log.crossed, links, "links: {context}");
    let (routes, complete) = trace.routes(1000);
    let to_nodes = routes.iter().filter(|route| matches!(route.to.unit, UnitId::Node(_)));
    assert!(complete, "{context}");
    assert_eq!(received.len(), to_nodes.count(), "copies: {context}");
}

/// Fixed networks that together show every case.
#[test]
fn packets_go_where_the_route_finder_says() {
    let mut coverage = Coverage::default();
    (1..=24).for_each(|seed| try_network(seed, &mut coverage));
    for case in [
        "delivered",
        "two routers",
        "multicast",
        "adaptive",
        "configuration port",
        "followed a loop",
        "Discarded(InvalidAddress)",
        "Discarded(NoPort)",
        "Discarded(InputUnmapped)",
        "Discarded(OutputUnmapped)",
        "Discarded(NotRunning)",
    ] {
        assert!(coverage.0.contains_key(case), "no packet with {case}: {coverage:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Default::default()
    })]

    /// Other networks in every run; a failure prints its seed.
    #[test]
    fn packets_go_where_the_route_finder_says_in_any_network(seed in any::<u64>()) {
        try_network(seed, &mut Coverage::default());
    }
}
