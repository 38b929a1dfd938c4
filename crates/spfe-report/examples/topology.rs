//! Draws a scenario: `cargo run -p spfe-report --example topology -- in.toml out.svg`.

use std::error::Error;
use std::{env, fs};

use spfe_report::diagram::{self, Diagram};
use spfe_sim::scenario::Scenario;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        return Err("usage: topology in.toml out.svg".into());
    };
    let scenario = Scenario::parse(&fs::read_to_string(input)?)?;
    fs::write(output, diagram::document(&Diagram::of(&scenario)))?;
    Ok(())
}
