//! Renders the results of a simulation:
//! `cargo run -p spfe-report --example simulation -- scenario.toml results.json out.html`.

use std::error::Error;
use std::{env, fs};

use spfe_report::diagram::Diagram;
use spfe_sim::results::Results;
use spfe_sim::scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [scenario, results, output] = arguments.as_slice() else {
        return Err("usage: simulation scenario.toml results.json out.html".into());
    };
    let scenario = Scenario::parse(&fs::read_to_string(scenario)?)?;
    let results = Results::from_json(&fs::read_to_string(results)?)?;
    fs::write(output, spfe_report::simulation::html(&results, &Diagram::of(&scenario)))?;
    Ok(())
}
