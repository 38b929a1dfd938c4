//! Whole scenarios, word by word.

mod basics;
mod faults;
mod isolation;
mod messages;
mod rdma;
mod rmap;
mod routing;

use spfe_sim::link::NoObserver;
use spfe_sim::results::{ChannelResults, Results, StreamResults};
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;
use std::ops::Range;

/// Simulates a scenario for its duration.
fn simulate(text: &str) -> Results {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario)
}

fn run(scenario: &Scenario) -> Results {
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    simulation.run(scenario.duration.0, &mut NoObserver);
    let results = simulation.results();
    let conservation = &results.conservation;
    assert!(conservation.kept, "{}: {:#?}", scenario.title, conservation.violations);
    results
}

/// A processor and a memory at a router, whose port 3 is free, for "1ms": further keys of the memory,
/// the router and the processor's link, and further tables.
fn memory_network(memory: &str, router: &str, link: &str, more: &str) -> String {
    format!(
        r#"
        title = "memory"
        duration = "1ms"
        [[node]]
        name = "cpu"
        logical-address = 67
        [[node]]
        name = "mem"
        kind = "memory"
        logical-address = 80
        {memory}
        [[router]]
        name = "r"
        ports = 3
        {router}
        [[link]]
        name = "cpu"
        ends = ["cpu", "r:1"]
        {link}
        [[link]]
        name = "mem"
        ends = ["mem", "r:2"]
        {more}
        "#
    )
}

/// Words sent by the first end of a link in a range of its hundred steps.
fn words(results: &Results, link: &str, steps: Range<usize>) -> u64 {
    let link = results.links.iter().find(|of| of.name == link).unwrap();
    let series = |channel: &ChannelResults| -> u64 {
        channel.series.iter().take(steps.end).skip(steps.start).sum()
    };
    link.directions[0].channels.iter().map(series).sum()
}

/// Measurements of a stream.
fn flow<'a>(results: &'a Results, name: &str) -> &'a StreamResults {
    results.flows.iter().find(|flow| flow.name == name).unwrap()
}
