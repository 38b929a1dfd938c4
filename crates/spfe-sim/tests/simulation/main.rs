//! Scenarios from end to end, over links word by word.

mod basics;
mod faults;
mod isolation;
mod messages;
mod rmap;

use spfe_sim::link::Blind;
use spfe_sim::results::{Flow, Results};
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;

/// Simulates a scenario for its duration.
fn simulate(text: &str) -> Results {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario)
}

fn run(scenario: &Scenario) -> Results {
    let mut simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    simulation.run(scenario.duration.0, &mut Blind);
    let results = simulation.results();
    let conservation = &results.conservation;
    assert!(conservation.kept, "{}: {:#?}", scenario.title, conservation.violations);
    results
}

/// A flow's results.
fn flow<'a>(results: &'a Results, name: &str) -> &'a Flow {
    results.flows.iter().find(|flow| flow.name == name).unwrap()
}
