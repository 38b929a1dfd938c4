//! Every example scenario, one flow or RMAP initiator at a time.

use super::Log;
use spfe_sim::link::Side;
use spfe_sim::scenario::route::{RouteElements, RouteFinder, Trace};
use spfe_sim::scenario::{PortName, Scenario, Time};
use spfe_sim::simulation::Simulation;
use spfe_sim::time::US;
use std::collections::BTreeSet;
use std::path::Path;

/// Traffic starts when all links run.
const START: Time = Time(60 * US);

fn examples() -> Vec<(String, Scenario)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|is| is == "toml"));
    let parsed = files.map(|path| {
        let scenario = Scenario::parse(&std::fs::read_to_string(&path).unwrap());
        (path.display().to_string(), scenario.unwrap_or_else(|error| panic!("{error}")))
    });
    let parsed: Vec<_> = parsed.collect();
    assert!(parsed.len() >= 9, "{} examples", parsed.len());
    parsed
}

/// The scenario without faults and without traffic.
fn idle(scenario: &Scenario) -> Scenario {
    let mut idle = scenario.clone();
    idle.flows.clear();
    idle.rmaps.clear();
    idle.rdmas.clear();
    idle.broadcasts.clear();
    idle.faults.clear();
    idle.time_codes = None;
    idle.duration = Time(3000 * US);
    idle.step = None;
    idle
}

/// Simulates, checks that the expected links are crossed, and returns the log.
fn run(name: &str, scenario: &Scenario, elements: &RouteElements, adaptive: bool) -> Log {
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut log = Log::default();
    simulation.run(scenario.duration.0, &mut log);
    let results = simulation.results();
    assert!(results.conservation.kept, "{name}: {:?}", results.conservation);
    let expected: BTreeSet<u32> = elements.links.iter().copied().collect();
    if adaptive {
        assert!(log.crossed.is_subset(&expected), "{name}: {:?} {expected:?}", log.crossed);
    } else {
        assert_eq!(log.crossed, expected, "{name}: links");
    }
    assert!(log.drops.is_empty(), "{name}: {:?}", log.drops);
    log
}

/// Destinations of a trace, as the ends of links that packets arrive at.
fn ends(scenario: &Scenario, trace: &Trace) -> BTreeSet<(u32, Side, u8)> {
    let end = |to: &spfe_sim::scenario::route::Destination| {
        let unit = scenario.name_of(to.unit).to_owned();
        let (link, side) = scenario.link_at(&PortName { unit, port: to.port }).unwrap();
        (link as u32, side, to.vc)
    };
    trace.destinations.iter().map(end).collect()
}

#[test]
fn packets_of_example_flows_go_where_the_route_finder_says() {
    let mut flows = 0;
    for (file, scenario) in examples() {
        for flow in &scenario.flows {
            let name = format!("{file}: {}", flow.name);
            let mut alone = idle(&scenario);
            alone.flows = vec![flow.clone()];
            let only = &mut alone.flows[0];
            (only.start, only.stop, only.count) = (START, None, Some(2));
            let plan = RouteFinder::new(&alone).flow(&alone.flows[0]).unwrap();
            assert_eq!(plan.problem, None, "{name}");
            assert_eq!(plan.trace.dead_ends, [], "{name}");
            let log = run(&name, &alone, &plan.trace.elements, plan.trace.adaptive);
            assert_eq!(log.delivered, ends(&alone, &plan.trace), "{name}: destinations");
            flows += 1;
        }
    }
    assert!(flows > 20, "{flows} flows");
}

#[test]
fn rmap_commands_of_examples_go_where_the_route_finder_says() {
    let mut initiators = 0;
    for (file, scenario) in examples() {
        for rmap in &scenario.rmaps {
            let name = format!("{file}: {}", rmap.name);
            let mut alone = idle(&scenario);
            alone.rmaps = vec![rmap.clone()];
            let only = &mut alone.rmaps[0];
            (only.start, only.stop, only.count) = (START, None, Some(2));
            let (command, reply) = RouteFinder::new(&alone).rmap(&alone.rmaps[0]).unwrap();
            assert_eq!((command.problem, reply.problem), (None, None), "{name}");
            let adaptive = command.trace.adaptive || reply.trace.adaptive;
            let mut elements = command.trace.elements;
            elements.merge(&reply.trace.elements);
            run(&name, &alone, &elements, adaptive);
            initiators += 1;
        }
    }
    assert!(initiators >= 4, "{initiators} initiators");
}
