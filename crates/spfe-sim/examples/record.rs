//! Simulates a scenario and writes a capture of it (docs/capture.md).
//!
//! `cargo run --release -p spfe-sim --example record -- FILE.toml FILE.pcapng`

use spfe_capture::WriterOptions;
use spfe_sim::recorder::CaptureRecorder;
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;
use std::fs::File;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().ok_or("give a scenario file")?;
    let to = arguments.next().ok_or("give a capture file to write")?;
    let scenario = Scenario::parse(&std::fs::read_to_string(from)?)?;
    let to = BufWriter::new(File::create(to)?);
    let mut recorder = CaptureRecorder::new(to, &scenario, &WriterOptions::default())?;
    let mut simulation = Simulation::new(&scenario)?;
    simulation.run(scenario.duration.0, &mut recorder);
    recorder.finish()?;
    let results = simulation.results();
    for fault in &results.faults {
        println!("{}\t{}", fault.times, fault.name);
    }
    if results.conservation.kept {
        Ok(())
    } else {
        Err(format!("packets were lost: {:?}", results.conservation.violations).into())
    }
}
